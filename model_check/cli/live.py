"""`kcheck live`: the reference on a real ZooKeeper, recorded while its brokers are killed and stopped, and judged."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import SystemRandom
from typing import Annotated

import typer

from model_check.cli import options
from model_check.cli.console import note, print_document
from model_check.cli.estimates import estimated
from model_check.cli.progress import bar, interruptible
from model_check.live.live_cluster import Setup
from model_check.live.live_run import Task, Tell, run
from model_check.live.live_scenario import FAULTS, checked_kinds
from model_check.results import Run, plain_document
from model_check.verdicts import Verdict
from spec.errors import BadInput, EnvironmentFailure

KINDS = "; ".join(f"{name}: {said}" for name, (said, _) in FAULTS.items())

USUAL = 10.0
"""Seconds for a fault: a session times out, everybody gets over it, and what was recorded of it is judged."""


def command(
    *,
    brokers: Annotated[int, typer.Option(min=1, max=20, help="How many broker processes.")] = 3,
    topics: Annotated[int, typer.Option(min=0, max=9, help="How many topics at first; more come with faults.")] = 2,
    faults: Annotated[int, typer.Option(min=0, help="How many faults, one after the other.")] = len(FAULTS),
    minutes: Annotated[float | None, typer.Option(min=0, help="Faults for so long, instead of so many.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="KIND", help=f"Only this kind of fault. Repeatable. The kinds are: {KINDS}."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="What is drawn; without it, a new one, which is told.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="ZooKeeper's port, instead of a free one.")] = None,
    save: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the recording in this new folder.")] = None,
    variant: options.VariantOption = "AS_CODED",
    on: options.WithOption = None,
    off: options.WithoutOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Run the reference on a real ZooKeeper, do it harm, and judge what was recorded.

    Starts a ZooKeeper server (from the jars that pyspark brings along) and the brokers as processes of their own,
    creates topics, and lets faults happen, drawn from a seed. Then the recording is judged, as `kcheck judge` does it:
    some behaviour of the specification must explain every transaction, request and log line, and may break only what
    the specification's own exploration breaks, too. The recording of a run that does not hold is kept.

    Ctrl-C ends the run: what was recorded so far is saved, and the verdict is INCOMPLETE. The same command begins anew,
    and `kcheck judge` judges what was saved.

    For example:
      kcheck live
      kcheck live --seed 7 --save recordings/seven
      kcheck live --only stop-controller --faults 5 --brokers 5
      kcheck live --minutes 10
    """
    if save is not None and save.exists() and any(save.iterdir() if save.is_dir() else [save]):
        raise BadInput(f"{save} is there already: a recording is saved in a new folder")
    chosen = SystemRandom().randrange(100_000) if seed is None else seed
    setup = Setup(brokers, chosen, port, switches=options.chosen_switches(variant, on, off))
    task = Task(setup, topics, faults, checked_kinds(only or FAULTS), None if minutes is None else 60 * minutes)
    options.folder_to_fill(save)
    units, what = (faults, "a live run") if minutes is None else (None, f"a live run of {minutes:g} minutes")
    with (
        interruptible() as interrupt,
        estimated(
            "live", f"{what} with {brokers} brokers", units, size=f"{faults} faults" * bool(units), usual=USUAL
        ) as whole,
        bar(task.title, units) as tell,
    ):
        made = recorded(task, save, interrupt, tell)
        if made.verdict is not Verdict.INCOMPLETE:
            whole()
    return print_document(plain_document("live", made), as_json=as_json)


def recorded(task: Task, save: Path | None, stop: Callable[[], bool], tell: Tell) -> Run:
    """Run it, and keep the recording where asked, or where nobody would see it again otherwise.

    Of a run that something around it ended, nothing is kept unless asked; where a mistake or Ctrl-C did, it is told.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"kcheck-live-{task.title}-")) if save is None else save
    try:
        made = run(task, folder, stop=stop, tell=tell)
    except (EnvironmentFailure, OSError):
        if save is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    except BaseException:
        note(f"what was recorded is in {folder}, with --seed {task.setup.seed}")
        raise
    kept = save is not None or made.verdict is not Verdict.HOLDS
    if not kept:
        shutil.rmtree(folder)
    where = f"recorded in {folder}" if kept else "recorded, and not kept (--save DIR keeps it)"
    return replace(made, notes=(f"{where}, with --seed {task.setup.seed}", *made.notes))
