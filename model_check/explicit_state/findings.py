"""From what an engine counted to what is said of it: a verdict and a reason for every property.

An `always` or `step` property without a counterexample HOLDS only if everything was explored; how far a bound of the
scope cut the exploration off is reported beside it, in the run's `bounds_hit`. A `sometimes` that no state shows is
INCOMPLETE: a wider scope may well show it, and here whatever it is the witness of holds for want of occasion, which is
said there, too. Goals are judged on the graph; without one they are named as not asked.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from model_check.reasons.because import because
from model_check.reasons.names import Names
from model_check.terms.straight_line import Program, Valuation
from model_check.traces.trace import Trace, shown_initial, tell
from model_check.verdicts.results import Counts, Finding, Run, Story
from model_check.verdicts.verdict import INTERRUPTED, Verdict, worst
from spec.language.rules import GOALS, Property, TransitionSystem


@dataclass(frozen=True, kw_only=True)
class Found(ABC):
    """What an exhaustive engine found, whichever it was.

    `levels[d]` counts the states first reached by d steps; `expanded` those whose steps were all taken. `fired` and
    `overflows` count states by action name, zeros included; `transitions` is the sum of `fired`. `occurrences` counts,
    by row of a transition table the states from which it is taken, by `sometimes` property those that show it, and by
    goal those that lack it yet; `first_depths` has the length of a shortest trace to each of these and each action, if
    there is any. `violated` and `witnessed` have a shortest trace by property name, only of what was found, and `goals`
    a `graph.GoalResult`, if there is a graph. `exhausted` is false if something stopped the search, and `stopped` says
    what. `seconds` are by part, `memory_bytes` those of states and their table.
    """

    states: int
    expanded: int
    transitions: int
    levels: tuple[int, ...]
    fired: Mapping[str, int]
    overflows: Mapping[str, int]
    occurrences: Mapping[str, int]
    first_depths: Mapping[str, int]
    violated: Mapping[str, Trace]
    witnessed: Mapping[str, Trace]
    goals: Mapping[str, Any] = field(default_factory=dict)
    exhausted: bool
    stopped: str
    seconds: Mapping[str, float]
    memory_bytes: int

    @property
    def depth(self) -> int:
        """How many steps the farthest state is away from the initial one."""
        return len(self.levels) - 1

    @property
    def complete_depth(self) -> int:
        """The last depth of which all states were expanded; -1 if not even the initial state was."""
        return sum(end <= self.expanded for end in accumulate(self.levels)) - 1

    @property
    @abstractmethod
    def digest(self) -> str:
        """A name for the set of states found: equal for every engine, order and number of workers; see `digest`."""


CLAIMS = ("always", "step", *GOALS)
"""The kinds whose verdicts decide over a run; a `sometimes` is a witness for the others."""

ENGINE = "explorer"

GOAL_REASONS = {
    "HOLDS": "",
    "VIOLATED": "not so from {:,} states",
    "INCOMPLETE": "from {:,} states only beyond a bound of the scope, if at all",
}
"""What is said of a goal, with the number of states that decided it."""


def run_of(
    system: TransitionSystem,
    found: Found,
    *,
    scope: str,
    variant: str,
    chosen: Iterable[str] = (),
    engine: str = ENGINE,
) -> Run:
    """What an exploration says of a system, of all properties or of the chosen ones; of stories only how long they are.

    `with_stories` has the words, which take longer than many a search.
    """
    names = set(chosen) or {one.name for one in system.properties}
    asked = [one for one in system.properties if one.name in names]
    findings = tuple(_finding(one, found) for one in asked if _is_asked(one, found))
    rules, judged = _by_rule(system, found.fired), [one.verdict for one in findings if one.kind in CLAIMS]
    return Run(
        engine=engine,
        scope=scope,
        variant=variant,
        verdict=worst([*judged, Verdict.HOLDS if found.exhausted else Verdict.INCOMPLETE]),
        reason="" if found.exhausted else _how_far(found),
        counts=Counts(found.states, found.transitions, found.depth, found.digest, found.levels),
        findings=findings,
        fired=rules,
        occurrences=found.occurrences,
        first_depths=_first_depths(system, found),
        bounds_hit={rule: count for rule, count in _by_rule(system, found.overflows).items() if count},
        never_fired=tuple(rule for rule, count in rules.items() if not count),
        idle_instances=tuple(one.name for one in system.actions if not found.fired[one.name] and rules[one.rule]),
        not_asked=tuple(one.name for one in asked if not _is_asked(one, found)),
        seconds=dict(found.seconds),
    )


def with_stories(run: Run, system: TransitionSystem, found: Found, names: Collection[str]) -> Run:
    """A run with the traces of these properties in words."""
    claims = {one.name: one for one in system.properties if one.name in names}

    def told(one: Finding) -> Finding:
        claim = claims.get(one.property)
        trace = _judged(claim, found)[2] if claim is not None else None
        return one if trace is None else replace(one, story=story_of(system, trace, claim))

    return replace(run, findings=tuple(map(told, run.findings)))


def story_of(system: TransitionSystem, trace: Trace, broken: Property | None = None) -> Story:
    """A trace in words, and why it breaks a property where it does."""
    why = None if broken is None or broken.kind == "sometimes" else because(system, broken, trace.steps[-2:])
    partitions = Names(system.model).every_partition()
    return Story(len(trace), tell(system, trace), shown_initial(system, trace), why, partitions)


def _by_rule(system: TransitionSystem, counts: Mapping[str, int]) -> dict[str, int]:
    """Counts by action name, added up by rule, in the system's order."""
    found: dict[str, int] = {}
    for action in system.actions:
        found[action.rule] = found.get(action.rule, 0) + counts[action.name]
    return found


