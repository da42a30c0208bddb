"""What stays behind on an old connection, led by the hand."""

from dataclasses import replace

import pytest

from spec.scopes import scope
from spec.variants import AS_CODED, Switch, Switches
from tests.model_check.side_by_side import SideBySide
from tests.spec.stepping import Run

CREATED = (
    "create_topic(t=0)", "on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=1)",
    "read_for_new_replica(c=1, p=0, r=2)", "create_state(c=1, p=0)",
)  # fmt: skip
GONE = ("expire_session(b=2, lost=0)", "on_broker_change(c=1)")


def test_a_broker_carries_out_what_it_has_in_hand_when_its_channel_is_gone() -> None:
    run = Run(scope("late_requests"), creations=1, expiries=1, late_requests=1)
    run.do(*CREATED, "leave_late_request(c=1, b=2)", *GONE)
    assert run["connections[1][2][0].stage"] == "EMPTY"
    run.do("renew_session(b=2)")
    assert ("become follower", "0", "1", "0", "[1, 2]", "0", "1") in run.do("execute_late_request(c=1, b=2)")
    assert run["late_requests[1][2].stage"] == "EMPTY"


@pytest.mark.parametrize(
    ("switches", "stage"), [(AS_CODED, "LEADER_AND_ISR"), (frozenset({Switch.CLOSE_OLD_CONNECTIONS}), "EMPTY")]
)
def test_what_comes_through_a_newer_connection_leaves_an_older_one_as_it_is_unless_that_is_fixed(
    switches: Switches, stage: str
) -> None:
    run = Run(scope("late_requests"), switches, creations=1, late_requests=1)
    run.do(*CREATED, "leave_late_request(c=1, b=2)", "deliver_request(c=1, b=2)")
    assert run["late_requests[1][2].stage"] == stage


def test_a_late_leader_and_isr_brings_back_a_replica_that_was_deleted() -> None:
    """The deletion has taken the leader epoch by which it would be too old (D69)."""
    bounds = replace(scope("late_requests"), parts=scope("late_requests").parts | {"deletion"})
    run = Run(bounds, creations=1, deletions=1, late_requests=1)
    run.do(*CREATED, "leave_late_request(c=1, b=2)")
    late = "execute_late_request(c=1, b=2)"
    run.drain("deliver_request(")
    run.do("request_deletion(t=0)", "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)")
    run.drain("_removal(", "deliver_request(")
    assert run.holds("deleted_replicas_stay_deleted", late), "it is there still"
    run.do("deliver_deletion(c=1, b=2, p=0)", "on_replica_deleted(c=1, b=2, p=0)")
    assert run["controllers[1].partitions[0].replicas[2]"] == "DELETION_SUCCESSFUL"
    assert not run.holds("deleted_replicas_stay_deleted", late)
    assert run.holds("brokers_obey_no_older_epoch", late), "it is of this one"
    run.do(late)
    assert run["logs[2][0]"] == "yes"


@pytest.mark.parametrize("switches", [AS_CODED, frozenset({Switch.CLOSE_OLD_CONNECTIONS})])
def test_so_it_is_of_deletions(switches: Switches) -> None:
    """Either way: what is repeated closes what lies there, be it a copy of itself or an earlier request."""
    both = SideBySide(scope("deletion"), switches, deletions=1, resends=1, late_copies=1, late_requests=1)
    both.do("request_deletion(t=0)", "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)")
    both.do(*(f"{step}(c=1, p=0, r={r})" for r in (1, 2) for step in ("read_for_removal", "write_removal")))
    both.do("leave_late_request(c=1, b=2)")
    while not both.can("leave_late_copy(c=1, b=2, p=0)"):
        both.do("deliver_request(c=1, b=2)")
    both.do("leave_late_copy(c=1, b=2, p=0)")
    lies_there = [f"execute_late_{one}" for one in ("request(c=1, b=2)", "copy(c=1, b=2, p=0)")]
    both.do("deliver_deletion_unanswered(c=1, b=2, p=0)")
    assert [both.can(one) for one in lies_there] == [switches == AS_CODED] * 2


def test_what_lies_with_a_process_dies_with_it() -> None:
    run = Run(scope("late_requests"), creations=1, crashes=1, late_requests=1)
    run.do(*CREATED, "leave_late_request(c=1, b=2)", "crash(b=2)")
    assert run["late_requests[1][2].stage"] == "EMPTY"
