"""The questions that a search asks of every state, as one list.

Whatever an engine wants to know is a yes or no about one state: an action is enabled in it; a bound stops an action in
it; an `always` property fails in it; some enabled action would break a `step` property (its terms already speak of the
state before); some enabled action takes a row of a table; a `sometimes` property or a goal holds in it, or a goal does
not. So the kernel knows nothing of properties: it answers a list of predicates, and whoever searches counts the answers
and remembers the first state of each.
"""

import enum
from collections.abc import Iterator
from dataclasses import dataclass

import z3

from spec.language.rules import GOALS, Action, Property, TransitionSystem
from spec.language.terms import FLAG, Value, both, either


class Kind(enum.Enum):
    """What a predicate is about; the order is the order of the list."""

    ENABLED = "the action's guard holds"
    OVERFLOW = "only a bound of the scope stops the action"
    VIOLATED = "an always property fails"
    BROKEN = "some enabled action would break a step property"
    TAKEN = "some enabled action takes a row of a table: of transitions, or of what the handlers do next"
    WITNESSED = "a sometimes property holds"
    LACKED = "the goal of a recoverable or eventually property does not hold yet"
    GOAL = "the goal of a recoverable or eventually property holds"
    CUT_OFF = "a bound stops some action of progress, so paths from here are missing"
    OUT_OF_RANGE = "a variable has a value that its kind does not have"


OCCURRENCES = (Kind.TAKEN, Kind.WITNESSED, Kind.LACKED)
"""What has to be so somewhere, beside actions; where it is so nowhere, something holds for want of occasion."""

FIRSTS = {Kind.ENABLED: 1, Kind.TAKEN: 1, Kind.WITNESSED: 0, Kind.LACKED: 0}
"""What a first depth belongs to: a step from a state, or the state."""


@dataclass(frozen=True)
class Predicate:
    """One question: its kind, the name of the action, property or variable, and the z3 term that answers it."""

    kind: Kind
    name: str
    term: z3.BoolRef


def predicates(system: TransitionSystem) -> tuple[Predicate, ...]:
    """Every question about a state of the system; the first ones are the actions' guards, in the system's order."""
    return (
        *(Predicate(Kind.ENABLED, action.name, action.guard) for action in system.actions),
        *(Predicate(Kind.OVERFLOW, action.name, action.overflow) for action in _bounded(system)),
        *(Predicate(Kind.VIOLATED, one.name, (~FLAG.of(one.term)).term) for one in _of_kinds(system, "always")),
        *(Predicate(Kind.BROKEN, one.name, term) for one, term in _broken(system)),
        *(Predicate(Kind.TAKEN, row, term) for row, term in _taken(system)),
        *(Predicate(Kind.WITNESSED, one.name, one.term) for one in _of_kinds(system, "sometimes")),
        *(Predicate(Kind.LACKED, one.name, (~FLAG.of(one.term)).term) for one in _of_kinds(system, *GOALS)),
        *(Predicate(Kind.GOAL, one.name, one.term) for one in _of_kinds(system, *GOALS)),
        Predicate(Kind.CUT_OFF, "", _cut_off(system).term),
        Predicate(Kind.OUT_OF_RANGE, "", _out_of_range(system).term),
    )


def _bounded(system: TransitionSystem) -> list[Action]:
    return [action for action in system.actions if not z3.is_false(action.overflow)]


def _cut_off(system: TransitionSystem) -> Value:
    return either(*(FLAG.of(action.overflow) for action in _bounded(system) if action.budget is None))


def _of_kinds(system: TransitionSystem, *kinds: str) -> list[Property]:
    return [one for one in system.properties if one.kind in kinds and one.term is not None]


def _broken(system: TransitionSystem) -> Iterator[tuple[Property, z3.BoolRef]]:
    guards = {action.name: FLAG.of(action.guard) for action in system.actions}
    for one in system.properties:
        if one.kind == "step":
            yield one, either(*(both(guards[name], ~FLAG.of(term)) for name, term in one.terms.items())).term


def _taken(system: TransitionSystem) -> Iterator[tuple[str, z3.BoolRef]]:
    takers: dict[str, list[Value]] = {}
    for action in system.actions:
        for row, term in action.taken.items():
            takers.setdefault(row, []).append(both(FLAG.of(action.guard), FLAG.of(term)))
    for row, where in sorted(takers.items()):
        yield row, either(*where).term


def _out_of_range(system: TransitionSystem) -> Value:
    kinds = [(one.kind, one.name) for one in system.variables if one.kind.maximum < (1 << one.kind.width) - 1]
    return either(*(kind.variable(name) > Value(kind, kind.literal(kind.maximum)) for kind, name in kinds))
