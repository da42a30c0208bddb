"""Which steps a controller may take in a state: those of the place at which it is, as far as their guards hold.

A rule says at which places in the controller's code it is taken (`Rule.places`), so only those are asked; and what has
answered once is asked again only where something that it has read is another.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_rules import NotEnabled, run
from model_check.stepping.plain_state import Assigned, PlainState, Question, part
from spec.language.rules import Rule
from spec.state.enumerations import At
from spec.system import instances

Candidate: TypeAlias = tuple[str, Mapping[str, int]]
"""A rule's name and parameters."""

PLACES: Final = list(At)


class ControllerSteps:
    """The steps of the controllers of an open system, place by place; and `others`, which are those of nobody, 0."""

    def __init__(self, system: OpenSystem, others: Iterable[Candidate] = ()) -> None:
        self._system = system
        self._at: dict[tuple[int, At], list[tuple[Rule, Mapping[str, int]]]] = defaultdict(list)
        for rule in system.rules.values():
            for parameters in instances(rule, system.model) if rule.places else ():
                for place in rule.places:
                    assert isinstance(place, At)  # noqa: S101 - the places of a controller
                    self._at[parameters["c"], place].append((rule, parameters))
        self._at[0, At.IDLE] = [(system.rules[name], parameters) for name, parameters in others if name in system.rules]
        self._last: dict[int, tuple[Question, tuple[Candidate, ...], tuple[Candidate, ...]]] = {}

    def enabled(self, state: PlainState, c: int) -> tuple[Candidate, ...]:
        """The steps of progress whose guards hold; a later requirement may yet stop one."""
        return self._asked(state, c)[1]

    def faults(self, state: PlainState, c: int) -> tuple[Candidate, ...]:
        """Likewise the steps with which something goes wrong."""
        return self._asked(state, c)[2]

    def _asked(self, state: PlainState, c: int) -> tuple[Question, tuple[Candidate, ...], tuple[Candidate, ...]]:
        last = self._last.get(c)
        if last is not None and last[0].reads_the_same(state):
            return last
        question: Any = Question(self._system.layout, state)
        place = PLACES[question.controllers[c].at.raw] if c else At.IDLE
        holding = [(rule, one) for rule, one in self._at[c, place] if self._holds(question, rule, one)]
        progress = tuple((rule.name, one) for rule, one in holding if rule.budget is None)
        faults = tuple((rule.name, one) for rule, one in holding if rule.budget is not None)
        self._last[c] = question, progress, faults
        return self._last[c]

    def _holds(self, question: Question, rule: Rule, parameters: Mapping[str, int]) -> bool:
        """Whether no requirement fails before the rule assigns anything."""
        try:
            run(rule, question, self._system.model_for(parameters), parameters)
        except NotEnabled:
            return False
        except Assigned:
            return True
        return True


def place_of(state: PlainState, c: int) -> At:
    """Where the holder of a controller's lock is."""
    place: At = PLACES[part(state, "controllers", c).get("at", 0)]
    return place
