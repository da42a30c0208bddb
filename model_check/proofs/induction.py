"""Proofs by induction: what holds at the start and is kept by every step holds in every reachable state.

The candidate invariant is the conjunction of the types of the variables, of the lemmas and of the `always` properties.
It must hold in the initial state, and each action, taken alone, must keep it: that is one obligation per action, about
all clauses that the action could break. A `step` property is a further claim about the same steps. A property that
already follows from the lemmas is not stepped at all. A solver that knows the invariant goes over all goals first
(`model_check/proofs/goal_solver.py`); what it does not show is asked as one question per action, written out.

A member that some step breaks is dropped, and what was proved with its help is asked again, until a fixpoint stays
(Houdini's algorithm). So a bad lemma never makes a proof unsound, and spoils only what needs it. What a step breaks is
shown as a counterexample to induction, pulled close to the initial state, so that a reader sees which lemma is missing.
A question that the solver does not answer in time is asked again member by member; what stays open is INCOMPLETE and
names the action. So is what a step breaks only from states that an open member would exclude: it names that member, for
nobody knows whether those states are in the invariant.
"""

import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter

import z3

from model_check.proofs import obligations
from model_check.proofs.goal_solver import GoalSolver
from model_check.proofs.obligations import Clause, Step
from model_check.proofs.proof_report import Conclusion, CounterexampleToInduction, Obligation, Outcome, ProofReport
from model_check.proofs.shown_goals import Shown, ShownGoals
from model_check.proofs.smtlib import Answer, Problem, Question, Result, decide_all, problem
from model_check.terms.straight_line import Valuation
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from spec.language.rules import Property, TransitionSystem

Progress = Callable[[int, int, str], None]
"""Called with how many actions are settled in this round, of how many, and the name of the last one."""

OUTCOMES: dict[Result, Outcome] = {"unsat": "PROVED", "sat": "FAILED", "unknown": "TIMEOUT"}

TACTICS = ("simplify", "propagate-values", "solve-eqs", "bit-blast", "smt")
"""How every question is decided: bits become gates before the search, integers stay what they are."""

Asking = Generator[tuple[Problem, bool], Answer, None]
"""The questions about one action, one at a time; the flag asks for a counterexample that is good to read."""


class NotProvable(Exception):
    """A property of a kind that induction says nothing about, or two members of an invariant under one name."""


def prove(  # noqa: PLR0913 - an option is a parameter
    system: TransitionSystem,
    properties: Sequence[Property] | None = None,
    lemmas: Sequence[Property] = (),
    *,
    timeout_s: float = 20.0,
    workers: int | None = None,
    explain: bool = True,
    earlier: Sequence[Shown] | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> ProofReport:
    """Prove properties of a system (None: all its `always` and `step` properties) with the help of `always` lemmas.

    `timeout_s` is seconds for each question; `workers` is how many are decided at once (None: two, where there are two
    cores). `explain=False` saves the time that makes counterexamples good to read. What `earlier` proofs have shown is
    not shown again; with it, if only with none, the report says what this one has. Ctrl-C, or `stop`, ends the proof
    and leaves it open, since the next step might have spoilt it. Raises NotProvable.
    """
    started = perf_counter()
    if properties is None:
        properties = [one for one in system.properties if one.kind in {"always", "step"}]
    _check_kinds(properties, lemmas)
    proof = _Proof(system, properties, lemmas, timeout_s, explain, earlier, stop)
    try:
        proof.drop_what_is_false_at_the_start()
        while names := proof.stale():
            proof.settle(names, workers or min(2, os.cpu_count() or 1), progress)
        proof.check_start()
    except KeyboardInterrupt:
        proof.leave_open()
    return proof.report(perf_counter() - started)


def _check_kinds(properties: Sequence[Property], lemmas: Sequence[Property]) -> None:
    names: set[str] = set()
    for one, allowed in [*((one, ("always",)) for one in lemmas), *((one, ("always", "step")) for one in properties)]:
        if one.kind not in allowed:
            raise NotProvable(
                f"{one.name} is of the kind {one.kind!r}; what can be proved here is {' or '.join(allowed)}"
            )
        if one.name in names:
            raise NotProvable(f"{one.name} is given twice; a lemma needs a name of its own")
        names.add(one.name)


def _owners(clauses: Iterable[Clause]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.owner for one in clauses))


