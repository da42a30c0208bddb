"""Whose a write was that failed on its version: a leader says so of its ISR changes, in server.log.

ZooKeeper's log tells neither the path nor why a write is made, and one session may be a leader's and a controller's. A
leader with an old version of a state znode fails again and again, and says each time of which partition it is about to
change the ISR, and that it has failed (Kafka 0.10.2.2: `Partition.maybeShrinkIsr`, `maybeExpandIsr`, `updateIsr`). In
between lies its write; it may have failed because there is no such znode, too (`conditionalUpdatePersistentPath`).
Several leaders' changes of one broker may lie close together, and a controller's among them, and the broker's clock may
still be off by up to `SKEW`, always by the same. Each failure is given a write of its own; what is not the same in all
ways to do so stays open.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from model_check.recordings.entries import head_of
from model_check.recordings.recording import Cluster
from model_check.recordings.seen import WriteConflicted, ZooKeeperChange
from model_check.recordings.sessions import Session
from model_check.recordings.tracks import SKEW
from reference.zookeeper.transactions import Transaction, WriteRefused
from spec.formats.kafka_types import TopicPartition
from spec.logs.log_entries import LogEntry, read_entries

SPOKEN_OF: Final = re.compile(
    r"Partition \[(?P<topic>\S+),(?P<partition>\d+)\] on broker \d+: (?:(?P<begun>(?:Shrinking|Expanding) ISR for )"
    r"|Cached zkVersion \[\d+\] not equal to that in zookeeper, skip updating)"
)
REFUSALS: Final = ("BadVersion", "NoNode")
"""Why a write of an ISR fails."""


@dataclass(frozen=True, eq=False)
class _Failure:
    """An ISR change that failed, as its leader says: of which partition, and between which milliseconds."""

    partition: TopicPartition
    begun: int
    ended: int

    def shifts(self, write: Transaction) -> range:
        """By how much the clock may be ahead if this is its write; both times are cut to milliseconds."""
        return range(max(self.begun - write.time_ms - 1, -SKEW), min(self.ended - write.time_ms, SKEW) + 1)


def with_their_leaders(
    changes: Sequence[ZooKeeperChange],
    transactions: Sequence[Transaction],
    sessions: Mapping[int, Session],
    cluster: Cluster,
    folder: Path,
    ahead: Mapping[int, int],
) -> list[ZooKeeperChange]:
    """The changes; a failed write that is certainly a leader's names its partition in `of_leader`.

    The clocks of the brokers whose logs are read are so many milliseconds `ahead`, which is taken off.
    """
    told = dict[int, int]()
    for broker_id, milliseconds in ahead.items():
        of_it = [one for one in transactions if (by := sessions.get(one.session)) and by.broker == broker_id]
        failed = [one for one in of_it if isinstance(one.change, WriteRefused) and one.change.name in REFUSALS]
        spoken_of = _failures(folder / f"broker-{broker_id}" / "server.log", milliseconds) if failed else ()
        failures = [one for one in spoken_of if one.partition in cluster.partitions]
        told |= {zxid: cluster.partition(partition) for zxid, partition in _certain_at_any_clock(failed, failures)}
    return [replace(one, of_leader=told.get(one.zxid)) if isinstance(one, WriteConflicted) else one for one in changes]


def _certain_at_any_clock(
    failed: Sequence[Transaction], failures: Sequence[_Failure]
) -> frozenset[tuple[int, TopicPartition]]:
    """The writes that are certainly a partition's, wherever the clock may be so that each failure has a write.

    With more ways less is certain, and there are most where another one begins to be possible.
    """
    possible = [(one, write.zxid, shifts) for one in failures for write in failed if (shifts := one.shifts(write))]
    found = (
        _certain([(one, write) for one, write, shifts in possible if shift in shifts], failures)
        for shift in {shifts.start for *_, shifts in possible}
    )
    told = [frozenset((write, one.partition) for write, one in pairs) for pairs in found if pairs is not None]
    return frozenset.intersection(*told) if told else frozenset()


def _certain(
    possible: Sequence[tuple[_Failure, int]], failures: Sequence[_Failure]
) -> list[tuple[int, _Failure]] | None:
    """The pairs of a write and a failure that are in every assignment of one write to each failure.

    None if there is no such assignment. Another one leads from a failure over other writes, and over the failures that
    lose them, to a write that nobody has, or that the first has left.
    """
    from networkx import DiGraph, Graph, descendants
    from networkx.algorithms.bipartite import hopcroft_karp_matching

    ways = Graph()
    ways.add_nodes_from(failures)
    ways.add_edges_from(possible)
    found = hopcroft_karp_matching(ways, failures)
    if not all(one in found for one in failures):
        return None
    turns = DiGraph([(one, write) if found[one] != write else (write, one) for one in failures for write in ways[one]])
    free = set(ways) - found.keys()
    return [(found[one], one) for one in failures if not descendants(turns, one) & {found[one], *free}]


def _failures(log: Path, ahead: int) -> Iterator[_Failure]:
    """The ISR changes that a broker says to have begun and given up, since the version that it knows is old."""
    if not log.is_file():
        return
    begun = dict[TopicPartition, int]()
    with log.open(encoding="utf-8", errors="backslashreplace") as lines:
        for entry in read_entries((line for line in lines if SPOKEN_OF.search(line)), log.name):
            if not isinstance(entry, LogEntry) or not (found := SPOKEN_OF.search(entry.message)):
                continue
            partition, time = TopicPartition(found["topic"], int(found["partition"])), head_of(entry)["time"] - ahead
            if found["begun"]:
                begun[partition] = time
            elif partition in begun:
                yield _Failure(partition, begun.pop(partition), time)
