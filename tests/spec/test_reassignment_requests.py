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
