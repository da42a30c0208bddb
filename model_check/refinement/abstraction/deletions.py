"""The part of the abstraction that topic deletion has of its own."""

from __future__ import annotations

from collections.abc import Iterator

from reference.controller.controller import KafkaController
from reference.deletion.requests import DropRequest
from reference.deletion.thread import DeleteQueuedTopic
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.scripts import delete_topic_path, topic_config_path
from spec.model import Model
from spec.state.controller import Controller

Named = Iterator[tuple[str, object]]


def deletion_requests(cluster: MemoryCluster) -> Named:
    """What is asked for, and what else there is of a topic."""
    for number, topic in enumerate(cluster.topics()):
        yield f"zookeeper.configurations[{number}]", topic_config_path(topic) in cluster.zookeeper.tree
        yield f"zookeeper.deletions[{number}]", delete_topic_path(topic) in cluster.zookeeper.tree


def deletion_manager(
    m: Model, cluster: MemoryCluster, process: MemoryProcess, controller: KafkaController, path: str
) -> Named:
    """The manager's memory, and where its thread is."""
    deleting, topics = controller.deleting, cluster.topics()
    busy, turns = controller.activity.topic, controller.activity.turns
    effect = None if process.running is None else process.running.options[0]
    if isinstance(effect, DeleteQueuedTopic | DropRequest):
        turns = effect.remaining
    to_queue = effect.known if isinstance(effect, DropRequest) else frozenset()
    for number, topic in enumerate(topics):
        yield f"{path}.queued[{number}]", topic in deleting.queued
        yield f"{path}.ineligible[{number}]", topic in deleting.ineligible
        yield f"{path}.modified[{number}]", topic in controller.topic_listeners
        yield f"{path}.turns[{number}]", topic in turns
        if m.has_several_topics:
            yield f"{path}.to_queue[{number}]", topic in to_queue
        if m.keeps(Controller.resuming):
            yield f"{path}.resuming[{number}]", topic in controller.activity.resuming
    retried = controller.activity.retried
    for p, partition in enumerate(cluster.partitions):
        yield f"{path}.doomed[{p}]", partition in deleting.partitions
        yield f"{path}.retried[{p}]", frozenset(replica for tp, replica in retried if tp == partition)
    yield f"{path}.woken", deleting.woken and bool(deleting.queued)
    yield f"{path}.topic", 0 if busy is None else topics.index(busy)
