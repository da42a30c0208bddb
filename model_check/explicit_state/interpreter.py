"""A transition system as plain Python functions, made from its terms, for whoever walks it state by state.

A transition is an action that is enabled in a state, whether or not it leads to a new state or changes anything. An
overflow is an action that only a bound of the scope stops.
"""

from collections.abc import Callable, Mapping

import z3

from model_check.terms.python_code import Raw, compiled, condition_source, step_function
from model_check.terms.straight_line import Program
from model_check.traces.trace import State
from spec.language.rules import TransitionSystem


class Machine:
    """A system as plain functions over tuples of raw values."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.names = tuple(variable.name for variable in system.variables)
        self.initial: Raw = tuple(variable.initial for variable in system.variables)
        self._program = Program()
        self.steps = [(one, step_function(self._program, self.names, one.guard, one.updates)) for one in system.actions]
        self.overflows = [
            (action.name, self.condition(action.overflow))
            for action in system.actions
            if not z3.is_false(action.overflow)
        ]

    def condition(self, term: z3.BoolRef) -> Callable[[Raw], bool]:
        """A function that says whether a term holds in a state."""
        return compiled(condition_source(self._program, self.names, term))

    def pack(self, state: Mapping[str, int]) -> Raw:
        """A state as a tuple; KeyError names the variable that it lacks."""
        return tuple(state[name] for name in self.names)

    def unpack(self, raw: Raw) -> State:
        """A tuple as a state by name."""
        return dict(zip(self.names, raw, strict=True))
