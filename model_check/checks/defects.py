"""Showing a defect: the shortest trace that breaks its property, and that the fix leaves none.

Where a defect has defining steps, a monitor is put beside the system: one more variable, which counts how many of them
were taken in their order. The property is then only broken where all of them were. A monitor watches and prevents
nothing, so every behaviour of the system is one of the watched system, and the shortest trace is still the shortest.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import z3

from model_check.checks import exploration
from model_check.explicit_state.findings import Found, run_of, with_stories
from model_check.inventory.system_facts import SystemKey
from model_check.verdicts.results import Comparison, Finding, Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import in_words
from spec.defects import Defect
from spec.expectations import Plan, plan
from spec.language.rules import GOALS, Action, Property, TransitionSystem, Variable
from spec.language.terms import FLAG, Value, both, choose, either, flag, number
from spec.variants import Switches, show_switches

MONITOR = "history.defining"
"""The variable that counts how many defining steps were taken."""

Explore = Callable[[str, Switches, TransitionSystem], Found]
"""How a defect's systems are explored: scope, switches and the system built of them."""


def watched(built: TransitionSystem, one: Defect) -> TransitionSystem:
    """The system with only the defect's property, and that only after its defining steps."""
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
    """How many defining steps were taken after the action."""
    after = seen
    for place, one in enumerate(defining):
        if is_possible(action, one):
            after = choose(both(seen == place, _is_taken(action, one)), seen.kind.constant(place + 1), after)
    return after


def is_possible(action: Action, one: str) -> bool:
    """Whether an action may be that defining step: of its rule, that very action, or one in which that is seen."""
    return _is_named(action, one) or any(event.kind == one for event in action.events)


def _is_named(action: Action, one: str) -> bool:
    """Whether that defining step is the action's rule, or the action with its parameters."""
    return one in {action.rule, action.name}


def _is_taken(action: Action, one: str) -> Value:
    """Whether a step by the action is that defining step."""
    seen = (FLAG.of(event.condition) for event in action.events if event.kind == one)
    return flag(True) if _is_named(action, one) else either(*seen)


def _watched_action(action: Action, defining: tuple[str, ...], seen: Value) -> Action:
    if not any(is_possible(action, one) for one in defining):
        return action
    return replace(action, updates={**action.updates, MONITOR: _advanced(action, defining, seen).term})


def _after_all(claim: Property, built: TransitionSystem, defining: tuple[str, ...], seen: Value) -> Property:
    """The property, demanded only where all defining steps were taken; in a step, the step itself counts."""

    def weakened(term: z3.BoolRef, count: Value) -> z3.BoolRef:
        return either(FLAG.of(term), ~flag(count == len(defining))).term

    if claim.term is not None:
        return replace(claim, term=weakened(claim.term, seen))
    counts = {action.name: _advanced(action, defining, seen) for action in built.actions}
    return replace(claim, terms={name: weakened(term, counts[name]) for name, term in claim.terms.items()})


@dataclass(frozen=True)
class Half:
    """One half of what a row claims: that the defect is there, or that it is gone when fixed."""

    defect: Defect
    fixed: bool

    @property
    def switches(self) -> Switches:
        """What is switched on for it."""
        return self.defect.fixed if self.fixed else self.defect.base

    @property
    def expected(self) -> str:
        """What the row claims of the property."""
        return Verdict.HOLDS if self.fixed else f"VIOLATED in {self.defect.first_depth} steps"


def halves(one: Defect) -> tuple[Half, ...]:
    """Both halves of a row, the defect first; where nothing fixes it, that is all."""
    return tuple(Half(one, fixed=fixed) for fixed in (False, True) if one.fix or not fixed)


def check(half: Half, explore: Explore, *, told: bool = False) -> Run:
    """The run that shows the defect, or in which it is gone, compared with what its row says.

    The trace is a story where that is asked for, or where it is not as the row says.
    """
    one = half.defect
    built = watched(SystemKey(one.scope, half.switches).built(), one)
    found = explore(one.scope, half.switches, built)
    run = run_of(built, found, scope=one.scope, variant=show_switches(half.switches))
    comparison = _comparison(half, run.findings[0])
    if told or not comparison.is_met:
        run = with_stories(run, built, found, [one.breaks])
    return replace(
        run,
        engine=f"{one.id}, explorer",
        comparisons=(comparison,),
        verdict=comparison.verdict,
        never_fired=(),
        idle_instances=(),
        notes=(*run.notes, *_restricted(one), *([told_of_today(one)] if one.remains else [])),
    )


def told_of_today(one: Defect) -> str:
    """What 0.10.2 has of a defect that is shown with older behaviour."""
    return f"of this 0.10.2 has: {one.remains}"


def _restricted(one: Defect) -> tuple[str, ...]:
    """That the verdict is of the traces that take the defining steps, where there are any; others may break it, too."""
    if not one.defining:
        return ()
    return (f"the property is looked at only after these steps, in this order: {', '.join(one.defining)}",)


def _comparison(half: Half, finding: Finding) -> Comparison:
    weight = Verdict.INCOMPLETE if finding.verdict is Verdict.INCOMPLETE else Verdict.VIOLATED
    about = f"{half.defect.id}{' fixed' if half.fixed else ''}: {half.defect.breaks}"
    known = Verdict.HOLDS if half.fixed else Verdict.VIOLATED
    return Comparison.of(about, half.expected, in_words(finding), weight, known)


def is_covered(half: Half, plan: Plan) -> bool:
    """Whether the manifest's own expectations say what this half says, so that verifying them verifies it."""
    known, name = plan.exploration(show_switches(half.switches)), half.defect.breaks
    if known is None or (half.defect.defining and not half.fixed):
        return False
    if half.fixed:  # what holds of all traces holds of those that take the defining steps
        return name not in {*known.violated, *known.incomplete}
    return known.violated.get(name) == half.defect.first_depth


def shown(half: Half, *, told: bool = False) -> Run:
    """The run that shows a defect, or the one in which it is fixed; as a story where `told`, whatever comes of it."""
    return check(half, _explored, told=told)


def _explored(scope: str, switches: Switches, built: TransitionSystem) -> Found:
    goals = plan(scope).goals and any(one.kind in GOALS for one in built.properties)
    return exploration.run(exploration.Task(scope, switches, built, goals), until_violated=True)
