"""What an observer must see of a step: the observations that the specification attaches to its actions, evaluated.

A process is several roles, which no observer can put into one order; so observations are compared as a collection.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import z3

from model_check.refinement.by_what_is_read import ByWhatIsRead
from model_check.terms.python_code import Raw
from model_check.terms.straight_line import VARIABLE, Program, Valuation
from spec.language.rules import Observation, TransitionSystem
from spec.language.terms import Kind


@dataclass(frozen=True)
class Seen:
    """An observation of the reference: by whom, of what kind, with which values."""

    role: str
    kind: str
    fields: Mapping[str, object]


class Shown(NamedTuple):
    """An observation that the specification demands: by whom, of what kind, with which raw values of which kinds."""

    role: str
    kind: str
    fields: Mapping[str, tuple[Kind, int]]

    def __str__(self) -> str:
        shown = ", ".join(f"{name} {kind.show(raw)}" for name, (kind, raw) in self.fields.items())
        return f"{self.role}: {self.kind} {shown}"

    def is_seen(self, seen: Seen) -> bool:
        """Whether this is what was observed."""
        if (seen.role, seen.kind) != (self.role, self.kind) or seen.fields.keys() != self.fields.keys():
            return False
        return all(kind.encode(seen.fields[name]) == raw for name, (kind, raw) in self.fields.items())


def departures(demanded: Iterable[Shown], observed: Sequence[Seen]) -> list[str]:
    """How what was observed departs from what must be seen, whatever the order."""
    left, reasons = list(observed), list[str]()
    for shown in demanded:
        match = next(filter(shown.is_seen, left), None)
        if match is None:
            reasons.append(f"the specification shows: {shown}")
        else:
            left.remove(match)
    return reasons + [f"the reference shows: {seen.role}: {seen.kind} {dict(seen.fields)}" for seen in left]


class Demanded:
    """The observations that the specification attaches to the actions of a system."""

    def __init__(self, system: TransitionSystem) -> None:
        self._program = Program()
        self._names = [variable.name for variable in system.variables]
        self._events = {action.name: action.events for action in system.actions}
        self._read: dict[str, list[int]] = {}
        self._agreed = ByWhatIsRead[list[Sequence[Seen]]]()

    def differences(self, action: str, before: Raw, observed: Sequence[Seen]) -> list[str]:
        """How what was observed departs from what this action, taken in this state, must show.

        What agreed once agrees again where all variables that the action's observations speak of are the same.
        """
        agreed = self._agreed.get(action, before)
        if agreed is None:
            agreed = self._agreed.keep(action, before, self.read_by(action), [])
        if observed in agreed:
            return []
        reasons = departures(self.shown(action, before), observed)
        if not reasons:
            agreed.append(observed)
        return reasons

    def read_by(self, action: str) -> Sequence[int]:
        """The places of the variables in the terms of what an action shows."""
        if action not in self._read:
            terms = (term for event in self._events[action] for term in _terms(event))
            needed = self._program.needed_by([self._program.place(term) for term in terms])
            nodes = (self._program.nodes[place] for place in needed)
            self._read[action] = [self._names.index(node.name) for node in nodes if node.operator == VARIABLE]
        return self._read[action]

    def shown(self, action: str, before: Raw) -> Iterator[Shown]:
        """What an observer must see of this action, taken in this state."""
        value = Valuation(dict(zip(self._names, before, strict=True)), self._program)
        for event in self._events[action]:
            if value(event.condition):
                fields = {name: (shown.kind, value(shown.term)) for name, shown in event.fields.items()}
                yield Shown(event.role, event.kind, fields)


def _terms(event: Observation) -> Iterator[z3.ExprRef]:
    yield event.condition
    yield from (shown.term for shown in event.fields.values())
