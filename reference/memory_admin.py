"""Admin tools on the cluster in memory: which znodes they may write next, and writing them.

A tool writes a request, or a topic, and has nothing more to do with what comes of it. Somebody's hands may take a
request away again.

Kafka 0.10.2.2: `AdminUtils.createTopic`, `AdminUtils.deleteTopic`, `ReassignPartitionsCommand`,
`PreferredReplicaLeaderElectionCommand`. PROTOCOL.md section 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from reference.journal import Fate, FateMet
from reference.memory_choices import Choice
from reference.memory_cluster import MemoryCluster
from reference.zookeeper_api import AnyOperation, Create, Delete
from reference.zookeeper_scripts import (
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
    delete_topic_path,
    topic_config_path,
    topic_path,
)
from spec.znodes import (
    PartitionReassignment,
    PartitionsPayload,
    ReassignPartitionsPayload,
    TopicConfigPayload,
    TopicPayload,
)

ADMIN: Final = 0
"""The admin tool, where a process is named."""


def choices(cluster: MemoryCluster) -> Iterator[Choice]:
    """What may be asked for, or taken away, next."""
    for number, topic in enumerate(cluster.topics()):
        is_there = topic_path(topic) in cluster.zookeeper.tree
        if not is_there:
            yield Choice("create_topic", (("t", number),), partial(create_topic, topic=topic))
        if delete_topic_path(topic) not in cluster.zookeeper.tree:
            rule = "request_deletion" if is_there else "request_stray_deletion"
            yield Choice(rule, (("t", number),), partial(request_deletion, topic=topic))
    if "preferred_election" in cluster.scope.parts:
        yield from _election_requests(cluster)
    if REASSIGN_PARTITIONS not in cluster.zookeeper.tree:
        for number in range(len(cluster.scope.requests)):
            yield Choice("request_reassignment", (("k", number),), partial(request_reassignment, number=number))


def _election_requests(cluster: MemoryCluster) -> Iterator[Choice]:
    """Somebody asks for preferred elections, or deletes the request by hand."""
    if PREFERRED_REPLICA_ELECTION in cluster.zookeeper.tree:
        yield Choice("withdraw_preferred_election", (), withdraw_preferred_election)
        return
    for named in range(1, 1 << len(cluster.partitions)):
        yield Choice(
            "request_preferred_election", (("named", named),), partial(request_preferred_election, named=named)
        )


def create_topic(cluster: MemoryCluster, topic: str) -> None:
    """A topic's configuration, then the topic with its assignment."""
    assigned = zip(cluster.partitions, cluster.scope.assigned, strict=True)
    payload = TopicPayload(partitions={tp.partition: replicas for tp, replicas in assigned if tp.topic == topic})
    cluster.create_as_admin(topic_config_path(topic), TopicConfigPayload(config={}).encode())
    _write(cluster, Create(topic_path(topic), payload.encode()), Fate.TOPIC_CREATED, topic_path(topic))


def request_deletion(cluster: MemoryCluster, topic: str) -> None:
    """Ask for the deletion of a topic."""
    _write(cluster, Create(delete_topic_path(topic), b""), Fate.DELETION_REQUESTED, topic)


def request_preferred_election(cluster: MemoryCluster, named: int) -> None:
    """Ask for a preferred election of the partitions whose numbers are bits of `named`."""
    partitions = tuple(one for number, one in enumerate(cluster.partitions) if named >> number & 1)
    data = PartitionsPayload(partitions=partitions).encode()
    _write(cluster, Create(PREFERRED_REPLICA_ELECTION, data), Fate.ELECTION_REQUESTED, *map(str, partitions))


def withdraw_preferred_election(cluster: MemoryCluster) -> None:
    """Delete the request by hand."""
    _write(cluster, Delete(PREFERRED_REPLICA_ELECTION), Fate.ELECTION_WITHDRAWN)


def request_reassignment(cluster: MemoryCluster, number: int) -> None:
    """Ask for one of the scope's reassignments."""
    wanted = zip(cluster.partitions, cluster.scope.requests[number], strict=True)
    entries = tuple(PartitionReassignment(tp.topic, tp.partition, rar) for tp, rar in wanted if rar)
    data = ReassignPartitionsPayload(partitions=entries).encode()
    _write(cluster, Create(REASSIGN_PARTITIONS, data), Fate.REASSIGNMENT_REQUESTED, str(number))


def _write(cluster: MemoryCluster, operation: AnyOperation, fate: Fate, *what: str) -> None:
    """Do an operation as the admin, and tell whom it concerns."""
    cluster.zookeeper.execute(cluster.admin_session, operation)
    cluster.record(FateMet(ADMIN, fate, what))
    cluster.tell_watchers()
