"""Which steps a controller may take in a state: those of the place at which it is, as far as their guards hold.

A rule says at which places in the controller's code it is taken (`Rule.places`), so only those are asked; and what has
answered once is asked again only where something that it has read is another.

What processes do `unseen` are such steps: they may leave no trace, or lines in their logs only. Whether one leaves none
is found out by taking it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_rules import NotEnabled, run
from model_check.stepping.plain_state import Assigned, PlainState, Question, part
from spec.language.rules import Rule
from spec.protocol.broker_events.controlled_shutdown import lose_shutdown_request
from spec.protocol.brokers.processes import fail_registration, register_broker
from spec.protocol.controller.early_reads import DELETING, OF_OTHER_THREADS, read_for_listener, stop_deletions
from spec.protocol.controller.places import WHERE_LOCK_MAY_BE_FREE
from spec.protocol.elections.rebalance import check_imbalance
from spec.protocol.failover.steps import read_state
from spec.state.enumerations import At, Handler, Owes
from spec.system import instances

Candidate: TypeAlias = tuple[str, Mapping[str, int]]
"""A rule's name and parameters."""

PLACES: Final = list(At)
OF_BROKERS: Final = frozenset({register_broker.name, fail_registration.name, lose_shutdown_request.name})
"""What brokers do unseen. One that is registered and registers once more (an answer was lost, or a second session
expired) finds its own znode; one that starts while the session of its last process is there finds that one's."""
CALLED_FOR: Final = frozenset({check_imbalance.name})
"""What a timer begins, which would begin all the time: the judge takes it where something calls for it."""
UNORDERED: Final = frozenset({read_state.name})
"""Visits whose order has no bearing on what follows."""


class ControllerSteps:
    """The steps of the controllers of an open system, place by place; and what brokers do unseen, as of nobody, 0."""

    def __init__(self, system: OpenSystem) -> None:
        self._system = system
        self._at: dict[tuple[int, At], list[tuple[Rule, Mapping[str, int]]]] = defaultdict(list)
        for rule in system.rules.values():
            for parameters in instances(rule, system.model) if rule.places or rule.name in OF_BROKERS else ():
                for place in rule.places:
                    assert isinstance(place, At)  # noqa: S101 - the places of a controller
                    self._at[parameters["c"], place].append((rule, parameters))
                if not rule.places:
                    self._at[0, At.IDLE].append((rule, parameters))
        self._last: dict[int, tuple[Question, tuple[Candidate, ...], tuple[Candidate, ...]]] = {}

    def enabled(self, state: PlainState, c: int) -> tuple[Candidate, ...]:
        """The steps of progress whose guards hold; a later requirement may yet stop one."""
        return self._asked(state, c)[1]

    def faults(self, state: PlainState, c: int) -> tuple[Candidate, ...]:
        """Likewise the steps with which something goes wrong."""
        return self._asked(state, c)[2]

    def unseen(self, state: PlainState) -> Iterator[Candidate]:
        """What may happen unseen; not all of it is enabled."""
        for c in self._system.model.controllers:
            yield from (one for one in self.enabled(state, c) if one[0] not in CALLED_FOR)
            controller = part(state, "controllers", c)
            if place_of(state, c) is not At.IDLE or controller.get("shutdown_of"):
                yield read_for_listener.name, {"c": c}
            if controller.get("given"):
                yield stop_deletions.name, {"c": c}
        yield from self.enabled(state, 0)

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


def is_of_another_thread(rule: Rule, before: PlainState, after: PlainState, c: int) -> bool:
    """Whether a controller takes a step on another thread than ZkClient's."""
    is_theirs = rule.places == WHERE_LOCK_MAY_BE_FREE or not {*DELETING}.isdisjoint(rule.places)
    return is_theirs or any(
        list(Handler)[part(state, "controllers", c).get("handler", 0)] in OF_OTHER_THREADS
        or list(Owes)[part(state, "processes", c).get("owes", 0)] is Owes.AFTER_ELECTION
        for state in (before, after)
    )


def is_instead_of(candidate: Candidate, taken: Candidate) -> bool:
    """Whether a controller may do this rather than that: take up another topic or partition, or let a thread in.

    Several threads may wait for its lock, and which one gets it is open.
    """
    if candidate[1].get("c") != taken[1].get("c"):
        return False
    return candidate[0] not in UNORDERED or taken[0] not in UNORDERED
