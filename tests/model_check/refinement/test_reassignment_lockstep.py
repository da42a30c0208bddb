"""Reassignments that end halfway, or are come between, led step by step on specification and reference alike.

What is expected is what Kafka 0.10.2.2 does. `PartitionsReassignedListener` takes the lock for each partition, and asks
nobody whether the controller has resigned meanwhile. `moveReassignedPartitionLeaderIfRequired` looks the leader up in
the cache before it puts RAR in there as AR; `onControllerResignation` unsubscribes from all state znodes before it
closes the channels, which may never end.
"""

from dataclasses import replace

import pytest

from model_check.refinement.fingerprint import conditions
from spec.scopes import Scope, scope
from spec.state.enumerations import Callback
from spec.variants import AS_CODED, Switch, Switches
from tests.model_check.refinement.test_controller_batch import AT, TOPICS, assert_resigns, dirtied
from tests.model_check.side_by_side import SideBySide

PARTS = frozenset({"partitions", "connections", "reassignment"})


@pytest.mark.parametrize("switches", [AS_CODED, frozenset({Switch.WAIT_FOR_LEADER})])
def test_who_does_not_know_the_leader_keeps_ar_in_memory(switches: Switches) -> None:
    """The state znode's create went unanswered, so the next one failed, and what is there was not cached (D54)."""
    bounds = replace(TOPICS, parts=PARTS | {"creation"}, topics_stand=False)
    both = SideBySide(bounds, switches, creations=1, losses=1, reassignments=1)
    both.do("create_topic(t=1)", "on_topic_change(c=1)", "read_for_new_replica(c=1, p=1, r=1)")
    both.do("read_for_new_replica(c=1, p=1, r=2)", "create_state_unanswered(c=1, p=1)", "create_state(c=1, p=1)")
    assert (both["zookeeper.state[1].isr"], both["controllers[1].partitions[1].leader_epoch"]) == ("[1, 2]", "-1")
    both.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=1)")
    assert "fail reassignment" in both.do("read_whether_caught_up(c=1, p=1)")
    assert (both[AT], both["controllers[1].partitions[1].assigned"]) == ("REFUSE_READ", "[1, 2]")


def test_text_is_no_live_broker_where_all_of_rar_must_live() -> None:
    """D14, D62: before 0.10.1.0 it is refused before the first run; since then by that."""
    for switches, begins in ((AS_CODED, True), (frozenset({Switch.REFUSE_DEAD_TARGETS}), False)):
        both = SideBySide(scope("odd_targets"), switches, reassignments=1)
        both.do("request_reassignment(k=2)", "on_reassignment_request(c=1)")
        assert both.can("accept_reassignment(c=1, p=0)") == begins
        if begins:
            both.do("accept_reassignment(c=1, p=0)", "read_whether_caught_up(c=1, p=0)")
        both.do("read_remaining(c=1, p=0)", "write_remaining(c=1, p=0)")
        assert both["zookeeper.requested[0]"] == "[]"


def test_who_never_closes_its_channels_listens_to_no_state_znode_any_more() -> None:
    """D50: a resignation waits for a sender that waits for the lock, while a reassignment waits for its replicas."""
    both = SideBySide(replace(TOPICS, parts=PARTS | {"deletion"}), shrinks=1, reassignments=1, deletions=1, expiries=1)
    both.do("shrink_isr(b=1, p=1, r=2)", "request_reassignment(k=0)", "on_reassignment_request(c=1)")
    both.do("accept_reassignment(c=1, p=1)", "read_whether_caught_up(c=1, p=1)", "write_union(c=1, p=1)")
    both.do("read_for_bump(c=1, p=1)", "write_bump(c=1, p=1)", "on_state_change(c=1, p=1)")
    both.do("deliver_request(c=1, b=2)", "request_deletion(t=0)", "on_deletion_change(c=1)")
    both.do("delete_queued_topic(c=1, t=0)", "read_for_removal(c=1, p=0, r=1)", "write_removal(c=1, p=0, r=1)")
    both.do("read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)")
    both.do("deliver_request(c=1, b=2)", "deliver_deletion(c=1, b=2, p=0)")
    both.do("expire_session(b=1, lost=0)", "renew_session(b=1)")
    assert both["controllers[1].isr_listening[1]"] == "yes"
    both.do("on_new_session(c=1)")
    assert (both[AT], both["controllers[1].isr_listening[1]"]) == ("DEADLOCKED", "no")


