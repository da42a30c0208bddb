"""Who finds the controller's own batch dirty, led step by step on specification and reference alike.

What is expected is what Kafka 0.10.2.2 does: `sendUpdateMetadataRequest` and `shutdownBroker` catch what `newBatch`
raises, clear the batch and have the elector resign; `updateLeaderEpochAndSendRequest` calls it outside of its `try`.
`ZookeeperLeaderElector.elect` catches whatever a failover raises, and resigns.
"""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from spec.scopes import Scope
from spec.state.enumerations import Callback
from spec.variants import AS_CODED, Switch, Switches
from tests.model_check.side_by_side import SideBySide

TOPICS = Scope(
    name="topics to remove",
    statement="Two topics, each with a partition on both brokers; the first is removed by hand.",
    brokers=2,
    controllers=1,
    assigned=((1, 2), (1, 2)),
    topic_of=(0, 1),
    requests=(((), (2, 1)), ((), (2,))),
    parts=frozenset({
        "partitions", "connections", "creation", "notifications", "reassignment", "deletion", "shutdown",
    }),
    topics_stand=True,
    callback_capacity=8,
    connection_capacity=8,
)  # fmt: skip
BUDGETS = {"removals": 1, "shrinks": 2, "reassignments": 1, "deletions": 1, "shutdowns": 1}
DIRTY, DIRTIED = "find its batch dirty", "fail to add UpdateMetadata"
AT, LEFT_DIRTY = "controllers[1].at", "controllers[1].dirty"


def dirtied(switches: Switches = AS_CODED, scope: Scope = TOPICS, **budgets: int) -> SideBySide:
    """A notification names a partition whose topic is gone by now: its leadership has no AR, so the batch stays dirty.

    The notification is deleted all the same.
    """
    both = SideBySide(scope, switches, **BUDGETS, **budgets)
    both.do("shrink_isr(b=1, p=0, r=2)", "remove_topic(t=0)", "report_isr_changes(b=1)", "on_topic_change(c=1)")
    assert DIRTIED in both.do("on_isr_change(c=1)", "read_notified(c=1, p=0)")
    assert (both[AT], both[LEFT_DIRTY]) == ("NOTIFIED_DELETE", "yes")
    both.do("delete_notification(c=1, n=1)", "on_isr_change(c=1)")
    assert (both[AT], both[LEFT_DIRTY]) == ("IDLE", "yes")
    return both


def assert_resigns(both: SideBySide) -> None:
    """The batch is clean, /controller goes, and the controller stays half-active (D4)."""
    assert (both[AT], both[LEFT_DIRTY], both["controllers[1].leader_id"]) == ("RESIGN_DELETE", "no", "-1")
    assert both.do("resign_delete(c=1)")[0] == "delete /controller"
    assert (both["zookeeper.controller"], both["controllers[1].active"]) == ("-1", "yes")


def test_a_notification_is_deleted_after_the_resignation() -> None:
    both = dirtied()
    both.do("shrink_isr(b=1, p=1, r=2)", "report_isr_changes(b=1)", "on_isr_change(c=1)")
    assert DIRTY in both.do("read_notified(c=1, p=1)")
    assert_resigns(both)
    assert both[AT] == "NOTIFIED_DELETE"
    both.do("delete_notification(c=1, n=1)")
    assert both[AT] == "IDLE"


def found_by_a_failover(switches: Switches = AS_CODED) -> SideBySide:
    """Broker 1 has a dirty batch, loses its session, and is elected again; two brokers may be."""
    both = dirtied(switches, replace(TOPICS, controllers=2, callback_capacity=12), expiries=1)
    both.do("expire_session(b=1, lost=0)", "renew_session(b=1)", "on_new_session(c=1)", "elect_read(c=1)")
    both.do("elect_create(c=1)", "read_epoch(c=1)", "increment_epoch(c=1)", "subscribe(c=1)")
    both.do("read_brokers(c=1)", "read_topics(c=1)", "read_state(c=1, p=1)", "read_reassignments(c=1)")
    assert both[LEFT_DIRTY] == "yes"
    return both


