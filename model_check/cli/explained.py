"""What else was possible at a step of a story: of the shortest story of a scope, or of a saved trace.

The verdict of such a run is HOLDS whatever comes of it: it answers a question, and judges nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from model_check.checks import exploration
from model_check.explicit_state.findings import Found, story_of
from model_check.judging.judge import judge
from model_check.judging.judgement_report import run_of
from model_check.judging.why_not import choices_at_the_end
from model_check.reasons.choices import choices
from model_check.terms.straight_line import Valuation
from model_check.traces.trace import Trace
from model_check.two_questions import Question, readable
from model_check.verdicts.rendering import counted
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from model_check.waiting.progress import bar, interruptible
from spec.errors import BadInput, UnknownName
from spec.expectations import plan
from spec.language.rules import GOALS, Action, TransitionSystem
from spec.scopes import scope as scope_named
from spec.system import system
from spec.variants import Switches, show_switches

ENGINE = "explain"


@dataclass(frozen=True)
class Asked:
    """At which step (None: the last), and of which rule or action the reasons why not (empty: of each rule some)."""

    step: int | None = None
    why_not: str = ""

    def run(self, built: TransitionSystem, trace: Trace, scope: str, variant: str) -> Run:
        """The answer, of a trace of a system; BadInput for a step that it does not have, UnknownName for no action."""
        number = len(trace) if self.step is None and len(trace) else self.step or 1
        if not 1 <= number <= len(trace) + 1:
            raise BadInput(f"--step {number}: the story has {len(trace)} steps; say 1 to {len(trace) + 1}, the end")
        taken = trace.actions[number - 1] if number <= len(trace) else ""
        values = Valuation(trace.steps[number - 1][1])
        told = choices(built, values, step=number, taken=taken, wanted=self.wanted(built))
        story = story_of(built, Trace(trace.steps[:number]))
        return Run(ENGINE, scope, variant, Verdict.HOLDS, story=story, choices=(told,))

    def wanted(self, built: TransitionSystem) -> Callable[[Action], bool] | None:
        """Of which actions the reasons are asked for, None for the nearest of each rule; UnknownName for no action."""
        if not self.why_not:
            return None
        names = {name for one in built.actions for name in (one.name, one.rule)}
        if self.why_not not in names:
            raise UnknownName("action of this scope", self.why_not, sorted({one.rule for one in built.actions}))
        return lambda one: self.why_not in (one.name, one.rule)


def of_scope(scope: str, switches: Switches, asked: Asked, claim: str = "") -> Run:
    """The answer, of the shortest story of a claim, or else of the first that is broken."""
    built = system(scope_named(scope), switches)
    names = {one.name for one in built.properties}
    if claim and claim not in names:
        raise UnknownName("property of this scope", claim, sorted(names), listed_by="kcheck show properties")
    others = (*GOALS, "sometimes")
    chosen = [one for one in built.properties if (one.name == claim if claim else one.kind not in others)]
    asked.wanted(built)  # a typo is told before anything long begins
    goals = any(one.kind in GOALS for one in chosen)
    task = exploration.Task(scope, switches, replace(built, properties=tuple(chosen)), goals)
    found = exploration.run(task, until_violated=True)
    variant, stories = show_switches(switches), _stories(found, witnesses=bool(claim))
    if not stories and found.stopped == "stop":
        return Run(ENGINE, scope, variant, Verdict.INCOMPLETE, INTERRUPTED)
    if not stories:
        what = f"{claim} has no story" if claim else "no claim about states or steps is broken"
        known = [one.violated for one in plan(scope).explorations if one.switches == switches]
        some = " or ".join(name for one in known for name in one if name != claim) or "a claim that has one"
        raise BadInput(f"{what} in {scope}; name {some} with --property, or a saved trace")
    name, trace = min(stories.items(), key=lambda one: (len(one[1]), one[0]))
    told = asked.run(built, trace, scope, variant)
    return replace(told, reason=f"the shortest story of {name}, of {counted(len(trace), 'step')}")


def of_recording(folder: Path, asked: Question, why_not: str = "") -> Run:
    """The answer, of where the explanation of a recording ends; BadInput where nobody searches for one."""
    recording = readable(folder, asked)
    if recording is None:
        raise BadInput(f"{folder.name} claims no documented release, so that no explanation is searched for")
    with interruptible() as stop, bar(folder.name, recording.observations) as report:
        judged = judge(recording, asked.switches, budget=asked.budget, progress=report, stop=stop)
        verdict = Verdict.INCOMPLETE if stop() else Verdict.HOLDS
    run = run_of(recording, judged, show_switches(asked.switches))
    told = Run(ENGINE, run.scope, run.variant, verdict, run.reason, story=run.story, explained=run.explained)
    if judged.stuck is None or told.explained is None:
        return replace(told, reason=run.reason or "all of it is explained: there is nothing to ask why not")
    notes = ("What was observed next, in each sequence:", *(f"  {one.text}" for one in told.explained.next))
    return replace(told, choices=(choices_at_the_end(recording, judged, why_not),), notes=notes)


def _stories(found: Found, *, witnesses: bool) -> Mapping[str, Trace]:
    """The traces that an exploration found, by the claim that they break, or show where witnesses are asked for."""
    goals = {name: one.trace for name, one in found.goals.items() if one.trace is not None}
    return {**found.violated, **goals, **(found.witnessed if witnesses else {})}
