"""All verbs as one program, `app`, with its help. Help texts are plain, so that they paste as they are."""

from __future__ import annotations

import typer

from model_check.cli import (
    accept,
    campaign,
    coverage,
    defects,
    explore,
    export,
    judge,
    live,
    matrix,
    prove,
    refine,
    replay,
    show,
    simulate,
    verify,
)
from model_check.cli import enumerate as enumerate_states
from model_check.cli.failures import guarded

app = typer.Typer(
    name="kcheck",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="""Check the specification of Kafka's controller of the ZooKeeper era.

    \b
    Exit codes: 0 all as expected, 1 violated, 2 bad usage or input, 3 incomplete, 4 error.

    \b
    Begin with:
      kcheck verify                 is everything as it should be?
      kcheck explore tiny           all states of a small cluster, and what holds in them
      kcheck defects D1             what went wrong in Kafka, as a story
      kcheck show scopes            what there is to explore
    """,
)

app.command("verify")(guarded(verify.command))
app.command("accept")(guarded(accept.command))
app.command("explore")(guarded(explore.command))
app.command("coverage")(guarded(coverage.command))
app.command("enumerate")(guarded(enumerate_states.command))
app.command("prove")(guarded(prove.command))
app.command("refine")(guarded(refine.command))
app.command("simulate")(guarded(simulate.command))
app.command("defects")(guarded(defects.command))
app.command("matrix")(guarded(matrix.command))
app.command("judge")(guarded(judge.command))
app.command("live")(guarded(live.command))
app.command("campaign")(guarded(campaign.command))
app.command("replay")(guarded(replay.command))
app.add_typer(export.app, name="export")
app.add_typer(show.app, name="show")
