"""Whose a write was that failed on its version: a leader says so of its ISR changes, in server.log.

ZooKeeper's log tells neither the path nor why a write is made, and one session may be a leader's and a controller's. A
leader with an old version of a state znode fails again and again, and says each time of which partition it is about to
change the ISR, and that it has failed (Kafka 0.10.2.2: `Partition.maybeShrinkIsr`, `maybeExpandIsr`, `updateIsr`). In
between lies its write. Several leaders' changes of one broker may lie close together, and a controller's among them;
what is not certain, with a write of its own for each that is spoken of, stays open.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from networkx import Graph, connected_components
from networkx.algorithms.bipartite import hopcroft_karp_matching

from model_check.recordings.entries import head_of
from model_check.recordings.recording import Cluster
from model_check.recordings.seen import WriteConflicted, ZooKeeperChange
from model_check.recordings.tracks import SKEW
from spec.formats.kafka_types import TopicPartition
from spec.logs.log_entries import LogEntry, read_entries

SPOKEN_OF: Final = re.compile(
    r"Partition \[(?P<topic>\S+),(?P<partition>\d+)\] on broker \d+: (?:(?P<begun>(?:Shrinking|Expanding) ISR for )"
    r"|Cached zkVersion \[\d+\] not equal to that in zookeeper, skip updating)"
)


@dataclass(frozen=True, eq=False)
class _Failure:
    """An ISR change that failed, as its leader says: of which partition, and between which milliseconds."""

    partition: TopicPartition
    begun: int
    ended: int


def with_their_leaders(changes: Sequence[ZooKeeperChange], cluster: Cluster, folder: Path) -> list[ZooKeeperChange]:
    """The changes, of those that failed on their version the ones with `of_leader` that a leader speaks of."""
    told: dict[int, WriteConflicted] = {}
    for broker_id in cluster.broker_ids:
        by = cluster.broker(broker_id)
        failed = [one for one in changes if isinstance(one, WriteConflicted) and one.by == by]
        spoken_of = _failures(folder / f"broker-{broker_id}" / "server.log") if failed else ()
        for write, failure in _certain(failed, [one for one in spoken_of if one.partition in cluster.partitions]):
            told[write.zxid] = replace(write, of_leader=cluster.partition(failure.partition))
    return [told.get(one.zxid, one) if isinstance(one, WriteConflicted) else one for one in changes]


def _certain(
    failed: Sequence[WriteConflicted], failures: Sequence[_Failure]
) -> Iterator[tuple[WriteConflicted, _Failure]]:
    """The writes and failures that go together however each failure is given a write of its own."""
    graph = Graph()
    graph.add_nodes_from(failures)
    graph.add_edges_from((write, one) for one in failures for write in failed if one.begun <= write.time <= one.ended)
    for part in connected_components(graph):
        group = graph.subgraph(part).copy()
        those = [one for one in failures if one in part]
        found = hopcroft_karp_matching(group, those)
        for one in those if all(one in found for one in those) else ():
            write = found[one]
            group.remove_edge(write, one)
            if len(hopcroft_karp_matching(group, those)) < len(found):
                yield write, one
            group.add_edge(write, one)


def _failures(log: Path) -> Iterator[_Failure]:
    """The ISR changes that a broker has given up, since the version that it knows is old."""
    if not log.is_file():
        return
    begun = dict[TopicPartition, int]()
    with log.open(encoding="utf-8", errors="backslashreplace") as lines:
        for entry in read_entries((line for line in lines if SPOKEN_OF.search(line)), log.name):
            if not isinstance(entry, LogEntry) or not (found := SPOKEN_OF.search(entry.message)):
                continue
            partition, time = TopicPartition(found["topic"], int(found["partition"])), head_of(entry)["time"]
            if found["begun"]:
                begun[partition] = time
            else:
                yield _Failure(partition, max(begun.pop(partition, 0), time - SKEW), time)
