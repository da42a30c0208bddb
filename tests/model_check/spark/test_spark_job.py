"""Jobs that are waited for: what they bring comes back, and none goes on once it is not wanted."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import cast

import pytest
from py4j.protocol import Py4JError
from pyspark import SparkContext

from model_check.spark.spark_job import awaited
from spec.errors import EnvironmentFailure

PATIENCE = 20
"""Seconds that a job takes which nobody cancels."""


class Spark:
    """What a context is to a job whose group it does not know before the second time it is asked to cancel it."""

    def __init__(self) -> None:
        self.asked, self.ended = list[str](), Event()

    def cancelJobGroup(self, group: str) -> None:  # noqa: N802 - it is called so
        self.asked.append(group)
        if len(self.asked) == 2:
            self.ended.set()

    def job(self) -> str:
        if self.ended.wait(PATIENCE):
            raise Py4JError("it was cancelled")
        return "done"


def left_by(spark: Spark, stop: Callable[[], bool], look: Callable[[], None] = lambda: None) -> str | None:
    with ThreadPoolExecutor(1) as thread:
        return awaited(cast(SparkContext, spark), "group", thread.submit(spark.job), stop, look)


def insist() -> None:
    raise KeyboardInterrupt


def test_a_job_that_comes_after_the_press_is_cancelled_all_the_same() -> None:
    spark = Spark()
    assert left_by(spark, stop=lambda: True) is None
    assert spark.asked == ["group"] * 2


def test_who_insists_does_not_leave_a_job_behind() -> None:
    spark = Spark()
    with pytest.raises(KeyboardInterrupt):
        left_by(spark, stop=lambda: False, look=insist)
    assert spark.asked == ["group"] * 2


def test_a_job_that_nobody_stopped_brings_something_or_tells_why_not() -> None:
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1
        done.set()

    done, spark = Event(), Spark()
    with ThreadPoolExecutor(1) as thread:
        job = thread.submit(lambda: done.wait(PATIENCE))
        assert awaited(cast(SparkContext, spark), "group", job, lambda: False, look) is True
    assert looks
    assert not spark.asked
    spark.ended.set()
    with pytest.raises(EnvironmentFailure, match="Spark gave up: it was cancelled"):
        left_by(spark, stop=lambda: False)
