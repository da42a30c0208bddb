"""`kcheck replay`: take every step of a saved trace again, on the specification as it stands."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import print_document
from model_check.cli.saved_traces import opened
from model_check.explicit_state.findings import broken_along, story_of
from model_check.kernel.system_digest import system_digest
from model_check.traces.itf import SavedTrace
from model_check.traces.replay import ReplayError, replay
from model_check.verdicts.results import Run, plain_document
from model_check.verdicts.verdict import Verdict
from spec.language.rules import GOALS, TransitionSystem

ALL_TAKEN = "every step can be taken, and none breaks a property; whether goals stay in reach is not asked here"
"""What it means that a trace holds."""


def command(
    trace: Annotated[Path, typer.Argument(help="A trace in ITF, as `kcheck explore --traces` saves it.")],
    *,
    scope: Annotated[str | None, typer.Option(metavar="SCOPE", help="Not the scope that the file names.")] = None,
    variant: Annotated[str | None, typer.Option(metavar="NAME", help="Not the variant that the file names.")] = None,
    on: options.WithOption = None,
    off: options.WithoutOption = None,
    telling: options.Stories,
    output: options.Output,
) -> int:
    """Replay a saved trace, printed as a story.

    A trace of an older specification, or of one with other fixes, may not be one of this: then the report names the
    first step that cannot be taken, the parts of its guard that are false, and the actions that could be taken instead.
    Exits with 0 if every step can be taken and no property is broken on the way, else with 1. No step shows that a goal
    (recoverable, eventually) is out of reach: where a trace was saved for that, the report says so.

    For example:
      kcheck explore election --traces traces/
      kcheck replay traces/election-AS_CODED-one_term_acts_in_an_epoch.itf.json
      kcheck replay traces/election-AS_CODED-one_term_acts_in_an_epoch.itf.json --with RESIGN_ON_EPOCH_CONFLICT
    """
    told = opened(trace, scope, variant, on, off)
    run = _replayed(told.saved, told.built, told.scope, told.variant)
    return print_document(plain_document("replay", run), output, stories=(), steps=telling.lines, found_here=True)


def _replayed(saved: SavedTrace, built: TransitionSystem, scope: str, variant: str) -> Run:
    notes: tuple[str, ...] = ()
    if saved.digest and saved.digest != system_digest(built):
        notes = ("the trace was saved for another specification, scope or variant than this one",)
    try:
        trace = replay(built, saved.trace)
    except ReplayError as error:
        return Run("replay", scope, variant, Verdict.VIOLATED, "the trace does not replay", notes=(*notes, str(error)))
    findings = tuple(broken_along(built, trace))
    verdict = Verdict.VIOLATED if findings else Verdict.HOLDS
    story = story_of(built, trace)
    notes = (*notes, *([] if findings else [ALL_TAKEN]), *_goal(saved, built))
    return Run("replay", scope, variant, verdict, findings=findings, notes=notes, story=story)


def _goal(saved: SavedTrace, built: TransitionSystem) -> Iterator[str]:
    """What there is to say of a trace to where a goal is out of reach."""
    for one in built.properties:
        if one.name == saved.property and one.kind in GOALS:
            yield (
                f"saved as the way to where {one.name} is out of reach: a goal ({one.kind}), which no step breaks"
                f"; kcheck explore --property {one.name} judges it"
            )
