"""Bounded model checking: a search for a run of at most so many steps that breaks a property.

The step relation is unrolled: a copy of every variable for each point of the run, and between two points a flag for
each action, of which one is taken: its guard holds before, and its updates say what is true after. A few lengths are
asked about at once, from short to long, since a solver simplifies a whole question better than one that grows; below
a run that it finds, the search goes on, so the run that is shown is a shortest one.

That no run breaks the property up to a depth is not that it holds: the verdict is then INCOMPLETE, with the depth. A
run that the solver finds is replayed on the terms before anybody sees it. Integers become bit-vectors that cannot wrap
within the depth, where the terms allow it; other systems are left as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter

import z3

from model_check.explicit_state.findings import breaks
from model_check.proofs.narrowing import Narrowing, NotNarrowable, growth
from model_check.proofs.obligations import arbitrary_constants, initial_terms
from model_check.proofs.smtlib import Answer, Problem, Question, decide_all, problem
from model_check.traces.trace import Trace, continued
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from spec.language.rules import Property, TransitionSystem
from spec.language.terms import bits_for

STRIDE = 5
"""How many lengths one question is about."""

FOR_BITS = ("simplify", "propagate-values", "solve-eqs", "elim-uncnstr", "simplify", "bit-blast", "sat")
"""The tactics for questions without integers: most of a run is known or equal to something else, and goes first."""


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
    stop: Callable[[], bool] = lambda: False,
) -> BoundedReport:
    """Look for a shortest run of at most `depth` steps that breaks an `always` or `step` property.

    `invariants` are properties that are known to hold; the solver may use them. `timeout_s` is seconds for each
    question; `progress` is called with each depth that is settled. Ctrl-C, or `stop`, ends it, with the depth reached
    until then. Raises NotCheckable.
    """
    if claim.kind not in {"always", "step"}:
        raise NotCheckable(f"{claim.name} is of the kind {claim.kind!r}; bounded runs can break always or step")
    started = perf_counter()
    search = _Search(_Unrolling(system, claim, invariants, depth), depth, timeout_s, progress, stop)
    interrupted = False
    try:
        search.run()
    except KeyboardInterrupt:
        interrupted = True
    if search.trace is not None:
        found = len(search.trace)
        return BoundedReport(claim.name, Verdict.VIOLATED, found - 1, search.trace, "", perf_counter() - started)
    reason = f"holds up to a depth of {depth} steps; longer runs were not looked at"
    if interrupted:
        reason = f"{INTERRUPTED}; holds up to a depth of {max(search.safe, 0)} steps"
    elif search.safe < depth:
        reason = f"no answer within {timeout_s:g} s for {search.safe + 1} steps; holds up to {search.safe}"
    return BoundedReport(claim.name, Verdict.INCOMPLETE, search.safe, None, reason, perf_counter() - started)


@dataclass
class _Search:
    """What is known so far: no run of at most `safe` steps breaks the property, and perhaps one that does."""

    unrolling: "_Unrolling"
    depth: int
    timeout_s: float
    progress: Callable[[int], None] | None
    stop: Callable[[], bool]
    safe: int = -1
    trace: Trace | None = None

    def run(self) -> None:
        """Ask until the depth is reached, or an answer stays out; odd lengths go first, where they cost nothing."""
        first = self.depth % STRIDE + STRIDE if self.depth > STRIDE else self.depth
        decide_all([self._about(first)], self._follow, workers=1, stop=self.stop)

    def _about(self, last: int) -> Question[int]:
        """The question about the lengths that are not known to be safe, up to the last."""
        asked = self.unrolling.question(self.safe + 1, last)
        return Question(last, asked, self.timeout_s, tactics=self.unrolling.tactics)

    def _follow(self, last: int, answer: Answer) -> Question[int] | None:
        if answer.result == "unknown":
            return self._about(self.safe + 1) if last > self.safe + 1 else None
        if answer.result == "sat":
            self.trace = self.unrolling.trace(answer.values)
            last = min(last, len(self.trace)) - 1
            return self._about(last) if last > self.safe else None
        self.safe = last
        if self.progress is not None:
            self.progress(last)
        if self.trace is not None or last == self.depth:
            return None
        return self._about(min(last + STRIDE, self.depth))


class _Unrolling:
    """Runs of any length up to a depth, as terms over copies of the variables."""

    def __init__(self, system: TransitionSystem, claim: Property, invariants: Sequence[Property], depth: int) -> None:
        self._translation = _translation(system, [claim, *invariants], depth)
        translate, sort = self._translation.term, self._translation.sort
        self.tactics = self._translation.tactics
        self._system, self._claim = system, claim
        self._taken = [z3.Bool(f"taken {number}") for number in range(len(system.actions))]
        self._before = [z3.Const(one.name, sort(one.sort)) for one in system.variables]
        self._after = [z3.Const(f"{one.name}'", sort(one.sort)) for one in system.variables]
        self._step = self._relation(translate)
        self._known = z3.And(*(translate(one.term) for one in invariants))
        self._bad = self._negation(translate)
        self._run = [self._placed(z3.And(*self._translation.start), 0)]

    def _relation(self, translate: Callable[[z3.ExprRef], z3.ExprRef]) -> z3.BoolRef:
        """One step: at most one action, whose guard holds, and for each variable its update or its old value."""
        parts = [at_most_one(self._taken)]
        after = {one.name: constant for one, constant in zip(self._system.variables, self._before, strict=True)}
        for taken, action in zip(self._taken, self._system.actions, strict=True):
            parts.append(z3.Implies(taken, translate(action.guard)))
            for name, term in action.updates.items():
                after[name] = z3.If(taken, translate(term), after[name])
        return z3.And(*parts, *(new == term for new, term in zip(self._after, after.values(), strict=True)))

    def _negation(self, translate: Callable[[z3.ExprRef], z3.ExprRef]) -> z3.BoolRef:
        """The property is broken: in a state, or by the action taken from it."""
        if self._claim.kind == "always":
            return z3.Not(translate(self._claim.term))
        pairs = zip(self._taken, self._system.actions, strict=True)
        claimed = [(taken, self._claim.terms[one.name]) for taken, one in pairs if one.name in self._claim.terms]
        return z3.Or(*(z3.And(taken, z3.Not(translate(term))) for taken, term in claimed))

    def _placed(self, term: z3.BoolRef, point: int) -> z3.BoolRef:
        """A term about a state, a step and the state after it, about those at one point of the run."""
        now = [(one, _at(one, point)) for one in (*self._before, *self._taken)]
        then = [(new, _at(old, point + 1)) for old, new in zip(self._before, self._after, strict=True)]
        return z3.substitute(term, *now, *then)

    def _broken_after(self, length: int) -> z3.BoolRef:
        """The property is broken in the last state of so many steps, or by the last of them."""
        if self._claim.kind == "always":
            return self._placed(self._bad, length)
        return self._placed(self._bad, length - 1) if length else z3.BoolVal(False)

    def question(self, first: int, last: int) -> Problem:
        """Whether a run of `first` to `last` steps can break the property; shorter ones are known not to."""
        for point in range(len(self._run) - 1, last):
            self._run.append(z3.And(self._placed(self._step, point), self._placed(self._known, point + 1)))
        name, claim = self._claim.name, f"Every run of {first} to {last} steps keeps: {self._claim.name}"
        # A run may halt only where it is long enough, and for good: some runs have no further step.
        moves = [self._placed(z3.Or(*self._taken), point) for point in range(last)]
        going = [*moves[:first], *(z3.Implies(following, one) for one, following in pairwise(moves[first:]))]
        kept = [z3.Not(self._broken_after(length)) for length in range(first)]
        bad = z3.Or(*(self._broken_after(length) for length in range(first, last + 1)))
        return problem(f"{name}/{first}-{last}", claim, [*self._run[: last + 1], *going, *kept, bad])

    def trace(self, values: Mapping[str, int]) -> Trace:
        """The run that was found, replayed from its initial state, up to where it breaks the property."""
        state = {one.name: one.initial for one in self._system.variables}
        state |= {name: values.get(f"{name}@0", 0) for name in arbitrary_constants(self._system)}
        trace = Trace(((None, state),))
        for point in range(len(self._run)):
            if breaks(self._claim, trace, len(trace)):
                return trace
            taken = [n for n, one in enumerate(self._taken) if values.get(_at(one, point).decl().name())]
            trace = continued(trace, [self._system.actions[number] for number in taken])
        raise RuntimeError(f"the solver's run does not break {self._claim.name}")


def at_most_one(flags: Sequence[z3.BoolRef]) -> z3.BoolRef:
    """No two of the flags hold; in plain SMT-LIB, and no longer than the flags are many."""
    seen, parts = z3.BoolVal(False), []
    for one in flags:
        parts.append(z3.Not(z3.And(seen, one)))
        seen = z3.Or(seen, one)
    return z3.And(*parts)


def _at(constant: z3.ExprRef, point: int) -> z3.ExprRef:
    """The copy of a variable for a point of the run."""
    return z3.Const(f"{constant.decl().name()}@{point}", constant.sort())


@dataclass(frozen=True)
class _Translation:
    """How terms and sorts are put to the solver, what is true at the start, and z3's tactics for them."""

    term: Callable[[z3.ExprRef], z3.ExprRef]
    sort: Callable[[z3.SortRef], z3.SortRef]
    start: Sequence[z3.BoolRef]
    tactics: tuple[str, ...]


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
        return _Translation(lambda term: term, lambda sort: sort, start, ())
    constants = arbitrary_constants(system)
    largest = max((one.initial for one in system.variables if one.kind.unbounded), default=0)
    largest += len(constants) * (rise + 1)
    narrowing = Narrowing(bits_for(largest + rise))
    below = [z3.ULE(z3.BitVec(name, narrowing.width), largest) for name in constants]
    return _Translation(narrowing, narrowing.sort, [*map(narrowing, start), *below], FOR_BITS)
