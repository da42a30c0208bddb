"""Clocks order the search, and forbid nothing: a recording is explained also if its brokers' differ by seconds."""

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_check.judging.judge import Outcome, judge
from model_check.judging.shipped_recordings import BROKEN
from model_check.recordings.reading import read
from model_check.recordings.tracks import SKEW
from tests.model_check.clocks import shifted
from tests.model_check.unpacking import recording

RESTARTED, BOUNCED = "33-D54-connectionloss-on-create", "17-D12-bounce-unnoticed"
"""In the second, a broker is back before its session is over."""


def ahead(*milliseconds: int) -> dict[int, timedelta]:
    """How far the brokers' clocks are ahead, the first one's first."""
    return {broker: timedelta(milliseconds=one) for broker, one in enumerate(milliseconds, start=1)}


def lives(folder: Path) -> list[list[int]]:
    """In which life of its broker each line was written, by log."""
    tracks = read(folder).tracks.values()
    return [[getattr(one, "incarnation", 0) for one in track] for track in tracks]


@given(st.lists(st.integers(-SKEW, SKEW), min_size=3, max_size=3), st.sampled_from((RESTARTED, BOUNCED)))
@settings(max_examples=max(1, settings().max_examples // 8))
def test_a_line_is_of_the_same_life_whatever_the_clocks_show(milliseconds: list[int], name: str) -> None:
    with TemporaryDirectory() as home:
        assert lives(shifted(name, Path(home), ahead(*milliseconds))) == lives(recording(name))


@pytest.mark.parametrize(
    "milliseconds",
    [
        (0, -500, -500),
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in ((1500, -1500, 0), (0, -1500, -1500), (0, 1500, -1500), (-1500, 1500, 1500))
        ),
    ],
    ids=str,
)
def test_clocks_that_are_a_little_off_forbid_nothing(
    milliseconds: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broker 2 dies, and starts anew."""
    monkeypatch.setattr("model_check.judging.search.MORE", 0)
    found = judge(read(shifted(RESTARTED, tmp_path, ahead(*milliseconds))))
    assert (found.outcome, found.explained) == (Outcome.EXPLAINED, found.observations)
    assert {one.claim.name for one in found.broken} == BROKEN[RESTARTED]
