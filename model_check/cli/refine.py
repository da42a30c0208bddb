"""`kcheck refine`: every edge of a scope's state graph, executed on the reference; of large ones by Spark's workers."""

from typing import Annotated

import typer

from model_check.checks import replay
from model_check.cli import options
from model_check.cli.console import print_document
from model_check.verdicts.results import plain_document


def command(
    scope: Annotated[str, typer.Argument(metavar="[SCOPE]", help="A scope; `kcheck show scopes`.")] = "tiny",
    *,
    variant: options.Variant,
    master: options.MasterOption = "local[2]",
    depth: Annotated[
        int | None, typer.Option(min=1, help="Only the states that are fewer steps than this away from the start.")
    ] = None,
    limit: options.LimitOption = None,
    output: options.Output,
) -> int:
    """Replay every edge of a scope on the reference.

    The reference must be able to do what the specification enables, and nothing else; each step must lead to the state
    that the specification says, and show an observer what it says. Counts must be those of `kcheck explore`. Exits with
    1 where the two disagree, and tells the nearest such place as a story; with 3 if not all edges were replayed.

    Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew.

    For example:
      kcheck refine
      kcheck refine topics --variant FENCED
      kcheck refine ci --limit 20000 --master 'local[4]'
    """
    task = replay.Task(scope, variant.switches, master)
    return print_document(plain_document("refine", replay.run(task, depth=depth, limit=limit)), output)
