"""Topic creation: what the controller does when a topic appears in /brokers/topics.

The partitions go New, their replicas go New (looking for a state znode, which normally is not there), the partitions go
Online (which creates it), and the replicas Online (which tells nobody).

Kafka 0.10.2.2: `PartitionStateMachine.TopicChangeListener`, `KafkaController.onNewPartitionCreation`. PROTOCOL.md
section 7.3. Left out on purpose: partitions that are added to a topic, and topics that disappear.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference import partition_leadership, replica_transitions
from reference.context import Activity
from reference.controller import KafkaController
from reference.effects import OnTopicChange
from reference.procedures import THROWABLE, FencedWrite, Procedure
from spec.controller_log.topics import TopicChangeError, TopicDifference
from spec.kafka_types import TopicPartition
from spec.state import Handler


def on_topic_change(controller: KafkaController) -> Procedure[None]:
    """Learn the new topics and their assignments, and create their partitions."""
    topics = yield from OnTopicChange()
    if not controller.partition_machine.has_started:
        return
    context = controller.context
    names = sorted(topics.keys() - context.all_topics)
    new = {
        TopicPartition(topic, partition): replicas for topic in names for partition, replicas in topics[topic].items()
    }
    try:
        context.all_topics = frozenset(topics)
        context.partition_replica_assignment |= new
        controller.report(TopicDifference, new=tuple(names), deleted=(), assignment=tuple(new.items()))
        if new:
            yield from on_new_partition_creation(controller, tuple(new))
    except FencedWrite:
        raise
    except THROWABLE:
        controller.report(TopicChangeError)
    finally:
        controller.activity = Activity()


def on_new_partition_creation(controller: KafkaController, partitions: Sequence[TopicPartition]) -> Procedure[None]:
    """From nothing to the first leader."""
    assignment = controller.context.partition_replica_assignment
    replicas = [(partition, replica) for partition in partitions for replica in assignment[partition]]
    for partition in partitions:
        partition_leadership.set_new(controller, partition)
    controller.is_about(creating=frozenset(partitions))
    yield from replica_transitions.set_new(controller, replicas)
    controller.is_about(creating=frozenset())
    yield from partition_leadership.bring_online(controller, partitions, Handler.CREATION)
    replica_transitions.set_online(controller, replicas)
