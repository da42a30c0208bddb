"""One Spark session for all tests that need one: starting a JVM takes longer than any of them."""

from collections.abc import Iterator

import pytest
from pyspark import SparkContext

from model_check.spark.spark_session import spark_session

MASTER = "local[2]"


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkContext]:
    """A session on two cores; whoever names the same master inside gets this one."""
    with spark_session(MASTER) as context:
        yield context
