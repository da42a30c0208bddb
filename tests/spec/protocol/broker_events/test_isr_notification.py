"""Announcements of ISR changes, led by the hand: one that is noted too late is announced the next time."""

from dataclasses import replace

import pytest

from spec.scopes import scope
from spec.variants import AS_CODED, Switch, Switches
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


def test_a_notification_that_another_has_deleted_since_it_was_listed_names_nothing() -> None:
    """Controller 1 lists what broker 2 has announced, loses its session, and reads it when its successor is done."""
    run = Run(scope("notification_reads"), shrinks=1, expiries=1)
    run.do("shrink_isr(b=2, p=0, r=1)", "report_isr_changes(b=2)", "on_isr_change(c=1)", "expire_session(b=1, lost=0)")
    run.drain("c=2")
    run.do("renew_session(b=1)", "expand_isr(b=2, p=0, r=1)", "report_isr_changes(b=2)")
    run.drain("c=2")
    assert [run[f"controllers[1].{name}"] for name in ("taken", "gone", "unread")] == ["{}", "{2}", "{2}"]
    run.do("read_notification(c=1, n=2)")
    assert (run["controllers[1].partitions[0].todo"], run["controllers[1].at"]) == ("no", "NOTIFIED_DELETE")
    run.do("delete_notification(c=1, n=2)")
    assert run["controllers[1].at"] == "IDLE"


def test_each_notification_that_stands_is_read_before_any_state() -> None:
    run = Run(scope("notification_reads"), shrinks=1)
    run.do("shrink_isr(b=2, p=0, r=1)", "report_isr_changes(b=2)", "expand_isr(b=2, p=0, r=1)")
    run.do("report_isr_changes(b=2)", "on_isr_change(c=1)", "read_notification(c=1, n=4)")
    assert not run.can("read_notified(c=1, p=0)")
    run.do("read_notification(c=1, n=2)", "read_notified(c=1, p=0)")
    assert run["controllers[1].partitions[0].isr"] == "[2, 1]"


TOLD = [("queue UpdateMetadata", "1"), ("queue UpdateMetadata", "2")]


@pytest.mark.parametrize(("switches", "seen"), [(AS_CODED, TOLD), (frozenset({Switch.RUN_WHEN_NOT_ACTIVE}), [])])
def test_before_0_10_2_who_knows_nothing_of_what_is_named_tells_nobody(
    switches: Switches, seen: list[tuple[str, ...]]
) -> None:
    """KAFKA-4415: the topic that the notification is about has been deleted before it is announced."""
    bounds = scope("lagging_deletion")
    run = Run(replace(bounds, parts=bounds.parts | {"metadata"}), switches, shrinks=1, deletions=1)
    run.do("shrink_isr(b=1, p=0, r=2)", "request_deletion(t=0)")
    run.drain("c=1")
    run.do("report_isr_changes(b=1)", "on_isr_change(c=1)")
    assert run.do("read_notified(c=1, p=0)") == seen
    assert run["controllers[1].at"] == "NOTIFIED_DELETE"
