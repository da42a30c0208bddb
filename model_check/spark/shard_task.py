"""A Spark task of an enumeration: one level of one shard, in the worker process that holds the shard.

It loads what a shard needs and nothing of the specification, which the run folder holds in compiled form: each worker
loads it anew.
"""

from collections.abc import Iterable, Iterator

from pyspark import TaskContext

from model_check.spark.run_folder import GENESIS, RunFolder, ShardLevel
from model_check.spark.shard import Shard
from spec.collector import freeze_for_good
from spec.errors import SpecError

DEPTH = "kcheck.depth"
"""The property of a Spark job that tells its tasks which level to do."""

Place = tuple[str, str, int, int]
"""What a task is given: run folder, name of the run, number of its shard, number of shards."""

_held: dict[tuple[str, int], Shard] = {}
"""The shards of the current run whose visited set this process holds."""


def do_shard(places: Iterable[Place]) -> Iterator[ShardLevel | SpecError]:
    """A task: one level of one shard. A full disk or memory is reported, not raised: to try again would not help."""
    for uri, run, number, shards in places:
        depth = int(TaskContext.get().getLocalProperty(DEPTH) or GENESIS)  # type: ignore[union-attr]  # in a task
        for old in [key for key in _held if key[0] != run]:
            del _held[old]
        shard = _held.pop((run, number), None)
        try:
            is_new = shard is None
            shard = shard or Shard(RunFolder(uri), number, shards)
            level = shard.step(depth)
        except SpecError as error:
            yield error
            continue
        _held[run, number] = shard
        if is_new:
            freeze_for_good()  # Spark's worker looks for garbage after each task, among all that was ever imported
        yield level
