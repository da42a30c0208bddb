"""Showing a defect: the shortest trace that breaks its property, and that the mend leaves none.

Where a defect has defining rules, a monitor is put beside the system: one more variable, which counts how many of them
were taken in their order. The property is then only broken where all of them were. A monitor watches and prevents
nothing, so every behaviour of the system is one of the watched system, and the shortest trace is still the shortest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import z3

from model_check.findings import Found, run_of
from model_check.results import Comparison, Run
from model_check.verdicts import Verdict
from spec.defects import Defect
from spec.expectations import Plan
from spec.language import Action, Property, TransitionSystem, Variable
from spec.scopes import scope
from spec.system import system
from spec.terms import FLAG, Value, choose, either, flag, number
from spec.variants import Switches, show_switches

MONITOR = "history.defining"
"""The variable that counts how many defining rules were taken."""

Explore = Callable[[str, Switches, TransitionSystem], Found]
"""How a defect's systems are explored: scope, switches and the system built of them."""


def watched(built: TransitionSystem, one: Defect) -> TransitionSystem:
    """The system with only the defect's property, and that only after its defining rules."""
    claim = built.property_named(one.breaks)
    if not one.defining:
        return replace(built, properties=(claim,))
    kind = number(len(one.defining), "defining")
    seen = kind.variable(MONITOR)
    return replace(
        built,
        variables=(*built.variables, Variable(MONITOR, kind, 0)),
        actions=tuple(_watched_action(action, one.defining, seen) for action in built.actions),
        properties=(_after_all(claim, built, one.defining, seen),),
    )


def _advanced(action: Action, defining: tuple[str, ...], seen: Value) -> Value:
    """How many defining rules were taken after the action."""
    after = seen
    for place, rule in enumerate(defining):
        if rule == action.rule:
            after = choose(seen == place, seen.kind.constant(place + 1), after)
    return after


def _watched_action(action: Action, defining: tuple[str, ...], seen: Value) -> Action:
    if action.rule not in defining:
        return action
    return replace(action, updates={**action.updates, MONITOR: _advanced(action, defining, seen).term})


def _after_all(claim: Property, built: TransitionSystem, defining: tuple[str, ...], seen: Value) -> Property:
    """The property, demanded only where all defining rules were taken; in a step, the step itself counts."""

    def weakened(term: z3.BoolRef, count: Value) -> z3.BoolRef:
        return either(Value(FLAG, term), ~flag(count == len(defining))).term

    if claim.term is not None:
        return replace(claim, term=weakened(claim.term, seen))
    counts = {action.name: _advanced(action, defining, seen) for action in built.actions}
    return replace(claim, terms={name: weakened(term, counts[name]) for name, term in claim.terms.items()})


def check_defect(one: Defect, explore: Explore) -> tuple[Run, Run]:
    """The run that shows the defect and the run in which it is gone, compared with what its row says."""
    shown, gone = (_explored(one, switches, explore) for switches in (one.base, one.mended))
    expected = f"VIOLATED in {one.first_depth} steps"
    return (
        _compared(shown, f"{one.id}: {one.breaks}", expected, Verdict.VIOLATED),
        _compared(gone, f"{one.id} mended: {one.breaks}", Verdict.HOLDS, Verdict.HOLDS),
    )


def _explored(one: Defect, switches: Switches, explore: Explore) -> Run:
    built = watched(system(scope(one.scope), switches), one)
    found = explore(one.scope, switches, built)
    return replace(run_of(built, found, scope=one.scope, variant=show_switches(switches)), engine=f"{one.id}, explorer")


def _compared(run: Run, about: str, expected: str, expected_verdict: Verdict) -> Run:
    finding = run.findings[0]
    said = f"VIOLATED in {finding.story.length} steps" if finding.story else str(finding.verdict)
    weight = Verdict.INCOMPLETE if finding.verdict is Verdict.INCOMPLETE else Verdict.VIOLATED
    verdict = Verdict.HOLDS if said == expected else weight
    comparison = Comparison(about, expected, said, verdict, expected_verdict)
    return replace(run, comparisons=(comparison,), verdict=verdict, never_fired=(), idle_instances=())


def is_covered(one: Defect, plan: Plan) -> bool:
    """Whether the manifest's own expectations say all that the row says, so that verifying them verifies it."""
    shown = plan.exploration(show_switches(one.base))
    gone = plan.exploration(show_switches(one.mended))
    if one.defining or shown is None or gone is None:
        return False
    return shown.violated.get(one.breaks) == one.first_depth and one.breaks not in {
        *gone.violated, *gone.incomplete,
    }  # fmt: skip
