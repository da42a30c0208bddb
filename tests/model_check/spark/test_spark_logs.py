"""Logs that Spark's workers read are judged as those that this process reads."""

from functools import partial

import pytest

from model_check.logs.judging import judge_logs
from model_check.spark.spark_logs import pieces_by_spark
from tests.model_check.unpacking import recording

pytestmark = pytest.mark.xdist_group("spark")

NAME = "12-D1-epoch-write-delayed"


@pytest.mark.takes("It starts a JVM.")
def test_spark_makes_the_same_answer() -> None:
    read = partial(pieces_by_spark, master="local[2]")
    assert judge_logs([recording(NAME)], reader=read, whole=True) == judge_logs([recording(NAME)], whole=True)
