"""The native explorer beside SPIN, on one system and one core."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_check.benchmarks.warming import warm
from model_check.explicit_state.promela import SpinError, SpinResult, run_spin
from model_check.kernel.kernel import load_kernel
from spec.language.rules import TransitionSystem

Row = tuple[str, str, str]
"""What was measured, the number with its unit, and the target if there is one."""

MIB = 1 << 20


@dataclass(frozen=True)
class Comparison:
    """All runs of one scope; `spin` is empty where SPIN was not asked for or is not there.

    `native` runs are pinned to a core; `free` ones have the others, too, for laying out memory. `graph` is one that
    also keeps the edges, for goals.
    """

    native: Sequence[Mapping[str, Any]]
    free: Sequence[Mapping[str, Any]]
    spin: Sequence[SpinResult]
    graph: Mapping[str, Any]


def last_core() -> int:
    """The core that runs are pinned to: the last one, since the first serves interrupts."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0


def native_run(
    scope: str, variant: str, expected: int = 0, limit: int | None = None, *, pinned: bool = True, graph: bool = False
) -> Mapping[str, Any]:
    """One exploration in a process of its own, pinned to a core or not; RuntimeError with what it said if it failed."""
    core = last_core() if pinned else None
    options = {"scope": scope, "variant": variant, "core": core, "expected": expected, "limit": limit, "graph": graph}
    command = [sys.executable, "-m", "model_check.benchmarks.native_run", json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the run of {scope} failed with exit code {done.returncode}: {done.stderr[-500:]}")
    result: Mapping[str, Any] = json.loads(done.stdout)
    return result


def compare(system: TransitionSystem, scope: str, variant: str, runs: int, *, spin: bool) -> Comparison:
    """So many runs of each engine, in turn, behind one that sizes their tables; counts that differ are an error."""
    native, free, others = [], [], []
    expected = int(native_run(scope, variant)["states"])
    for _ in range(runs):
        native.append(native_run(scope, variant, expected))
        free.append(native_run(scope, variant, expected, pinned=False))
        if spin:
            others.append(_spin_run(system, native[0]))
    return Comparison(native, free, others, native_run(scope, variant, expected, graph=True))


def _spin_run(system: TransitionSystem, native: Mapping[str, Any]) -> SpinResult:
    table = max(10, (int(native["states"]) - 1).bit_length())
    mebibytes = 1024 + int(native["memory_bytes"]) * 3 // MIB
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    if before:
        os.sched_setaffinity(0, {last_core()})
    try:
        with tempfile.TemporaryDirectory() as workdir:
            needed = int(native["memory_bytes"]) * 3 // 2
            found = run_spin(system, Path(workdir), table=table, memory=mebibytes, before=lambda: warm(needed))
    finally:
        if before:
            os.sched_setaffinity(0, before)
    if (found.states, found.transitions) != (native["states"], native["transitions"]):
        raise SpinError(f"SPIN found {found.states} states and {found.transitions} transitions, we {native}")
    return found


def rows(comparison: Comparison) -> Iterator[Row]:
    """The table of a comparison."""
    first = comparison.native[0]
    seconds = statistics.median(one["seconds"] for one in comparison.native)
    per_action = seconds * 1e9 / first["expanded"] / first["actions"]
    yield "states, transitions", f"{first['states']:,}, {first['transitions']:,}", ""
    yield "native search, median", f"{seconds:.2f} s", ""
    computing = statistics.median(one["user"] for one in comparison.native)
    yield "of it computing, without the kernel", f"{computing:.2f} s", ""
    free = statistics.median(one["seconds"] for one in comparison.free)
    yield "the same with a core for memory", f"{free:.2f} s", ""
    yield "expanded states a second", f"{first['expanded'] / seconds / 1e6:.2f} M", ""
    yield "for a state and action", f"{per_action:.1f} ns", "7, at most 10"
    yield from memory_rows([*comparison.native, *comparison.free])
    edges, states = comparison.graph["edge_bytes"], comparison.graph["states"]
    yield "edges, where goals are judged", f"{edges / states:.1f} bytes a state", "apart"
    if comparison.spin:
        theirs = statistics.median(one.seconds for one in comparison.spin)
        yield "SPIN, median", f"{theirs:.2f} s, {comparison.spin[0].vector} bytes a state", ""
        user = statistics.median(one.user_seconds for one in comparison.spin)
        yield "of it computing, without the kernel", f"{user:.2f} s", ""
        yield "faster than SPIN", f"{theirs / seconds:.1f} times", "8, at least 5"
        yield "faster, with a core for memory", f"{theirs / free:.1f} times", ""
        yield "faster in computing alone", f"{user / computing:.1f} times", ""


def memory_rows(runs: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """What a state takes, and all of them at most, beside the packed state and 24 bytes, and 1.3 times that."""
    first = runs[0]
    most = 8 * first["words"] + 24
    yield "stored for a state", f"{first['stored_bytes_per_state']:.1f} bytes", f"{most} at most"
    peak, bare = (max(one[name] for one in runs) for name in ("peak_bytes", "bare_bytes"))
    yield "peak of the process", f"{peak / MIB:,.0f} MiB", f"{1.3 * most * first['states'] / MIB:,.0f} at most"
    yield "  before the search", f"{bare / MIB:,.0f} MiB", ""


def whole_rows(scope: str, variant: str) -> Iterator[Row]:
    """One exploration of a large scope, to its end, with all cores; ValueError if the memory did not allow for that."""
    run = native_run(scope, variant, pinned=False)
    if run["expanded"] < run["states"]:
        raise ValueError(f"{scope} does not fit: the memory ended after {run['states']:,} states")
    yield "states, transitions", f"{run['states']:,}, {run['transitions']:,}", ""
    yield "native search to the end", f"{run['seconds']:.0f} s", ""
    yield from memory_rows([run])
    yield "peak of the process, in GB", f"{run['peak_bytes'] / 1e9:.1f} GB", "less than 16"


def start_up_rows(system: TransitionSystem, building: float) -> Iterator[Row]:
    """From nothing to a loaded kernel: imports, terms, the first time and from the cache."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import model_check.explicit_state.explorer, spec.system"], check=True)
    imports = time.perf_counter() - start
    yield "imports and terms", f"{imports:.2f} + {building:.2f} s", "3 at most"
    with tempfile.TemporaryDirectory() as cache:
        for name, target in (("kernel, first time", "10 at most"), ("kernel, from the cache", "0.3 at most")):
            start = time.perf_counter()
            load_kernel(system, cache)
            yield name, f"{time.perf_counter() - start:.2f} s", target
