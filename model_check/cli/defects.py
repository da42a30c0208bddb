"""`kcheck defects`: what Kafka's documented design got wrong, found or not, listed, and shown as stories."""

from __future__ import annotations

from typing import Annotated

import typer

from model_check.cli import explore, options
from model_check.cli.console import print_document, say
from model_check.defects import Half, check, halves
from model_check.explicit_state.findings import Found
from model_check.results import Run
from model_check.verification import document
from spec.defects import DEFECTS, UNFOUND, Defect, Unfound, defect, number
from spec.expectations import plan
from spec.language import GOALS, TransitionSystem
from spec.variants import Switches, show_switches


def command(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Show these, such as D1.")] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Show all of them.")] = False,
    as_json: options.JsonOption = False,
) -> int:
    """List the known defects, those also that are not found here, or show some as stories.

    A defect is shown by exploring its scope: the shortest trace that breaks its property comes out of the enumeration,
    nothing hinted. A claim is explored until it is broken, a goal to the end. Then the mend is switched on, and no such
    trace is left. Exits with 0 if both are so.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew, and only
    `kcheck enumerate` goes on where it was.

    For example:
      kcheck defects
      kcheck defects D1
      kcheck defects --all --json > defects.json
    """
    chosen = list(DEFECTS) if every else [defect(one) for one in ids or ()]
    if not chosen:
        every_one: list[Defect | Unfound] = [*DEFECTS, *UNFOUND]
        say("".join(_line(one) for one in sorted(every_one, key=lambda one: number(one.id))))
        return 0
    runs = [shown(half) for one in chosen for half in halves(one)]
    told = [one.breaks for one in chosen]
    return print_document(document(runs, "defects"), as_json=as_json, stories=told)


def _line(one: Defect | Unfound) -> str:
    if isinstance(one, Unfound):
        return f"{one.id:<4} {one.title}\n     not found here: {one.reason}\n"
    after = f"breaks {one.breaks} after {one.first_depth} steps"
    return f"{one.id:<4} {one.title}\n     {after} in {one.scope} {show_switches(one.base)}; mended by {one.remedy}\n"


def shown(half: Half) -> Run:
    """The run that shows a defect, or the one in which it is mended."""
    return check(half, _explored)


def _explored(scope: str, switches: Switches, built: TransitionSystem) -> Found:
    has_goals = any(one.kind in GOALS for one in built.properties)
    return explore.run(explore.Task(scope, switches, built, has_goals and plan(scope).goals), until_violated=True)
