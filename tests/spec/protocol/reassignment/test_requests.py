"""Requests that name several partitions: each is accepted, refused and completed by itself (PROTOCOL.md section 8)."""

from spec.scopes import scope
from tests.spec.stepping import Run

PHASE_A = (
    "accept_reassignment(c=1, p={p})", "read_whether_caught_up(c=1, p={p})", "write_union(c=1, p={p})",
    "read_for_bump(c=1, p={p})", "write_bump(c=1, p={p})", "start_new_replica(c=1, p={p}, r=2)",
)  # fmt: skip


def phase_a(run: Run, p: int) -> None:
    """A partition is accepted, and its handler runs until it waits for the ISR."""
    run.do(*(step.format(p=p) for step in PHASE_A))


def requested(run: Run) -> list[str]:
    """What /admin/reassign_partitions says of each partition."""
    return [run[f"zookeeper.requested[{p}]"] for p in range(2)]


def test_who_is_where_it_is_to_be_is_refused_and_the_other_remains() -> None:
    run = Run(scope("joint_moves"), reassignments=1)
    run.do("request_reassignment(k=1)", "on_reassignment_request(c=1)")
    assert (run.can("accept_reassignment(c=1, p=0)"), run.can("accept_reassignment(c=1, p=1)")) == (True, False)
    run.do("read_remaining(c=1, p=1)", "write_remaining(c=1, p=1)")
    assert requested(run) == ["[2]", "[]"]
    phase_a(run, 0)
    assert run["controllers[1].at"] == "IDLE"


def test_who_is_not_there_yet_is_refused_too() -> None:
    run = Run(scope("unknown_moves"), reassignments=1, additions=1)
    run.do("request_reassignment(k=0)", "on_reassignment_request(c=1)")
    assert (run.can("accept_reassignment(c=1, p=0)"), run.can("accept_reassignment(c=1, p=1)")) == (True, False)
    run.do("read_for_addition(t=0)", "write_addition(t=0)", "read_remaining(c=1, p=1)")
    assert run.holds("no_reassignment_ends_halfway", "write_remaining(c=1, p=1)"), "it had no AR when it was asked for"
    run.do("write_remaining(c=1, p=1)")
    assert (requested(run), run["zookeeper.assigned[1]"]) == (["[2]", "[]"], "[1]")


def test_what_is_being_reassigned_already_is_passed_over_and_each_leaves_the_znode_by_itself() -> None:
    run = Run(scope("joint_moves"), reassignments=1)
    run.do("request_reassignment(k=0)", "on_reassignment_request(c=1)")
    phase_a(run, 0)
    phase_a(run, 1)
    run.drain("deliver_")
    run.do("expand_isr(b=1, p=0, r=2)", "on_state_change(c=1, p=0)")
    run.drain("p=0", "write_remaining")
    assert requested(run) == ["[]", "[2]"]
    run.drain("on_state_change")
    run.do("on_reassignment_request(c=1)")
    assert run["controllers[1].at"] == "IDLE", "the other is under way"
    assert run["controllers[1].reassigned[1]"] == "[2]"


def test_a_shutdown_has_the_lock_between_two_partitions_and_no_other_callback_runs() -> None:
    run = Run(scope("joint_moves_shutdown"), reassignments=1, shutdowns=1)
    run.do("request_reassignment(k=0)", "on_reassignment_request(c=1)", "read_remaining(c=1, p=1)")
    run.do("stop_broker(b=2)", "request_shutdown(b=2, c=1)")
    assert not run.can("accept_shutdown(c=1, b=2)"), "the refusal is under way"
    run.do("write_remaining(c=1, p=1)")
    assert run["controllers[1].callbacks[0]"] == "REASSIGNMENTS"
    assert not run.can("on_reassignment_request(c=1)"), "the event thread is in the listener"
    run.do("accept_shutdown(c=1, b=2)", "move_partition(c=1, p=1, r=2)")
    assert (run["controllers[1].handler"], run.can("accept_reassignment(c=1, p=0)")) == ("SHUTDOWN", False)
    run.do("read_for_removal(c=1, p=1, r=2)", "write_removal(c=1, p=1, r=2)")
    assert (run["controllers[1].at"], run["controllers[1].handler"]) == ("REASSIGN_NEXT", "REASSIGNMENT")
    phase_a(run, 0)
    assert run.can("on_reassignment_request(c=1)")


def test_a_topic_that_is_deleted_before_the_lock_is_taken_for_its_partition_is_not_known_any_more() -> None:
    run = Run(scope("doomed_reassignment"), reassignments=1, deletions=1)
    run.do("request_deletion(t=0)", "on_deletion_change(c=1)", "delete_queued_topic(c=1, t=0)")
    run.do("read_for_removal(c=1, p=0, r=1)", "write_removal(c=1, p=0, r=1)", "deliver_request(c=1, b=1)")
    run.drain("deliver_")
    run.do("request_reassignment(k=0)", "on_reassignment_request(c=1)")
    run.do("on_replica_deleted(c=1, b=1, p=0)", "delete_queued_topic(c=1, t=0)")
    assert not run.can("read_remaining(c=1, p=0)"), "the deletion thread has the lock"
    run.do("delete_state(c=1, p=0)", "delete_topic(c=1, t=0)", "delete_configuration(c=1, t=0)")
    run.do("delete_request(c=1, t=0)")
    assert (run["controllers[1].at"], run["controllers[1].topics[0]"]) == ("REASSIGN_NEXT", "no")
    assert not run.can("accept_reassignment(c=1, p=0)")
    run.do("read_remaining(c=1, p=0)", "write_remaining(c=1, p=0)")
    assert run["zookeeper.requested[0]"] == "[]"
