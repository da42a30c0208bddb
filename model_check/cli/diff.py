"""`kcheck diff`: what a change did, between two revisions of the specification."""

from typing import Annotated, Final

import typer

from model_check.cli import options
from model_check.cli.console import print_document, say
from model_check.inventory.sources import ROOT
from model_check.revisions.comparing import Wanted, compare
from model_check.revisions.difference_text import ending_lines, run_lines
from model_check.revisions.revision import commit_of, laid_out
from model_check.verdicts.results import Run, plain_document
from model_check.waiting.progress import interruptible

MINUTES: Final = 10
LIMIT: Final = 2_000_000


def command(
    base: Annotated[str, typer.Argument(metavar="BASE", help="A revision: a commit, a branch, a tag, HEAD~3.")],
    head: Annotated[
        str | None, typer.Argument(metavar="[HEAD]", help="A later one; without it, the working tree as it stands.")
    ] = None,
    *,
    scope: Annotated[
        list[str] | None, typer.Option("--scope", metavar="NAME", help="Only this scope, deep or not. Repeatable.")
    ] = None,
    deep: Annotated[bool, typer.Option("--deep", help="The deep scopes, too.")] = False,
    minutes: Annotated[
        float, typer.Option(min=0, max=1e4, metavar="N", help="Explore no further system after so many minutes.")
    ] = MINUTES,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Begin no further level of a system of so many states.")
    ] = LIMIT,
    output: options.Output,
) -> int:
    """Say what a change did, between two revisions.

    First come the actions, claims, rows, switches, variants, defects and scopes that were added, removed or changed.
    Then each system (a scope under a variant) whose terms differ is explored under both revisions, the smallest first:
    which steps are newly possible, and which no longer, rule by rule, with the shortest trace to such a step; which
    claims are broken now, or no longer. Last, the vectors that came and went, or have other outcomes.

    A step is there in both revisions if its action, with its arguments, leads from the same state to the same state;
    of a state counts what both revisions have variables for that begin alike. An action that was merely renamed
    differs in nothing. Told are the steps from states that both reach, for all else comes behind one of them.

    A revision is a copy of its files, made by `git archive` and gone afterwards; its own code is run. The working tree
    and all that is git's stay as they are.

    Exits with 0 if all was compared, whatever differs, and with 1 if a claim is broken that was not before and that the
    later revision's manifest does not expect to be; with 3 if minutes, states or Ctrl-C cut it short.

    For example:
      kcheck diff HEAD
      kcheck diff main~10 main --scope tiny --scope small
      kcheck diff v1 --report html=change.html --report markdown=change.md
    """
    for name in filter(None, (base, head)):
        commit_of(name, ROOT)
    runs: list[Run] = []
    with interruptible() as stop, laid_out(base, ROOT) as before, laid_out(head, ROOT) as after:
        for run in compare(before, after, Wanted(tuple(scope or ()), deep, minutes, limit), stop):
            runs.append(run)
            if not output.as_json:
                say("".join(f"{line}\n" for line in run_lines(run)))
    document = plain_document("diff", *runs)
    ending = "".join(f"{line}\n" for line in ending_lines(document, before.name, after.name))
    return print_document(document, output, tell=lambda _: say(ending))
