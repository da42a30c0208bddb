"""A recording of which only the required files are there is explained, too: what others tell is found by searching.

What it breaks cannot depend on how much was written down of it.
"""

import shutil
from pathlib import Path

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.judging.shipped_recordings import BROKEN
from model_check.recordings.reading import read
from model_check.recordings.sessions import sessions_of
from model_check.recordings.transactions import read_transactions
from tests.model_check.unpacking import NAMES, recording

REQUIRED = "zookeeper.jsonl", "broker-*/state-change.log"
FAST = "21-D23-recreated-topic-orphan"
"""Only controller.log tells which process goes on; of 06 likewise, which partition is taken up first."""


def only_required(name: str, to: Path) -> Path:
    """A copy of a recording without what merely narrows the search."""
    folder = recording(name)
    for file in (found for pattern in REQUIRED for found in folder.glob(pattern)):
        copy = to / name / file.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    return to / name


@pytest.mark.parametrize(
    "name", [name if name == FAST else pytest.param(name, marks=pytest.mark.slow) for name in NAMES]
)
def test_the_required_files_are_enough(name: str, tmp_path: Path) -> None:
    found = judge(read(only_required(name, tmp_path)))
    assert (found.outcome, found.reason) == (Outcome.EXPLAINED, "")
    assert {one.claim.name for one in found.broken} <= BROKEN[name]
    assert BROKEN[name] <= {one.claim.name for one in (*found.broken, *found.possibly)}


@pytest.mark.parametrize("name", NAMES)
def test_sessions_are_told_by_what_they_own_and_begin_with(name: str, tmp_path: Path) -> None:
    """As sessions.json tells it, but for those that never owned anything."""
    folder = only_required(name, tmp_path)
    guessed = sessions_of(folder, read_transactions(folder))
    told = sessions_of(recording(name), read_transactions(folder))
    lives = sorted({(told[session].broker, told[session].incarnation) for session in guessed})
    for session, one in guessed.items():
        same = [life for broker, life in lives if broker == one.broker]
        assert (told[session].broker, told[session].incarnation) == (one.broker, same[one.incarnation - 1])
