"""A Spark job on a thread of its own: waited for, looked at meanwhile, and cancelled when it is not wanted any more.

Spark cancels the jobs of a group that there are, and forgets that it was asked to. Between the start of the thread and
that of its job there is none yet, so a job is cancelled again and again until it ends.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Final, TypeVar

from py4j.protocol import Py4JError
from pyspark import RDD, SparkContext

from model_check.spark.spark_session import given_up

Found = TypeVar("Found")

LOOK: Final = 0.2
"""Seconds between two looks at a job."""


def awaited(
    context: SparkContext,
    group: str,
    job: Future[Found],
    stop: Callable[[], bool],
    look: Callable[[], None] = lambda: None,
) -> Found | None:
    """What a job of a group brings, None if it was stopped; it has ended in any case. EnvironmentFailure of Spark's."""
    try:
        while not stop():
            wait([job], timeout=LOOK)
            if job.done():
                return _brought(job, stop)
            look()
    finally:
        while not job.done():
            with suppress(Py4JError, OSError):
                context.cancelJobGroup(group)
            wait([job], timeout=LOOK)
    return None


def collected(
    context: SparkContext,
    group: str,
    what: str,
    rows: RDD[Found],
    stop: Callable[[], bool],
    look: Callable[[], None] = lambda: None,
    /,
    **told: str,
) -> list[Found] | None:
    """The rows that the tasks of a job bring, which runs on a thread of its own; None if it was stopped.

    The tasks are `told` these local properties.
    """

    def job() -> list[Found]:
        context.setJobGroup(group, what, interruptOnCancel=True)
        for name, value in told.items():
            context.setLocalProperty(name, value)
        return rows.collect()

    with ThreadPoolExecutor(1) as thread:
        return awaited(context, group, thread.submit(job), stop, look)


def finished_tasks(context: SparkContext) -> int:
    """How many tasks of the running stages are done."""
    tracker = context.statusTracker()
    stages = (tracker.getStageInfo(number) for number in tracker.getActiveStageIds())
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)


def _brought(job: Future[Found], stop: Callable[[], bool]) -> Found | None:
    """What a job that has ended brings; None if it ended so since it was stopped."""
    try:
        return job.result()
    except (Py4JError, OSError) as error:
        if stop():
            return None
        raise given_up(error) from None
