"""Brokers' clocks that are off are told by what arrived, and taken off; or nothing is asked by them."""

from dataclasses import replace
from pathlib import Path

import pytest

from model_check.monitors.check import check_history
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from spec.logs.wire_records import ProcessStarted
from tests.model_check.monitors.stories import Story, begun, breaks, deleted, failed_over


def lived() -> Story:
    """A deletion, a failover, and a rest: all that claims compare times of."""
    story = begun()
    story.assign(99, 2, 3, topic="u")
    story.state(1, 2, 0, (2, 3), topic="u")
    for broker in (2, 3):
        story.order(broker, 2, 0, (2, 3), version=0, topic="u")
    for broker in (1, 2, 3):
        story.tell(broker, 2, 0, (2, 3), topic="u")
    deleted(story)
    failed_over(story)
    for broker in (2, 3):
        story.tell(broker, 2, 0, (2, 3), topic="u", term=2, controller=2)
    story.rest()
    return story


def shifted(story: Story, folder: Path, by: int, brokers: tuple[int, ...] = (1, 2, 3)) -> Run:
    """What becomes of the claims if clocks are so many milliseconds ahead."""
    for broker in brokers:
        story.wire[broker] = [replace(one, ms=one.ms + by) for one in story.wire[broker]]
    return story.checked(folder)


HOUR = 3_600_000


@pytest.mark.parametrize("brokers", [(2,), (1, 2, 3)])
@pytest.mark.parametrize(("by", "shown"), [(-HOUR, "3,599,"), (-10_000, "9,9"), (10_000, "10,0"), (HOUR, "3,600,0")])
def test_a_clock_that_is_off_is_set_right(by: int, shown: str, brokers: tuple[int, ...], tmp_path: Path) -> None:
    run = shifted(lived(), tmp_path, by, brokers)
    assert run.verdict is Verdict.HOLDS
    told = [one for one in run.notes if one.startswith("broker 2: its clock is ")]
    assert len(told) == 1
    assert shown in told[0]
    assert ("ahead of" if by > 0 else "behind") in told[0]


@pytest.mark.parametrize("by", [-1900, 0, 1900])
def test_what_the_claims_bear_is_left(by: int, tmp_path: Path) -> None:
    run = shifted(lived(), tmp_path, by)
    assert run.verdict is Verdict.HOLDS
    assert not [one for one in run.notes if "its clock" in one]


def test_a_break_is_found_by_a_clock_that_is_off(tmp_path: Path) -> None:
    story = lived()
    place = story.tell(3, -2, 0, (2, 3), topic="u", term=2, controller=2)
    (told,) = breaks(shifted(story, tmp_path, -HOUR), "only_doomed_partitions_are_told_to_be_removed")
    assert told.startswith(f"{place}: ")


def test_who_tells_what_it_has_not_yet_written_is_not_taken_for_a_clock(tmp_path: Path) -> None:
    """Though all that it tells is early: its process would have started after its session began."""
    story = begun()
    story.wire[2] = story.wire[2][:1]
    place = story.order(2, 3, 1, (2, 3), version=1)
    story.ms += HOUR
    story.state(1, 3, 1, (2, 3))
    (told,) = breaks(story.checked(tmp_path), "what_is_told_was_written")
    assert told.startswith(f"{place}: ")


def test_where_a_clock_may_be_ahead_nothing_is_told_by_it(tmp_path: Path) -> None:
    """All requests are late, and processes may have started long before their sessions began."""
    story = lived()
    story.wire = {
        broker: [one if isinstance(one, ProcessStarted) else replace(one, ms=one.ms + 3000) for one in records]
        for broker, records in story.wire.items()
    }
    run = check_history(story.save(tmp_path))
    assert run.verdict is Verdict.HOLDS
    reason = "its clock may be 3,010 ms ahead of ZooKeeper's, unless all requests were as slow"
    assert f"broker 2: not all that arrived could be read ({reason})" in run.notes
