"""The part of the abstraction that assignments have of their own, where they change: with what is added to topics."""

from __future__ import annotations

from model_check.refinement.abstraction.leadership import Named
from model_check.refinement.history import assigned_in_zookeeper
from reference.controller.controller import KafkaController
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.scripts import topic_path
from reference.threads import Event
from reference.zookeeper.tree import WatchKind
from spec.formats.kafka_types import TopicPartition
from spec.model import Model


def assignments(m: Model, cluster: MemoryCluster) -> Named:
    """The assignments in ZooKeeper, and what the tool that adds partitions has read of them."""
    if m.has("addition"):
        yield from _tool(m, cluster)
    for p, partition in enumerate(cluster.partitions if m.keeps_assignments else ()):
        yield f"zookeeper.assigned[{p}]", assigned_in_zookeeper(cluster, partition)


def _tool(m: Model, cluster: MemoryCluster) -> Named:
    topic, read = cluster.adding or (None, {})
    yield "tool.adds", topic is not None
    if len(m.topics) > 1:
        yield "tool.topic", 0 if topic is None else cluster.topics().index(topic)
    for p, partition in enumerate(cluster.partitions):
        yield f"tool.assigned[{p}]", read.get(partition.partition, ()) if partition.topic == topic else ()


def topic_watches(m: Model, cluster: MemoryCluster, process: MemoryProcess, path: str) -> Named:
    """The listeners on topics' own znodes, and whether their watches are set."""
    armed = cluster.zookeeper.watches(process.session) if process.session is not None else frozenset()
    for number, topic in enumerate(cluster.topics() if m.has("addition") else ()):
        listening = process.listens_to(topic_path(topic))
        yield f"{path}.topic_listening[{number}]", listening
        yield f"{path}.topic_watching[{number}]", listening and (WatchKind.NODE, topic_path(topic)) in armed


def known_assignments(
    m: Model, cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str
) -> Named:
    """The assignments as a controller holds them, and what the callbacks in its queue are about."""
    if m.tells_concerns:
        yield from _concerns(m, cluster, process, path)
    for p, partition in enumerate(cluster.partitions if m.keeps_assignments else ()):
        known = controller.context.partition_replica_assignment.get(partition, ())
        yield f"{path}.partitions[{p}].assigned", known


def _concerns(m: Model, cluster: MemoryCluster, process: MemoryProcess, path: str) -> Named:
    """The partition, or the topic, that each callback in the queue is about; 0 where it is about none."""
    for place in range(m.scope.callback_capacity):
        about = _about(cluster, process.events[place]) if place < len(process.events) else 0
        yield f"{path}.concerns[{place}]", about


def _about(cluster: MemoryCluster, event: Event) -> int:
    if isinstance(event, TopicPartition):
        return cluster.partitions.index(event)
    return cluster.topics().index(event) if isinstance(event, str) else 0
