"""One exploration in a process of its own.

`python -m model_check.benchmarks.native_run SCOPE VARIANT CORES EXPECTED [LIMIT]` prints a line of JSON. CORES are the
numbers of those to run on (`all`: no matter), EXPECTED is the number of states to make the table for. The loops are
compiled and the kernel is loaded before the clock starts.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Mapping
from typing import Any

from model_check.benchmarks.marginal import Mark, costs
from model_check.benchmarks.warming import warm
from model_check.explicit_state.explorer import Progress, explore
from spec.scopes import scope
from spec.system import system
from spec.variants import variant


def measure(scope_name: str, variant_name: str, expected: int, limit: int | None = None) -> Mapping[str, Any]:
    """Explore a scope and tell what it took; seconds are of the search alone."""
    built = system(scope(scope_name), variant(variant_name))
    words = explore(built, limit=1).visited.shape[1]
    warm(expected * (8 * words + 40) * 3 // 2)
    marks: list[Mark] = []

    def note(far: Progress) -> None:
        marks.append(Mark(far.states, far.expanded, far.seconds, os.times().user))

    found = explore(built, limit=limit, expected=expected, progress=note)
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
        "marginal_ns": costs(marks),
    }


def main() -> None:
    """Run as a program."""
    scope_name, variant_name, cores, expected, *limit = sys.argv[1:]
    if cores != "all" and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, set(map(int, cores.split(","))))
    print(json.dumps(measure(scope_name, variant_name, int(expected), int(limit[0]) if limit else None)))


if __name__ == "__main__":
    main()
