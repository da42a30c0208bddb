"""One Spark session for all tests that need one: starting a JVM takes longer than any of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark import SparkContext

from model_check.spark.level_loop import take_up
from model_check.spark.shard import Shard
from model_check.spark.spark_session import spark_session
from tests.model_check.systems import clerks

MASTER = "local[2]"


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The loops of a shard, compiled and kept: several workers at once would each compile them."""
    loop = take_up(clerks(), Path(tmp_path_factory.mktemp("shard")), shards=1, cores=lambda: 1, resume=False)
    shard = Shard(loop.folder, 0, 1)
    loop.search(lambda depth: (shard.step(depth),), limit=None, progress=lambda _: None)


@pytest.fixture(scope="session")
def spark(compiled: None) -> Iterator[SparkContext]:
    """A session on two cores; whoever names the same master inside gets this one."""
    assert compiled is None
    with spark_session(MASTER) as context:
        yield context