def test_a_listener_goes_on_with_its_request_behind_a_resignation() -> None:
    """The shutdown that has the lock first finds the batch dirty (D53); who has resigned so stays half-active (D4)."""
    both = dirtied()
    both.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "stop_broker(b=2)")
    both.do("request_shutdown(b=2, c=1)", "accept_shutdown(c=1, b=2)", "move_partition(c=1, p=1, r=2)")
    assert_resigns(both)
    assert (both[AT], both["controllers[1].handler"]) == ("REASSIGN_NEXT", "REASSIGNMENT")
    both.do("accept_reassignment(c=1, p=1)", "read_whether_caught_up(c=1, p=1)")


def test_a_listener_has_nothing_left_to_do_where_another_thread_found_the_controller_fenced_off() -> None:
    fenced = frozenset({Switch.ATOMIC_ELECTION, Switch.FENCED_WRITES})
    bounds = replace(TOPICS, controllers=2, parts=PARTS | {"shutdown"}, requests=(((2, 1), (2, 1)),))
    both = SideBySide(bounds, fenced, reassignments=1, shutdowns=1, expiries=1)
    both.do("request_reassignment(k=0)", "stop_broker(b=2)", "request_shutdown(b=2, c=1)")
    both.do("on_reassignment_request(c=1)", "accept_shutdown(c=1, b=2)")
    both.do("expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")
    both.do("move_partition(c=1, p=0, r=2)", "renew_session(b=1)", "read_for_removal(c=1, p=0, r=2)")
    assert not both.can("on_new_session(c=1)"), "the lock is held"
    assert both.do("write_removal(c=1, p=0, r=2)")[-1] == "resigned"
    assert (both[AT], both["controllers[1].due[0]"], both["controllers[1].due[1]"]) == ("IDLE", "[]", "[]")
    assert both.can("on_new_session(c=1)")


def test_a_zombie_deletes_the_request_that_its_successor_has_read() -> None:
    """The successor has lost its session, and hears nothing: its memory, as it was read, may not say that it stands."""
    both = SideBySide(scope("reassignment_zombie"), reassignments=1, expiries=2, move_losses=1)
    both.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)")
    both.do("read_whether_caught_up(c=1, p=0)", "write_union(c=1, p=0)", "read_for_bump(c=1, p=0)")
    both.do("write_bump(c=1, p=0)", "deliver_request(c=1, b=2)", "deliver_request(c=1, b=3)")
    both.do("expand_isr(b=3, p=0, r=2)", "start_new_replica(c=1, p=0, r=2)", "on_state_change(c=1, p=0)")
    both.do("read_whether_caught_up(c=1, p=0)", "read_for_move(c=1, p=0)", "write_move(c=1, p=0)")
    both.do("read_for_removal(c=1, p=0, r=3)", "write_removal(c=1, p=0, r=3)", "write_target(c=1, p=0)")
    both.do("read_remaining(c=1, p=0)", "expire_session(b=1, lost=0)", "renew_session(b=1)")
    both.do("on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)", "read_epoch(c=2)")
    both.do("increment_epoch(c=2)", "subscribe(c=2)", "read_brokers(c=2)", "read_topics(c=2)", "read_state(c=2, p=0)")
    both.do("read_reassignments(c=2)", "read_remaining(c=2, p=0)", "expire_session(b=2, lost=0)")
    assert both["controllers[2].remaining_read"] == "yes"
    stands = "request that 2 has read for its write is still there"
    assert (stands, True) in conditions(both.cluster)
    both.do("write_remaining(c=1, p=0)")
    assert both["controllers[2].remaining_read"] == "no"
    told = conditions(both.cluster)
    assert (stands, False) in told
    for process in both.cluster.processes.values():
        process.notes.clear()
    assert conditions(both.cluster) == told


