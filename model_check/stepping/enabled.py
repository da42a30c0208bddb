"""Which steps a controller may take in a state: those of the place at which it is, as far as their guards hold.

A rule says at which places in the controller's code it is taken (`Rule.places`), so only those are asked; and what has
answered once is asked again only where something that it has read is another.

What processes do `unseen` are such steps: they may leave no trace, or lines in their logs only. Whether one leaves none
is found out by taking it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_rules import NotEnabled, run
from model_check.stepping.plain_state import EMPTY, PlainState, part
from model_check.stepping.watched_state import Asked, Assigned, Watch, Watched
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


class Guards:
    """The guards of some actions of an open system, asked of one state after the other."""

    def __init__(self, system: OpenSystem, candidates: Iterable[Candidate]) -> None:
        self._system = system
        watch = Watch()
        self._view = Watched(system.layout, EMPTY, watch)
        self._asked = Asked(watch, candidates, self._holds)

    def holding(self, state: PlainState) -> tuple[Candidate, ...]:
        """Those whose guards hold in a state; a later requirement may yet stop one."""
        self._view.follow(state)
        return self._asked.holding()

    def _holds(self, candidate: Candidate) -> bool:
        """Whether no requirement fails before the rule assigns anything."""
        rule, parameters = candidate
        try:
            run(self._system.rules[rule], self._view, self._system.model_for(parameters), parameters)
        except NotEnabled:
            return False
        except Assigned:
            return True
        return True


class ControllerSteps:
    """The steps of the controllers of an open system, place by place; and what brokers do unseen, as of nobody, 0.

    Each place is asked of the states in which its controller is there, and knows nothing of those between.
    """

    def __init__(self, system: OpenSystem) -> None:
        self._system = system
        found: dict[tuple[int, At, bool], list[Candidate]] = defaultdict(list)
        for rule in system.rules.values():
            for parameters in instances(rule, system.model) if rule.places or rule.name in OF_BROKERS else ():
                for place in rule.places:
                    assert isinstance(place, At)  # noqa: S101 - the places of a controller
                    found[parameters["c"], place, rule.budget is not None].append((rule.name, parameters))
                if not rule.places:
                    found[0, At.IDLE, rule.budget is not None].append((rule.name, parameters))
        self._at = {where: Guards(system, every) for where, every in found.items()}

    def progress(self, state: PlainState) -> Sequence[Candidate]:
        """All steps of progress whose guards hold, in the order of their rules, those of brokers and admins, too."""
        enabled = [one for c in self._system.model.controllers for one in self.enabled(state, c)]
        enabled += self._of_others.holding(state)
        return sorted(enabled, key=lambda one: self._order[one[0], *one[1].values()])

    @cached_property
    def _of_others(self) -> Guards:
        """The steps of progress that no controller takes: few ask for them, and there are many."""
        rules = (rule for rule in self._progressing if not rule.places)
        return Guards(self._system, ((rule.name, one) for rule in rules for one in instances(rule, self._system.model)))

    @cached_property
    def _order(self) -> Mapping[tuple[object, ...], int]:
        every = (
            (rule.name, *one.values()) for rule in self._progressing for one in instances(rule, self._system.model)
        )
        return {one: number for number, one in enumerate(every)}

    @property
    def _progressing(self) -> Iterator[Rule]:
        return (rule for rule in self._system.rules.values() if rule.budget is None)

    def enabled(self, state: PlainState, c: int) -> tuple[Candidate, ...]:
        """The steps of progress whose guards hold; a later requirement may yet stop one."""
        return self._asked(state, c, is_fault=False)

    def faults(self, state: PlainState, c: int) -> tuple[Candidate, ...]:
        """Likewise the steps with which something goes wrong."""
        return self._asked(state, c, is_fault=True)

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

    def _asked(self, state: PlainState, c: int, *, is_fault: bool) -> tuple[Candidate, ...]:
        guards = self._at.get((c, place_of(state, c) if c else At.IDLE, is_fault))
        return () if guards is None else guards.holding(state)


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
