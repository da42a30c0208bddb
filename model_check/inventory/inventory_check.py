"""The gate's comparison with the inventory: what is checked is what was accepted, and every system is that one.

The facts of the specification, of its manifest and of what the gate runs are compared every time. The digests of a
system are compared where that system is checked anyway: every day of most, with --deep of all.
"""

from collections.abc import Iterable, Iterator, Mapping

from model_check.inventory.accepted import accepted
from model_check.inventory.accepted_systems import comparison_of, with_facts_compared
from model_check.inventory.changes import changes
from model_check.inventory.comparers import comparer_facts
from model_check.inventory.facts import Fact, manifest_facts, recording_facts, specification_facts
from model_check.inventory.system_facts import system_keys
from model_check.inventory.whole_protocol import term_facts
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check
from spec.expectations import Plan

GATE = "gate "
EVERY_DAY, DEEP = "every day", "with --deep"
"""When the gate makes a check."""

LATER = "compared where the system is checked"
"""What is found of a system's digests where none is made."""


def gate_facts(daily: Iterable[Check], deep: Iterable[Check]) -> Iterator[Fact]:
    """A fact for each thing that the gate checks: every day, or in a deep run only."""
    every_day = {one.identity for one in daily}
    for name in sorted(every_day | {one.identity for one in deep}):
        yield f"{GATE}{name}", EVERY_DAY if name in every_day else DEEP


def gate_names(facts: Mapping[str, str], *, deep: bool) -> list[str]:
    """The checks that the gate is to make by these facts, every day or in a deep run."""
    due = {EVERY_DAY, DEEP} if deep else {EVERY_DAY}
    return [name.removeprefix(GATE) for name, when in facts.items() if name.startswith(GATE) and when in due]


def present_facts(plans: Mapping[str, Plan], gate: Iterable[Fact]) -> dict[str, str]:
    """All facts as they are now, except those of systems."""
    of_spec = (specification_facts(), term_facts(), manifest_facts(plans.values()))
    known = (*of_spec, recording_facts(), comparer_facts(), gate)
    return {name: told for some in known for name, told in some}


def check_inventory(plans: Mapping[str, Plan], gate: Iterable[Fact]) -> Run:
    """The run that compares all facts with the accepted ones; of systems, that there is a fact of each."""
    before, after = accepted(), present_facts(plans, gate)
    for key in system_keys(plans.values()):
        after[key.name] = before.get(key.name, LATER)
    same = sum(before.get(name) == told for name, told in after.items())
    met = Comparison("facts", f"{same:,} as accepted", f"{same:,} as accepted", Verdict.HOLDS)
    differing = map(comparison_of, changes(before, after))
    return with_facts_compared(Run("inventory", "", "", Verdict.HOLDS), [met, *differing])
