"""The recordings of real clusters that come with the program, and copies of them with something changed."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from model_check.judging.judge import Judgement, judge
from model_check.judging.shipped_recordings import ARCHIVES, BROKEN, packed
from model_check.recordings.reading import read
from model_check.recordings.recording import Recording
from spec.variants import AS_CODED, Switches
from tests.files import written_anew

NAMES = tuple(BROKEN)
DAILY = (
    "12-D1-epoch-write-delayed", "13-D1-epoch-write-connectionloss", "17-D12-bounce-unnoticed",
    "23-D38-orphan-after-reassignment", "28-D46-stale-epoch-answer",
)  # fmt: skip
"""An election, a lost answer, a bounce, a reassignment and a deletion, one of each: `kcheck verify` judges all."""
JUDGED = tuple(pytest.param(name, marks=[pytest.mark.slow] * (name not in DAILY)) for name in NAMES)
RECORDINGS = pytest.mark.xdist_group("recordings")
"""Whoever looks at recordings as they are shares with the others what was read and judged of them."""
Change = Callable[[str], str]


@cache
def _files() -> dict[str, bytes]:
    """Every file of the archives by its path."""
    return {path: content for file in ARCHIVES for path, content in packed(file)}


def unpacked(name: str, folder: Path) -> Path:
    """A recording as a folder within a folder."""
    for path, content in _files().items():
        if path.startswith(f"{name}/"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
    return folder / name


_HOME = TemporaryDirectory(prefix="recordings-")


@cache
def recording(name: str) -> Path:
    """A recording as it is, not to be changed; it is gone when the tests end."""
    return unpacked(name, Path(_HOME.name))


_NAMES: dict[int, str] = {}
"""Those of what was read, by its identity."""


@cache
def recorded(name: str) -> Recording:
    """What is read of a recording; each is read once."""
    found = read(recording(name))
    _NAMES[id(found)] = name
    return found


def judged(name: str, switches: Switches = AS_CODED) -> Judgement:
    """What comes of a recording; each is judged once."""
    return _judged(name, switches)


@cache
def _judged(name: str, switches: Switches) -> Judgement:
    return judge(recorded(name), switches)


def judged_before(recording: Recording, switches: Switches = AS_CODED, **given: Any) -> Judgement:
    """In the place of `judge`: what came of a recording as it is before; anything else is judged."""
    name = _NAMES.get(id(recording))
    return judge(recording, switches, **given) if name is None or given.get("budget") else judged(name, switches)


def replaced(old: str, new: str) -> Change:
    """A change of one place in a file, which must be there."""

    def change(text: str) -> str:
        if old not in text:
            pytest.fail(f"the file has no {old!r}")
        return text.replace(old, new, 1)

    return change


def without_line(part: str) -> Change:
    """A file less the one line that has a part."""

    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        left = [line for line in lines if part not in line]
        if len(left) != len(lines) - 1:
            pytest.fail(f"{len(lines) - len(left)} lines have {part!r}")
        return "".join(left)

    return change


def changed(name: str, folder: Path, file: str, change: Change) -> Path:
    """A copy of a recording with one file changed."""
    copy = unpacked(name, folder)
    written_anew(copy / file, change((copy / file).read_text(encoding="utf-8")).encode())
    return copy