def resigned(bounds: Scope, switches: Switches) -> SideBySide:
    """Broker 1 has resigned, and is to hear that all of RAR has caught up with broker 3; broker 2 has /controller."""
    both = SideBySide(bounds, switches)
    both.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)")
    both.do("read_whether_caught_up(c=1, p=0)", "write_union(c=1, p=0)", "read_for_bump(c=1, p=0)")
    both.do("write_bump(c=1, p=0)", "start_new_replica(c=1, p=0, r=2)", "on_state_change(c=1, p=0)")
    both.do("deliver_request(c=1, b=2)", "deliver_request(c=1, b=3)", "expand_isr(b=3, p=0, r=2)")
    both.do("expire_session(b=1, lost=1)", "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)")
    both.do("renew_session(b=1)", "on_new_session(c=1)", "elect_read(c=1)", "register_broker(b=1)")
    skips = [f"skip_callback(c=1, callback={list(Callback).index(one)})" for one in Callback if one != Callback.STATE]
    while waiting := [one for one in skips if both.can(one)]:
        both.do(*waiting[:1])
    return both


@pytest.mark.parametrize("kept", [False, True])
def test_before_0_10_2_who_has_resigned_goes_on_with_a_reassignment(*, kept: bool) -> None:
    """D8: what is raised for want of state machines is caught; for want of channels the elector resigns another."""
    switches = {Switch.RUN_WHEN_NOT_ACTIVE} | ({Switch.KEEP_DIRTY_BATCH} if kept else set())
    both = resigned(scope("reassignment_zombie"), frozenset(switches))
    both.do("on_state_change(c=1, p=0)", "read_whether_caught_up(c=1, p=0)")
    assert both.do("write_target(c=1, p=0)") == ["write assignment"]
    assert both["zookeeper.state[0].leader"] == "3", "nobody was elected"
    both.do("read_remaining(c=1, p=0)")
    seen = both.do("write_remaining(c=1, p=0)")
    assert seen[:2] == ["write /admin/reassign_partitions", "fail to send"]
    if kept:
        assert (both[AT], both["zookeeper.controller"]) == ("IDLE", "2")
    else:
        assert both.do("resign_delete(c=1)") == ["delete /controller", "fail reassignment"]
        assert both["zookeeper.controller"] == "-1"


def test_who_has_resigned_cannot_raise_the_leader_epoch() -> None:
    """The leader is of RAR, and stays: the state znode is a newer controller's than of epoch 0, which ends the run."""
    bounds = replace(scope("reassignment_zombie"), requests=(((3, 2),),))
    both = resigned(bounds, frozenset({Switch.RUN_WHEN_NOT_ACTIVE}))
    both.do("on_state_change(c=1, p=0)", "read_whether_caught_up(c=1, p=0)")
    assert both.do("read_for_move(c=1, p=0)") == ["fail reassignment"]
    assert (both[AT], both["zookeeper.controller"]) == ("IDLE", "2")


def test_since_0_10_2_who_has_resigned_does_not() -> None:
    both = resigned(scope("reassignment_zombie"), AS_CODED)
    assert not both.can("on_state_change(c=1, p=0)")
    both.do(f"skip_callback(c=1, callback={list(Callback).index(Callback.STATE)})")


def test_who_writes_back_a_request_that_was_removed_by_hand_asks_for_what_is_left_of_it() -> None:
    """`removePartitionFromReassignedPartitions` writes with `updatePersistentPath`, which creates what is gone."""
    both = SideBySide(scope("joint_moves"), AS_CODED, reassignments=1, move_withdrawals=1)
    both.do("request_reassignment(k=1)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)")
    both.do("read_whether_caught_up(c=1, p=0)", "write_union(c=1, p=0)", "read_for_bump(c=1, p=0)")
    both.do("write_bump(c=1, p=0)", "start_new_replica(c=1, p=0, r=2)", "read_remaining(c=1, p=1)")
    both.do("withdraw_reassignment()", "write_remaining(c=1, p=1)")
    assert (both["zookeeper.requested[1]"], both["history.target[1]"]) == ("[]", "[]")
    assert both["zookeeper.requested[0]"] == both["history.target[0]"] != "[]"
