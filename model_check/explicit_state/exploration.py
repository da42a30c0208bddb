"""What an exploration finds: counts, traces, verdicts on goals, and every state.

A value, frozen when the search ends. States are numbered in order of discovery.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from model_check.explicit_state.digest import digest_of
from model_check.explicit_state.findings import Found
from model_check.explicit_state.graph import Graph
from model_check.explicit_state.retracing import Retracer
from model_check.kernel.predicates import OCCURRENCES, Kind, Predicate
from model_check.traces.trace import Trace
from spec.language.rules import TransitionSystem


class SpecificationError(Exception):
    """A step leaves a variable with a value that its kind does not have."""


def refuse_out_of_range(system: TransitionSystem, trace: Trace) -> None:
    """SpecificationError for the last state of a trace, if a variable has a value there that its kind does not have."""
    for variable in system.variables:
        value, most = trace.last[variable.name], variable.kind.maximum
        if value > most:
            action = trace.steps[-1][0] or "the initial state"
            raise SpecificationError(
                f"{action} sets {variable.name} to {value}, but a {variable.kind.name} is at most {most} there"
            )


def tallied(predicates: Sequence[Predicate], counts: Iterable[int]) -> dict[str, Any]:
    """What was counted of each predicate, as fields of what is found."""
    by_kind: dict[Kind, dict[str, int]] = {kind: {} for kind in Kind}
    for one, count in zip(predicates, counts, strict=True):
        by_kind[one.kind][one.name] = int(count)
    fired = by_kind[Kind.ENABLED]
    return {
        "transitions": sum(fired.values()),
        "fired": fired,
        "overflows": dict.fromkeys(fired, 0) | by_kind[Kind.OVERFLOW],
        "occurrences": {name: count for kind in OCCURRENCES for name, count in by_kind[kind].items()},
    }


@dataclass(frozen=True)
class Progress:
    """How far an exploration is: states found and expanded, the level being expanded, seconds, bytes in use."""

    states: int
    expanded: int
    depth: int
    seconds: float
    memory_bytes: int


@dataclass(frozen=True, kw_only=True)
class Exploration(Found):
    """What a search in the memory of one process found.

    It was stopped by a limit, the memory, the caller or a violation. Of its seconds, "user" is what the search
    computed, without the kernel. `edge_bytes` are those of the graph, which `memory_bytes` leave out.
    """

    edge_bytes: int
    graph: Graph | None = field(repr=False)
    retracer: Retracer = field(repr=False)

    @property
    def stored_bytes_per_state(self) -> float:
        """What a stored state takes: its packed form, its parent's number and its share of the table."""
        return self.memory_bytes / self.states

    @property
    def visited(self) -> npt.NDArray[np.uint64]:
        """All states, packed, in order of discovery: `uint64[states, words]`."""
        return self.retracer.states[: self.states]

    def trace(self, number: int) -> Trace:
        """A shortest trace to a state by number."""
        return self.retracer.trace(number)

    @cached_property
    def digest(self) -> str:
        """The name of the set of states found."""
        return str(digest_of(self.retracer.kernel.packing, self.visited))
