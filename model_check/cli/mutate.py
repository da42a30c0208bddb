"""`kcheck mutate`: would anybody notice a small mistake? Each mutant is shown to the checks, the cheapest first."""

from typing import Annotated, Final

import typer

from model_check.cli import options
from model_check.cli.console import print_document, say
from model_check.waiting.board import board
from model_check.waiting.progress import interruptible
from spec.errors import BadInput

SECONDS: Final = 300.0
"""How long an answer may take, unless one says otherwise."""


def command(
    paths: Annotated[list[str] | None, typer.Argument(metavar="[PATH]...", help="Only these files or folders.")] = None,
    *,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Ask about so many of them, drawn by lot; default: all.")
    ] = None,
    seed: Annotated[str, typer.Option(metavar="S", help="By what they are drawn: the same draws the same.")] = "1",
    like: Annotated[str, typer.Option(metavar="TEXT", help="Only mutants whose title has this in it.")] = "",
    listed: Annotated[bool, typer.Option("--list", help="List the mutants, a line each, and ask nothing.")] = False,
    jobs: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Ask about so many at a time.")] = 1,
    seconds: Annotated[float, typer.Option(min=1, max=36000, help="How long an answer may take.")] = SECONDS,
    output: options.Output,
) -> int:
    """Say which small mistakes nobody would notice.

    A mutant is the checkout with one change, made by the syntax tree: a comparison turned round, `and` for `or`, a
    number one off, a statement or a condition left out, an element of a table dropped. Unless files or folders are
    named, that is of the specification, the reference, and whatever asks and judges recordings. It lives in a copy of
    the checkout, which goes at the end; the working tree is not touched.

    It is shown to the checks of every day, the cheapest first, until one notices: its module loads; the specification
    says what the inventory has; the tests that mirror the module; explorations; vectors, and the refinement; the tests
    that reach it by few imports. What fails or hangs counts only if it passes on the copy without the mutant.

    The report gives of each survivor its line, its change, and what was not asked.
    model_check/mutation/known_mutants.toml has those that behave the same, and the holes that are named, with reasons.
    Exits with 0 if all are noticed or known, 1 if one survives, 3 if one could not be decided or Ctrl-C came first, 4
    if a check fails without any mutant.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew.

    For example:
      kcheck mutate spec/protocol/requests/handling.py --list
      kcheck mutate reference/brokers --sample 20 --seed 7
      kcheck mutate --sample 100 --jobs 4 --report markdown=mutants.md
      kcheck mutate model_check/monitors/fences.py --like "a < b"
    """
    from model_check.mutation.mutating import AREAS, ask, drawn_from, subjects
    from model_check.mutation.mutation_report import document, text

    run = drawn_from(subjects(paths or AREAS), sample, seed, like)
    if listed:
        if output.as_json:
            raise BadInput("--list prints lines: leave --json out")
        output.refuse_beside("--list")
        say("".join(f"{one.title}\n" for one in run.mutants))
        return 0
    with interruptible() as stop, board("mutants", len(run.mutants), 45.0 * len(run.mutants), jobs) as shown:
        ask(run, jobs, seconds, stop, shown)
    found = document(run)
    return print_document(found, output, tell=lambda _: say(text(found, run)))
