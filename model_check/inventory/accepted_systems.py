"""A checked system against the accepted one, whose terms a reviewer has seen."""

from collections.abc import Iterable
from dataclasses import replace

from model_check.inventory.accepted import accepted
from model_check.inventory.changes import Change
from model_check.inventory.system_facts import SystemKey, system_fact
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict, worst
from spec.language.rules import TransitionSystem

REVIEW = "what differs from the inventory is for a reviewer: `kcheck accept` writes it down, and tells it in words"


def with_system_compared(run: Run, built: TransitionSystem, key: SystemKey) -> Run:
    """A check's run that also compares the system it was about with the accepted one."""
    before, after = accepted().get(key.name), system_fact(built)
    if before == after:
        return with_facts_compared(run, [Comparison("system", before, after, Verdict.HOLDS)])
    return with_facts_compared(run, [comparison_of(Change(key.name, before, after))])


def comparison_of(change: Change) -> Comparison:
    """A fact that is not as it was accepted."""
    expected, found = change.difference
    return Comparison(change.name, expected, found, Verdict.VIOLATED)


def with_facts_compared(run: Run, more: Iterable[Comparison]) -> Run:
    """A run with more comparisons, and a word on what to do with those that are not met."""
    made = tuple(more)
    notes = () if all(one.is_met for one in made) else (REVIEW,)
    verdict = worst([run.verdict, *(one.verdict for one in made)])
    return replace(run, comparisons=(*run.comparisons, *made), notes=(*run.notes, *notes), verdict=verdict)
