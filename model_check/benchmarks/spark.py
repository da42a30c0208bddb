"""The Spark engine's two costs: what a level takes however small it is, and what a state takes in large levels.

The first is the median of the levels of a few states; the second is told over the levels of the later half of the
states, without the first, beside the native explorer's rate on the same states with one thread.

A run of 50 million states of `ci`'s kind wants about 6 GiB of memory and 5 GiB of disk; the first row tells before the
run begins.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence

from model_check.benchmarks.explorer import Row, native_run
from model_check.packing import Packing
from model_check.shard import OUTBOX_BYTES
from model_check.spark_engine import enumerate_states
from model_check.visited import BUCKET_BYTES, FULLEST, SLOTS
from spec.language import TransitionSystem

CORES = 2

FEW = 1_000
"""States of a level that costs hardly more than none."""

WARMING_UP = 2
"""Levels at the beginning, in which the workers start and load the kernel."""


def spark_rows(system: TransitionSystem, scope: str, variant: str, limit: int | None) -> Iterator[Row]:
    """The table of a scope, searched until all is found or the level after so many states is reached."""
    native = native_run(scope, variant, limit=limit)
    yield from needed_rows(int(native["states"]), Packing(system).words)
    with tempfile.TemporaryDirectory() as folder:
        found = enumerate_states(system, run_folder=folder, master=f"local[{CORES}]", limit=limit)
    if limit is None and (found.states, found.transitions) != (native["states"], native["transitions"]):
        raise RuntimeError(f"Spark found {found.states} states and {found.transitions} transitions, we {native}")
    fixed = fixed_seconds(found.levels, found.level_seconds)
    spark, alone = rate(found.levels, found.level_seconds, fixed), native["expanded"] / native["seconds"]
    yield "states, levels", f"{found.states:,}, {len(found.levels)}", ""
    yield "fixed cost of a level", f"{fixed:.2f} s", "0.3 at most"
    yield f"states a second, local[{CORES}]", f"{spark / 1e6:.2f} M", ""
    yield "states a second, native, one thread", f"{alone / 1e6:.2f} M", ""
    yield "Spark's rate to the native one", f"{spark / alone:.2f} times", "0.5 at least"


def needed_rows(states: int, words: int) -> Iterator[Row]:
    """What a run takes: a state and its share of a table that has just grown, and an outbox for each shard; on disk,
    each state and its parent, and what is sent meanwhile, as much as the largest two levels.
    """
    memory = states * (8 * words + 2 * BUCKET_BYTES / SLOTS / FULLEST) + CORES * 2 * OUTBOX_BYTES
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
