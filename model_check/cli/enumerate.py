"""`kcheck enumerate`: what `explore` does, by the workers of a Spark cluster, in a run that survives being killed."""

import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from model_check.checks import enumeration
from model_check.checks.exploration import Task, judged, with_wanted_told
from model_check.cli import options
from model_check.cli.console import print_document
from model_check.explicit_state.findings import run_of
from model_check.verdicts.results import plain_document
from model_check.verdicts.verdict import INTERRUPTED, Verdict, worst
from model_check.waiting.estimates import estimated
from model_check.waiting.progress import bar, interruptible, is_watched, note, refuse_what_cannot_fit
from spec.errors import BadInput
from spec.language.rules import GOALS
from spec.scopes import scope as scope_named
from spec.system import system

if TYPE_CHECKING:
    from model_check.spark.spark_tables import Written


def command(
    scope: options.ScopeArgument,
    *,
    variant: options.Variant,
    properties: options.PropertyOption = None,
    master: options.MasterOption = "local[2]",
    shards: Annotated[
        int | None, typer.Option(min=1, help="In how many parts (default: one for each core of the master).")
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option(metavar="URI", help="The run folder, a path or URI that all workers see (default: in runs/)."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Delete the run in the folder, and begin anew.")] = False,
    tables: Annotated[
        str | None,
        typer.Option(metavar="URI", help="Write states, edges and witnesses there as Parquet, once all are found."),
    ] = None,
    limit: options.LimitOption = None,
    output: options.Output,
) -> int:
    """Enumerate every reachable state of a scope with Spark.

    States are divided among workers by hash, and every level is durable: a run that was killed or interrupted goes on
    where it was when the same command is given again. Counts, digest and traces are those of `kcheck explore`; goals
    (recoverable, eventually) need the whole graph and are not asked. Exit codes are those of `kcheck explore`.

    For example:
      kcheck enumerate tiny
      kcheck enumerate small --tables tables/
      kcheck enumerate ci --master 'local[2]' --shards 4
      kcheck enumerate large --master spark://master:7077 --folder hdfs://namenode/runs/large
    """
    from model_check.spark.spark_tables import empty_folder, write_tables

    switches = variant.switches
    built = system(scope_named(scope), switches)
    chosen = options.chosen_properties(
        properties, built.properties, leaving_out=GOALS, instead="`kcheck explore` judges it"
    )
    task = Task(scope, switches, built, goals=False)
    place = folder or f"runs/{scope}-{task.variant}"
    refuse_what_the_disk_lacks(task, place, limit)
    for one in filter(None, (place, tables)):
        refuse_what_is_no_folder(one)
    if tables is not None:
        empty_folder(tables)
        refuse_what_cannot_be_filled(tables)
    if is_watched():
        note(f"run folder: {place}")
    found = enumeration.run(task, place, master=master, shards=shards, resume=not fresh, limit=limit)
    told = run_of(built, found, scope=scope, variant=task.variant, chosen=chosen, engine=enumeration.ENGINE)
    kept = f"{found.shards} shards, kept in {place}"
    notes = [kept if found.exhausted else f"{kept}; the same command goes on from there"]
    if tables is not None and found.exhausted:
        size = f"{found.states:,} states, {found.transitions:,} edges"
        with (
            interruptible() as stop,
            estimated("enumerate --tables", task.title, found.transitions, size=size) as whole,
            bar(f"{task.title}, tables", shards) as report,
        ):
            written = write_tables(place, tables, master=master, progress=report, stop=stop)
            if written is not None:
                whole()
        notes.append(_told(written, tables))
        if written is None:
            told = replace(told, verdict=worst((told.verdict, Verdict.INCOMPLETE)), reason=INTERRUPTED)
    told = replace(judged(told, task, chosen), notes=tuple(notes))
    told = with_wanted_told(told, built, found, chosen, every=output.is_kept)
    return print_document(plain_document("enumerate", told), output, stories=chosen or None)


def refuse_what_is_no_folder(place: str) -> None:
    """BadInput if a place is something else on this machine than a folder, or a URI of no file system."""
    from model_check.spark.folder import Folder

    path = place.removeprefix("file://")
    if "://" in path:
        Folder(place).names()
    elif not _nearest(path).is_dir():
        raise BadInput(f"{_nearest(path)} is no folder; name another one")


def refuse_what_cannot_be_filled(place: str) -> None:
    """EnvironmentFailure if nothing can be written to a folder of this machine; one that was not there is not after."""
    path = place.removeprefix("file://")
    if "://" in path:
        return
    missing = [one for one in (Path(path), *Path(path).absolute().parents) if not one.exists()]
    try:
        options.folder_to_fill(Path(path))
    finally:
        for one in missing:
            with suppress(OSError):
                one.rmdir()


def _nearest(place: str) -> Path:
    """A path, or the nearest above it that exists."""
    return next(one for one in (Path(place), *Path(place).absolute().parents) if one.exists())


def refuse_what_the_disk_lacks(task: Task, place: str, limit: int | None) -> None:
    """EnvironmentFailure if a folder of this machine has no room for the states and their blobs."""
    states = task.expected_states(limit)
    if states is None or "://" in place:
        return
    needed = 2 * states * (task.row_bytes + 4)  # each state is in a level file and, at least once, in a blob
    free = shutil.disk_usage(_nearest(place)).free
    refuse_what_cannot_fit(f"{task.scope} {task.variant} in {place}", needed, free, "disk")


def _told(tables: "Written | None", place: str) -> str:
    if tables is None:
        return f"the tables in {place} are not whole; delete them, and the same command writes them"
    rows = f"{tables.states:,} states, {tables.edges:,} edges, {tables.witnesses:,} steps of witnesses"
    return f"{rows}, as Parquet in {place}"
