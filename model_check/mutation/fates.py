"""What becomes of a mutant: it is asked question after question, until one notices it.

does not load   its module cannot be imported, which any check would notice
caught          by a check that knows what is right
other terms     by the inventory alone, which notices that the specification says something else, not that it is wrong
survived        by none that was asked
not decided     by none, but one or the other took too long, also without the mutant
equivalent      it is known to behave the same, and is not asked
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from model_check.mutation.answers import BYTES, Answer, Baseline, answered, failed_tests, forget_failed_tests
from model_check.mutation.mutants import Mutant
from model_check.mutation.questions import CAUGHT, DIFFERS, EXPLORATIONS, FACTS, LOADS, SYSTEMS, Question
from model_check.mutation.trees import Copy

SKIPPED: Final = {EXPLORATIONS: False, SYSTEMS: True}
"""What is not asked if no facts differ; if some do."""
WIDTH: Final = 200
"""So much of what a command says is printed."""


class Kind(enum.StrEnum):
    """What becomes of mutants."""

    STILLBORN = "does not load"
    CAUGHT = "caught"
    TERMS = "other terms"
    SURVIVED = "survived"
    UNDECIDED = "not decided"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True)
class Fate:
    """What became of a mutant, by what, or why; and which questions it was asked."""

    kind: Kind
    why: str = ""
    asked: tuple[str, ...] = ()
    seconds: float = 0.0


def fate(mutant: Mutant, source: bytes, asked: Sequence[Question], copy: Copy, baseline: Baseline) -> Fate:
    """Ask about a mutant of a source, in a copy; of other terms no more is asked than what knows which are right."""
    differing, late, named = list[str](), list[str](), list[str]()
    for one in asked:
        if one.name in SKIPPED and bool(differing) is SKIPPED[one.name]:
            continue
        question = replace(one, command=(*one.command, *differing)) if one.name == EXPLORATIONS else one
        named.append(question.name)
        answer, by = _answer(mutant, source, question, copy, baseline)
        if not answer.passes:
            if not baseline.is_caught(question, answer, copy.folder):
                late.append(question.name)
            elif question.name in {FACTS, SYSTEMS} and answer.code == CAUGHT:
                differing += _facts(answer)
            else:
                return Fate(Kind.STILLBORN if question.name in {LOADS, FACTS} else Kind.CAUGHT, by, tuple(named))
        if question.name == EXPLORATIONS:
            break
    if differing:
        return Fate(Kind.TERMS, f"{len(differing)} facts differ: {differing[0]}", tuple(named))
    if late:
        return Fate(Kind.UNDECIDED, f"too long for an answer, also without it: {', '.join(late)}", tuple(named))
    return Fate(Kind.SURVIVED, "", tuple(named))


def _answer(mutant: Mutant, source: bytes, question: Question, copy: Copy, baseline: Baseline) -> tuple[Answer, str]:
    """What a question is answered, and what that says in short."""
    forget_failed_tests(copy.folder)
    with copy.changed(mutant.file, mutant.of(source)):
        answer = answered(question.command, copy.folder, baseline.seconds, baseline.stop)
    return answer, _told(question, answer, failed_tests(copy.folder), baseline.seconds)


def _told(question: Question, answer: Answer, failed: Sequence[str], seconds: float) -> str:
    if answer.code is None:
        return f"{question.name}: no answer in {seconds:g} s, or in {BYTES >> 30} GiB"
    if question.tests and failed:
        return failed[0]
    lines = [one for one in answer.said.splitlines() if one.strip()] or [f"exit code {answer.code}"]
    return f"{question.name}: {lines[0 if answer.code == CAUGHT else -1].strip()[:WIDTH]}"


def _facts(answer: Answer) -> list[str]:
    """The names of the facts that differ, as a probe reported them."""
    lines = answer.said.splitlines()
    return [one.removeprefix(DIFFERS) for one in lines if one.startswith(DIFFERS)] or ["facts"]
