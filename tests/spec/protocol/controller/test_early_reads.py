"""A listener that had to wait for the controller lock goes by what ZkClient read for it before."""

import pytest

from spec.scopes import scope
from spec.variants import AS_CODED, Switch
from tests.spec.stepping import Run

FAILOVER = ("read_epoch(c=1)", "increment_epoch(c=1)", "subscribe(c=1)", "read_brokers(c=1)", "finish_failover(c=1)")


def restarted() -> Run:
    """A controller is killed and starts again, and its old /controller goes right after it has subscribed."""
    run = Run(scope("early_reads"), crashes=1, early_starts=1, early_reads=1)
    run.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)", *FAILOVER[:2], "create_epoch(c=1)")
    run.do(*FAILOVER[2:], "on_controller_change(c=1)")
    run.do("crash(b=1)", "start_process_early(b=1)", "end_orphaned_session(b=1)")
    return run


def test_d67_who_has_won_hears_that_there_was_no_controller() -> None:
    run = restarted()
    assert run.do("read_for_listener(c=1)") == [("read /controller", "-1")]
    assert run["controllers[1].watching.controller"] == "yes", "set again before anybody has the lock"
    run.do("elect_read(c=1)", "elect_create(c=1)", *FAILOVER)
    assert run["controllers[1].active"] == "yes"
    assert run.do("on_controller_change(c=1)") == [("resigned",)], "and nothing is read any more"
    run.do("elect_read(c=1)", "on_controller_change(c=1)")
    assert [run["zookeeper.controller"], run["controllers[1].active"], run["controllers[1].at"]] == ["1", "no", "IDLE"]


def test_who_reads_under_the_lock_finds_itself() -> None:
    run = restarted()
    run.do("elect_read(c=1)", "elect_create(c=1)", *FAILOVER)
    assert run.do("on_controller_change(c=1)") == [("read /controller", "1")]
    assert run["controllers[1].active"] == "yes"


def test_while_start_up_makes_its_failover_the_listener_on_controller_is_next() -> None:
    run = Run(scope("early_reads"), early_reads=2)
    run.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)", *FAILOVER[:2], "create_epoch(c=1)")
    run.do("subscribe(c=1)", "start_process(b=2)", "register_broker(b=2)", "read_for_listener(c=1)")
    assert [run[f"controllers[1].callbacks[{place}]"] for place in (0, 1)] == ["CONTROLLER", "BROKERS"]
    assert not run.can("read_for_listener(c=1)")


def deleting() -> Run:
    """Two topics are asked to be deleted, and the thread has just deleted the znode of the first."""
    run = Run(scope("early_topics"), deletions=2, creations=1, early_reads=1)
    run.do("request_deletion(t=0)", "request_deletion(t=1)")
    run.drain("on_deletion_change", "delete_queued_topic", "_removal")
    run.drain("deliver", "on_replica_deleted")
    run.do("delete_queued_topic(c=1, t=1)", "delete_state(c=1, p=1)", "delete_topic(c=1, t=1)")
    return run


def test_the_deletion_thread_completes_a_topic_that_the_listener_finds_new() -> None:
    run = deleting()
    seen = [("read /brokers/topics", "0", "yes"), ("read /brokers/topics", "1", "no")]
    assert run.do("read_for_listener(c=1)") == seen, "the thread has the lock"
    run.drain("delete_")
    assert [run["controllers[1].at"], run["controllers[1].topics[0]"]] == ["IDLE", "no"]
    assert run.do("on_topic_change(c=1)") == []
    assert [run["controllers[1].topics[0]"], run["controllers[1].partitions[0].state"]] == ["yes", "NON_EXISTENT"]
    run.do("create_topic(t=0)")
    run.drain("on_", "read_for_new_replica", "create_state")
    assert run["controllers[1].partitions[0].state"] == "ONLINE", "its own znode was listened to"


def test_who_is_controller_already_needs_no_lock_for_a_new_session() -> None:
    """The answer to its create of /controller under the new session is known to nobody yet: start-up has the lock."""
    run = Run(scope("early_expiry"), expiries=1, early_reads=2)
    run.do("start_process(b=1)", "expire_session(b=1, lost=0)", "renew_session(b=1)", "elect_read(c=1)")
    run.do("elect_create(c=1)")
    assert run["controllers[1].callbacks[0]"] == "SESSION"
    assert run.do("read_for_listener(c=1)") == [("read /controller", "1")]
    assert [run["controllers[1].callbacks[0]"], run["controllers[1].given"]] == ["CONTROLLER", "no"]


def test_before_0_10_2_the_handler_of_a_new_session_reads_nothing() -> None:
    """It prints before it has the lock, which it needs whoever is controller."""
    run = Run(scope("early_expiry"), AS_CODED | {Switch.ALWAYS_RESIGN}, expiries=1, early_reads=1)
    run.do("start_process(b=1)", "expire_session(b=1, lost=0)", "renew_session(b=1)", "elect_read(c=1)")
    run.do("elect_create(c=1)")
    assert run.do("read_for_listener(c=1)") == []
    assert [run["controllers[1].callbacks[0]"], run["controllers[1].given"]] == ["SESSION", "yes"]
    run.do(*FAILOVER[:2], "create_epoch(c=1)", *FAILOVER[2:])
    assert run.do("on_new_session(c=1)") == [("resigned",)]


