"""Vectors of driven controllers by many workers: one Spark task for each theme.

A theme needs nothing of the others, so what is made is the same for any number of workers.
"""

from collections.abc import Callable, Sequence

from model_check.conformance.making.controlled import Made, make
from model_check.conformance.making.themes import THEMES
from model_check.spark.spark_job import collected, finished_tasks
from model_check.spark.spark_session import spark_session

GROUP = "kcheck.vectors"


def made_by_workers(
    names: Sequence[str] = tuple(THEMES),
    *,
    master: str = "local[2]",
    progress: Callable[[int], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> dict[str, Made] | None:
    """The cases of each theme, by the workers of a Spark master; None if it was stopped.

    `progress` is called with how many themes are made. EnvironmentFailure if Java or a worker fails.
    """
    with spark_session(master) as context:
        themes = context.parallelize(names, len(names)).map(make)
        found = collected(context, GROUP, "vectors", themes, stop, lambda: progress(finished_tasks(context)))
        return None if found is None else dict(zip(names, found, strict=True))
