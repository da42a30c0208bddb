"""The two commands of the README, timed as one waits for them: `make verify`, cold and again, and `make test`.

Beside another revision both are run in turn, that one in a checkout of its own with a virtual environment of its own.
The set-up comes before and does not count. A gate that fails ends the measurement: how fast it fails is no benchmark.
"""

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, STDOUT
from tempfile import TemporaryDirectory
from typing import Final

from model_check.benchmarks.explorer import Row

ROOT: Final = Path(__file__).resolve().parents[2]

GATES: Final[Mapping[str, tuple[str, float]]] = {
    "verify, cold": ("verify", 1 / 3),
    "verify, again": ("verify", 1 / 10),
    "test": ("test", 1 / 4),
}
"""What is timed, in this order: the target of the Makefile, and the share of 18b34710's time that it may take."""


@dataclass(frozen=True)
class Spent:
    """What a command took: seconds on the clock, and seconds of processors, those of all its processes."""

    wall: float
    processor: float


def gate_rows(runs: int, beside: str | None) -> Iterator[Row]:
    """The table of the gates, each run so often, in turn with another revision; ValueError if one does not pass."""
    with checkout_of(beside) as other:
        trees = [ROOT, *([other] if other else [])]
        for tree in trees:
            _make(tree, "setup", {})
        measured: dict[tuple[Path, str], list[Spent]] = {}
        for _ in range(runs):
            for tree in trees:
                for name, spent in _once(tree):
                    measured.setdefault((tree, name), []).append(spent)
        for name, (_, most) in GATES.items():
            mine = _median(measured[ROOT, name])
            yield f"make {name}", f"{mine.wall:.0f} s, {mine.processor:.0f} of processors", ""
            if other:
                theirs = _median(measured[other, name])
                told = f"{theirs.wall:.0f} s, {theirs.processor:.0f} of processors"
                ratio = f"{mine.wall / theirs.wall:.2f}, {mine.processor / theirs.processor:.2f} of processors"
                yield f"  {beside}", told, ""
                yield "  ratio", ratio, f"at most {most:.2f} of 18b34710"


def _once(tree: Path) -> Iterator[tuple[str, Spent]]:
    """All gates of a checkout, with a cache folder that is empty at first."""
    with TemporaryDirectory(prefix="kcheck-gates-") as cache:
        for name, (target, _) in GATES.items():
            yield name, _make(tree, target, {"KCHECK_CACHE": cache} if target == "verify" else {})


@contextmanager
def checkout_of(revision: str | None) -> Iterator[Path | None]:
    """A checkout of a revision, as long as needed; ValueError if git does not know it."""
    if revision is None:
        yield None
        return
    with TemporaryDirectory(prefix="kcheck-beside-") as folder:
        tree = Path(folder) / "checkout"
        _run(["git", "worktree", "add", "--quiet", "--detach", str(tree), revision], ROOT, {})
        try:
            yield tree
        finally:
            _run(["git", "worktree", "remove", "--force", str(tree)], ROOT, {})


def _median(some: list[Spent]) -> Spent:
    return Spent(statistics.median(one.wall for one in some), statistics.median(one.processor for one in some))


def _make(tree: Path, target: str, environment: Mapping[str, str]) -> Spent:
    """What a target of the Makefile takes."""
    return _run(["make", target], tree, environment)


def _run(command: list[str], folder: Path, environment: Mapping[str, str]) -> Spent:
    """What a command takes; ValueError if it fails."""
    start, before = time.perf_counter(), _processor_seconds()
    env = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=env, stdout=PIPE, stderr=STDOUT, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{' '.join(command)} failed with exit code {done.returncode}: {done.stdout[-500:]}")
    return Spent(time.perf_counter() - start, _processor_seconds() - before)


def _processor_seconds() -> float:
    """Seconds that ended child processes, and theirs, have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
