"""What a broker obeys, for every pair of epochs: its own, and the request's."""

from itertools import product

import pytest

from spec.scopes import scope
from spec.variants import FENCED
from tests.spec.stepping import Run

SENT = "connections[1][2][0]"
KNOWN = "brokers[2].partitions[0].leader_epoch"
LOWEST = -1
"""The epoch of what knows none; a variable holds it as 0, and the next ones as the next numbers."""
EPOCHS = range(LOWEST, 4)
CREATED = (
    "create_topic(t=0)", "on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=1)",
    "read_for_new_replica(c=1, p=0, r=2)", "create_state(c=1, p=0)",
)  # fmt: skip


def with_values(run: Run, **raw: int) -> None:
    """The run goes on from where it is, with other values of some variables, each of which there is."""
    values = {{"known": KNOWN, **NAMES}[name]: value for name, value in raw.items()}
    assert values.keys() <= run.state.keys()
    run.state = {**run.state, **values}


NAMES = {
    "deleted": f"{SENT}.delete_epoch[0]",
    "leadership": f"{SENT}.partitions[0].leader_epoch",
    "of": f"{SENT}.epoch",
    "heard": "brokers[2].controller_epoch",
}


@pytest.fixture(scope="module")
def deleting() -> Run:
    """A deletion is on its way to broker 2, which may come late, so that StopReplica has a leader epoch (KIP-570)."""
    run = Run(scope("deletion"), FENCED, deletions=1, late_copies=1, late_requests=1, resends=1)
    run.do("request_deletion(t=0)", "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)")
    run.drain("_removal(")
    while run[f"{SENT}.stage"] != "DELETE_REPLICA":
        run.do("deliver_request(c=1, b=2)")
    return run


@pytest.fixture(scope="module")
def creating() -> Run:
    """The first LeaderAndIsr of a partition is on its way to broker 2."""
    run = Run(scope("late_requests"), creations=1)
    run.do(*CREATED)
    assert run[f"{SENT}.stage"] == "LEADER_AND_ISR"
    return run


@pytest.mark.parametrize(("known", "sent"), [*product(EPOCHS, EPOCHS)])
def test_a_deletion_is_obeyed_where_its_leader_epoch_is_higher_or_the_broker_has_none(
    deleting: Run, known: int, sent: int
) -> None:
    before = deleting.now
    with_values(deleting, known=known - LOWEST, deleted=sent - LOWEST)
    seen = {one[0] for one in deleting.do("deliver_deletion(c=1, b=2, p=0)")}
    forgotten = deleting[KNOWN]
    deleting.now = before
    if known == LOWEST or sent > known:
        assert ("stop replica" in seen, "refuse StopReplica" in seen, forgotten) == (True, False, "-1")
    else:
        assert ("stop replica" in seen, "refuse StopReplica" in seen, forgotten) == (False, True, str(known))


@pytest.mark.parametrize(("known", "sent", "heard", "of"), [*product(EPOCHS, EPOCHS, (1, 2), (1, 2))])
def test_a_leadership_is_obeyed_where_its_leader_epoch_is_higher_and_its_controllers_no_older(
    creating: Run, known: int, sent: int, heard: int, of: int
) -> None:
    before = creating.now
    with_values(creating, known=known - LOWEST, leadership=sent - LOWEST, heard=heard, of=of)
    seen = [one[0] for one in creating.do("deliver_request(c=1, b=2)")]
    stored, adopted = creating[KNOWN], creating.state["brokers[2].controller_epoch"]
    creating.now = before
    if of < heard:
        assert (seen[0], stored, adopted) == ("refuse LeaderAndIsr", str(known), heard)
    elif sent > known:
        assert (seen[0], stored, adopted) == ("become follower", str(sent), of)
    else:
        assert (seen[0], stored, adopted) == ("ignore LeaderAndIsr", str(known), of)
