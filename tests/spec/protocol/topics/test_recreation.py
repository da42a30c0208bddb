"""A topic that somebody removed by hand and created again, led step by step: its controller knows it still (D53)."""

import pytest

from spec.scopes import Scope
from spec.variants import AS_CODED, Switch
from tests.spec.stepping import Run

TOPICS = Scope(
    name="topics to create again",
    statement="Topic 0 has a partition on broker 1 and one on both, topic 1 one on broker 2, which leads it.",
    brokers=2,
    controllers=1,
    assigned=((1,), (1, 2), (2,)),
    topic_of=(0, 0, 1),
    parts=frozenset({"partitions", "connections", "creation", "metadata"}),
    topics_stand=True,
    callback_capacity=6,
    connection_capacity=4,
)
BUDGETS = {"removals": 2, "creations": 2, "expiries": 1, "shrinks": 1}


@pytest.fixture
def again() -> Run:
    """Topic 0 has been removed, its ISR having changed before, and is there again, which the controller finds out."""
    run = Run(TOPICS, AS_CODED, **BUDGETS)
    run.do("shrink_isr(b=1, p=1, r=2)", "remove_topic(t=0)", "on_topic_change(c=1)", "create_topic(t=0)")
    run.do("on_topic_change(c=1)")
    return run


def test_what_is_online_is_elected_for_which_fails_without_a_state_znode(again: Run) -> None:
    """PROTOCOL.md section 3: the table refuses Online to New; Online to Online reads the state znode."""
    assert not any(again.can(f"create_state(c=1, p={p})") for p in (0, 1, 2))
    assert [again.can(f"read_for_election(c=1, p={p})") for p in (0, 1, 2)] == [True, True, False]
    assert ("fail election", "1") in again.do("read_for_election(c=1, p=1)")
    assert ("fail election", "0") in again.do("read_for_election(c=1, p=0)")
    assert {again[f"controllers[1].partitions[{p}].state"] for p in (0, 1)} == {"ONLINE"}
    assert {again[f"zookeeper.state[{p}].version"] for p in (0, 1)} == {"-1"}


def test_the_replicas_of_that_topic_are_told_what_was_known_of_it(again: Run) -> None:
    """PROTOCOL.md section 4: Online to Online sends the cached leadership, which is older than the leader's own."""
    again.do("read_for_election(c=1, p=0)", "read_for_election(c=1, p=1)")
    told = {b: [again[f"connections[1][{b}][0].partitions[{p}].ordered"] for p in (0, 1, 2)] for b in (1, 2)}
    assert told == {1: ["yes", "yes", "no"], 2: ["no", "yes", "no"]}
    assert again.leadership("connections[1][2][0].partitions[1]") == ("1", "[1, 2]", "0")
    assert again["connections[1][2][0].metadata"] == "yes"
    assert (again["controllers[1].at"], again["controllers[1].created[0]"]) == ("IDLE", "no")


def test_who_has_that_leadership_does_not_obey(again: Run) -> None:
    again.do("read_for_election(c=1, p=0)", "read_for_election(c=1, p=1)", "deliver_request(c=1, b=1)")
    assert again.leadership("brokers[1].partitions[1]") == ("1", "[1]", "0")


def test_what_is_offline_stays_so_and_its_replica_goes_online() -> None:
    run = Run(TOPICS, AS_CODED, **BUDGETS)
    run.do("remove_topic(t=1)", "on_topic_change(c=1)", "expire_session(b=2, lost=0)", "on_broker_change(c=1)")
    run.do("read_for_election(c=1, p=2)", "read_for_removal(c=1, p=1, r=2)", "write_removal(c=1, p=1, r=2)")
    assert (run["controllers[1].partitions[2].state"], run["controllers[1].at"]) == ("OFFLINE", "IDLE")
    run.do("create_topic(t=1)", "on_topic_change(c=1)", "read_for_election(c=1, p=2)")
    assert run["controllers[1].partitions[2].state"] == "OFFLINE"
    assert run["controllers[1].partitions[2].replicas[2]"] == "ONLINE"


def test_one_that_is_forgotten_with_its_topic_is_created_as_any_other() -> None:
    run = Run(TOPICS, AS_CODED | {Switch.FORGET_THE_VANISHED}, **BUDGETS)
    run.do("remove_topic(t=1)", "on_topic_change(c=1)", "create_topic(t=1)", "on_topic_change(c=1)")
    run.do("read_for_new_replica(c=1, p=2, r=2)", "create_state(c=1, p=2)")
    assert run.leadership("zookeeper.state[2]") == ("2", "[2]", "0")
    assert run["controllers[1].created[1]"] == "no"