def deleting_on_the_way_out() -> Run:
    """Broker 1, the controller, is to stop; broker 2 has deleted its replica of a topic, and /controller is removed."""
    run = Run(scope("early_resignation"), deletions=1, shutdowns=1, controller_removals=1, early_reads=1)
    run.do("stop_broker(b=1)", "request_shutdown(b=1, c=1)", "accept_shutdown(c=1, b=1)", "request_deletion(t=0)")
    run.do("on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)", "read_for_removal(c=1, p=0, r=2)")
    run.do("write_removal(c=1, p=0, r=2)", "deliver_request(c=1, b=2)", "deliver_deletion(c=1, b=2, p=0)")
    run.do("on_replica_deleted(c=1, b=2, p=0)", "remove_controller()", "read_for_listener(c=1)")
    return run


def test_d68_who_resigns_tells_who_has_deleted_a_replica_to_host_it() -> None:
    run = deleting_on_the_way_out()
    run.do("stop_deletions(c=1)")
    kept = ("queued[0]", "doomed[0]", "stopped", "active", "watching.controller")
    assert [run[f"controllers[1].{name}"] for name in kept] == ["no", "no", "yes", "yes", "yes"]
    run.do("move_partition(c=1, p=0, r=1)", "read_for_removal(c=1, p=0, r=1)")
    assert run.do("write_removal(c=1, p=0, r=1)")[-1][:2] == ("queue LeaderAndIsr", "2")
    assert run.do("on_controller_change(c=1)") == [("resigned",)], "as it was to before"


def test_before_that_a_shutdown_tells_nobody_of_what_is_deleted() -> None:
    run = deleting_on_the_way_out()
    run.do("move_partition(c=1, p=0, r=1)", "read_for_removal(c=1, p=0, r=1)")
    assert not [one for one in run.do("write_removal(c=1, p=0, r=1)") if one[0] == "queue LeaderAndIsr"]


def test_before_0_10_2_the_lock_is_taken_before_deletions_are_stopped() -> None:
    bounds = scope("early_resignation")
    run = Run(bounds, AS_CODED | {Switch.RESIGN_UNDER_LOCK}, **dict(bounds.budgets))
    assert not any("stop_deletions" in name for name in run.system.named)
    assert "controllers[1].stopped" not in run.state


def test_what_is_read_early_is_not_lost_with_the_session() -> None:
    run = Run(scope("early_expiry"), expiries=1, early_reads=1)
    run.do("start_process(b=1)", "elect_read(c=1)", "elect_create(c=1)", "read_for_listener(c=1)")
    assert run.can("expire_session(b=1, lost=0)")
    assert not run.can("expire_session(b=1, lost=1)")


@pytest.mark.parametrize(
    "name", ["early_reads", "early_expiry", "early_topics", "early_move", "early_election", "early_resignation"]
)
def test_where_listeners_read_under_the_lock_none_reads_early(name: str) -> None:
    bounds = scope(name)
    fixed = Run(bounds, AS_CODED | {Switch.READ_UNDER_LOCK}, **dict(bounds.budgets))
    assert not any("read_for_listener" in name for name in fixed.system.named)
    assert not any(".given" in path for path in fixed.state)


def test_d59_a_request_that_was_removed_before_the_lock_is_carried_out() -> None:
    run = Run(scope("early_move"), reassignments=1, move_withdrawals=1, deletions=1, early_reads=1)
    run.do("request_deletion(t=1)", "request_reassignment(k=0)")
    run.do("on_deletion_change(c=1)", "delete_queued_topic(c=1, t=1)")
    assert run.do("read_for_listener(c=1)") == [("read /admin/reassign_partitions",)], "the thread has the lock"
    assert [run["controllers[1].given_moves[0]"], run["controllers[1].watching.reassignments"]] == ["[2]", "yes"]
    run.do("withdraw_reassignment()")
    run.drain("read_for_removal", "write_removal")
    assert run.do("on_reassignment_request(c=1)") == [], "nothing is read any more"
    assert [run["controllers[1].due[0]"], run["controllers[1].given"]] == ["[2]", "no"]
    run.do("accept_reassignment(c=1, p=0)", "read_whether_caught_up(c=1, p=0)")
    assert run.do("write_union(c=1, p=0)") == [("write assignment", "0", "[2, 1]")]


def test_nothing_is_asked_for_where_the_request_came_after_the_read() -> None:
    run = Run(scope("early_election"), elections=2, withdrawals=1, early_reads=1)
    run.do("request_election(named=1)", "withdraw_election()", "read_for_listener(c=1)")
    run.do("request_election(named=1)")
    run.do("on_election_request(c=1)")
    assert [run["controllers[1].at"], run["controllers[1].request_read"]] == ["IDLE", "no"]
    run.do("on_election_request(c=1)")
    assert run["controllers[1].request_read"] == "yes", "the read had set the watch again"


def test_d49_the_request_that_took_the_place_of_the_one_that_was_read_is_deleted() -> None:
    run = Run(scope("early_election"), elections=2, withdrawals=1, early_reads=1)
    run.do("request_election(named=1)", "read_for_listener(c=1)")
    assert run["controllers[1].given_stands"] == "yes"
    run.do("withdraw_election()", "request_election(named=1)")
    run.do("on_election_request(c=1)", "read_for_election(c=1, p=0)")
    assert [run["controllers[1].at"], run["controllers[1].request_read"]] == ["DELETE_ELECTIONS", "no"]
    run.do("delete_election_request(c=1)")
    assert run["zookeeper.elections[0]"] == "no", "and nobody has held it"
