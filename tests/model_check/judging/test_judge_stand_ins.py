"""Defects that no recording of a real cluster has been given of: stand-ins from memory are explained, and named."""

from pathlib import Path

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.recordings.reading import read
from tests.model_check.defect_plays import PLAYS


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYS)
def test_what_a_defect_leaves_behind_is_explained_and_named(name: str, tmp_path: Path) -> None:
    play, broken = PLAYS[name]
    found = judge(read(play().save(tmp_path)))
    assert (found.outcome, found.reason) == (Outcome.EXPLAINED, "")
    assert {one.claim.name for one in found.broken} == broken
