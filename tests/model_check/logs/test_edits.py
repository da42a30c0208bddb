"""Logs that lost lines, or whose clocks were set: nothing is told of them that is not told of the whole ones."""

from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from model_check.logs.judging import judge_logs
from spec.errors import BadInput
from tests.model_check.logs.edits import Logs, edited, lines_in, written
from tests.model_check.logs.generated import grow
from tests.model_check.logs.telling import broken
from tests.model_check.unpacking import NAMES, RECORDINGS, recording

pytestmark = RECORDINGS

MADE_UP = "made up"


@cache
def whole(name: str) -> Logs:
    """The logs of a recording, or those that the reference makes up, in which nothing is broken."""
    if name != MADE_UP:
        return lines_in(recording(name))
    with TemporaryDirectory() as folder:
        return lines_in(grow(Path(folder), 1, [], seeds=1, steps=500).folder)


def findings(folder: Path) -> set[str]:
    """The claims that are broken; none where nothing that is a log is left."""
    try:
        return {one.property for run in judge_logs([folder]) for one in broken(run)}
    except BadInput:
        return set()


@cache
def known(name: str) -> set[str]:
    """What is broken in the whole logs."""
    with TemporaryDirectory() as folder:
        return findings(written(whole(name), Path(folder) / name))


@pytest.mark.takes("It judges dozens of logs.")
@pytest.mark.parametrize("count", [10, pytest.param(3_000, marks=pytest.mark.slow)])
def test_lines_that_are_missing_and_clocks_that_were_set_accuse_nobody(count: int, tmp_path: Path) -> None:
    for seed in range(count):
        random = Random(seed)
        name = random.choice([*NAMES, MADE_UP])
        found = findings(written(edited(whole(name), random), tmp_path / name))
        assert found <= known(name), f"{seed}: {name}: {found - known(name)}"