def test_a_failover_resigns_twice_and_the_second_time_deletes_its_successors_znode() -> None:
    both = found_by_a_failover()
    assert DIRTY in both.do("read_deletions(c=1)")
    both.do("resign_delete(c=1)")
    assert (both[AT], both["zookeeper.controller"]) == ("RESIGN_DELETE", "-1")
    both.do("on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")
    assert both["zookeeper.controller"] == "2"
    assert both.do("resign_delete(c=1)") == ["delete /controller"]
    assert (both[AT], both["zookeeper.controller"]) == ("IDLE", "-1")


def test_before_0_9_a_failover_resigned_once() -> None:
    both = found_by_a_failover(frozenset({Switch.KEEP_DIRTY_BATCH}))
    assert DIRTY in both.do("read_deletions(c=1)")
    both.do("resign_delete(c=1)")
    assert (both[AT], both[LEFT_DIRTY]) == ("IDLE", "yes")


def test_before_0_9_it_was_only_deleted() -> None:
    both = dirtied(frozenset({Switch.KEEP_DIRTY_BATCH}))
    both.do("shrink_isr(b=1, p=1, r=2)", "report_isr_changes(b=1)", "on_isr_change(c=1)")
    assert DIRTY in both.do("read_notified(c=1, p=1)")
    assert (both[AT], both[LEFT_DIRTY]) == ("NOTIFIED_DELETE", "yes")


def request(both: SideBySide, k: int) -> None:
    """A reassignment of the other topic's partition is accepted."""
    both.do(f"request_reassignment(k={k})", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=1)")


def test_step_2_raises_and_nobody_resigns() -> None:
    """Broker 2 is out of the ISR, so AR becomes the union, which stays; the request is refused after all."""
    both = dirtied()
    both.do("shrink_isr(b=1, p=1, r=2)")
    request(both, 0)
    assert "fail reassignment" in both.do("read_whether_caught_up(c=1, p=1)", "write_union(c=1, p=1)")
    assert (both[AT], both[LEFT_DIRTY], both["controllers[1].leader_id"]) == ("REFUSE_READ", "yes", "1")
    both.do("read_remaining(c=1, p=1)", "write_remaining(c=1, p=1)")
    assert (both[AT], both["zookeeper.requested[1]"], both["zookeeper.assigned[1]"]) == ("IDLE", "[]", "[2, 1]")


def test_step_7_raises_and_nobody_resigns() -> None:
    """The leader stays and is told of its new AR, or would be; AR is RAR in memory already."""
    both = dirtied()
    request(both, 0)
    assert "fail reassignment" in both.do("read_whether_caught_up(c=1, p=1)")
    assert (both[AT], both[LEFT_DIRTY], both["controllers[1].leader_id"]) == ("REFUSE_READ", "yes", "1")
    assert (both["controllers[1].partitions[1].assigned"], both["zookeeper.assigned[1]"]) == ("[2, 1]", "[1, 2]")


def test_step_12_has_the_elector_resign_and_the_request_is_taken_from_what_is_left_once_more() -> None:
    """Broker 2 is elected, in the partition machine's batch; so nothing stands in the way before step 12."""
    both = dirtied()
    request(both, 1)
    both.do("read_whether_caught_up(c=1, p=1)", "read_for_move(c=1, p=1)", "write_move(c=1, p=1)")
    both.do("read_for_removal(c=1, p=1, r=1)", "write_removal(c=1, p=1, r=1)", "write_target(c=1, p=1)")
    both.do("read_remaining(c=1, p=1)")
    assert DIRTY in both.do("write_remaining(c=1, p=1)")
    assert_resigns(both)
    assert both[AT] == "REFUSE_READ"
    both.do("read_remaining(c=1, p=1)", "write_remaining(c=1, p=1)")
    assert (both[AT], both["zookeeper.assigned[1]"]) == ("IDLE", "[2]")


