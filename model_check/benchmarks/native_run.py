"""One exploration in a process of its own.

`python -m model_check.benchmarks.native_run SCOPE VARIANT` prints a line of JSON. The loops are compiled and the kernel
is loaded before the clock starts.
"""

import argparse
import json
import os
import resource
from collections.abc import Mapping
from typing import Any

from model_check.benchmarks.marginal import Mark, costs
from model_check.benchmarks.warming import warm
from model_check.explicit_state.exploration import Progress
from model_check.explicit_state.explorer import explore
from spec.scopes import scope
from spec.system import system
from spec.variants import variant


def measure(asked: argparse.Namespace) -> Mapping[str, Any]:
    """Explore a scope and tell what it took; seconds are of the search alone."""
    expected = asked.expected
    built = system(scope(asked.scope), variant(asked.variant))
    words = explore(built, limit=1).visited.shape[1]
    warm(expected * (8 * words + 40) * 3 // 2)
    bare = _peak_bytes()
    marks: list[Mark] = []

    def note(far: Progress) -> None:
        marks.append(Mark(far.states, far.expanded, far.seconds, os.times().user))

    found = explore(built, limit=asked.limit, expected=expected, graph=asked.graph, progress=note)
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


def main() -> None:
    """Run as a program."""
    parser = argparse.ArgumentParser(prog="python -m model_check.benchmarks.native_run")
    parser.add_argument("scope")
    parser.add_argument("variant")
    parser.add_argument("--core", type=int, help="to run on; without it, all")
    parser.add_argument("--expected", type=int, default=0, help="states to make the table for")
    parser.add_argument("--limit", type=int, help="begin no level when so many states are known")
    parser.add_argument("--graph", action="store_true", help="keep the edges")
    asked = parser.parse_args()
    if asked.core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {asked.core})
    print(json.dumps(measure(asked)))


if __name__ == "__main__":
    main()
