"""`kcheck live`: a cluster on a real ZooKeeper, recorded while its members are killed and stopped, and judged."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import SystemRandom
from typing import Annotated, Any

import typer

from model_check.cli import options
from model_check.cli.console import note, print_document
from model_check.cli.estimates import estimated
from model_check.cli.progress import bar, interruptible
from model_check.live.choosing import chosen_program
from model_check.live.janitor import short_lived
from model_check.live.kafka_program import kafka
from model_check.live.live_run import Task, Tell, run
from model_check.live.live_scenario import FAULTS, checked_kinds, kinds_for
from model_check.live.live_setup import Setup
from model_check.live.reference_program import REFERENCE
from model_check.recordings.recorded_members import RELEASES
from model_check.results import Run, plain_document
from model_check.verdicts import Verdict
from spec.errors import BadInput, EnvironmentFailure, UnknownName

KINDS = "; ".join(f"{name}: {said}" for name, (said, _) in FAULTS.items())

USUAL = 10.0
"""Seconds for a fault: a session times out, everybody gets over it, and what was recorded of it is judged."""


PROGRAMS = (
    "`reference`, kafka:RELEASE, a folder of Kafka's jars, or a command with {id} {host} {port} {zookeeper} {folder}"
)


def command(
    *,
    given_kafka: Annotated[
        str | None, typer.Option("--kafka", metavar="RELEASE|DIR", help="Real Kafka as every controller and broker.")
    ] = None,
    controller: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help=f"What controls, and holds no replicas: {PROGRAMS}.")
    ] = None,
    brokers: Annotated[
        str | None, typer.Option(metavar="PROGRAM", help="What holds the replicas, chosen apart from the controller.")
    ] = None,
    broker_count: Annotated[int, typer.Option(min=1, max=20, help="How many members hold replicas.")] = 3,
    controller_count: Annotated[int, typer.Option(min=1, max=9, help="How many control, if chosen apart.")] = 1,
    release: Annotated[
        str | None, typer.Option(help="The release line whose behaviour a command claims: 0.8.2 to 0.10.2.")
    ] = None,
    up_when: Annotated[str, typer.Option(metavar="TEXT", help="What a command prints once it is up.")] = "",
    topics: Annotated[int, typer.Option(min=0, max=9, help="How many topics at first; more come with faults.")] = 2,
    faults: Annotated[int | None, typer.Option(min=0, help="How many faults; without it, each kind once.")] = None,
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
    """Run a cluster on a real ZooKeeper, do it harm, and judge what was recorded.

    Without options the reference is every controller and broker. `--kafka` runs real Kafka instead: a release, which
    is fetched once, or an engineer's own build. `--controller` and `--brokers` choose apart who controls and who holds
    the replicas, so that one side is under test and the other is known: the reference, Kafka, or a command.

    Starts a ZooKeeper server (from the jars that pyspark brings along) and the members as processes of their own,
    creates topics, and lets faults happen, drawn from a seed. Then two questions are asked of what was recorded. Does
    it break a claim? And, of who claims to be Kafka 0.8.2 to 0.10.2: does some behaviour of the specification explain
    every transaction, request and log line? The recording of a run that does not hold is kept.

    Ctrl-C ends the run: what was recorded so far is saved, and the verdict is INCOMPLETE. The same command begins anew,
    and `kcheck judge` judges what was saved.

    For example:
      kcheck live
      kcheck live --kafka 0.10.2.2 --seed 7 --save recordings/seven
      kcheck live --kafka build/libs --only stop-controller --faults 5
      kcheck live --controller kafka:2.8.2 --controller-count 2
      kcheck live --controller "./coordinator --id {id} --zookeeper {zookeeper}"
      kcheck live --brokers kafka:0.9.0.1 --minutes 10
    """
    if save is not None and save.exists() and any(save.iterdir() if save.is_dir() else [save]):
        raise BadInput(f"{save} is there already: a recording is saved in a new folder")
    chosen = SystemRandom().randrange(100_000) if seed is None else seed
    members = chosen_members(given_kafka, controller, brokers, controller_count, release, up_when)
    setup = Setup(broker_count, chosen, port=port, switches=options.chosen_switches(variant, on, off), **members)
    kinds = checked_kinds(only or kinds_for(setup), setup)
    count = len(kinds) if faults is None else faults
    task = Task(setup, topics, count, kinds, None if minutes is None else 60 * minutes)
    options.folder_to_fill(save)
    units, what = (count, "a live run") if minutes is None else (None, f"a live run of {minutes:g} minutes")
    with (
        interruptible() as interrupt,
        estimated(
            "live", f"{what} with {broker_count} brokers", units, size=f"{count} faults" * bool(units), usual=USUAL
        ) as whole,
        bar(task.title, units) as tell,
    ):
        made = recorded(task, save, interrupt, tell)
        if made.verdict is not Verdict.INCOMPLETE:
            whole()
    return print_document(plain_document("live", made), as_json=as_json)


def chosen_members(
    given_kafka: str | None, controller: str | None, brokers: str | None, count: int, release: str | None, up_when: str
) -> dict[str, Any]:
    """What runs as controller and as broker, as a `Setup` takes it; BadInput where options contradict each other."""
    if release is not None and release not in RELEASES:
        raise UnknownName("release line", release, RELEASES)
    choose = partial(chosen_program, claims=RELEASES.get(release or ""), up_when=up_when)
    if given_kafka is not None:
        if controller or brokers:
            raise BadInput("--kafka is every controller and broker; --controller and --brokers choose them apart")
        return {"broker": kafka(given_kafka)}
    if controller is None and brokers is None:
        return {}
    chosen = {"controller": choose(controller or REFERENCE), "broker": choose(brokers or REFERENCE)}
    return {**chosen, "controllers": count}


def recorded(task: Task, save: Path | None, stop: Callable[[], bool], tell: Tell) -> Run:
    """Run it, and keep the recording where asked, or where nobody would see it again otherwise.

    Of a run that something around it ended, nothing is kept unless asked; where a mistake or Ctrl-C did, it is told.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"kcheck-live-{task.title}-")) if save is None else save
    try:
        with short_lived(folder) if save is None else nullcontext():
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