class _Proof:
    """A proof in the making: which members are still alive, why others were dropped, what is known of each action."""

    def __init__(
        self,
        system: TransitionSystem,
        properties: Sequence[Property],
        lemmas: Sequence[Property],
        timeout_s: float,
        explain: bool,
        earlier: Sequence[Shown] | None,
        stop: Callable[[], bool],
    ) -> None:
        self._system, self._timeout_s, self._explain, self._stop = system, timeout_s, explain, stop
        self._vocabulary = obligations.Vocabulary(system.variables)
        self._initial = {variable.name: variable.initial for variable in system.variables}
        self._arbitrary = self._vocabulary.named(obligations.arbitrary_constants(system))
        self._steps = {action.name: Step(action, system, self._vocabulary) for action in system.actions}
        stated = {obligations.TYPE_OF + name: term for name, term in obligations.type_terms(system.variables)}
        stated |= {one.name: one.term for one in [*lemmas, *properties] if one.kind == "always"}
        self._members = {name: self._vocabulary.clauses(name, term) for name, term in stated.items()}
        self._properties = {one.name: one for one in properties}
        self._dropped: dict[str, Conclusion] = {}
        self._about_states: dict[str, Obligation] = {}
        self._implied_by: frozenset[str] = frozenset()
        self._implied: set[str] = set()
        self._about_steps: dict[str, list[Obligation]] = {}
        self._rests_on: dict[str, set[str]] = {}
        self._failures: list[Obligation] = []
        self._shown = None if earlier is None else ShownGoals(self._vocabulary, earlier)
        self._held: list[Clause] | None = None
        self._solver: GoalSolver | None = None
        self._interrupted = False

    def _alive(self, names: Iterable[str]) -> list[Clause]:
        return [clause for name in names if name not in self._dropped for clause in self._members[name]]

    # --------------------------------------------------------------------------------------------- claims about states

    def drop_what_is_false_at_the_start(self) -> None:
        """No invariant is false in an initial state; only what mentions arbitrary constants needs a solver for that."""
        value = Valuation(self._initial, self._vocabulary.program)
        for name, clauses in self._members.items():
            general = [clause for clause in clauses if clause.mentions & self._arbitrary]
            if not all(value(clause.term) for clause in clauses if clause not in general):
                self._dropped[name] = Conclusion(Verdict.VIOLATED, "false in the initial state")
            elif general:
                terms = [*obligations.initial_terms(self._system), obligations.broken(general)]
                answer = self._answer(problem("init", f"{name} holds initially", terms))
                if answer.result == "sat":
                    self._dropped[name] = Conclusion(Verdict.VIOLATED, "false in an initial state")
                elif answer.result == "unknown":
                    reason = "no answer in time for the initial state"
                    self._dropped[name] = Conclusion(Verdict.INCOMPLETE, reason, is_open=True)

    def check_start(self) -> None:
        """Ask, for the record, whether what is left at the end holds in the initial state."""
        claim = "The initial state is in the invariant"
        start = obligations.initial_terms(self._system)
        if self._ask_of_states("init", claim, start, self._alive(self._members)) != "PROVED":
            raise RuntimeError("z3 and the terms' meaning differ on the initial state")

    def _find_implied(self) -> None:
        """Note which properties the living lemmas imply: they are not stepped."""
        lemmas = [name for name in self._members if name not in self._properties and name not in self._dropped]
        if self._implied_by == frozenset(lemmas):
            return
        before, self._implied, self._implied_by = self._implied, set(), frozenset(lemmas)
        terms = [clause.term for clause in self._alive(lemmas)]
        for name in self._properties:
            question = f"implied/{name}"
            self._about_states.pop(question, None)
            if name in self._members and name not in self._dropped:
                outcome = self._ask_of_states(question, f"The lemmas imply {name}", terms, self._members[name])
                if outcome == "PROVED":
                    self._implied.add(name)
        if before - self._implied - self._dropped.keys():
            self._rests_on.clear()

    def _ask_of_states(
        self, name: str, claim: str, hypotheses: Sequence[z3.BoolRef], goals: Sequence[Clause]
    ) -> Outcome:
        """Ask whether hypotheses about one state imply the goals; only an answer that helps is kept."""
        asked = problem(name, claim, [*hypotheses, obligations.broken(goals)])
        owners = _owners(goals)
        answer = self._answer(asked)
        outcome = OUTCOMES[answer.result]
        if outcome == "PROVED":
            self._about_states[name] = Obligation(name, owners, None, "PROVED", answer.seconds, lambda: asked)
        return outcome

    def _answer(self, asked: Problem) -> Answer:
        """The answer to a single question."""
        found: list[Answer] = []
        question = Question(None, asked, self._timeout_s, tactics=TACTICS)
        decide_all([question], lambda _, answer: found.append(answer), workers=1, stop=self._stop)
        return found[0]

    # ---------------------------------------------------------------------------------------------- claims about steps

    def stale(self) -> list[str]:
        """The actions of which nothing is known, or nothing any more since something was dropped."""
        self._find_implied()
        return [name for name in self._steps if not self._rests_on.get(name, {name}).isdisjoint({name, *self._dropped})]

    def settle(self, names: Sequence[str], workers: int, progress: Progress | None) -> None:
        """Ask all there is to ask about some actions, `workers` questions at a time."""
        asking = {name: self._asking(self._steps[name]) for name in names}
        settled: list[str] = []

        def next_question(name: str, answer: Answer | None) -> Question[str] | None:
            try:
                asked, readable = next(asking[name]) if answer is None else asking[name].send(answer)
            except StopIteration:
                settled.append(name)
                if progress is not None:
                    progress(len(settled), len(names), name)
                return None
            near = self._initial if readable and self._explain else None
            return Question(name, asked, self._timeout_s, near, TACTICS)

        first = (question for name in names if (question := next_question(name, None)) is not None)
        decide_all(first, next_question, workers=workers, stop=self._stop)

    def _asking(self, step: Step) -> Asking:
        """Show, or else ask about, all that the action could break, given all that is still alive."""
        name, hypotheses, started = step.action.name, self._hypotheses(), perf_counter()
        clauses = step.touched(self._alive(one for one in self._members if one not in self._implied))
        claims = step.claimed(one for one in self._properties.values() if one.name not in self._dropped)
        left = (clauses, claims) if self._shown is None else self._shown.left(step, clauses, claims)
        self._about_steps[name], self._rests_on[name] = [], set()
        if not clauses and not claims:
            return
        if self._is_kept(step, *left):
            owners, goals = _owners([*clauses, *claims]), len(clauses) + len(claims)

            def asked() -> Problem:
                return step.question(hypotheses, step.after(clauses) + claims, name)

            done = Obligation(name, owners, name, "PROVED", perf_counter() - started, asked, None, goals)
            self._about_steps[name].append(replace(done, shown_before=goals - sum(map(len, left))))
            self._rests_on[name].update(_owners(hypotheses))
        else:
            yield from self._about(step, hypotheses, step.after(clauses) + claims, name)

    def _hypotheses(self) -> list[Clause]:
        """All that is alive; the same list for as long as nothing is dropped."""
        alive = self._alive(self._members)
        if self._held is None or len(alive) < len(self._held):
            self._held, self._solver = alive, None
            if self._shown is not None:
                self._shown.hold(alive)
        return self._held

    def _is_kept(self, step: Step, clauses: Sequence[Clause], claims: Sequence[Clause]) -> bool:
        """Whether a step is shown to keep clauses and claims, by the solver that knows all that is alive."""
        if not clauses and not claims:  # as where an earlier proof has shown them all
            return True
        self._solver = self._solver or GoalSolver(self._system.variables, self._hypotheses())
        return self._solver.keeps(step, clauses, claims, self._stop)

    def _about(self, step: Step, hypotheses: list[Clause], goals: list[Clause], name: str) -> Asking:
        """Ask about some goals: first with the hypotheses that are near, then with all; and about what that leaves."""
        if not goals:
            return
        helping = step.near(hypotheses, goals)
        asked = step.question(helping, goals, name)
        answer = yield asked, len(helping) == len(hypotheses)
        if answer.result == "sat" and len(helping) < len(hypotheses):
            helping, asked = hypotheses, step.question(hypotheses, goals, name)
            answer = yield asked, True
        owners = _owners(goals)
        if answer.result == "sat":
            counterexample = self._counterexample(step, hypotheses, goals, answer)
            self._note(step, hypotheses, counterexample.breaks, asked, answer, counterexample)
            rest = [goal for goal in goals if goal.owner not in counterexample.breaks]
            yield from self._about(step, hypotheses, rest, f"{name}/rest")
        elif answer.result == "unsat" or len(owners) == 1:
            self._note(step, helping, owners, asked, answer)
        else:
            for owner in owners:
                own = [goal for goal in goals if goal.owner == owner]
                yield from self._about(step, hypotheses, own, f"{name}/{owner}")

    def _note(
        self,
        step: Step,
        hypotheses: Sequence[Clause],
        owners: tuple[str, ...],
        asked: Problem,
        answer: Answer,
        counterexample: CounterexampleToInduction | None = None,
    ) -> None:
        """Keep an obligation; what is not proved is dropped."""
        name, outcome = step.action.name, OUTCOMES[answer.result]
        done = Obligation(asked.name, owners, name, outcome, answer.seconds, lambda: asked, counterexample)
        if outcome == "PROVED":
            self._about_steps[name].append(done)
            self._rests_on[name].update(clause.owner for clause in hypotheses)
            return
        self._failures.append(done)
        blamed = () if counterexample is None else self._excluding(counterexample.before)
        reason = f"no answer within {self._timeout_s:g} s for {name}"
        if blamed:
            reason = f"open: {name} breaks it from a state that {', '.join(blamed)} would exclude"
        elif outcome == "FAILED":
            reason = f"not inductive: {name} breaks it from a state that the invariant allows"
        is_open = bool(blamed) or outcome == "TIMEOUT"
        for owner in owners:
            self._dropped.setdefault(owner, Conclusion(Verdict.INCOMPLETE, reason, is_open=is_open))

    def _excluding(self, state: Mapping[str, int]) -> tuple[str, ...]:
        """The open members that do not hold in a state."""
        value = Valuation(state, self._vocabulary.program)
        left = (name for name, one in self._dropped.items() if one.is_open and name in self._members)
        return tuple(name for name in left if not all(value(clause.term) for clause in self._members[name]))

    def _counterexample(
        self, step: Step, hypotheses: Sequence[Clause], goals: Sequence[Clause], answer: Answer
    ) -> CounterexampleToInduction:
        """The state that a solver found, the step from it and what that breaks; checked against the terms."""
        before = {name: answer.values.get(name, initial) for name, initial in self._initial.items()}
        value = Valuation(before, self._vocabulary.program)
        wrong = [goal for goal in goals if not value(goal.term)]
        parts = (part for goal in wrong for part in self._vocabulary.clauses(goal.owner, goal.term))
        failing = [part for part in parts if not value(part.term)]
        if not failing or not value(step.action.guard) or not all(value(one.term) for one in hypotheses):
            raise RuntimeError(f"the solver's counterexample for {step.action.name} is not one by the terms' meaning")
        after = value.after(step.action.updates)
        breaks = tuple(dict.fromkeys(goal.owner for goal in failing))
        relevant = frozenset(self._vocabulary.names(step.mentions(failing)))
        return CounterexampleToInduction(before, step.action.name, after, breaks, relevant)

    # ---------------------------------------------------------------------------------------------------- the verdicts

    def leave_open(self) -> None:
        """Ctrl-C: what was not dropped is not proved either before all steps are known to keep it."""
        self._interrupted = True
        for name in {**self._members, **self._properties}:
            self._dropped.setdefault(name, Conclusion(Verdict.INCOMPLETE, INTERRUPTED))

    def report(self, seconds: float) -> ProofReport:
        """The verdicts as they stand when no action is stale."""
        holds = Conclusion(Verdict.HOLDS)
        conclusions = {name: self._dropped.get(name, holds) for name in {**self._members, **self._properties}}
        return ProofReport(
            system=self._system.name,
            properties={name: conclusions[name] for name in self._properties},
            invariant={name: conclusions[name] for name in self._members if name not in self._properties},
            obligations=(*self._about_states.values(), *(one for found in self._about_steps.values() for one in found)),
            failures=tuple(self._failures),
            arbitrary=obligations.arbitrary_constants(self._system),
            assumptions=obligations.assumed_bounds(self._system),
            seconds=seconds,
            interrupted=self._interrupted,
            shown=self._shown_now(),
        )

    def _shown_now(self) -> Shown | None:
        """What was shown from what is alive at the end, except actions that needed a question of their own."""
        if self._shown is None or self._interrupted:
            return None
        self._hypotheses()
        return self._shown.shown(name for name, found in self._about_steps.items() if any(one.goals for one in found))
