"""`kcheck campaign`: many live runs, recorded and judged, and those that are not explained made small."""

import shlex
from contextlib import closing
from pathlib import Path
from random import SystemRandom
from typing import Annotated

import typer

from model_check.campaigns.campaign import Campaign
from model_check.campaigns.campaign_folder import opened
from model_check.campaigns.campaign_report import summary, table
from model_check.campaigns.judge_process import JudgeProcess
from model_check.campaigns.plan import Plan
from model_check.campaigns.shrunk_runs import shrink_runs
from model_check.cli import live_options, options
from model_check.cli.console import print_document, say, say_table
from model_check.verdicts.rendering import headline
from model_check.verdicts.results import Document
from model_check.waiting.progress import bar, interruptible
from spec.errors import BadInput

RUNS, SHRINK_MINUTES = 10, 30.0


def command(
    *,
    runs: Annotated[int, typer.Option(min=1, help="How many runs, each with the next seed.")] = RUNS,
    seed: Annotated[int | None, typer.Option(help="The seed of the first run (default: a new one).")] = None,
    asked: live_options.Asked,
    faults: Annotated[int | None, typer.Option(min=0, help="How many faults a run (default: each kind once).")] = None,
    minutes: Annotated[float | None, typer.Option(min=0, help="Faults for so long in each run, not so many.")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The campaign's folder; by default runs/campaign-SEED.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the recordings of runs that hold, too.")] = False,
    no_shrink: Annotated[bool, typer.Option("--no-shrink", help="Do not make unexplained runs small.")] = False,
    shrink_minutes: Annotated[float, typer.Option(min=0, help="How long to shrink, all in all.")] = SHRINK_MINUTES,
    output: options.Output,
) -> int:
    """Make many live runs, one for each seed, and tell which of them the specification explains.

    Each run is one of `kcheck live`: a cluster on a real ZooKeeper, to which harm is done. While a run is recorded, a
    second process judges the one before. What was found of each run stays in the campaign's folder, and so does the
    recording of one that is not explained. At the end there is a table of all runs; then, for each that is not
    explained, the first observation that no behaviour shows, who saw it, what was possible instead, and the command
    that judges it again.

    Such a run is then made small: which of its faults are enough to show the same observation again, in three of five
    tries? The report names the command that makes this run, and the smallest recording.

    Ctrl-C ends it with what was found until then, and INCOMPLETE. The same command goes on where it was; with a larger
    number of runs, it makes the others.

    A cluster that does not claim to be Kafka 0.8.2 to 0.10.2 is asked for the claims only: its run is not searched.

    Exits with 0 if all runs are explained, or not searched, and none breaks a claim; with 1 if one does, with 3 if one
    is not explained, and with 4 if one could not be recorded.

    For example:
      kcheck campaign --runs 20 --seed 1
      kcheck campaign --kafka 0.10.2.2 --runs 100 --seed 1000 --faults 6
      kcheck campaign --kafka build/libs --runs 10 --minutes 5 --save runs/my-build
      kcheck campaign --controller kafka:2.8.2 --runs 10 --only kill-controller --no-shrink
    """
    chosen = SystemRandom().randrange(100_000) if seed is None else seed
    if faults is not None and minutes is not None:
        raise BadInput("--faults counts the faults of a run, and --minutes lets them come for so long: take one")
    length = f"--minutes {minutes:g}" if minutes is not None else f"--faults {faults}" if faults is not None else ""
    beside = [
        *([] if save is None else ["--save", str(save)]),
        *(["--keep"] if keep else []),
        *(["--no-shrink"] if no_shrink else []),
        *([] if shrink_minutes == SHRINK_MINUTES else ["--shrink-minutes", f"{shrink_minutes:g}"]),
    ]
    plan = Plan(asked.task(chosen, faults, minutes), runs, asked.words, length, shlex.join(beside))
    path = save or Path(f"runs/campaign-{chosen}")
    options.folder_to_fill(path)
    with (
        interruptible() as interrupt,
        opened(path, plan) as folder,
        closing(JudgeProcess()) as elsewhere,
        bar("campaign", runs) as report,
    ):
        campaign = Campaign(plan, folder, elsewhere, keeps_all=keep, stop=interrupt, tell=report)
        campaign.make_runs()
        unfinished = [] if no_shrink or interrupt() else shrink_runs(campaign, 60 * shrink_minutes)
        document = campaign.document(unfinished)
    return print_document(document, output, tell=_print)


def _print(document: Document) -> None:
    """The headline and the table; then the totals and single runs."""
    say(f"{headline(document)}\n\n")
    say_table(table(document))
    say("\n" + "\n".join(summary(document)) + "\n")
