"""The two commands of the README, timed as whoever merges waits for them: `make verify` and `make test`.

The set-up comes before and does not count. A gate that fails ends the measurement: how fast it fails is no benchmark.
"""

import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Final

from model_check.benchmarks.explorer import Row

ROOT: Final = Path(__file__).resolve().parents[2]

TARGETS: Final[Mapping[str, int]] = {"verify": 300, "test": 600}
"""The gates, and the seconds that each may take."""


def gate_rows(runs: int) -> Iterator[Row]:
    """The table of the gates, each run so often, in turn; ValueError if one does not pass."""
    _make("setup")
    seconds = [{name: _make(name) for name in TARGETS} for _ in range(runs)]
    for name, most in TARGETS.items():
        taken = [one[name] for one in seconds]
        yield f"make {name}, median", f"{statistics.median(taken):.0f} s", f"{most} at most"
        yield "  all runs", ", ".join(f"{one:.0f}" for one in taken), ""


def _make(target: str) -> float:
    """Seconds that a target of the Makefile takes."""
    start = time.perf_counter()
    done = subprocess.run(["make", target], cwd=ROOT, stdout=PIPE, stderr=STDOUT, text=True, check=False)
    if done.returncode:
        raise ValueError(f"make {target} failed with exit code {done.returncode}: {done.stdout[-500:]}")
    return time.perf_counter() - start
