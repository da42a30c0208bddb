"""Logs, read by the workers of a Spark cluster: the same pieces as elsewhere, some at a time, given back in order.

Workers open the files themselves, so they must see them by the same paths.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from model_check.logs.files import Cut
from model_check.logs.reading import Piece
from model_check.logs.workers import read_cut
from model_check.spark.spark_session import spark_session

AHEAD: Final = 2
"""Pieces for each core of the cluster that are asked for at once."""


def pieces_by_spark(cuts: Iterable[Cut], master: str) -> Iterator[tuple[Cut, Piece]]:
    """The pieces in order, read on a master."""
    waiting = iter(cuts)
    with spark_session(master) as context:
        while some := list(islice(waiting, AHEAD * context.defaultParallelism)):
            yield from context.parallelize(some, len(some)).map(read_cut).collect()
