"""Bounded model checking: a search for a run of at most so many steps that breaks a property.

The step relation is unrolled: a copy of every variable for each point of the run, and between two points exactly one
action, whose guard holds before it and whose updates say what is true after it. Depths are tried in order, so the first
run found is a shortest one; the solver keeps what it learned from one depth to the next.

That no run breaks the property up to a depth is not that it holds: the verdict is then INCOMPLETE, with the depth. A
run that the solver finds is replayed on the terms before anybody sees it. Integers become bit-vectors that cannot wrap
within the depth, where the terms allow it; other systems are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import z3

from model_check.narrowing import Narrowing, NotNarrowable, growth
from model_check.obligations import arbitrary_constants, initial_terms
from model_check.straight_line import Valuation
from model_check.traces import State, Trace
from model_check.verdicts import Verdict
from spec.language import Action, Property, TransitionSystem
from spec.terms import bits_for


class NotCheckable(Exception):
    """A property of a kind that a run of bounded length says nothing about."""


@dataclass(frozen=True)
class BoundedReport:
    """What is known of a property up to a depth.

    Every run of at most `depth` steps keeps it (-1: nothing is known, or the initial state breaks it). `trace` is a
    shortest run that breaks it, if VIOLATED; `reason` says what INCOMPLETE means. `seconds` is wall time.
    """

    property: str
    verdict: Verdict
    depth: int
    trace: Trace | None
    reason: str
    seconds: float


def check_bounded(
    system: TransitionSystem,
    claim: Property,
    depth: int,
    *,
    invariants: Sequence[Property] = (),
    timeout_s: float = 60.0,
    progress: Callable[[int], None] | None = None,
) -> BoundedReport:
    """Look for a shortest run of at most `depth` steps that breaks an `always` or `step` property.

    `invariants` are properties that are known to hold; the solver may use them. `timeout_s` is seconds for each depth;
    `progress` is called with every depth that is settled. Raises NotCheckable.
    """
    if claim.kind not in {"always", "step"}:
        raise NotCheckable(f"{claim.name} is of the kind {claim.kind!r}; bounded runs can break always or step")
    started = perf_counter()
    unrolling = _Unrolling(system, claim, invariants, depth, timeout_s)
    for length in range(depth + 1):
        result = unrolling.broken_after(length)
        if result == z3.sat:
            trace = unrolling.trace(length)
            _check_broken(claim, trace)
            return BoundedReport(claim.name, Verdict.VIOLATED, length - 1, trace, "", perf_counter() - started)
        if result == z3.unknown:
            reason = f"no answer within {timeout_s:g} s for {length} steps; holds up to {length - 1}"
            return BoundedReport(claim.name, Verdict.INCOMPLETE, length - 1, None, reason, perf_counter() - started)
        if progress is not None:
            progress(length)
    reason = f"holds up to a depth of {depth} steps; longer runs were not looked at"
    return BoundedReport(claim.name, Verdict.INCOMPLETE, depth, None, reason, perf_counter() - started)


class _Unrolling:
    """A solver that holds the runs of a length that grows."""

    def __init__(
        self, system: TransitionSystem, claim: Property, invariants: Sequence[Property], depth: int, timeout_s: float
    ) -> None:
        translation = _translation(system, [claim, *invariants], depth)
        translate, sort, self._solver = translation.term, translation.sort, translation.solver
        self._solver.set("timeout", max(1, int(timeout_s * 1000)))
        self._system = system
        self._taken = [z3.Bool(f"taken {number}") for number in range(len(system.actions))]
        self._before = [z3.Const(one.name, sort(one.sort)) for one in system.variables]
        self._after = [z3.Const(f"{one.name}'", sort(one.sort)) for one in system.variables]
        self._step = self._relation(translate)
        self._known = z3.And(*(translate(one.term) for one in invariants))
        self._bad = self._negation(claim, translate)
        self._is_step = claim.kind == "step"
        self._length = 0
        self._solver.add(self._placed(z3.And(*translation.start), 0))

    def _relation(self, translate: Callable[[z3.ExprRef], z3.ExprRef]) -> z3.BoolRef:
        """One step: exactly one action, whose guard holds, and for each variable its update or its old value."""
        parts = [z3.Or(*self._taken), z3.AtMost(*self._taken, 1)]
        after = {one.name: constant for one, constant in zip(self._system.variables, self._before, strict=True)}
        for taken, action in zip(self._taken, self._system.actions, strict=True):
            parts.append(z3.Implies(taken, translate(action.guard)))
            for name, term in action.updates.items():
                after[name] = z3.If(taken, translate(term), after[name])
        return z3.And(*parts, *(new == term for new, term in zip(self._after, after.values(), strict=True)))

    def _negation(self, claim: Property, translate: Callable[[z3.ExprRef], z3.ExprRef]) -> z3.BoolRef:
        """The property is broken: in a state, or by the action taken from it."""
        if claim.kind == "always":
            return z3.Not(translate(claim.term))
        pairs = zip(self._taken, self._system.actions, strict=True)
        claimed = [(taken, claim.terms[action.name]) for taken, action in pairs if action.name in claim.terms]
        return z3.Or(*(z3.And(taken, z3.Not(translate(term))) for taken, term in claimed))

    def _placed(self, term: z3.BoolRef, point: int) -> z3.BoolRef:
        """A term about a state, a step and the state after it, about those at one point of the run."""
        now = [(one, _at(one, point)) for one in (*self._before, *self._taken)]
        then = [(new, _at(old, point + 1)) for old, new in zip(self._before, self._after, strict=True)]
        return z3.substitute(term, *now, *then)

    def broken_after(self, length: int) -> z3.CheckSatResult:
        """Whether a run of exactly so many steps, and none shorter, can break the property."""
        while self._length < length:
            self._solver.add(self._placed(self._step, self._length))
            self._length += 1
            self._solver.add(self._placed(self._known, self._length))
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

    def trace(self, length: int) -> Trace:
        """The run that was found, replayed from its initial state."""
        model = self._solver.model()
        state = {one.name: one.initial for one in self._system.variables}
        for name in arbitrary_constants(self._system):
            constant = next(one for one in self._before if one.decl().name() == name)
            state[name] = model.eval(_at(constant, 0), model_completion=True).as_long()
        actions = [
            action
            for point in range(length)
            for taken, action in zip(self._taken, self._system.actions, strict=True)
            if z3.is_true(model.eval(_at(taken, point), model_completion=True))
        ]
        return replayed(state, actions)


def _at(constant: z3.ExprRef, point: int) -> z3.ExprRef:
    """The copy of a variable for a point of the run."""
    return z3.Const(f"{constant.decl().name()}@{point}", constant.sort())


@dataclass(frozen=True)
class _Translation:
    """How terms and sorts are put to the solver, what must be added at the start, and a solver for them."""

    term: Callable[[z3.ExprRef], z3.ExprRef]
    sort: Callable[[z3.SortRef], z3.SortRef]
    start: Sequence[z3.BoolRef]
    solver: z3.Solver


def _translation(system: TransitionSystem, claims: Sequence[Property], depth: int) -> _Translation:
    """Integers as bits, where their growth has a bound; else everything as it is.

    Arbitrary constants are as large as any number that a run can reach, plus room between them: what lies farther apart
    than a run can count is told apart in the same way.
    """
    terms = [term for action in system.actions for term in (action.guard, *action.updates.values())]
    terms += [term for one in claims for term in (*one.terms.values(), *([] if one.term is None else [one.term]))]
    start = initial_terms(system)
    try:
        rise = (depth + 2) * growth(terms)
    except NotNarrowable:
        return _Translation(lambda term: term, lambda sort: sort, start, z3.Solver())
    constants = arbitrary_constants(system)
    largest = max((one.initial for one in system.variables if one.kind.unbounded), default=0)
    largest += len(constants) * (rise + 1)
    narrowing = Narrowing(bits_for(largest + rise))
    below = [z3.ULE(z3.BitVec(name, narrowing.width), largest) for name in constants]
    return _Translation(narrowing, narrowing.sort, [*map(narrowing, start), *below], z3.SolverFor("QF_FD"))


def replayed(state: State, actions: Sequence[Action]) -> Trace:
    """The run that takes those actions from a state; ValueError names the first that is not enabled."""
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
