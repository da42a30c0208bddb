"""What else could be done at each step of a counterexample, for the reports that show it.

A result has the actions of its stories. Taken again they lead through the same states, of which the specification is
asked once more what is possible and why the rest is not. That is done when all else is found and printed, for
violations and for traces that were replayed, and for no more steps than anybody waits for: of a story its last, and of
all stories together those that come first. The result says for how many.

Only the check that found a result under the specification as it stands may ask so: of an older one the answer may be
another.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from model_check.checks.enumeration import ENGINE as SPARK
from model_check.explicit_state.findings import ENGINE as EXPLORER
from model_check.inventory.system_facts import SystemKey
from model_check.reasons.possibilities import Reasons
from model_check.traces.trace import State, Trace, continued
from model_check.verdicts.possibilities import Possibilities
from model_check.verdicts.results import Document, Finding, Run, Story
from model_check.verdicts.told_stories import Told, stories_told
from model_check.verdicts.verdict import Verdict
from model_check.waiting.progress import bar
from spec.language.rules import TransitionSystem
from spec.scopes import scopes
from spec.variants import adjusted, marked_switches

OF_A_SYSTEM: Final = (EXPLORER, SPARK, "replay")
"""The engines whose stories are of the system that scope and variant name, and of no other."""
MOST_STEPS: Final = 100
"""Of a story."""
MOST_OF_ALL: Final = 2_000
"""Of all stories together."""


def with_possibilities(document: Document) -> Document:
    """A document whose counterexamples tell of each step what else was possible, and why the rest was not."""
    asked = _Asked([one for one in stories_told(document) if _is_asked(one.run, one.finding)])
    steps = sum(min(len(one.story.steps), MOST_STEPS) for one in asked.stories)
    with bar("what else was possible", min(steps, MOST_OF_ALL)) as report:
        return replace(document, runs=tuple(_told(run, asked, report) for run in document.runs))


def _is_asked(run: Run, one: Finding | None) -> bool:
    """Whether it is asked of a story of a run: of its trace, and of what it violates."""
    is_of_a_system = run.scope in scopes() and run.engine.rpartition(", ")[2] in OF_A_SYSTEM
    return is_of_a_system and (one is None or one.verdict is Verdict.VIOLATED)


def _told(run: Run, asked: "_Asked", report: Callable[[int], None]) -> Run:
    if not any(one.run is run for one in asked.stories):
        return run
    reasons = Reasons(SystemKey(run.scope, adjusted(*marked_switches(run.variant))).built())

    def told(story: Story | None) -> Story | None:
        if story is None or not story.steps:
            return story
        found = asked.of(reasons, story)
        report(asked.steps)
        return replace(story, possibilities=found)

    findings = (replace(one, story=told(one.story)) if _is_asked(run, one) else one for one in run.findings)
    return replace(run, story=told(run.story), findings=tuple(findings))


@dataclass
class _Asked:
    """The stories of which it is asked, and of how many steps it was."""

    stories: Sequence[Told]
    steps: int = 0

    def of(self, reasons: Reasons, story: Story) -> Possibilities | None:
        """What else was possible at the last steps of a story, at none when that was asked often enough.

        None where the system does not take the steps that the story has: then it belongs to another one.
        """
        states = _states(reasons.system, story)
        if states is None:
            return None
        last = states[-min(MOST_STEPS, len(states)) :] if self.steps < MOST_OF_ALL else []
        self.steps += len(last)
        return reasons.along(len(states) - len(last) + 1, last)


def _states(system: TransitionSystem, story: Story) -> list[State] | None:
    """The state before each step of a story; None where the system cannot take it."""
    actions = {one.name: one for one in system.actions}
    begun = Trace(((None, {one.name: one.initial for one in system.variables}),))
    try:
        way = continued(begun, [actions[step.action] for step in story.steps])
    except (KeyError, ValueError):
        return None
    return [state for _, state in way.steps[:-1]]
