"""Topic creation: what the controller does when a topic appears in /brokers/topics.

The partitions go New, their replicas go New (looking for a state znode, which normally is not there), the partitions go
Online (which creates it), and the replicas Online (which tells nobody).

Kafka 0.10.2.2: `PartitionStateMachine.TopicChangeListener`, `KafkaController.onNewPartitionCreation`. PROTOCOL.md
section 7.3. Left out on purpose: partitions that are added to a topic. Of a topic that is gone without this
controller's doing only the assignment is forgotten, as in Kafka (D53).
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
from spec.variants import Switch


def on_topic_change(controller: KafkaController) -> Procedure[None]:
    """Learn the new topics and their assignments, and create their partitions."""
    topics = yield from OnTopicChange()
    if not controller.partition_machine.has_started:
        return
    context = controller.context
    names, vanished = sorted(topics.keys() - context.all_topics), context.all_topics - topics.keys()
    new = {
        TopicPartition(topic, partition): replicas for topic in names for partition, replicas in topics[topic].items()
    }
    try:
        context.all_topics = frozenset(topics)
        kept = {tp: ar for tp, ar in context.partition_replica_assignment.items() if tp.topic not in vanished}
        context.partition_replica_assignment = kept | new
        deleted = tuple(sorted(vanished))
        controller.report(TopicDifference, new=tuple(names), deleted=deleted, assignment=tuple(new.items()))
        controller.topic_listeners |= set(names)
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
    if controller.mends(Switch.DYING_TOPICS_GET_NO_LEADERSHIP):
        partitions = [one for one in partitions if one.topic not in controller.deleting.queued]
    yield from partition_leadership.bring_online(controller, partitions, Handler.CREATION)
    replica_transitions.set_online(controller, replicas)
