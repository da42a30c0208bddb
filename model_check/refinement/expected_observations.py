"""What an observer must see of a step: the observations that the specification attaches to its actions, evaluated.

A process is several roles, which no observer can put into one order; so observations are compared as a collection.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_check.terms.python_code import Raw, step_function
from model_check.terms.straight_line import Program
from spec.language.rules import TransitionSystem
from spec.language.terms import Kind


@dataclass(frozen=True)
class Seen:
    """An observation of the reference: by whom, of what kind, with which values."""

    role: str
    kind: str
    fields: Mapping[str, object]


Fields = Sequence[tuple[str, Kind]]
Evaluated = tuple[str, str, Fields, Callable[[Raw], Raw | None]]


class Demanded:
    """The observations that the specification attaches to the actions of a system."""

    def __init__(self, system: TransitionSystem) -> None:
        self._program = Program()
        self._names = [variable.name for variable in system.variables]
        self._actions = {action.name: action for action in system.actions}
        self._compiled: dict[str, list[Evaluated]] = {}

    def _events(self, action: str) -> list[Evaluated]:
        """What an action shows, as functions that are compiled when the action is first taken."""
        if action not in self._compiled:
            self._compiled[action] = [self._compile(event) for event in self._actions[action].events]
        return self._compiled[action]

    def _compile(self, event: Any) -> Evaluated:
        """A function from a state to the values of the fields, or None where it is not seen."""
        fields = tuple((name, value.kind) for name, value in event.fields.items())
        extra = [f"field {name}" for name, _ in fields]
        targets = {f"field {name}": value.term for name, value in event.fields.items()}
        function = step_function(self._program, [*self._names, *extra], event.condition, targets)
        return event.role, event.kind, fields, function

    def differences(self, action: str, before: Raw, observed: Sequence[Seen]) -> list[str]:
        """How what was observed departs from what this action, taken in this state, must show."""
        left = list(observed)
        reasons = []
        for role, kind, fields, function in self._events(action):
            values = function((*before, *(0 for _ in fields)))
            if values is None:
                continue
            raws = dict(zip((name for name, _ in fields), values[len(before) :], strict=True))
            match = next((seen for seen in left if _is(seen, role, kind, fields, raws)), None)
            if match is None:
                shown = ", ".join(f"{name} {of.show(raws[name])}" for name, of in fields)
                reasons.append(f"the specification shows: {role}: {kind} {shown}")
            else:
                left.remove(match)
        return reasons + [f"the reference shows: {seen.role}: {seen.kind} {dict(seen.fields)}" for seen in left]


def _is(seen: Seen, role: str, kind: str, fields: Fields, raws: Mapping[str, int]) -> bool:
    if (seen.role, seen.kind) != (role, kind) or seen.fields.keys() != raws.keys():
        return False
    return all(of.encode(seen.fields[name]) == raws[name] for name, of in fields)
