"""Controlled shutdowns step by step: the admin test's example of PROTOCOL.md section 7.2, and what is left of a bounce.

Brokers 1, 2, 3 stand for the example's 0, 1, 2.
"""

from dataclasses import replace

import pytest

from spec.scopes import scope
from spec.variants import AS_CODED, Switch, Switches
from tests.spec.stepping import Run

BOUNDS = replace(scope("shutdown"), brokers=3, controllers=1, assigned=((1, 2, 3),), connection_capacity=8)
ZNODE = "zookeeper.state[0]"


def shut_down(run: Run, b: int) -> None:
    """Broker b is told to stop, and asks controller 1."""
    run.do(f"stop_broker(b={b})", f"request_shutdown(b={b}, c=1)", f"accept_shutdown(c=1, b={b})")
    run.do(f"move_partition(c=1, p=0, r={b})")


def test_the_example_of_the_admin_test() -> None:
    run = Run(BOUNDS, shutdowns=3)
    shut_down(run, 3)
    assert run["controllers[1].at"] == "REMOVE_READ", "the StopReplica is sent"
    seen = run.do("read_for_removal(c=1, p=0, r=3)", "write_removal(c=1, p=0, r=3)")
    assert [one[:3] for one in seen if one[0] == "queue StopReplica"] == [("queue StopReplica", "3", "0")]
    assert run.do("answer_shutdown(c=1, b=3)") == [("answer ControlledShutdown", "3", "no")]
    assert run.leadership(ZNODE) == ("1", "[1, 2]", "1")
    shut_down(run, 2)
    run.do("read_for_removal(c=1, p=0, r=2)", "write_removal(c=1, p=0, r=2)")
    assert run.do("answer_shutdown(c=1, b=2)") == [("answer ControlledShutdown", "2", "no")]
    shut_down(run, 1)
    assert run.do("answer_shutdown(c=1, b=1)") == [("answer ControlledShutdown", "1", "yes")], "nobody else is in sync"
    assert run.leadership(ZNODE) == ("1", "[1]", "2")


def test_a_leader_hands_over_to_the_first_of_ar_and_is_told_to_follow() -> None:
    run = Run(BOUNDS, shutdowns=1)
    shut_down(run, 1)
    seen = run.do("write_elected_leader(c=1, p=0)")
    assert run.leadership(ZNODE) == ("2", "[2, 3]", "1")
    assert [one[1] for one in seen if one[0] == "queue LeaderAndIsr"] == ["1", "2", "3"]
    assert run["controllers[1].partitions[0].replicas[1]"] == "ONLINE", "the replica's state is not touched"
    assert run.do("answer_shutdown(c=1, b=1)") == [("answer ControlledShutdown", "1", "no")]


def test_without_a_good_answer_the_broker_stops_after_its_last_try() -> None:
    run = Run(replace(BOUNDS, assigned=((2, 3),), shutdown_tries=2), shutdowns=2)
    run.do("stop_broker(b=3)", "request_shutdown(b=3, c=1)", "accept_shutdown(c=1, b=3)")
    run.do("move_partition(c=1, p=0, r=3)", "read_for_removal(c=1, p=0, r=3)", "write_removal(c=1, p=0, r=3)")
    run.do("answer_shutdown(c=1, b=3)")
    for _ in range(2):
        assert not run.can("leave_cluster(b=2)")
        run.do(*(("stop_broker(b=2)",) if run.can("stop_broker(b=2)") else ()), "request_shutdown(b=2, c=1)")
        run.do("accept_shutdown(c=1, b=2)", "move_partition(c=1, p=0, r=2)", "answer_shutdown(c=1, b=2)")
    assert not run.can("request_shutdown(b=2, c=1)")
    run.do("leave_cluster(b=2)")
    assert run["zookeeper.registered"] == "{1,3}"


def test_where_nobody_knows_how_often_it_asks_a_broker_may_stop_before_and_after_each_try() -> None:
    run = Run(replace(BOUNDS, shutdown_tries=0), shutdowns=1, crashes=1)
    run.do("stop_broker(b=2)")
    assert run.can("leave_cluster(b=2)")
    run.do("request_shutdown(b=2, c=1)", "crash(b=1)")
    assert not run.can("leave_cluster(b=2)")
    for _ in range(5):
        run.do("lose_shutdown_request(b=2, c=1)", "request_shutdown(b=2, c=1)")
    run.do("lose_shutdown_request(b=2, c=1)", "leave_cluster(b=2)")
    assert run["zookeeper.registered_orphaned"] == "{1}"
    assert run["zookeeper.registered"] == "{1,3}"


