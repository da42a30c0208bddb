"""What verbs take that have little to do: their start, in processor seconds, each in a process of its own.

Every process runs once before it counts: what is compiled once, and read from disk, is there by then. So are the
answers to how long work takes, but no result of it: a verb does again what it is asked for.
"""

import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from model_check.benchmarks.explorer import Row
from model_check.judging.shipped_recordings import unpacked


class Start(NamedTuple):
    """A command line, and the processor seconds that it may take; of a recording that comes along, in its folder."""

    line: str
    most: float | None = None


STARTS: Final[Mapping[str, Start]] = {
    "kcheck --help": Start("--help"),
    "kcheck show tables": Start("show tables"),
    "kcheck verify --help": Start("verify --help"),
    "kcheck explore bounce": Start("explore bounce", 1.5),
    "kcheck defects D12": Start("defects D12", 2),
    "kcheck judge, 155 observations": Start("judge {recordings}/33-D54-connectionloss-on-create", 2),
    "kcheck judge, 207 observations": Start("judge {recordings}/01-start-create", 2),
}
"""What is measured: help, a table, and all that there is to load; a search, a search with a story, and a judgement."""

KCHECK: Final = (sys.executable, "-c", "from model_check.cli import main; main()")


def start_rows(runs: int) -> Iterator[Row]:
    """The table of starts, the median of so many runs of each; ValueError if one does not end with 0."""
    with unpacked() as recordings:
        for name, (line, most) in STARTS.items():
            words = [word.format(recordings=recordings) for word in line.split()]
            _seconds(words)
            spent = statistics.median(_seconds(words) for _ in range(runs))
            yield name, f"{spent:.2f} s", "" if most is None else f"{most:g} at most"


def _seconds(words: Sequence[str]) -> float:
    """The processor seconds of a command line, in the system's kernel and outside it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*KCHECK, *words], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise ValueError(f"kcheck {' '.join(words)} ends with exit code {done.returncode}: {done.stderr[-500:]}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
