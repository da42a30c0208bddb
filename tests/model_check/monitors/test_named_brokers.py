"""Claims about the brokers that requests name, each broken by one request; and what is let pass."""

from pathlib import Path

import pytest

from model_check.verdicts.verdict import Verdict
from tests.model_check.monitors.stories import Story, begun, breaks, moved

ORDER = "LeaderAndIsr of controller 1, epoch 1, to broker 3"
CLOCKS = 3000
"""Milliseconds after which no clock's being off explains anything."""


def led_by_3() -> Story:
    """Broker 3 leads, and nobody has been told."""
    story = begun()
    story.ms += CLOCKS
    story.state(1, 3, 1, (2, 3))
    story.ms += CLOCKS
    return story


def test_a_leader_without_its_end_point_is_told(tmp_path: Path) -> None:
    story = led_by_3()
    place = story.order(3, 3, 1, (2, 3), version=1, named=(2,))
    text = f"{place}: {ORDER} makes 3 leader of [t,0], and does not say where that listens"
    assert breaks(story.checked(tmp_path), "leaders_come_with_their_end_points") == [text]


@pytest.mark.parametrize("ms", [0, CLOCKS])
def test_of_a_leader_that_came_back_meanwhile_nobody_need_have_known(ms: int, tmp_path: Path) -> None:
    story = led_by_3()
    story.end(3)
    story.start(3)
    story.begin(13, 3, incarnation=2)
    story.create(13, "/brokers/ids/3", {"version": 4}, ephemeral=True)
    story.ms += ms
    story.order(2, 3, 1, (2, 3), version=1, named=())
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_an_isr_in_the_place_of_the_replicas_is_told(tmp_path: Path) -> None:
    story = led_by_3()
    place = story.order(3, 3, 1, (2, 3), version=1, replicas=(3,))
    text = f"{place}: {ORDER} tells of [t,0] that its replicas are [3], which they never were"
    assert breaks(story.checked(tmp_path), "what_is_told_has_the_assigned_replicas") == [text]


@pytest.mark.parametrize("replicas", [(2, 3), (3, 2), (3, 4), (2, 3, 4)])
def test_what_a_move_begins_with_and_comes_to_may_be_told(replicas: tuple[int, ...], tmp_path: Path) -> None:
    story = led_by_3()
    story.move(3, 4)
    story.order(3, 3, 1, (2, 3), version=1, replicas=replicas)
    verdicts = {one.property: one.verdict for one in story.checked(tmp_path).findings}
    assert verdicts["what_is_told_has_the_assigned_replicas"] is Verdict.HOLDS


@pytest.mark.parametrize("named", [(1, 2), (1, 2, 3, 4), ()])
def test_whoever_knows_other_brokers_than_there_are_is_told(named: tuple[int, ...], tmp_path: Path) -> None:
    story = begun()
    told = story.tell(3, 2, 0, (2, 3), named=named)
    place = story.rest()
    text = f"{place}: broker 3 knows the brokers {[*named]} ({told}), and [1, 2, 3] are registered"
    run = story.checked(tmp_path)
    assert breaks(run, "eventually_live_brokers_know_each_other") == [f"{text} (as in the known defect D60)"]
    assert run.verdict is Verdict.VIOLATED


def test_who_is_told_of_the_brokers_later_knows_them(tmp_path: Path) -> None:
    story = begun()
    story.tell(3, 2, 0, (2, 3), named=(1,))
    story.tell(3, 2, 0, (2, 3))
    story.rest(ms=500, last=hex(len(story.transactions)))
    assert story.checked(tmp_path).verdict is Verdict.HOLDS


def test_a_move_as_the_reference_makes_it_breaks_nothing(tmp_path: Path) -> None:
    story = begun()
    story.ms += CLOCKS
    moved(story)
    story.rest()
    assert story.checked(tmp_path).verdict is Verdict.HOLDS
