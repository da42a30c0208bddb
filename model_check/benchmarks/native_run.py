"""One exploration in a process of its own.

`python -m model_check.benchmarks.native_run SCOPE VARIANT CORE EXPECTED [LIMIT]` prints one line of JSON; EXPECTED is
the number of states to make the table for. The loops are compiled and the kernel is loaded before the clock starts.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from model_check.benchmarks.warming import warm
from model_check.explorer import Progress, explore
from spec.scopes import scope
from spec.system import system
from spec.variants import variant

BEGIN, LATER = 1_000_000, 30_000_000
"""Stored states around which the marginal cost of a state is told."""


def measure(scope_name: str, variant_name: str, expected: int, limit: int | None = None) -> Mapping[str, Any]:
    """Explore a scope and tell what it took; seconds are of the search alone."""
    built = system(scope(scope_name), variant(variant_name))
    words = explore(built, limit=1).visited.shape[1]
    warm(expected * 8 * words)  # less than the search takes, for the peak is told
    marks: list[Progress] = []
    found = explore(built, limit=limit, expected=expected, progress=marks.append)
    return {
        "actions": len(built.actions),
        "words": words,
        "states": found.states,
        "expanded": found.expanded,
        "transitions": found.transitions,
        "seconds": found.seconds["search"],
        "user": found.seconds["user"],
        "stored_bytes_per_state": found.stored_bytes_per_state,
        "memory_bytes": found.memory_bytes,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "marginal_ns": {str(at): cost for at in (BEGIN, LATER) if (cost := marginal(marks, at)) is not None},
    }


def marginal(marks: Sequence[Progress], at: int) -> float | None:
    """Nanoseconds for each state expanded while between half and one and a half times so many were stored."""
    window = [one for one in marks if at // 2 <= one.states <= at * 3 // 2]
    if len(window) < 2 or marks[-1].states < at * 3 // 2:
        return None
    first, last = window[0], window[-1]
    return (last.seconds - first.seconds) * 1e9 / (last.expanded - first.expanded)


def main() -> None:
    """Run as a program."""
    scope_name, variant_name, core, expected, *limit = sys.argv[1:]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core)})
    print(json.dumps(measure(scope_name, variant_name, int(expected), int(limit[0]) if limit else None)))


if __name__ == "__main__":
    main()
