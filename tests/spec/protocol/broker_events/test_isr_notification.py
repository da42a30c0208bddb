"""Announcements of ISR changes, led by the hand: one that is noted too late is announced the next time."""

from spec.scopes import scope
from tests.spec.stepping import Run

SHRUNK = ("shrink_isr(b=1, p=0, r=2)", "shrink_isr(b=1, p=1, r=2)")


def run_of(*names: str) -> Run:
    run = Run(scope("slow_notes"), shrinks=2, slow_notes=1)
    run.do(*names)
    return run


def test_a_change_that_is_not_noted_yet_is_announced_the_next_time() -> None:
    run = run_of(*SHRUNK, "report_isr_changes_without(b=1, p=1)")
    assert [run[f"zookeeper.notified[{p}]"] for p in (0, 1)] == ["{1}", "{}"]
    assert [run[f"brokers[1].partitions[{p}].unreported"] for p in (0, 1)] == ["no", "yes"]
    run.do("report_isr_changes(b=1)")
    assert [run[f"zookeeper.notified[{p}]"] for p in (0, 1)] == ["{1}", "{3}"]  # the second of broker 1's places


def test_a_partition_that_changed_before_is_announced_twice() -> None:
    """Recording 11a, zk 1132 and 1157: t4-2 is named by both, and its ISR did not change in between."""
    run = run_of(*SHRUNK, "report_isr_changes_before(b=1, p=1)")
    assert [run[f"zookeeper.notified[{p}]"] for p in (0, 1)] == ["{1}", "{1}"]
    assert [run[f"brokers[1].partitions[{p}].unreported"] for p in (0, 1)] == ["no", "yes"]


def test_an_announcement_names_somebody() -> None:
    run = run_of(SHRUNK[0])
    assert run.can("report_isr_changes_before(b=1, p=0)")
    assert not run.can("report_isr_changes_without(b=1, p=0)")
    assert not run.can("report_isr_changes_before(b=1, p=1)")
