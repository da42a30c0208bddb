"""Exhaustive enumeration by many workers: breadth first, level by level, one Spark job a level.

The states are divided among *shards* by hash. In each level every shard does one task: it takes what was sent to it,
keeps what is new, expands that with the compiled kernel, and sends the successors to their owners, packed, one blob
from each shard to each other (see `shard`). The driver only adds up what the tasks report and marks the level complete.

The blobs go through the run folder and not through Spark's shuffle, for the sake of the visited sets, which are far
larger than what moves in a level. A task must come back to the process that holds its shard's set. Spark brings a task
back to the executor where its input is cached, but a reducer to none; so each shard's input is a cached row of its own,
and a level is a single stage. Within an executor, Spark keeps apart the Python workers of tasks whose environments
differ, so each shard has a worker of its own. And since blobs last, a task that is lost is done again by itself, and a
killed run goes on from the level that it was in.

Left out on purpose: goals (`recoverable`, `eventually`), which are questions about the whole graph; the tables that
`spark_tables` writes hold that graph.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Self

from py4j.protocol import Py4JError
from pyspark import SparkContext

from model_check.explicit_state.exploration import Progress
from model_check.spark.enumeration import Enumeration, enumeration_of
from model_check.spark.level_loop import ship_for_any_machine, take_up
from model_check.spark.run_folder import Run, RunFolder, ShardLevel
from model_check.spark.shard_task import DEPTH, Place, do_shard
from model_check.spark.spark_job import collected
from model_check.spark.spark_session import has_workers, is_local, spark_session
from spec.errors import EnvironmentFailure, SpecError
from spec.language.rules import TransitionSystem

PATIENCE, SETTLED = 30.0, 3.0
"""Seconds to wait for a cluster's cores: at most, and without more coming."""


def enumerate_states(
    system: TransitionSystem,
    *,
    run_folder: str | Path,
    master: str = "local[2]",
    shards: int | None = None,
    resume: bool = True,
    limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Enumeration:
    """All reachable states of a system, found by the workers of a Spark master and kept in a run folder.

    `run_folder` is a path or a URI that pyarrow.fs opens, seen alike by all workers; a run that is in it is gone on
    with, or deleted if `resume` is false. `shards` is the number of parts (default: of the run, or one for each core
    of the master). No further level is begun once `limit` states are known. `progress` is called after each level,
    `stop` some times a second. BadInput if the folder holds another system's run; EnvironmentFailure if Java, a worker,
    the memory or the file system fails.
    """
    started = time.perf_counter()
    with spark_session(master) as context:
        loop = take_up(system, run_folder, shards=shards, cores=lambda: wait_for_cores(context, None), resume=resume)
        if not is_local(context):
            ship_for_any_machine(loop)
            wait_for_cores(context, loop.run.shards)
        load = time.perf_counter() - started
        with _Tasks(context, loop.folder, loop.run, stop or (lambda: False)) as tasks:
            stopped = loop.search(tasks.do_level, limit=limit, progress=progress or (lambda _: None))
    search = sum(level.seconds for level in loop.levels)
    found = enumeration_of(loop.kernel, loop.folder, loop.levels[1:], stopped, {"load": load, "search": search})
    found.save_findings()
    return found


class _Tasks:
    """One task for each shard, made once: a row that stays cached where the shard is, in a worker of its own."""

    def __init__(self, context: SparkContext, folder: RunFolder, run: Run, stop: Callable[[], bool]) -> None:
        self._context, self._group, self._stop = context, run.name, stop
        self._anchors, parts, environment = [], [], context.environment
        for number in range(run.shards):
            place: Place = (folder.uri, run.name, number, run.shards)
            self._anchors.append(context.parallelize([place], 1).persist())
            context.environment = {**environment, "KCHECK_SHARD": str(number)}
            parts.append(self._anchors[-1].mapPartitions(do_shard))
            parts[-1]._jrdd  # noqa: B018, SLF001 - its JVM side is made when it is first asked for: with this environment
        context.environment = environment
        self._tasks = context.union(parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for anchor in self._anchors:
            with suppress(Py4JError):
                anchor.unpersist()

    def do_level(self, depth: int) -> tuple[ShardLevel, ...] | None:
        """The parts of a level by shard; None if it was stopped."""
        if self._stop():
            return None
        told = {DEPTH: str(depth)}
        parts = collected(self._context, self._group, f"level {depth}", self._tasks, self._stop, **told)
        return None if parts is None else _all_well(parts)


def _all_well(parts: Iterable[ShardLevel | SpecError]) -> tuple[ShardLevel, ...]:
    """The parts of a level, or the first error among them, raised."""
    done = []
    for part in parts:
        if isinstance(part, SpecError):
            raise part
        done.append(part)
    return tuple(done)


def wait_for_cores(context: SparkContext, wanted: int | None) -> int:
    """The master's cores, once as many as wanted, or no more, come; EnvironmentFailure if no worker comes at all."""
    cores, since = context.defaultParallelism, time.monotonic()
    if is_local(context):
        return cores
    begun, settled = since, False
    while time.monotonic() - begun < PATIENCE and not (settled and (wanted is None or cores >= wanted)):
        time.sleep(0.2)
        if context.defaultParallelism != cores or not has_workers(context):
            cores, since = context.defaultParallelism, time.monotonic()
        settled = time.monotonic() - since > SETTLED
    if not has_workers(context):
        raise EnvironmentFailure(
            f"no worker of {context.master} has come in {PATIENCE:.0f} s", "see that the master runs and has free cores"
        )
    return cores
