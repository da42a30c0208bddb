"""`kcheck live`: a cluster on a real ZooKeeper, recorded while its members are killed and stopped, and judged."""

import shutil
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from random import SystemRandom
from typing import Annotated

import typer

from model_check.cli import live_options, options
from model_check.cli.console import print_document
from model_check.live.janitor import short_lived
from model_check.live.live_run import Task, Tell, recorded_and_judged
from model_check.verdicts.results import Run, plain_document
from model_check.verdicts.verdict import Verdict
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import bar, interruptible, note
from spec.errors import BadInput, EnvironmentFailure

LAST_PLAY = 100_000
"""More faults than any run has; those up to the one that is named are drawn, which takes a moment."""
USUAL = 10.0
"""Seconds for a fault: a session times out, everybody gets over it, and what was recorded of it is judged."""


def command(
    *,
    asked: live_options.Asked,
    faults: Annotated[int | None, typer.Option(min=0, help="How many faults (default: each kind once).")] = None,
    minutes: Annotated[float | None, typer.Option(min=0, help="Faults for so long, instead of so many.")] = None,
    plays: Annotated[
        list[int] | None,
        typer.Option(
            "--play", min=1, max=LAST_PLAY, metavar="N", help="Only the N-th of the seed's faults. Repeatable."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="What is drawn (default: a new one, which is printed).")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="ZooKeeper's port, instead of a free one.")] = None,
    save: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the recording in this new folder.")] = None,
    output: options.Output,
) -> int:
    """Run a cluster on a real ZooKeeper, do it harm, and judge what was recorded.

    Without options the reference is every controller and broker. `--kafka` runs real Kafka instead: a release, which
    is fetched once, or an engineer's own build. `--controller` and `--brokers` choose apart which program controls and
    which holds the replicas, so that one side is under test and the other is known: the reference, Kafka, or a command.

    Starts a ZooKeeper server (from the jars that pyspark brings along) and the members as processes of their own,
    creates topics, and lets faults happen, drawn from a seed; --play leaves out all but some of them. Then two
    questions are asked of what was recorded. Does it break a claim? And, of a cluster that claims to be Kafka 0.8.2 to
    0.10.2: does some behaviour of the specification explain every transaction, request and log line? The recording of a
    run that does not hold is kept.

    Ctrl-C ends the run: what was recorded so far is saved, and the verdict is INCOMPLETE. The same command begins anew,
    and `kcheck judge` judges what was saved.

    For example:
      kcheck live
      kcheck live --kafka 0.10.2.2 --seed 7 --save recordings/seven
      kcheck live --kafka build/libs --only stop-controller --faults 5
      kcheck live --controller kafka:2.8.2 --controller-count 2
      kcheck live --controller "./coordinator --id {id} --zookeeper {zookeeper}"
      kcheck live --brokers kafka:0.9.0.1 --minutes 10
      kcheck live --kafka 0.10.2.2 --seed 7 --play 2 --play 5
    """
    if save is not None and save.exists() and any(save.iterdir() if save.is_dir() else [save]):
        raise BadInput(f"{save} exists already; name a new folder for the recording")
    chosen = SystemRandom().randrange(100_000) if seed is None else seed
    task = asked.task(chosen, faults, minutes, tuple(plays) if plays else None, port)
    count = task.faults if task.plays is None else len(task.plays)
    options.folder_to_fill(save)
    units, what = (count, "a live run") if minutes is None else (None, f"a live run of {minutes:g} minutes")
    with (
        interruptible() as interrupt,
        estimated(
            "live",
            f"{what} with {asked.broker_count} brokers",
            units,
            size=f"{count} faults" * bool(units),
            usual=USUAL,
        ) as whole,
        bar(task.title, units) as tell,
    ):
        made = recorded(task, save, interrupt, tell)
        document = plain_document("live", *made)
        if document.verdict is not Verdict.INCOMPLETE:
            whole()
    return print_document(document, output)


def recorded(task: Task, save: Path | None, stop: Callable[[], bool], tell: Tell) -> tuple[Run, ...]:
    """Run it, and keep the recording where asked, or where nobody would see it again otherwise.

    Where something around the run ended it, nothing is kept unless asked; where a mistake or Ctrl-C did, a line says
    so.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"kcheck-live-{task.title}-")) if save is None else save
    try:
        with short_lived(folder) if save is None else nullcontext():
            made = recorded_and_judged(task, folder, stop=stop, tell=tell)
    except (EnvironmentFailure, OSError):
        if save is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    except BaseException:
        note(f"what was recorded is in {folder}, with --seed {task.setup.seed}")
        raise
    kept = save is not None or any(one.verdict is not Verdict.HOLDS for one in made)
    if not kept:
        shutil.rmtree(folder)
    where = f"recorded in {folder}" if kept else "recorded, and not kept (--save DIR keeps it)"
    first, *others = made
    return replace(first, notes=(f"{where}, with --seed {task.setup.seed}", *first.notes)), *others
