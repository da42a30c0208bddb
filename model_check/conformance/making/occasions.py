"""What a walk shows besides its steps: what comes true of the claims, rows of the tables, branches of the selectors.

A claim's occasion is a `sometimes` claim that comes true: without any, what is claimed of all states would say nothing.
A claim that a walk breaks is a defect of Kafka's, as a driven controller lives through it. Rows are those that the
specification says a step takes, of which there may be several. What is refused, or fails, stands in a line of a log.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import z3

from model_check.explicit_state.interpreter import Machine
from model_check.terms.python_code import Raw, compiled, guards_source
from model_check.terms.straight_line import Program
from reference.journal import ElectionGivenUp, Entry, Report, SelectorAsked, StateChange
from spec.formats.kafka_types import V0102
from spec.language.rules import GOALS, Property
from spec.logs.controller_log.leader_selection import PreferredSelected, UncleanLeader
from spec.logs.log_lines import Line

OCCASION, BROKEN, TROUBLE, BRANCH, TAKEN = "occasion", "broken", "trouble", "branch", "taken row"
ELECTED, NOBODY, NOT_NEEDED, UNCLEAN = (
    "elects from the ISR",
    "elects nobody",
    "need not elect",
    "elects from outside it",
)
BRANCHES: Final = frozenset({
    *((selector, way) for selector in ("offline", "preferred", "controlled-shutdown", "reassigned")
      for way in (ELECTED, NOBODY)),
    ("offline", UNCLEAN), ("preferred", NOT_NEEDED),
})  # fmt: skip
"""The branches of the selectors: which, and what it comes to."""
Seen: TypeAlias = tuple[str, ...]


class Occasions:
    """Tells what comes true of a system's claims by a step, what is broken by it, and which rows it takes."""

    def __init__(self, machine: Machine) -> None:
        self._names, self._program = machine.names, Program()
        self._claims = machine.system.properties
        self._actions = {one.name: one for one in machine.system.actions}
        of_states = [one for one in self._claims if one.term is not None and one.kind not in GOALS]
        self._in_state = self._finder({_told(one): _looked_for(one) for one in of_states})
        self._by_action: dict[str, Finder] = {}

    def by(self, name: str, before: Raw, after: Raw) -> frozenset[Seen]:
        """What a step shows that leads from a state to another."""
        if name not in self._by_action:
            broken: dict[Seen, Any] = {
                (BROKEN, one.name): z3.Not(one.terms[name]) for one in self._claims if name in one.terms
            }
            rows: dict[Seen, Any] = {(TAKEN, row): term for row, term in self._actions[name].taken.items()}
            self._by_action[name] = self._finder({**broken, **rows})
        return (self._in_state(after) - self._in_state(before)) | self._by_action[name](before)

    def _finder(self, terms: Mapping[Seen, Any]) -> "Finder":
        """A function from a state to those of which the terms hold there."""
        told, numbers = [*terms], compiled(guards_source(self._program, self._names, [*terms.values()]))
        return lambda raw: frozenset(told[number] for number in numbers(raw))


Finder: TypeAlias = Callable[[Raw], frozenset[Seen]]


def _told(one: Property) -> Seen:
    return (OCCASION if one.kind == "sometimes" else BROKEN, one.name)


def _looked_for(one: Property) -> Any:
    """What is looked for in a state: an occasion, or what is never to be."""
    return one.term if one.kind == "sometimes" else z3.Not(one.term)


def troubles_shown(entries: Iterable[Entry]) -> Iterator[Seen]:
    """What a controller refuses, or fails at: the lines that it logs of that."""
    for entry in entries:
        if isinstance(entry, Report | StateChange) and tells_of_trouble(type(entry.line)):
            yield TROUBLE, type(entry.line).__name__


def tells_of_trouble(line: type[Line]) -> bool:
    """Whether a line, as 0.10.2 logs it, warns or tells of an error."""
    return line.level_at(V0102) in {"WARN", "ERROR"}


def branches_shown(entries: Iterable[Entry]) -> Iterator[Seen]:
    """The branches of selectors that a turn takes, by what follows until the next is asked."""
    selector, way, about = "", "", None
    for entry in entries:
        match entry:
            case SelectorAsked():
                if selector:
                    yield BRANCH, selector, way
                selector, about = entry.selector, entry.partition
                way = NOT_NEEDED if selector == "preferred" else ELECTED
            case ElectionGivenUp(partition=partition, creating=False) if partition == about:
                way = NOBODY
            case Report(line=PreferredSelected()):
                way = ELECTED
            case Report(line=UncleanLeader()):
                way = UNCLEAN
            case _:
                pass
    if selector:
        yield BRANCH, selector, way