def test_a_broker_that_is_back_before_anybody_looks_still_counts_as_shutting_down() -> None:
    run = Run(BOUNDS, shutdowns=1)
    shut_down(run, 3)
    run.do("read_for_removal(c=1, p=0, r=3)", "write_removal(c=1, p=0, r=3)", "answer_shutdown(c=1, b=3)")
    run.do("leave_cluster(b=3)", "start_process(b=3)")
    run.do("register_broker(b=3)", "on_broker_change(c=1)")
    assert (run["controllers[1].shutting_down"], run["controllers[1].live"]) == ("{3}", "{1,2,3}")


@pytest.mark.parametrize(
    ("switches", "at", "remains"),
    [(AS_CODED, "ONLINE_WRITE", "no"), (frozenset({Switch.DYING_TOPICS_GET_NO_LEADERSHIP}), "IDLE", "yes")],
)
def test_a_topic_that_is_being_deleted_is_not_exempt_unless_that_is_fixed(
    switches: Switches, at: str, remains: str
) -> None:
    run = Run(scope("deletion_shutdown"), switches, deletions=1, shutdowns=1)
    run.do("request_deletion(t=0)", "on_deletion_change(c=1)")
    shut_down(run, 1)
    assert run["controllers[1].at"] == at
    if at == "ONLINE_WRITE":
        seen = run.do("write_elected_leader(c=1, p=0)")
        assert [one[1] for one in seen if one[0] == "queue LeaderAndIsr"] == ["1", "2"]
    assert run.do("answer_shutdown(c=1, b=1)") == [("answer ControlledShutdown", "1", remains)]


@pytest.mark.parametrize(
    ("switches", "then"), [(AS_CODED, "read_for_removal(c=1, p=0, r=1)"), (frozenset({Switch.WAIT_FOR_LEADER}), "")]
)
def test_a_reassignment_to_who_is_shutting_down_takes_the_only_leader_down_unless_it_waits(
    switches: Switches, then: str
) -> None:
    run = Run(scope("move_shutdown"), switches, reassignments=1, shutdowns=1)
    run.do("stop_broker(b=2)", "request_shutdown(b=2, c=1)", "accept_shutdown(c=1, b=2)")
    run.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)")
    run.do("read_whether_caught_up(c=1, p=0)", "write_union(c=1, p=0)", "read_for_bump(c=1, p=0)")
    run.do("write_bump(c=1, p=0)", "start_new_replica(c=1, p=0, r=2)", "deliver_request(c=1, b=2)")
    run.do("deliver_request(c=1, b=1)", "expand_isr(b=1, p=0, r=2)", "on_state_change(c=1, p=0)")
    assert run.do("read_whether_caught_up(c=1, p=0)", "read_for_move(c=1, p=0)")[-1][0] == "fail election"
    if then:
        run.do(then)
        assert not run.holds("old_replicas_go_after_the_leader_moved", "write_removal(c=1, p=0, r=1)")
    else:
        assert run["controllers[1].at"] == "IDLE"
        assert run.leadership(ZNODE)[:2] == ("1", "[1, 2]")


# ----------------------------------------------------------------------------------------------------- the term is over

TWO = replace(scope("shutdown_zombie"), brokers=3, assigned=((2, 3), (3, 2)), connection_capacity=8)
FAILS = ("fail to send",)


def deposed(switches: Switches = AS_CODED) -> Run:
    """Controller 1 has begun with broker 3's shutdown, when its session is lost; it learns of that, and resigns.

    It is about to elect.
    """
    run = Run(TWO, switches, shutdowns=2, expiries=1)
    run.do("stop_broker(b=3)", "request_shutdown(b=3, c=1)", "accept_shutdown(c=1, b=3)", "stop_broker(b=2)")
    run.do("request_shutdown(b=2, c=1)", "expire_session(b=1, lost=0)", "on_controller_change(c=2)", "elect_read(c=2)")
    run.do("elect_create(c=2)", "renew_session(b=1)", "on_new_session(c=1)")
    return run


