"""Finding lemmas: from many candidates to the few that matter.

Induction needs lemmas, and good ones are hard to think of but easy to guess among many. Two sieves and a trim do it.
First each candidate is tried on states that are known to be reachable, which costs next to nothing and stops most of
the wrong ones. Then the solver drops what some step breaks, until a fixpoint stays: the largest inductive part of the
candidates (Flanagan and Leino, "Houdini, an annotation assistant for ESC/Java"). At last, lemmas without which the
properties are still proved are taken away one by one.

`orders` writes down the candidates that epochs call for. All others come from a reader of counterexamples to induction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from model_check.proofs.induction import Progress, prove
from model_check.proofs.obligations import arbitrary_constants
from model_check.proofs.proof_report import ProofReport
from model_check.terms.python_code import Raw, compiled, condition_source
from model_check.terms.straight_line import VARIABLE, Program
from model_check.traces.trace import State
from model_check.verdicts.verdict import Verdict
from spec.language.rules import Property, TransitionSystem

Samples = Callable[[], Iterable[Mapping[str, int]]]
"""Gives reachable states, as raw values by variable name; they may have more variables than the candidates mention."""


@dataclass(frozen=True)
class Sieved:
    """What became of candidates.

    `kept` are inductive together. `falsified` holds a reachable state in which a candidate is false, `dropped` why the
    solver did not keep it; both by name.
    """

    kept: tuple[Property, ...]
    falsified: Mapping[str, State]
    dropped: Mapping[str, str]


def strengthen(
    system: TransitionSystem,
    candidates: Sequence[Property],
    *,
    samples: Samples | None = None,
    timeout_s: float = 20.0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Sieved:
    """The largest part of some `always` candidates that is inductive, after a first sieve on sample states."""
    false_in = falsified(candidates, samples()) if samples is not None else {}
    plausible = [one for one in candidates if one.name not in false_in]
    report = prove(system, (), plausible, timeout_s=timeout_s, workers=workers, explain=False, progress=progress)
    dropped = {one.name: report.invariant[one.name].reason for one in plausible if not _holds(report, one.name)}
    return Sieved(tuple(one for one in plausible if one.name not in dropped), false_in, dropped)


def _holds(report: ProofReport, name: str) -> bool:
    return report.invariant[name].verdict == Verdict.HOLDS


def falsified(candidates: Sequence[Property], states: Iterable[Mapping[str, int]]) -> dict[str, State]:
    """The candidates that are false in some state, by name, with the first such state.

    A candidate is not tried on states that lack one of its variables.
    """
    found = dict[str, State]()
    names: tuple[str, ...] = ()
    left: dict[str, Callable[[Raw], bool]] = {}
    for state in states:
        if tuple(state) != names:
            names = tuple(state)
            left = _conditions([one for one in candidates if one.name not in found], names)
        raw = tuple(state.values())
        for name in [name for name, holds in left.items() if not holds(raw)]:
            found[name] = dict(state)
            del left[name]
    return found


def _conditions(candidates: Iterable[Property], names: Sequence[str]) -> dict[str, Callable[[Raw], bool]]:
    """As functions of raw states, those candidates that mention no other variables than the named ones."""
    conditions = {}
    for one in candidates:
        program = Program()
        program.place(one.term)
        if {node.name for node in program.nodes if node.operator == VARIABLE} <= set(names):
            conditions[one.name] = compiled(condition_source(program, names, one.term))
    return conditions


def needed(
    system: TransitionSystem,
    properties: Sequence[Property],
    lemmas: Sequence[Property],
    *,
    timeout_s: float = 20.0,
    workers: int | None = None,
) -> tuple[Property, ...]:
    """Lemmas of which none can be spared if all the properties are to be proved; ValueError if they are not anyway."""

    def proved(some: Sequence[Property]) -> bool:
        report = prove(system, properties, some, timeout_s=timeout_s, workers=workers, explain=False)
        return all(one.verdict == Verdict.HOLDS for one in report.properties.values())

    if not proved(lemmas):
        raise ValueError(f"{', '.join(one.name for one in properties)}: not all proved with all the lemmas")
    rest = list(lemmas)
    for one in lemmas:
        spared = [other for other in rest if other is not one]
        rest = spared if proved(spared) else rest
    return tuple(rest)


def orders(system: TransitionSystem) -> Iterator[Property]:
    """For each pair of integers that change, the candidate that the first never exceeds the second."""
    constants = arbitrary_constants(system)
    epochs = [one for one in system.variables if one.kind.unbounded and one.name not in constants]
    for low in epochs:
        for high in epochs:
            if low is not high:
                term = (low.kind.variable(low.name) <= high.kind.variable(high.name)).term
                statement = f"{low.name} is at most {high.name}."
                yield Property(f"{low.name} <= {high.name}", "always", statement, "a guess", term=term)
