"""What a proof by induction says: which questions were asked, what came of each, and the verdict on each property.

A property HOLDS when every question that it rests on was answered, and INCOMPLETE when one was not, or when a step
breaks it from a state that the invariant allows. Induction never says VIOLATED of a step, since that state may be
unreachable; only what is false in the initial state itself is VIOLATED.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from model_check.proofs.shown_goals import Shown
from model_check.proofs.smtlib import Problem
from model_check.traces.trace import State
from model_check.verdicts.verdict import Verdict
from spec.language.rules import TransitionSystem

Outcome = Literal["PROVED", "FAILED", "TIMEOUT"]


@dataclass(frozen=True)
class CounterexampleToInduction:
    """A state of the invariant, a step, and what does not hold after it; `relevant` are the variables in question."""

    before: State
    action: str
    after: State
    breaks: tuple[str, ...]
    relevant: frozenset[str]

    def text(self, system: TransitionSystem) -> str:
        """What is relevant or not as at the start, the action, and what it changes: one variable a line."""
        lines = [f"breaks: {', '.join(self.breaks)}", "state before (all else is as in the initial state):"]
        for one in system.variables:
            value = self.before[one.name]
            if one.name in self.relevant or value != one.initial:
                lines.append(f"  {one.name} = {one.show(value)}")
        lines += [f"action: {self.action}", "state after (all else is as before):"]
        for one in system.variables:
            if self.before[one.name] != self.after[one.name]:
                lines.append(f"  {one.name} = {one.show(self.after[one.name])}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Obligation:
    """What had to be shown of one action or of states alone, and what came of it.

    `properties` names the types, lemmas and properties that it is about; of a FAILED one, those that fail. `action` is
    None for what concerns states alone. `asked` makes the question, for export. `seconds` is the solver's time. Of its
    `goals`, so many were `shown_before`, and not asked again.
    """

    name: str
    properties: tuple[str, ...]
    action: str | None
    verdict: Outcome
    seconds: float
    asked: Callable[[], Problem]
    counterexample: CounterexampleToInduction | None = None
    goals: int = 0
    shown_before: int = 0

    @property
    def problem(self) -> Problem:
        """The question as a text of its own; to write it takes longer than most questions take to answer."""
        return self.asked()


@dataclass(frozen=True)
class Conclusion:
    """The verdict on one property, lemma or type, and the reason if it is not HOLDS.

    It `is_open` where nothing is known: there was no answer in time, or what would decide it is open itself.
    """

    verdict: Verdict
    reason: str = ""
    is_open: bool = False


@dataclass(frozen=True)
class ProofReport:
    """What was proved of a system.

    `properties`, and `invariant` for lemmas and types, hold a conclusion by name. `obligations` are the questions that
    the final invariant rests on, `failures` those on the way that were not answered as hoped. `arbitrary` names the
    variables that stand for any natural number. `assumptions` names the actions that a bound of the scope may stop: the
    proof is about runs in which none of them is hit. `seconds` is wall time. `interrupted`: Ctrl-C ended the proof.
    `shown` is what a later proof may build on, if that was asked for.
    """

    system: str
    properties: Mapping[str, Conclusion]
    invariant: Mapping[str, Conclusion]
    obligations: tuple[Obligation, ...]
    failures: tuple[Obligation, ...]
    arbitrary: tuple[str, ...]
    assumptions: tuple[str, ...]
    seconds: float
    interrupted: bool = False
    shown: Shown | None = None

    @property
    def problems(self) -> list[Problem]:
        """Every question of the final proof, to be exported."""
        return [one.problem for one in self.obligations]
