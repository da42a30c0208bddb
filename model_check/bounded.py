"""Bounded model checking: a search for a run of at most so many steps that breaks a property.

The step relation is unrolled: a copy of every variable for each point of the run, and between two points the number of
the action taken, which fixes the guard that held, the variables that changed and, by its absence from an action's
updates, that a variable did not. Depths are tried in order, so the first run found is a shortest one; a solver keeps
what it learned from one depth to the next.

That no run breaks the property up to a depth is not that it holds: the verdict is then INCOMPLETE, with the depth. A
run that the solver finds is replayed on the terms before anybody sees it. Integers become
bit-vectors that cannot wrap within the depth, where the terms allow it; other systems are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

import z3

from model_check.narrowing import Narrowing, NotNarrowable, growth
from model_check.straight_line import Valuation
from model_check.traces import State, Trace
from spec.language import Action, Property, TransitionSystem
from spec.terms import bits_for

CHOICE = "the action's number"


class NotCheckable(Exception):
    """A property of a kind that a run of bounded length says nothing about."""


@dataclass(frozen=True)
class BoundedReport:
    """What is known of a property up to a depth.

    Every run of at most `depth` steps keeps it (-1: nothing is known, or the initial state breaks it). `trace` is a
    shortest run that breaks it, if VIOLATED; `reason` says what INCOMPLETE means. `seconds` is wall time.
    """

    property: str
    verdict: Literal["VIOLATED", "INCOMPLETE"]
    depth: int
    trace: Trace | None
    reason: str
    seconds: float


def check_bounded(
    system: TransitionSystem,
    claim: Property,
    depth: int,
    *,
    timeout_s: float = 60.0,
    progress: Callable[[int], None] | None = None,
) -> BoundedReport:
    """Look for a shortest run of at most `depth` steps that breaks an `always` or `step` property.

    `timeout_s` is seconds for each depth; `progress` is called with every depth that is settled. Raises NotCheckable.
    """
    if claim.kind not in {"always", "step"}:
        raise NotCheckable(f"{claim.name} is of the kind {claim.kind!r}; bounded runs can break always or step")
    started = perf_counter()
    unrolling = _Unrolling(system, claim, depth, timeout_s)
    for length in range(depth + 1):
        result = unrolling.broken_after(length)
        if result == z3.sat:
            trace = replayed(system, unrolling.choices(length))
            _check_broken(claim, trace)
            return BoundedReport(claim.name, "VIOLATED", length - 1, trace, "", perf_counter() - started)
        if result == z3.unknown:
            reason = f"no answer within {timeout_s:g} s for {length} steps; holds up to {length - 1}"
            return BoundedReport(claim.name, "INCOMPLETE", length - 1, None, reason, perf_counter() - started)
        if progress is not None:
            progress(length)
    reason = f"holds up to a depth of {depth} steps; longer runs were not looked at"
    return BoundedReport(claim.name, "INCOMPLETE", depth, None, reason, perf_counter() - started)


class _Unrolling:
    """A solver that holds the runs of a length that grows."""

    def __init__(self, system: TransitionSystem, claim: Property, depth: int, timeout_s: float) -> None:
        translate, sort, self._solver = _translation(system, claim, depth)
        self._solver.set("timeout", max(1, int(timeout_s * 1000)))
        self._system = system
        self._choice = z3.BitVec(CHOICE, bits_for(len(system.actions) - 1))
        self._before = [z3.Const(one.name, sort(one.sort)) for one in system.variables]
        self._after = [z3.Const(f"{one.name}'", sort(one.sort)) for one in system.variables]
        self._step = self._relation(translate)
        self._bad = self._negation(claim, translate)
        self._is_step = claim.kind == "step"
        self._length = 0
        for constant, variable in zip(self._at(0), system.variables, strict=True):
            self._solver.add(constant == translate(variable.kind.literal(variable.initial)))

    def _taken(self, number: int) -> z3.BoolRef:
        return self._choice == number

    def _relation(self, translate: Callable[[z3.ExprRef], z3.ExprRef]) -> z3.BoolRef:
        """One step: the number of an action, whose guard holds, and for each variable its update or its old value."""
        changes: dict[str, list[tuple[int, z3.ExprRef]]] = {one.name: [] for one in self._system.variables}
        parts = [z3.ULE(self._choice, len(self._system.actions) - 1)]
        for number, action in enumerate(self._system.actions):
            taken = self._taken(number)
            parts.append(z3.Implies(taken, translate(action.guard)))
            for name, term in action.updates.items():
                changes[name].append((number, translate(term)))
        for before, after, found in zip(self._before, self._after, changes.values(), strict=True):
            parts += [z3.Implies(self._taken(number), after == term) for number, term in found]
            parts.append(z3.Or(*(self._taken(number) for number, _ in found), after == before))
        return z3.And(*parts)

    def _negation(self, claim: Property, translate: Callable[[z3.ExprRef], z3.ExprRef]) -> z3.BoolRef:
        """The property is broken: in a state, or by the action taken from it."""
        if claim.kind == "always":
            return z3.Not(translate(claim.term))
        return z3.Or(
            *(
                z3.And(self._taken(number), z3.Not(translate(claim.terms[action.name])))
                for number, action in enumerate(self._system.actions)
                if action.name in claim.terms
            )
        )

    def _at(self, point: int) -> list[z3.ExprRef]:
        return [z3.Const(f"{one.decl().name()}@{point}", one.sort()) for one in self._before]

    def _placed(self, term: z3.BoolRef, point: int) -> z3.BoolRef:
        """A term about a state, a step and the state after it, about those at one point of the run."""
        pairs = [*zip(self._before, self._at(point), strict=True), *zip(self._after, self._at(point + 1), strict=True)]
        return z3.substitute(term, *pairs, (self._choice, self._choice_at(point)))

    def _choice_at(self, point: int) -> z3.BitVecRef:
        return z3.BitVec(f"{CHOICE}@{point}", self._choice.size())

    def broken_after(self, length: int) -> z3.CheckSatResult:
        """Whether a run of exactly so many steps, and none shorter, can break the property."""
        while self._length < length:
            self._solver.add(self._placed(self._step, self._length))
            self._length += 1
        if self._is_step and length == 0:
            return z3.unsat
        bad = self._placed(self._bad, length - self._is_step)
        self._solver.push()
        self._solver.add(bad)
        result = self._solver.check()
        if result == z3.unknown and "interrupted" in self._solver.reason_unknown():
            raise KeyboardInterrupt
        if result == z3.unsat:
            self._solver.pop()
            self._solver.add(z3.Not(bad))
        return result

    def choices(self, length: int) -> list[Action]:
        """The actions of the run that was found."""
        model = self._solver.model()
        numbers = (model.eval(self._choice_at(point), model_completion=True) for point in range(length))
        return [self._system.actions[number.as_long()] for number in numbers]


def _translation(
    system: TransitionSystem, claim: Property, depth: int
) -> tuple[Callable[[z3.ExprRef], z3.ExprRef], Callable[[z3.SortRef], z3.SortRef], z3.Solver]:
    """How terms and sorts are put to the solver, and a solver for them."""
    terms = [term for action in system.actions for term in (action.guard, *action.updates.values())]
    terms += [*claim.terms.values(), *([] if claim.term is None else [claim.term])]
    try:
        largest = max((one.initial for one in system.variables if one.kind.unbounded), default=0)
        narrowing = Narrowing(bits_for(largest + (depth + 2) * growth(terms)))
    except NotNarrowable:
        return (lambda term: term), (lambda sort: sort), z3.Solver()
    return narrowing, narrowing.sort, z3.SolverFor("QF_FD")


def replayed(system: TransitionSystem, actions: Sequence[Action]) -> Trace:
    """The run that takes those actions from the initial state; ValueError names the first that is not enabled."""
    state: State = {variable.name: variable.initial for variable in system.variables}
    steps: list[tuple[str | None, State]] = [(None, state)]
    for number, action in enumerate(actions, start=1):
        value = Valuation(state)
        if not value(action.guard):
            raise ValueError(f"step {number}: {action.name} is not enabled")
        state = state | {name: value(term) for name, term in action.updates.items()}
        steps.append((action.name, state))
    return Trace(tuple(steps))


def _check_broken(claim: Property, trace: Trace) -> None:
    """The run breaks the property in its last state, or by its last step."""
    if claim.kind == "always":
        kept = Valuation(trace.last)(claim.term)
    else:
        kept = Valuation(trace.steps[-2][1])(claim.terms[trace.actions[-1]])
    if kept:
        raise RuntimeError(f"the solver's run of {len(trace)} steps does not break {claim.name}")
