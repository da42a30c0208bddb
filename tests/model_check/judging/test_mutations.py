"""Whatever single fact of a recording is changed, it is explained no more: a sample, and many with --deep."""

from pathlib import Path
from random import Random

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.recordings.reading import read
from spec.errors import BadInput
from tests.model_check.mutations import LIES, NothingToTell
from tests.model_check.unpacking import NAMES, RECORDINGS, judged, unpacked

pytestmark = RECORDINGS

BUDGET = 800
"""Positions at least: a lie gets no less than the recording takes as it is, so that what is caught is the lie."""
SAMPLE = "12-D1-epoch-write-delayed"


def caught(name: str, seed: int, folder: Path) -> tuple[bool, str] | None:
    """Whether a recording with one lie in it is refused or not explained, and the lie; None if it tells of no such."""
    rng = Random(seed)
    copy = unpacked(name, folder)
    try:
        lie = LIES[seed % len(LIES)](copy, rng)
    except NothingToTell:
        return None
    try:
        found = judge(read(copy), budget=max(BUDGET, judged(name).positions))
    except BadInput:
        return True, lie
    return found.outcome is not Outcome.EXPLAINED, lie


SOON_CAUGHT = (1, 2, 4)
"""About an epoch, a session and a word."""


@pytest.mark.parametrize(
    "seed", [pytest.param(one, marks=[pytest.mark.slow] * (one not in SOON_CAUGHT)) for one in range(len(LIES))]
)
def test_a_small_lie_is_caught(seed: int, tmp_path: Path) -> None:
    found = caught(SAMPLE, seed, tmp_path)
    assert found is not None
    assert found[0], found[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_many_small_lies_are_caught(name: str, tmp_path: Path) -> None:
    """Short recordings have nothing that some lies are about."""
    told = [one for seed in range(100, 170) if (one := caught(name, seed, tmp_path / str(seed))) is not None]
    assert [lie for found, lie in told if not found] == []
    assert len(told) > 50


@pytest.mark.parametrize(
    "name", [SAMPLE, *(pytest.param(one, marks=pytest.mark.slow) for one in NAMES if one != SAMPLE)]
)
def test_without_a_lie_the_search_goes_hardly_astray(name: str) -> None:
    """It visits no more than two positions for a step of the explanation that it finds."""
    found = judged(name)
    assert found.outcome is Outcome.EXPLAINED
    assert found.best_after < 2 * len(found.path)