def _first_depths(system: TransitionSystem, found: Found) -> dict[str, int]:
    """The length of a shortest trace to each rule, and to whatever else occurs."""
    depths = {name: depth for name, depth in found.first_depths.items() if name not in found.fired}
    for action in system.actions:
        if action.name in found.first_depths:
            depth = found.first_depths[action.name]
            depths[action.rule] = min(depth, depths.get(action.rule, depth))
    return depths


def _how_far(found: Found) -> str:
    depth = found.complete_depth
    reach = f", complete to a depth of {depth}" if depth >= 0 else ""
    why = {
        "limit": "the limit of states was reached",
        "memory": "the memory was full",
        "stop": f"it was {INTERRUPTED}",
        "violation": "a violation was found",
    }
    return (
        f"not exhausted: {why.get(found.stopped, found.stopped)} after {found.expanded:,} of {found.states:,} "
        f"known states were expanded{reach}"
    )


def _is_asked(one: Property, found: Found) -> bool:
    return one.kind not in GOALS or one.name in found.goals


def _finding(one: Property, found: Found) -> Finding:
    verdict, reason, trace = _judged(one, found)
    return Finding.of(one, verdict, reason, None if trace is None else Story(len(trace)))


def _judged(one: Property, found: Found) -> tuple[Verdict, str, Trace | None]:
    if one.kind == "sometimes":
        return _witness(one, found)
    if one.kind in GOALS:
        goal = found.goals[one.name]
        reasons = [GOAL_REASONS[goal.verdict].format(goal.count), *_vacuity(one, found)]
        return Verdict(goal.verdict), "; ".join(filter(None, reasons)), goal.trace
    if one.name in found.violated:
        return Verdict.VIOLATED, "", found.violated[one.name]
    if not found.exhausted:
        depth = found.complete_depth
        reason = f"no counterexample of {depth} steps or fewer" if depth >= 0 else "the initial state was not expanded"
        return Verdict.INCOMPLETE, reason, None
    return Verdict.HOLDS, "; ".join(_vacuity(one, found)), None


def _witness(one: Property, found: Found) -> tuple[Verdict, str, Trace | None]:
    if one.name in found.witnessed:
        return Verdict.HOLDS, "", found.witnessed[one.name]
    seen = "no state of this scope shows it" if found.exhausted else "no state found so far shows it"
    return Verdict.INCOMPLETE, seen, None


def _vacuity(one: Property, found: Found) -> Iterator[str]:
    if one.kind in GOALS and not found.occurrences.get(one.name):
        yield "for want of occasion: every state has it"
    if one.witness is not None and one.witness not in found.witnessed:
        yield f"for want of occasion: {one.witness} has no witness here"


def broken_along(system: TransitionSystem, trace: Trace) -> Iterator[Finding]:
    """The `always` and `step` properties that a trace breaks, each with the way to where it first does."""
    program = Program()
    for one in system.properties:
        for number in range(len(trace.steps)):
            if breaks(one, trace, number, program):
                broken = story_of(system, Trace(trace.steps[: number + 1]), one)
                yield Finding.of(one, Verdict.VIOLATED, story=broken)
                break


def breaks(one: Property, trace: Trace, number: int, program: Program | None = None) -> bool:
    """Whether an `always` or `step` property is broken in a state of a trace, or by the step that leads there."""
    action = trace.steps[number][0]
    if one.kind == "always" and one.term is not None:
        return not Valuation(trace.steps[number][1], program)(one.term)
    if one.kind == "step" and action is not None and action in one.terms:
        return not Valuation(trace.steps[number - 1][1], program)(one.terms[action])
    return False