def test_the_deletion_thread_ends() -> None:
    both = dirtied()
    both.do("request_deletion(t=1)", "on_deletion_change(c=1)")
    assert DIRTY in both.do("delete_queued_topic(c=1, t=1)")
    assert_resigns(both)
    assert (both[AT], both["controllers[1].deletion"], both["controllers[1].queued[1]"]) == ("IDLE", "ENDED", "yes")


@pytest.mark.parametrize("switches", [AS_CODED, frozenset({Switch.KEEP_DIRTY_BATCH})])
def test_a_shutdown_is_answered_with_an_error(switches: Switches) -> None:
    """Broker 2, which follows, is not told to stop; it may ask again."""
    both = dirtied(switches)
    both.do("stop_broker(b=2)", "request_shutdown(b=2, c=1)", "accept_shutdown(c=1, b=2)")
    assert DIRTY in both.do("move_partition(c=1, p=1, r=2)")
    if Switch.KEEP_DIRTY_BATCH not in switches:
        assert_resigns(both)
    assert both.do("answer_shutdown(c=1, b=2)") == ["refuse ControlledShutdown"]
    assert (both[AT], both["processes[2].leaving"], both["connections[1][2][0].stage"]) == ("IDLE", "ASKS", "EMPTY")


def test_who_leads_what_is_of_no_topic_any_more_is_answered_with_an_error() -> None:
    """How many replicas it has is asked of AR, which is gone; the rest has been moved before."""
    both = SideBySide(TOPICS, AS_CODED, **BUDGETS)
    both.do("remove_topic(t=0)", "on_topic_change(c=1)", "stop_broker(b=1)", "request_shutdown(b=1, c=1)")
    both.do("accept_shutdown(c=1, b=1)", "move_partition(c=1, p=1, r=1)", "write_elected_leader(c=1, p=1)")
    assert both.do("answer_shutdown(c=1, b=1)") == ["refuse ControlledShutdown"]
    assert both["controllers[1].partitions[1].leader"] == "2"


@pytest.mark.parametrize("kept", [False, True])
def test_before_0_10_2_a_notification_is_handled_after_the_term_and_cannot_be_told_of(*, kept: bool) -> None:
    """D8: AR stays cached in Kafka, so nothing raises before the send; a batch that is kept (D28) is dirty then."""
    switches = {Switch.RUN_WHEN_NOT_ACTIVE} | ({Switch.KEEP_DIRTY_BATCH} if kept else set())
    two = replace(TOPICS, controllers=2, callback_capacity=16, connection_capacity=12)
    both = SideBySide(two, frozenset(switches), **BUDGETS, expiries=1)
    both.do("shrink_isr(b=1, p=0, r=2)", "report_isr_changes(b=1)", "expire_session(b=1, lost=1)")
    both.do("on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)", "renew_session(b=1)")
    both.do("on_new_session(c=1)", "elect_read(c=1)", "register_broker(b=1)")
    skips = [f"skip_callback(c=1, callback={number})" for number in range(len(Callback))]
    while not both.can("on_isr_change(c=1)"):
        both.do(next(one for one in skips if both.can(one)))
    assert both.do("on_isr_change(c=1)", "read_notified(c=1, p=0)") == ["fail to send"]
    assert both[LEFT_DIRTY] == ("yes" if kept else "no")
    if not kept:
        assert both.do("resign_delete(c=1)") == ["delete /controller"]
    assert both[AT] == "NOTIFIED_DELETE", "what was read is deleted all the same"


@pytest.mark.slow
@pytest.mark.parametrize("switch", [None, Switch.KEEP_DIRTY_BATCH, Switch.RESIGN_CLEANS_UP])
def test_walks_at_random_find_no_difference(switch: Switch | None) -> None:
    """Where the batch is dirtied and found dirty on the way, and not only once."""
    both, random = SideBySide(TOPICS, AS_CODED if switch is None else AS_CODED | {switch}, **BUDGETS), Random(1)
    seen = Counter(kind for _ in range(150) for kind in both.walk(random, 60))
    assert min(seen[DIRTIED], seen[DIRTY]) > 2
