"""With fixes on, both sides write the same lines: stories that random runs found.

A fix of ours has no Kafka to say what it writes. It writes what the era writes of the same thing: that a topic is held
back, that a reassignment has failed, that a request is done with.
"""

from dataclasses import replace

import pytest

from model_check.refinement.simulate import widened
from reference.journal import Report
from spec.logs.controller_log.elections import PreferredElectionDone
from spec.logs.controller_log.reassignment import ReassignmentFailed
from spec.logs.controller_log.topic_deletion import DeletionHalted, DeletionIneligible, DeletionRetried
from spec.logs.log_lines import Line
from spec.scopes import scope
from spec.variants import DOCUMENTED, FENCED
from tests.model_check.side_by_side import SideBySide

ELECTED = (
    "elect_read(c=1)", "elect_create(c=1)", "subscribe(c=1)", "read_brokers(c=1)", "read_topics(c=1)",
    "read_state(c=1, p=0)",
)  # fmt: skip
MOVES = (
    "request_reassignment(k=0)", "on_reassignment_request(c=1)", "accept_reassignment(c=1, p=0)",
    "read_whether_caught_up(c=1, p=0)", "request_deletion(t=0)", "write_union(c=1, p=0)", "expire_session(b=1, lost=0)",
    "renew_session(b=1)", "read_for_bump(c=1, p=0)", "write_bump(c=1, p=0)", "start_new_replica(c=1, p=0, r=2)",
    "on_deletion_change(c=1)",
)  # fmt: skip
ADDED = frozenset({"partitions", "connections", "creation", "addition", "dead_replicas"})
STORIES = {
    "D44: a topic is queued while it is being reassigned": ("doomed_reassignment", MOVES, DeletionHalted),
    "D44: a failover refuses to reassign a topic that is queued": (
        "doomed_reassignment",
        (
            *MOVES, "on_new_session(c=1)", *ELECTED, "read_reassignments(c=1)", "read_deletions(c=1)",
            "read_remaining(c=1, p=0)",
        ),
        ReassignmentFailed,
    ),
    "D42: a failover reads that a partition without leadership is to be elected for": (
        "failing_candidates",
        (
            "remove_controller()", "create_topic(t=0)", "on_controller_change(c=1)", *ELECTED,
            "request_election(named=1)", "read_election_request(c=1)",
        ),
        PreferredElectionDone,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STORIES)
def test_both_sides_write_the_line(name: str) -> None:
    bounds, steps, line = STORIES[name]
    both = SideBySide(widened(scope(bounds)), FENCED)
    both.do(*steps)
    assert line in lines(both)


def test_what_is_busy_is_not_retried() -> None:
    """D44, as it is documented: a failover goes on with the reassignment, and the thread lets the topic alone."""
    both = SideBySide(widened(scope("doomed_reassignment")), DOCUMENTED)
    both.do(*MOVES[:4], "write_union(c=1, p=0)", "request_deletion(t=0)", "crash(b=1)", "end_orphaned_session(b=1)")
    both.do("start_process(b=1)", *ELECTED[:2], "read_epoch(c=1)", "increment_epoch(c=1)", *ELECTED[2:])
    both.do("read_reassignments(c=1)", "read_deletions(c=1)", "accept_reassignment(c=1, p=0)", MOVES[3])
    both.do("write_union(c=1, p=0)", "read_for_bump(c=1, p=0)", "write_bump(c=1, p=0)", "finish_failover(c=1)")
    both.do("delete_queued_topic(c=1, t=0)")
    assert lines(both) & {DeletionIneligible, DeletionRetried} == {DeletionIneligible}


def test_of_several_topics_one_is_elected_for() -> None:
    both = SideBySide(widened(scope("threadless_rebalance")), FENCED)
    both.do("change_unclean_election(t=1)", "elect_where_allowed(c=1, t=1)")
    assert both["controllers[1].at"] == "IDLE"


def test_replicas_without_leadership_go_offline_in_any_order() -> None:
    """D15, D16 fixed: `handleStateChanges` goes through a set. A partition that was added stands last in the topic."""
    bounds = replace(scope("addition_shutdown"), assigned=((1, 2),) * 3, cold=True, parts=ADDED)
    both = SideBySide(bounds, FENCED, additions=1)
    both.do("read_for_addition(t=0)", "write_addition(t=0)", "start_process(b=2)", "register_broker(b=2)")
    both.do("start_process(b=1)", *ELECTED, "read_state(c=1, p=1)", "read_state(c=1, p=2)")
    assert {both[f"controllers[1].partitions[{p}].replicas[1]"] for p in range(3)} == {"OFFLINE"}


def lines(both: SideBySide) -> set[type[Line]]:
    """The kinds of lines of controller.log that the last step wrote."""
    return {type(one.line) for one in both.cluster.entries if isinstance(one, Report)}
