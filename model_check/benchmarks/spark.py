"""The Spark engine's two costs: what a level takes however small it is, and what a state takes in large levels.

The first is the median of the levels of a few states; the second is taken over the levels of the later half of the
states, without the first, beside the native explorer's rate on the same states with one thread.

50 million states of `ci`'s kind want about 6 GiB of memory and 5 GiB of disk; the first row tells before the run.
"""

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from model_check.benchmarks.explorer import Row, native_run
from model_check.explicit_state.visited import BUCKET_BYTES, FULLEST, SLOTS
from model_check.kernel.packing import Packing
from model_check.spark.shard import OUTBOX_BYTES
from model_check.spark.spark_engine import enumerate_states
from spec.language.rules import TransitionSystem

CORES = 2

FEW = 1_000
"""States of a level that costs hardly more than none."""

WARMING_UP = 2
"""Levels at the beginning, in which the workers start and load the kernel."""


@dataclass(frozen=True)
class Beside:
    """One run of the Spark engine beside one of the native: states a second each, and the seconds of a small level."""

    states: int
    levels: int
    fixed: float
    spark: float
    native: float


def spark_rows(system: TransitionSystem, scope: str, variant: str, limit: int, runs: int) -> Iterator[Row]:
    """The table of a scope, searched until all is found or the level after so many states is reached."""
    yield from needed_rows(limit, Packing(system).words)
    found = [_beside(system, scope, variant, limit) for _ in range(runs)]
    ratios = sorted(one.spark / one.native for one in found)
    yield "states, levels", f"{found[0].states:,}, {found[0].levels}", ""
    yield "fixed cost of a level", f"{statistics.median(one.fixed for one in found):.2f} s", "0.3 at most"
    yield f"states a second, local[{CORES}]", f"{statistics.median(one.spark for one in found) / 1e6:.2f} M", ""
    native = statistics.median(one.native for one in found)
    yield "states a second, native, one thread", f"{native / 1e6:.2f} M", ""
    yield "Spark's rate to the native one", f"{statistics.median(ratios):.2f} times", "0.5 at least"
    yield "  all runs", ", ".join(f"{ratio:.2f}" for ratio in ratios), ""


def _beside(system: TransitionSystem, scope: str, variant: str, limit: int) -> Beside:
    """Both engines once; RuntimeError if both found everything, and not the same."""
    native = native_run(scope, variant, limit=limit)
    with tempfile.TemporaryDirectory() as folder:
        found = enumerate_states(system, run_folder=folder, master=f"local[{CORES}]", limit=limit)
    whole = found.exhausted and native["expanded"] == native["states"]
    if whole and (found.states, found.transitions) != (native["states"], native["transitions"]):
        raise RuntimeError(f"Spark found {found.states} states and {found.transitions} transitions, we {native}")
    fixed = fixed_seconds(found.levels, found.level_seconds)
    spark = rate(found.levels, found.level_seconds, fixed)
    return Beside(found.states, len(found.levels), fixed, spark, native["expanded"] / native["seconds"])


def needed_rows(states: int, words: int) -> Iterator[Row]:
    """What a run takes: a table just grown and an outbox a shard; on disk the states, and what is sent meanwhile."""
    memory = states * (8 * words + 2 * BUCKET_BYTES / SLOTS / FULLEST) + CORES * OUTBOX_BYTES * 5 // 4
    disk = states * (8 * words + 4)
    yield "memory, disk of the run, about", f"{memory / 2**30:.1f}, {disk / 2**30:.1f} GiB", ""


def fixed_seconds(levels: Sequence[int], seconds: Sequence[float]) -> float:
    """Seconds for a level of few states; ValueError if there is none."""
    few = [spent for size, spent in list(zip(levels, seconds, strict=False))[WARMING_UP:] if size <= FEW]
    if not few:
        raise ValueError(f"no level but the first {WARMING_UP} has at most {FEW} states: take another scope")
    return statistics.median(few)


def rate(levels: Sequence[int], seconds: Sequence[float], fixed: float) -> float:
    """States a second in the levels from which on the later half of the states is found, without the fixed cost."""
    known, states, spent = 0, 0, 0.0
    for size, took in zip(levels, seconds, strict=False):
        if 2 * known >= sum(levels):
            states, spent = states + size, spent + max(0.0, took - fixed)
        known += size
    return states / spent
