"""`kcheck defects`: what Kafka's documented design got wrong, found or not, listed, and shown as stories."""

from typing import Annotated

import typer

from model_check.checks import defects
from model_check.checks.defects import halves, told_of_today
from model_check.cli import options
from model_check.cli.console import print_document, say
from model_check.verdicts.verification import document
from spec.defects import DEFECTS, Defect, Unfound, listed, row
from spec.errors import BadInput
from spec.tables.diagrams import markdown_table
from spec.variants import show_switches


def command(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Show these, such as D1.")] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Show all of them.")] = False,
    as_table: Annotated[bool, typer.Option("--list", help="List those found here as a Markdown table.")] = False,
    telling: options.Stories,
    output: options.Output,
) -> int:
    """List the known defects, those also that are not found here, or show some as stories.

    A defect is shown by exploring its scope: the shortest trace that breaks its property comes out of the enumeration,
    nothing hinted. A claim is explored until it is broken, a goal to the end. Then the fix is switched on, and no such
    trace is left. Exits with 0 if both are so. For a defect that is not found here the verb prints the reason, and
    explores nothing.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew.

    For example:
      kcheck defects
      kcheck defects --list
      kcheck defects D1
      kcheck defects D2 --timeline
      kcheck defects D26
      kcheck defects D2 --report html=d2.html
      kcheck defects --all --json > defects.json
    """
    if as_table:
        if ids or every or output.is_kept:
            raise BadInput("--list lists the defects and shows none; leave out the ids, --all, --json and --report")
        rows = ([one.id, one.title, str(one.first_depth), one.scope, one.remedy] for one in DEFECTS)
        say(markdown_table(HEADER, rows) + "\n")
        return 0
    chosen = list(DEFECTS) if every else [row(one) for one in ids or ()]
    if not chosen and output.is_kept:
        raise BadInput("name a defect, or say --all: a list is no result that --json or --report could have")
    if not chosen:
        say("".join(map(_line, listed())))
        return 0
    found = [one for one in chosen if isinstance(one, Defect)]
    unfound = [one for one in chosen if isinstance(one, Unfound)]
    for one in unfound if output.is_kept else ():
        raise BadInput(f"{one.id} is not found here, so that there is no result of it; leave --json and --report out")
    code = 0
    if found:
        whole = document([defects.shown(half, told=True) for one in found for half in halves(one)], "defects")
        code = print_document(
            whole, output, stories=[one.breaks for one in found], steps=telling.lines, found_here=True
        )
    if not output.as_json:
        say(("\n" if found and unfound else "") + "".join(map(_line, unfound)))
    return code


HEADER = ("defect", "what goes wrong", "steps", "scope", "fixed by")


def _line(one: Defect | Unfound) -> str:
    if isinstance(one, Unfound):
        return f"{one.id:<4} {one.title}\n     not found here: {one.reason}\n"
    after = f"breaks {one.breaks} after {one.first_depth} steps"
    remains = f"     {told_of_today(one)}\n" if one.remains else ""
    shown_by = f"{after} in {one.scope} {show_switches(one.base)}; fixed by {one.remedy}"
    return f"{one.id:<4} {one.title}\n     {shown_by}\n{remains}"
