"""A transition system as plain Python functions, made from its terms, for whoever walks it state by state.

A transition is an action that is enabled in a state, whether or not it leads to a new state or changes anything. An
overflow is an action that only a bound of the scope stops. An `always` property fails in a state, a `step` property on
a transition; a `sometimes` property is witnessed in a state.
"""

from collections.abc import Callable, Mapping

import z3

from model_check.terms.python_code import Raw, compiled, condition_source, step_function
from model_check.terms.straight_line import Program
from model_check.traces.trace import State
from spec.language.rules import Action, TransitionSystem


class Machine:
    """A system as plain functions over tuples of raw values."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.names = tuple(variable.name for variable in system.variables)
        self.initial: Raw = tuple(variable.initial for variable in system.variables)
        self._program = Program()
        self._kinds = [(variable.name, variable.kind) for variable in system.variables]
        self.steps = [(action, self._step(action)) for action in system.actions]
        self.overflows = [
            (action.name, self._condition(action.overflow))
            for action in system.actions
            if not z3.is_false(action.overflow)
        ]

    def _step(self, action: Action) -> Callable[[Raw], Raw | None]:
        return step_function(self._program, self.names, action.guard, action.updates)

    def _condition(self, term: z3.BoolRef) -> Callable[[Raw], bool]:
        return compiled(condition_source(self._program, self.names, term))

    def state_conditions(self, kind: str) -> dict[str, Callable[[Raw], bool]]:
        """The properties of one kind that speak of a state, by name."""
        chosen = [one for one in self.system.properties if one.kind == kind and one.term is not None]
        return {one.name: self._condition(one.term) for one in chosen}

    def step_conditions(self) -> dict[str, list[tuple[str, Callable[[Raw], bool]]]]:
        """By action, the `step` properties that speak of it, and what each demands of the state before."""
        found: dict[str, list[tuple[str, Callable[[Raw], bool]]]] = {action.name: [] for action in self.system.actions}
        for one in self.system.properties:
            for action, term in one.terms.items():
                found[action].append((one.name, self._condition(term)))
        return found

    def row_conditions(self) -> dict[str, list[tuple[str, Callable[[Raw], bool]]]]:
        """By action, the rows of transition tables that it may take, and where it does."""
        return {
            action.name: [(row, self._condition(term)) for row, term in action.taken.items()]
            for action in self.system.actions
        }

    def pack(self, state: Mapping[str, int]) -> Raw:
        """A state as a tuple; KeyError names the variable that it lacks."""
        return tuple(state[name] for name in self.names)

    def unpack(self, raw: Raw) -> State:
        """A tuple as a state by name."""
        return dict(zip(self.names, raw, strict=True))

    def check_ranges(self, raw: Raw, action: str) -> None:
        """A value that its kind does not have is a mistake of the specification; ValueError says which."""
        for (name, kind), value in zip(self._kinds, raw, strict=True):
            if value > kind.maximum and not kind.unbounded:
                raise ValueError(f"{action} sets {name} to {value}, but a {kind.name} is at most {kind.maximum} there")
