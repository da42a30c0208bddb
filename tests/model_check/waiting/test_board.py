"""What one sees while checks are made: a line for each that ends, or a picture at a terminal."""

import io
import time

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from model_check.waiting import estimates, progress
from model_check.waiting.board import board
from model_check.waiting.estimates import estimated
from model_check.waiting.picture import Picture
from model_check.waiting.progress import bar, reported_to


def test_where_nobody_watches_each_check_is_a_line_with_its_seconds_and_how_many_are_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with board("verify", 2, 3.0, 1) as shown:
        shown.begun(0, "explorer tiny AS_CODED", 1.0)
        shown.ended("explorer tiny AS_CODED", "as expected", 1.26, is_news=False)
        shown.ended("judge 04", "VIOLATED", 20.0, is_news=True)
    assert capsys.readouterr().err.splitlines() == [
        "    1.3 s  explorer tiny AS_CODED: as expected  [1 left]",
        "   20.0 s  judge 04: VIOLATED  [the last]",
    ]


@pytest.fixture
def picture() -> tuple[Picture, Progress]:
    """A picture of three checks and two processes, drawn nowhere."""
    bars = Progress(TextColumn("{task.description}"), console=Console(file=io.StringIO()), disable=True)
    return Picture(bars, "verify", 3, 40.0, 2), bars


def test_a_picture_has_a_bar_for_all_and_a_row_for_each_process(picture: tuple[Picture, Progress]) -> None:
    drawn, bars = picture
    drawn.begun(1, "explorer small AS_CODED", 10.0)
    drawn.begun(0, "refinement tiny AS_CODED", 10.0)
    drawn.far(30, "edges", 60)
    drawn.ended("explorer small AS_CODED", "as expected", 10.0, is_news=False)
    whole, here, there = bars.tasks
    assert (whole.completed, whole.total, whole.fields["rest"]) == (1, 3, "about 15 s left")
    assert (here.description, here.completed, here.fields["rest"]) == ("refinement tiny AS_CODED", 0.5, "edges")
    assert (there.description, there.completed) == ("explorer small AS_CODED", 0)


def test_a_row_moves_with_the_time_that_its_check_should_take(
    picture: tuple[Picture, Progress], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, bars = picture
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    drawn.begun(1, "explorer small AS_CODED", 10.0)
    for later, part in ((102.5, 0.25), (130.0, 0.99)):
        now[0] = later
        drawn.move()
        assert bars.tasks[2].completed == part


def test_bars_of_a_check_are_drawn_in_the_picture_around_it_and_estimates_are_silent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "is_watched", lambda: True)
    monkeypatch.setattr(estimates, "seconds_of", lambda *_: 1000.0)
    told = list[tuple[int, str, int | None]]()
    with (
        reported_to(lambda done, what="", of=None: told.append((done, what, of))),
        estimated("explore", "tiny"),
        bar("tiny", 10) as report,
    ):
        report(3, "depth 4")
        report(4, "depth 5", 20)
    assert told == [(3, "depth 4", 10), (4, "depth 5", 20)]
    assert capsys.readouterr().err == ""
