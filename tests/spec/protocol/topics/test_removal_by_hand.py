"""A topic that somebody removed by hand, led step by step: what recording 32-D53-foreign-removal shows of it."""

from dataclasses import replace

import pytest

from spec.model import Model
from spec.scopes import Scope
from spec.variants import AS_CODED, Switch, Switches
from tests.spec.stepping import Run

TOPICS = Scope(
    name="topics to remove",
    statement="Topic 0 is on broker 1, topic 1 on both.",
    brokers=2,
    controllers=1,
    assigned=((1,), (1, 2)),
    topic_of=(0, 1),
    parts=frozenset({"partitions", "connections", "creation"}),
    topics_stand=True,
    callback_capacity=6,
    connection_capacity=4,
)
BUDGETS = {"removals": 1, "expiries": 2, "creations": 1, "shrinks": 1}


def removed(switches: Switches) -> Run:
    """The controller has found topic 0 gone."""
    run = Run(TOPICS, switches, **BUDGETS)
    run.do("remove_topic(t=0)", "on_topic_change(c=1)")
    return run


def bounce(run: Run) -> None:
    """Broker 2 loses its session, which is handled, and is back; the controller has yet to handle that."""
    run.do("expire_session(b=2, lost=0)", "on_broker_change(c=1)", "read_for_removal(c=1, p=1, r=2)")
    if run.can("write_removal(c=1, p=1, r=2)"):
        run.do("write_removal(c=1, p=1, r=2)")
    run.do("renew_session(b=2)", "register_broker(b=2)")


def test_the_states_of_a_topic_may_go_before_it() -> None:
    """As `rmr` does it, recording 32-D53-foreign-removal, zk 50 to 53."""
    run = Run(TOPICS, AS_CODED, state_removals=2, **BUDGETS)
    run.do("shrink_isr(b=1, p=1, r=2)", "remove_state(p=1)")
    assert (run["zookeeper.topics[1]"], run["zookeeper.state[1].version"]) == ("yes", "-1")
    assert not run.can("remove_state(p=1)")
    run.do("remove_topic(t=1)", "on_topic_change(c=1)")
    assert run["controllers[1].topics[1]"] == "no"


def test_a_topic_that_is_gone_keeps_its_leadership_without_ar() -> None:
    run = removed(AS_CODED)
    assert run["controllers[1].topics[0]"] == "no"
    assert run.leadership("controllers[1].partitions[0]")[0] == "1"


def test_the_first_update_for_all_raises_and_the_second_ends_the_term() -> None:
    """The death of broker 2 costs no leader, so everybody is to be told of everything; then again at its return."""
    run = removed(AS_CODED)
    bounce(run)
    assert (run["controllers[1].dirty"], run["controllers[1].at"]) == ("yes", "IDLE")
    run.do("on_broker_change(c=1)")
    assert (run["controllers[1].dirty"], run["controllers[1].at"]) == ("no", "RESIGN_DELETE")


def test_before_0_9_nobody_did_anything_about_a_dirty_batch() -> None:
    run = removed(frozenset({Switch.KEEP_DIRTY_BATCH}))
    bounce(run)
    run.do("on_broker_change(c=1)")
    assert (run["controllers[1].dirty"], run["controllers[1].at"]) == ("yes", "IDLE")


def test_with_the_leadership_forgotten_everybody_is_told() -> None:
    run = removed(frozenset({Switch.FORGET_THE_VANISHED}))
    bounce(run)
    run.do("on_broker_change(c=1)")
    assert run["controllers[1].dirty"] == "no"
    assert run["controllers[1].partitions[0].state"] == "NON_EXISTENT"
    assert run["connections[1][2][0].partitions[1].ordered"] == "yes"


@pytest.mark.parametrize("known_apart", [False, True])
def test_a_topic_that_is_created_again_is_known_by_its_id_only(known_apart: bool) -> None:
    ids = {Switch.TOPIC_IDS} if known_apart else set()
    run = Run(TOPICS, frozenset({Switch.FORGET_THE_VANISHED, *ids}), **BUDGETS)
    run.do("shrink_isr(b=1, p=1, r=2)", "remove_topic(t=1)", "on_topic_change(c=1)", "create_topic(t=1)")
    run.do("on_topic_change(c=1)", "read_for_new_replica(c=1, p=1, r=1)", "read_for_new_replica(c=1, p=1, r=2)")
    run.do("create_state(c=1, p=1)", "deliver_request(c=1, b=1)")
    assert run["brokers[1].partitions[1].version"] == ("0" if known_apart else "1")
    assert run["zookeeper.state[1].version"] == "0"


@pytest.mark.parametrize("cause", ["expiries", "heard_expiries", "exceptions", "losses"])
@pytest.mark.parametrize(("controllers", "part"), [(2, "deletion"), (1, "deletion"), (2, "creation")])
def test_who_is_deposed_and_lives_on_may_lose_a_topic_that_its_successor_deletes(
    cause: str, controllers: int, part: str
) -> None:
    deposed = replace(TOPICS, controllers=controllers, parts=frozenset({"partitions", part}), budgets=((cause, 1),))
    assert Model(deposed, AS_CODED).loses_topics == (controllers == 2 and part == "deletion")
