"""Telling how a state was reached, from the numbers of parents alone.

A search keeps four bytes of history for a state: its parent's number. The action between the two is found again by
expanding the parent: the first action, in the system's order, whose successor is the state.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_check.kernel.kernel import Kernel
from model_check.kernel.packing import Words
from model_check.terms.straight_line import Valuation
from model_check.traces.trace import State, Trace
from spec.language.rules import Action


@dataclass(frozen=True)
class Retracer:
    """All states by number, and the number of the state from which each was first reached (0 for state 0 itself)."""

    kernel: Kernel
    states: Words
    parents: npt.NDArray[np.uint32]

    def state(self, number: int) -> State:
        """A state by name."""
        return self.kernel.packing.unpack(self.states[number])

    def trace(self, number: int) -> Trace:
        """A shortest trace to a state."""
        way = [number]
        while way[-1]:
            way.append(int(self.parents[way[-1]]))
        way.reverse()
        names = self._actions(way)
        return Trace(tuple(zip(names, map(self.state, way), strict=True)))

    def trace_breaking(self, name: str, number: int) -> Trace:
        """A shortest trace whose last step, taken in the given state, breaks a step property."""
        state = self.state(number)
        value = Valuation(state)
        terms = self.kernel.system.property_named(name).terms
        for action in self.kernel.system.actions:
            if action.name in terms and value(action.guard) and not value(terms[action.name]):
                return Trace((*self.trace(number).steps, (action.name, value.after(action.updates))))
        raise LookupError(f"no step from state {number} breaks {name}, though the kernel said so")

    def _actions(self, way: list[int]) -> list[str | None]:
        """The actions between the states of a path; None before the first."""
        expansion = self.kernel.expand(self.states[way[:-1]])
        actions: list[Action] = list(self.kernel.system.actions)
        names: list[str | None] = [None]
        for position, number in enumerate(way[1:]):
            mine = expansion.parents == position
            matching = (expansion.successors[mine] == self.states[number]).all(axis=1)
            names.append(actions[int(expansion.actions[mine][matching].min())].name)
        return names