def test_the_shutdown_has_the_lock_before_the_listener_that_has_resigned_elects_and_no_callback_runs() -> None:
    run = deposed()
    assert not run.can("register_broker(b=1)"), "which is the next callback"
    run.do("move_partition(c=1, p=1, r=3)", "move_partition(c=1, p=0, r=3)", "resign_delete(c=1)")
    assert not run.can("register_broker(b=1)")
    run.do("answer_shutdown(c=1, b=3)", "elect_read(c=1)")
    assert run["controllers[1].at"] == "ELECT_CREATE", "the successor's znode is gone"


def test_before_0_10_2_the_lock_is_kept_until_the_election_is_over() -> None:
    run = deposed(frozenset({Switch.RESIGN_UNDER_LOCK}))
    assert not run.can("move_partition(c=1, p=0, r=3)")
    run.do("elect_read(c=1)", "move_partition(c=1, p=0, r=3)")


@pytest.mark.parametrize("then", [(), ("elect_read(c=1)",)], ids=["before it elects", "after it has elected"])
def test_who_has_resigned_elects_nobody_cannot_send_and_deletes_its_successors_znode(then: tuple[str, ...]) -> None:
    run = deposed()
    run.do(*then)
    assert run["controllers[1].active"] == "no"
    assert run.do("move_partition(c=1, p=1, r=3)") == [], "broker 3 leads this one"
    assert run.do("move_partition(c=1, p=0, r=3)") == [FAILS]
    assert run.do("resign_delete(c=1)") == [("delete /controller", "2")]
    assert run.do("answer_shutdown(c=1, b=3)") == [("refuse ControlledShutdown", "3")]
    assert run["processes[3].leaving"] == "ASKS"
    assert run["controllers[1].partitions[1].leader"] == "-1", "what was cached for this is forgotten"


def test_who_has_resigned_answers_what_it_had_cached() -> None:
    run = deposed(frozenset({Switch.FENCED_RESIGN}))
    run.do("move_partition(c=1, p=1, r=3)")
    assert run["controllers[1].partitions[1].leader"] == "3"
    assert not run.can("answer_shutdown(c=1, b=3)"), "one partition is still to be treated"
    run.do("move_partition(c=1, p=0, r=3)", "resign_delete(c=1)")
    assert run["zookeeper.controller"] == "2", "it is not its own"


def test_who_is_not_active_refuses_others_at_once() -> None:
    """The test of being active comes before the wait for the one that is treated."""
    assert deposed().do("refuse_shutdown(c=1, b=2)") == [("refuse ControlledShutdown", "2")]


def test_before_0_9_nobody_resigned_over_it() -> None:
    run = deposed(frozenset({Switch.KEEP_DIRTY_BATCH}))
    assert run.do("move_partition(c=1, p=0, r=3)") == [FAILS]
    assert run["controllers[1].shutdown_fails"] == "yes"
    assert not run.can("resign_delete(c=1)")
    assert run["zookeeper.controller"] == "2"


def test_where_that_is_fixed_a_shutdown_ends_with_its_term() -> None:
    run = deposed(frozenset({Switch.SHUTDOWN_ENDS_WITH_TERM}))
    run.do("elect_read(c=1)")
    assert not run.can("move_partition(c=1, p=0, r=3)")
    assert run.do("refuse_shutdown(c=1, b=3)") == [("refuse ControlledShutdown", "3")]


def test_a_new_term_of_the_same_controller_goes_on_with_it_and_knows_of_nobody_who_shuts_down() -> None:
    run = Run(replace(TWO, controllers=1), shutdowns=1, expiries=1)
    run.do("stop_broker(b=3)", "request_shutdown(b=3, c=1)", "accept_shutdown(c=1, b=3)", "expire_session(b=1, lost=0)")
    run.do("renew_session(b=1)", "on_new_session(c=1)", "elect_read(c=1)", "elect_create(c=1)", "read_epoch(c=1)")
    run.do("increment_epoch(c=1)", "subscribe(c=1)", "read_brokers(c=1)", "read_topics(c=1)")
    run.do("read_state(c=1, p=0)", "read_state(c=1, p=1)", "finish_failover(c=1)")
    assert (run["controllers[1].active"], run["controllers[1].shutting_down"]) == ("yes", "{}")
    run.do("move_partition(c=1, p=0, r=3)", "read_for_removal(c=1, p=0, r=3)", "write_removal(c=1, p=0, r=3)")
    assert run.leadership(ZNODE) == ("2", "[2]", "1")
