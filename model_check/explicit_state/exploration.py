"""What an exploration finds: counts, traces, verdicts on goals, and every state.

A value, frozen when the search ends. States are numbered in order of discovery.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from model_check.explicit_state.digest import digest_of
from model_check.explicit_state.graph import GoalResult, Graph
from model_check.explicit_state.retracing import Retracer
from model_check.traces.trace import State, Trace


class SpecificationError(Exception):
    """A step leaves a variable with a value that its kind does not have."""


@dataclass(frozen=True)
class Progress:
    """How far an exploration is: states found and expanded, the level being expanded, seconds, bytes in use."""

    states: int
    expanded: int
    depth: int
    seconds: float
    memory_bytes: int


@dataclass(frozen=True)
class Exploration:
    """What a search found.

    `levels[d]` counts the states first reached by d steps. `fired` and `overflows` count states by action name, zeros
    included; `transitions` is the sum of `fired`. `occurrences` counts, by row of a transition table the states from
    which it is taken, by `sometimes` property those that show it, and by goal those that lack it yet; `first_depths`
    has the length of a shortest trace to each of these and each action, if there is any. `violated` and `witnessed`
    have a shortest trace by property name, only of what was found. `exhausted` is false if a limit, the memory, the
    caller or a violation stopped the search, and `stopped` says which. `seconds` are by part; "user" is what the search
    computed, without the kernel. `memory_bytes` are those of states and table, `edge_bytes`, apart, those of the graph.
    """

    states: int
    expanded: int
    transitions: int
    levels: tuple[int, ...]
    fired: Mapping[str, int]
    overflows: Mapping[str, int]
    occurrences: Mapping[str, int]
    first_depths: Mapping[str, int]
    violated: Mapping[str, Trace]
    witnessed: Mapping[str, Trace]
    goals: Mapping[str, GoalResult]
    exhausted: bool
    stopped: str
    seconds: Mapping[str, float]
    memory_bytes: int
    edge_bytes: int
    graph: Graph | None = field(repr=False)
    retracer: Retracer = field(repr=False)

    @property
    def depth(self) -> int:
        """How many steps the farthest state is away from the initial one."""
        return len(self.levels) - 1

    @property
    def stored_bytes_per_state(self) -> float:
        """What a stored state takes: its packed form, its parent's number and its share of the table."""
        return self.memory_bytes / self.states

    @property
    def visited(self) -> npt.NDArray[np.uint64]:
        """All states, packed, in order of discovery: `uint64[states, words]`."""
        return self.retracer.states[: self.states]

    def state(self, number: int) -> State:
        """A state by number, as raw values by name."""
        return self.retracer.state(number)

    def trace(self, number: int) -> Trace:
        """A shortest trace to a state by number."""
        return self.retracer.trace(number)

    @cached_property
    def digest(self) -> str:
        """A name for the set of states found: equal for every engine, order and number of workers; see `digest`."""
        return str(digest_of(self.retracer.kernel.packing, self.visited))
