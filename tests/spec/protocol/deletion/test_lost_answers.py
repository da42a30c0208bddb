"""Answers to a deletion's deletes that are lost, led by the hand: D70, as a real Kafka 0.10.2.2 had it."""

import pytest

from spec.scopes import Scope
from spec.variants import AS_CODED, Switch, Switches
from tests.spec.stepping import Run

TOPIC = Scope(
    name="a topic to delete",
    statement="A topic with three partitions, as the recording a-deletion-left-half-way has one.",
    brokers=1,
    controllers=1,
    assigned=((1,), (1,), (1,)),
    parts=frozenset({"partitions", "connections", "creation", "deletion", "remembered_requests"}),
    topics_stand=True,
    callback_capacity=6,
    connection_capacity=8,
)
DELETES = ("delete_state", "delete_topic", "delete_configuration", "delete_request")


def deleting(*fixes: Switch, losses: int = 1) -> Run:
    """All replicas are deleted, and the thread has begun to complete the deletion."""
    run = Run(TOPIC, AS_CODED | Switches(fixes), deletions=2, creations=1, deletion_losses=losses)
    run.do("request_deletion(t=0)", "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)")
    run.drain("read_for_removal", "write_removal", "deliver_", "on_replica_deleted")
    run.do("delete_queued_topic(c=1, t=0)")
    return run


def next_deletes(run: Run) -> list[str]:
    """What the thread may do next."""
    return run.enabled(*DELETES)


@pytest.mark.parametrize("fixes", [(), (Switch.GONE_IS_DELETED,)], ids=["as coded", "fixed"])
def test_a_lost_answer_ends_the_recursion_and_the_rest_of_the_topic_stays(fixes: tuple[Switch, ...]) -> None:
    """The recording, zk 143 to 161: partitions 0 and 1 go, 2 stays, and the configuration and the request go."""
    run = deleting(*fixes)
    run.do("delete_state(c=1, p=0)", "delete_state_unanswered(c=1, p=1)")
    assert next_deletes(run) == ["delete_state_again(c=1, p=1)"]
    run.do("delete_state_again(c=1, p=1)")
    if fixes:
        assert next_deletes(run) == ["delete_state(c=1, p=2)"]
        run.do("delete_state(c=1, p=2)", "delete_topic(c=1, t=0)")
    run.do("delete_configuration(c=1, t=0)", "delete_request(c=1, t=0)")
    assert (
        run["controllers[1].topics[0]"] == run["zookeeper.configurations[0]"] == run["zookeeper.deletions[0]"] == "no"
    )
    assert run["zookeeper.topics[0]"] == ("no" if fixes else "yes")
    assert [run[f"zookeeper.state[{p}].version"] for p in range(3)] == ["-1", "-1", "-1" if fixes else "1"]
    assert run.holds("topics_have_their_configuration") == bool(fixes)


def test_a_state_znode_that_is_there_again_ends_the_thread() -> None:
    run = deleting()
    run.do("delete_state_unanswered(c=1, p=1)")
    run.state = {**run.state, "zookeeper.state[1].version": run.state["zookeeper.state[0].version"]}
    run.do("delete_state_again(c=1, p=1)")
    assert run["controllers[1].deletion"] == "ENDED"
    assert run["zookeeper.deletions[0]"] == "yes"


@pytest.mark.parametrize("fixes", [(), (Switch.ATOMIC_COMPLETION,)], ids=["as coded", "fixed"])
def test_the_second_delete_of_a_topic_takes_the_next_of_its_name(fixes: tuple[Switch, ...]) -> None:
    """D70-again; the transaction of the fix fails, since the request is gone."""
    run = deleting(*fixes)
    run.do(*(f"delete_state(c=1, p={p})" for p in range(3)), "delete_topic_unanswered(c=1, t=0)", "create_topic(t=0)")
    assert run["zookeeper.topics[0]"] == "yes"
    assert run.holds("topics_are_deleted_on_request", "delete_topic(c=1, t=0)") == bool(fixes)
    run.do("delete_topic(c=1, t=0)")
    assert run["zookeeper.topics[0]"] == ("yes" if fixes else "no")


@pytest.mark.parametrize("rule", ["delete_configuration", "delete_request"])
def test_a_second_delete_that_finds_nothing_does_no_harm(rule: str) -> None:
    run = deleting(losses=2)
    run.do(*(f"delete_state(c=1, p={p})" for p in range(3)), "delete_topic(c=1, t=0)")
    for one in ("delete_configuration", "delete_request"):
        if one == rule:
            run.do(f"{one}_unanswered(c=1, t=0)")
            assert not run.can(f"{one}_unanswered(c=1, t=0)")
        run.do(f"{one}(c=1, t=0)")
    assert next_deletes(run) == []
    assert run.holds("nothing_of_a_deleted_topic_is_left")
