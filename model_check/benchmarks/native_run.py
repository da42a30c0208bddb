"""One exploration in a process of its own.

`python -m model_check.benchmarks.native_run OPTIONS` prints a line of JSON, and takes its options as one (`measure`).
The loops are compiled and the kernel is loaded before the clock starts.
"""

import json
import os
import resource
import sys
from collections.abc import Mapping
from typing import Any

from model_check.benchmarks.marginal import Mark, costs
from model_check.benchmarks.warming import warm
from model_check.explicit_state.exploration import Progress
from model_check.explicit_state.explorer import explore
from spec.scopes import scope as scope_named
from spec.system import system
from spec.variants import variant as variant_named


def measure(
    scope: str, variant: str, *, core: int | None, expected: int, limit: int | None, graph: bool
) -> Mapping[str, Any]:
    """Explore a scope and tell what it took; seconds are of the search alone.

    It runs on a `core`, or on all; makes the table for so many states as are `expected`; begins no level when `limit`
    are known; and keeps the edges, if it is to keep the `graph`.
    """
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    built = system(scope_named(scope), variant_named(variant))
    words = explore(built, limit=1).visited.shape[1]
    warm(expected * (8 * words + 40) * 3 // 2)
    bare = _peak_bytes()
    marks: list[Mark] = []

    def note(far: Progress) -> None:
        marks.append(Mark(far.states, far.expanded, far.seconds, os.times().user))

    found = explore(built, limit=limit, expected=expected, graph=graph, progress=note)
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
        "edge_bytes": found.edge_bytes,
        "peak_bytes": _peak_bytes(),
        "bare_bytes": bare,
        "marginal_ns": costs(marks),
    }


def _peak_bytes() -> int:
    """The most memory that this process has had until now."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.argv[1]))))
