"""Whose a write was that failed on its version: a leader says so of its ISR changes, in server.log.

ZooKeeper's log tells neither the path nor why a write is made, and one session may be a leader's and a controller's. A
leader with an old version of a state znode fails again and again, and says each time of which partition, right after
(Kafka 0.10.2.2: `Partition.updateIsr`). Who says nothing, or might speak of one of several,
leaves it open.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from model_check.recordings.entries import head_of
from model_check.recordings.recording import Cluster
from model_check.recordings.tracks import SKEW
from model_check.recordings.zookeeper import WriteConflicted, ZooKeeperChange
from spec.formats.kafka_types import TopicPartition
from spec.logs.log_entries import LogEntry, read_entries

SKIPPED: Final = re.compile(
    r"Partition \[(\S+),(\d+)\] on broker \d+: Cached zkVersion \[\d+\] not equal to that in zookeeper, skip updating"
)


def with_their_leaders(changes: Sequence[ZooKeeperChange], cluster: Cluster, folder: Path) -> list[ZooKeeperChange]:
    """The changes, of those that failed on their version the ones with `of_leader` that a leader speaks of."""
    told: dict[int, WriteConflicted] = {}
    for broker_id in cluster.broker_ids:
        by = cluster.broker(broker_id)
        failed = [one for one in changes if isinstance(one, WriteConflicted) and one.by == by]
        for time, partition in _skipped(folder / f"broker-{broker_id}" / "server.log") if failed else ():
            before = [one for one in failed if time - SKEW <= one.time <= time]
            if len(before) == 1 and partition in cluster.partitions:
                told[before[0].zxid] = replace(before[0], of_leader=cluster.partition(partition))
            failed = [one for one in failed if one.time > time]
    return [told.get(one.zxid, one) if isinstance(one, WriteConflicted) else one for one in changes]


def _skipped(log: Path) -> Iterator[tuple[int, TopicPartition]]:
    """When a broker has given up to change an ISR, since the version that it knows is old, and of which partition."""
    if not log.is_file():
        return
    with log.open(encoding="utf-8", errors="backslashreplace") as lines:
        for entry in read_entries((line for line in lines if SKIPPED.search(line)), log.name):
            if isinstance(entry, LogEntry) and (found := SKIPPED.search(entry.message)):
                yield head_of(entry)["time"], TopicPartition(found[1], int(found[2]))
