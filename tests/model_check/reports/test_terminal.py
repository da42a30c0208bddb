"""Lanes in a terminal: 120 columns, a line a step, each process in its column, whatever the texts are."""

from dataclasses import replace

import pytest
from hypothesis import given
from rich.text import Text

from model_check.cli.colours import Verdicts
from model_check.reports.terminal import LEGEND, WIDTH, lanes
from model_check.reports.timeline import is_fault
from model_check.verdicts.results import Step, Story
from tests.model_check.documents import stories
from tests.model_check.reports.stories import WHY, ZOMBIE

DRAWN = f"""\
     ZooKeeper                    controller 1           controller 2           broker 1               broker 3
   1 !expire_session b1       e1:                      |                      :
   2 create /controller c..   e1:                      | elect_create         :
   3 write /controller_ep..   e1:                    e2| increment_epoch      :
   4                          e1:                    e2| write_leader >b3     :
   5                          e1:                    e2|                      :                        c2> LeaderAndIsr
   6 x fail to write stat..   e1: write_remo.. >b3   e2|                      :
   7                          e1:                    e2|                      :                        c1> x LeaderAn..
   8                                                 e2|                        !crash
{LEGEND}
because of broker 1: its <epoch> (1) is < 2; it writes: yes"""


def test_a_zombie_acts_beside_its_successor() -> None:
    assert "\n".join(lanes(replace(ZOMBIE, because=WHY))) == DRAWN


@pytest.mark.takes("Hypothesis makes up stories.")
@given(stories)
def test_whatever_is_in_a_story_it_fits_and_no_line_breaks(story: Story) -> None:
    lines = [*lanes(story)]
    assert max(map(len, lines)) <= WIDTH
    assert all(line.isascii() and line.isprintable() for line in lines)
    assert sum(line[:5].strip().isdigit() for line in lines) >= len(story.steps)


@pytest.mark.parametrize("others", [1, 3, 8, 30])
def test_thirty_steps_are_one_screen_however_many_lanes_there_are(others: int) -> None:
    names = [f"broker {number % others + 1}" for number in range(30)]
    steps = tuple(Step(number, "crash(b=1)", name, "", "", budget="crashes") for number, name in enumerate(names, 1))
    lines = [*lanes(Story(30, steps, {}, WHY))]
    assert len(lines) <= 50
    heads = next(line for line in lines if "ZooKeeper" in line).split()[1:]
    assert heads == [word for one in sorted({*names}) for word in one.split()] if others < 5 else "b1" in heads
    assert max(map(len, lines)) <= WIDTH
    shown = sum("!crash" in line for line in lines)
    assert shown == 30 if others <= 7 else any(line.startswith("left out: broker") for line in lines)
    assert all(map(is_fault, steps))


def test_epochs_are_coloured_and_nothing_else() -> None:
    line = Text("   6 x fail e1: write e12| e2x e3")
    Verdicts().highlight(line)
    coloured = {line.plain[one.start : one.end]: str(one.style) for one in line.spans}
    assert coloured == {"e1": "verdict.e1", "e12": "verdict.e0"}
