"""The part of the abstraction that preferred elections and automatic rebalance have of their own."""

from __future__ import annotations

from collections.abc import Iterator

from reference.controller.controller import KafkaController
from reference.memory.cluster import MemoryCluster
from reference.scripts import PREFERRED_REPLICA_ELECTION, parsed
from spec.formats.kafka_types import TopicPartition
from spec.formats.znodes import PartitionsPayload

Named = Iterator[tuple[str, object]]


def preferred_election_request(cluster: MemoryCluster) -> Named:
    """What a preferred election is asked for."""
    request, named = cluster.zookeeper.tree.get(PREFERRED_REPLICA_ELECTION), frozenset[TopicPartition]()
    if request is not None:
        named = frozenset(parsed(PartitionsPayload, PREFERRED_REPLICA_ELECTION, request.data).partitions)
    for p, partition in enumerate(cluster.partitions):
        yield f"zookeeper.preferred[{p}]", partition in named


def preferred_elections(cluster: MemoryCluster, controller: KafkaController, path: str) -> Named:
    """The elections under way, and which of them the running handler is at."""
    for p, partition in enumerate(cluster.partitions):
        yield f"{path}.electing[{p}]", partition in controller.context.partitions_undergoing_preferred_election
        yield f"{path}.asked[{p}]", partition in controller.activity.asked


def has_read_request(cluster: MemoryCluster, controller: KafkaController) -> bool:
    """Whether the request that stands is the one that this controller has read."""
    request = cluster.zookeeper.tree.get(PREFERRED_REPLICA_ELECTION)
    return request is not None and request.czxid == controller.context.election_request
