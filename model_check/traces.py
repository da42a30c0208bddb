"""Traces: how a system gets from its initial state to the one that somebody wants to see.

A trace is a value. It starts with the initial state and goes on with steps: the name of the action taken and the whole
state after it. Engines make traces, `kcheck` prints, saves and replays them, and a trace is the same thing whether it
tells of a broken property or of a witness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

State: TypeAlias = dict[str, int]
"""A whole state: raw values by variable name."""


@dataclass(frozen=True)
class Trace:
    """A path through a system: (None, initial state), then (action name, state after it) for each step."""

    steps: tuple[tuple[str | None, State], ...]

    @property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions taken, in order."""
        return tuple(name for name, _ in self.steps if name is not None)

    @property
    def last(self) -> Mapping[str, int]:
        """The state that the trace ends in."""
        return self.steps[-1][1]

    def __len__(self) -> int:
        """The number of steps taken: 0 for the initial state alone."""
        return len(self.steps) - 1
