"""Partitions added to a topic, led by the hand: the common case, and the two writes that undo each other (D39)."""

from dataclasses import replace

import pytest

from spec.errors import MalformedInput
from spec.scopes import _sensible, scope
from spec.variants import AS_CODED, Switch
from tests.spec.stepping import Run

ADDITION = {"additions": 1, "crashes": 1}


def test_an_added_partition_goes_the_way_of_a_new_topics() -> None:
    run = Run(scope("addition"), AS_CODED, **ADDITION)
    assert run["zookeeper.assigned[1]"] == "[]"
    run.do("read_for_addition(t=0)", "write_addition(t=0)", "on_partition_modifications(c=1, t=0)")
    assert run["controllers[1].partitions[1].state"] == "NEW"
    run.do("read_for_new_replica(c=1, p=1, r=1)", "create_state(c=1, p=1)", "deliver_request(c=1, b=1)")
    assert run["brokers[1].partitions[1].leader"] == "1"
    assert run["controllers[1].partitions[1].replicas[1]"] == "ONLINE"


def test_the_first_partition_is_let_alone() -> None:
    run = Run(scope("addition"), AS_CODED, **ADDITION)
    earlier = run.state
    run.do("read_for_addition(t=0)", "write_addition(t=0)", "on_partition_modifications(c=1, t=0)")
    assert run.differs_from(earlier, "controllers[1].partitions[0]") == set()


def test_a_topic_that_is_queued_for_deletion_gets_no_partition() -> None:
    """Recording 08-delete: the added partition was skipped, and vanished with the topic."""
    run = Run(scope("addition_deletion"), AS_CODED, additions=1, deletions=1, crashes=1)
    run.do("request_deletion(t=0)", "on_deletion_change(c=1)", "read_for_addition(t=0)", "write_addition(t=0)")
    run.do("on_partition_modifications(c=1, t=0)")
    assert run["controllers[1].partitions[1].state"] == "NON_EXISTENT"
    assert run["controllers[1].at"] == "IDLE"


ACCEPTED = (
    "request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)",
    "read_whether_caught_up(c=1, p=0)", "read_for_addition(t=0)",
)  # fmt: skip


@pytest.mark.parametrize(("fixes", "left"), [(AS_CODED, "[]"), (frozenset({Switch.KEEP_OTHERS_ASSIGNMENTS}), "[1]")])
def test_step_1_writes_the_whole_topic_from_memory(fixes: frozenset[Switch], left: str) -> None:
    """Recording 24-D39-lost-partition, zk 60-61."""
    run = Run(scope("addition_reassignment"), fixes, additions=1, reassignments=1)
    run.do(*ACCEPTED, "write_addition(t=0)", "write_union(c=1, p=0)")
    assert run["zookeeper.assigned[0]"] == "[2, 1]"
    assert run["zookeeper.assigned[1]"] == left


@pytest.mark.parametrize(
    ("fixes", "left"), [(AS_CODED, "[1]"), (frozenset({Switch.KEEP_OTHERS_ASSIGNMENTS}), "[2, 1]")]
)
def test_the_tool_writes_what_it_has_read(fixes: frozenset[Switch], left: str) -> None:
    run = Run(scope("addition_reassignment"), fixes, additions=1, reassignments=1)
    run.do(*ACCEPTED, "write_union(c=1, p=0)", "write_addition(t=0)")
    assert run["zookeeper.assigned[0]"] == left


def test_a_callback_is_about_one_of_several_topics() -> None:
    two_topics = replace(scope("addition"), assigned=((1,), (1,), (1,), (1,)), added=(1, 3), topic_of=(0, 0, 1, 1))
    run = Run(two_topics, AS_CODED, **{**ADDITION, "additions": 2})
    run.do("read_for_addition(t=1)")
    assert not run.can("write_addition(t=0)")
    run.do("write_addition(t=1)", "read_for_addition(t=0)", "write_addition(t=0)")
    assert not run.can("on_partition_modifications(c=1, t=0)")
    run.do("on_partition_modifications(c=1, t=1)")
    assert [run[f"controllers[1].partitions[{p}].assigned"] for p in (1, 3)] == ["[]", "[1]"]


# A failover fails when all listeners are there (D4); before its successor, the same broker's, reads, the session ends.
LEFT_LISTENING = """
    crash(b=1) -> end_orphaned_session(b=1) -> start_process(b=1) -> elect_read(c=1) -> elect_create(c=1)
    -> fail_failover(c=1) -> resign_delete(c=1) -> register_broker(b=1) -> on_controller_change(c=1) -> elect_read(c=1)
    -> elect_create(c=1) -> read_epoch(c=1) -> increment_epoch(c=1) -> subscribe(c=1) -> read_brokers(c=1)
    -> read_topics(c=1) -> read_state(c=1, p=0) -> fail_failover(c=1) -> resign_delete(c=1) -> on_controller_change(c=1)
    -> expire_session(b=1, lost=0) -> renew_session(b=1) -> elect_read(c=1) -> elect_create(c=1) -> read_epoch(c=1)
    -> increment_epoch(c=1) -> subscribe(c=1) -> read_brokers(c=1)
"""


def test_the_read_of_a_topic_sets_the_watch_of_a_listener_that_an_earlier_term_has_left() -> None:
    """ZkClient 0.10: `readData(path, hasListeners(path))`; whoever lost its watches with its session has one again."""
    run = Run(scope("addition"), AS_CODED, crashes=1, exceptions=2, expiries=1, additions=1)
    run.do(*(step.strip() for step in LEFT_LISTENING.replace("\n", " ").split("->")))
    assert run["controllers[1].topic_listening[0]"] == "yes"
    assert run["controllers[1].topic_watching[0]"] == "no"
    run.do("read_topics(c=1)")
    assert run["controllers[1].topic_watching[0]"] == "yes"


def test_partitions_that_the_scope_lacks_are_refused() -> None:
    with pytest.raises(MalformedInput, match="added: goes, as edited does, with the part addition"):
        _sensible(replace(scope("addition"), added=(2,)))
