"""The gate's comparison with the inventory: what is checked is what was accepted, and every system is that one.

The facts of the specification, of its manifest and of what the gate runs are compared every time. The digests of a
system are compared where that system is checked anyway: every day of most, with --deep of all.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from model_check.inventory.accepted import accepted
from model_check.inventory.changes import Change, changes
from model_check.inventory.facts import Fact, manifest_facts, recording_facts, specification_facts
from model_check.inventory.system_facts import SystemKey, system_fact, system_keys
from model_check.inventory.whole_protocol import term_facts
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict, worst
from model_check.verdicts.verification import Check
from spec.expectations import Plan
from spec.language.rules import TransitionSystem
from spec.variants import Switches

REVIEW = "what differs from the inventory is for a reviewer: `kcheck accept` writes it down, and tells it in words"
LATER = "compared where the system is checked"
"""What is found of a system's digests where none is made."""


def gate_facts(daily: Iterable[Check], deep: Iterable[Check]) -> Iterator[Fact]:
    """A fact for each thing that the gate checks: every day, or in a deep run only."""
    every_day = {_check_name(one) for one in daily}
    for name in sorted(every_day | {_check_name(one) for one in deep}):
        yield f"gate {name}", "every day" if name in every_day else "with --deep"


def _check_name(one: Check) -> str:
    return " ".join(part for part in (one.engine, one.scope, one.variant) if part)


def present_facts(plans: Mapping[str, Plan], gate: Iterable[Fact]) -> dict[str, str]:
    """All facts as they are now, but for those of systems."""
    known = (specification_facts(), term_facts(), recording_facts(), manifest_facts(plans.values()), gate)
    return {name: told for some in known for name, told in some}


def check_inventory(plans: Mapping[str, Plan], gate: Iterable[Fact]) -> Run:
    """The run that compares all facts with the accepted ones; of systems, that there is a fact of each."""
    before, after = accepted(), present_facts(plans, gate)
    for key in system_keys(plans.values()):
        after[key.name] = before.get(key.name, LATER)
    same = sum(before.get(name) == told for name, told in after.items())
    met = Comparison("facts", f"{same:,} as accepted", f"{same:,} as accepted", Verdict.HOLDS)
    return _run(Run("inventory", "", "", Verdict.HOLDS), [met, *map(_comparison, changes(before, after))])


def with_system_compared(run: Run, built: TransitionSystem, scope: str, switches: Switches, *, proving: bool) -> Run:
    """A check's run that also compares the system it was about with the accepted one."""
    name = SystemKey(scope, switches, proving).name
    before, after = accepted().get(name), system_fact(built)
    if before == after:
        return _run(run, [Comparison("system", before, after, Verdict.HOLDS)])
    return _run(run, [_comparison(Change(name, before, after))])


def _comparison(change: Change) -> Comparison:
    """A fact that is not as it was accepted."""
    expected, found = change.difference
    return Comparison(change.name, expected, found, Verdict.VIOLATED)


def _run(run: Run, more: list[Comparison]) -> Run:
    """A run with more comparisons, and a word on what to do with those that are not met."""
    notes = () if all(one.is_met for one in more) else (REVIEW,)
    verdict = worst([run.verdict, *(one.verdict for one in more)])
    return replace(run, comparisons=(*run.comparisons, *more), notes=(*run.notes, *notes), verdict=verdict)
