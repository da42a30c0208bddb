"""A transition system as plain Python functions, made from its terms, for whoever walks it state by state.

A transition is an action that is enabled in a state, whether or not it leads to a new state or changes anything. An
overflow is an action that only a bound of the scope stops.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, partial

import z3

from model_check.terms.python_code import Raw, compiled, condition_source, effect_source, guards_source, step_function
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
        self._effects: dict[int, Callable[[Raw], Raw]] = {}

    @cached_property
    def steps(self) -> list[tuple[Action, Callable[[Raw], Raw | None]]]:
        """Each action, with a function to the state after it, or to None where it is not enabled."""
        step = partial(step_function, self._program, self.names)
        return [(action, step(action.guard, action.updates)) for action in self.system.actions]

    @cached_property
    def overflows(self) -> list[tuple[str, Callable[[Raw], bool]]]:
        """The actions that have an overflow, by name, and where only that stops them."""
        stopped = [action for action in self.system.actions if not z3.is_false(action.overflow)]
        return [(action.name, self.condition(action.overflow)) for action in stopped]

    @cached_property
    def _guards(self) -> Callable[[Raw], list[int]]:
        guards = [action.guard for action in self.system.actions]
        return compiled(guards_source(self._program, self.names, guards))

    def enabled(self, raw: Raw) -> dict[str, Raw]:
        """The actions that are enabled in a state, by name, with the states after them: one pass over all guards."""
        return {self.system.actions[number].name: self._effect(number)(raw) for number in self._guards(raw)}

    def _effect(self, number: int) -> Callable[[Raw], Raw]:
        """What an action does, written when it is first enabled: few of a large system's actions ever are."""
        if number not in self._effects:
            source = effect_source(self._program, self.names, self.system.actions[number].updates)
            self._effects[number] = compiled(source)
        return self._effects[number]

    def condition(self, term: z3.BoolRef) -> Callable[[Raw], bool]:
        """A function that says whether a term holds in a state."""
        return compiled(condition_source(self._program, self.names, term))

    def pack(self, state: Mapping[str, int]) -> Raw:
        """A state as a tuple; KeyError names the variable that it lacks."""
        return tuple(state[name] for name in self.names)

    def unpack(self, raw: Raw) -> State:
        """A tuple as a state by name."""
        return dict(zip(self.names, raw, strict=True))
