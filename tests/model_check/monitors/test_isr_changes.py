"""Announcements of ISR changes, left standing, or taken without a word to anybody; and what is let pass."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from model_check.verdicts.verdict import Verdict
from tests.model_check.monitors.stories import AS_CODED_ROWS, Story, begun, born, breaks, failed_over

ANNOUNCED = "/isr_change_notification/isr_change_0000000000"
NAMED = {"version": 1, "partitions": [{"topic": "t", "partition": 0}]}
KNOWN, TAKEN = "eventually_announced_isrs_are_known", "eventually_announcements_are_taken"


def shrunk(told: Sequence[int] = (1, 2, 3)) -> tuple[Story, str, str]:
    """Its leader takes 3 out of the ISR, and announces that, to a controller that tells some; where it did both."""
    story = begun()
    story.ms += 3000  # no clock may be so far off
    written = story.state(2, 2, 0, (2,))
    announced = story.create(2, ANNOUNCED, NAMED)
    for broker in told:
        story.tell(broker, 2, 0, (2,))
    return story, written, announced


def test_what_is_told_and_taken_breaks_nothing(tmp_path: Path) -> None:
    story, *_ = shrunk()
    story.delete(1, ANNOUNCED)
    story.rest()
    run = story.checked(tmp_path)
    assert run.verdict is Verdict.HOLDS
    assert {KNOWN, TAKEN} <= {one.property for one in run.findings}


def test_an_announcement_that_stands_is_told(tmp_path: Path) -> None:
    story, _, announced = shrunk()
    place = story.rest()
    text = f"{place}: {ANNOUNCED} exists, with which broker 2 announced ISR changes ({announced})"
    run = story.checked(tmp_path, excused=AS_CODED_ROWS)
    assert breaks(run, TAKEN) == [f"{text} (as in the known defect D65)"]
    assert run.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("told", [(), (1,), (2, 3)])
def test_whoever_is_not_told_of_what_was_taken_is_told(told: Sequence[int], tmp_path: Path) -> None:
    story, written, _ = shrunk(told)
    taken = story.delete(1, ANNOUNCED)
    place = story.rest()
    found = breaks(story.checked(tmp_path), KNOWN)
    assert found == [
        f"{place}: broker 1 took {ANNOUNCED} ({taken}), and broker {broker}, which runs, has not been sent by "
        f"UpdateMetadata that [t,0] had leader 2, leader epoch 0, ISR [2] ({written}), nor anything since"
        for broker in (1, 2, 3)
        if broker not in told
    ]


def test_who_is_told_of_what_came_after_need_not_be_told_of_that(tmp_path: Path) -> None:
    story, *_ = shrunk(())
    story.delete(1, ANNOUNCED)
    story.state(1, 2, 1, (2,))
    for broker in (1, 2, 3):
        story.tell(broker, 2, 1, (2,))
    for broker in (2, 3):
        story.order(broker, 2, 1, (2,), version=2)
    story.rest()
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_who_has_come_to_office_need_not_know_what_was_announced_before_it_was_at_work(tmp_path: Path) -> None:
    story, *_ = shrunk()
    failed_over(story)
    story.create(2, ANNOUNCED[:-1] + "1", NAMED)
    for broker in (2, 3):
        story.tell(broker, 2, 0, (2,), term=2, controller=2)
    story.rest()
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_of_a_topic_that_is_there_anew_nothing_earlier_is_asked(tmp_path: Path) -> None:
    story, *_ = shrunk(())
    story.delete(1, ANNOUNCED)
    story.create(99, "/admin/delete_topics/t")
    story.delete(99, "/brokers/topics/t")
    story.delete(99, "/admin/delete_topics/t")
    born(story, "t")
    story.rest()
    assert KNOWN not in {one.property for one in story.checked(tmp_path).findings}
