"""Partition addition: what the controller does when a topic's own znode changes.

Partitions that it does not know go the way of a new topic's. It skips them where the topic is queued for deletion, and
takes no notice of other changes, its own among them. It listens to a topic from when it is first known on, or from near
the end of a failover, long after the znode was read: what is added in between is noticed with the next change only
(D17).

Kafka 0.10.2.2: `PartitionStateMachine.PartitionModificationsListener`. PROTOCOL.md section 7.3.
"""

from reference.controller.context import Activity
from reference.controller.controller import KafkaController
from reference.procedures import THROWABLE, Effect, Procedure, Script
from reference.scripts import parsed_if_json, read_data, text_of, topic_path
from reference.topics.creation import on_new_partition_creation
from reference.zookeeper.api import Exists, NodeData
from spec.formats.kafka_types import TopicPartition
from spec.formats.znodes import TopicPayload
from spec.logs.controller_log.topics import PartitionsAdded, PartitionsError, PartitionsSkipped, TopicModified


class OnPartitionModifications(Effect["NodeData | None"]):
    """A data callback of a topic's own znode: what it holds, or None where it is gone."""

    topic: str

    def script(self) -> Script[NodeData | None]:
        """ZkClient sets the watch again, whether or not the znode is there, then reads; the listener reads afresh."""
        path = topic_path(self.topic)
        yield Exists(path)
        return (yield from read_data(path))


def on_partition_modifications(controller: KafkaController, topic: str) -> Procedure[None]:
    """Create the partitions that are not known yet, unless the topic is queued for deletion."""
    known = controller.context.partition_replica_assignment
    try:
        node = yield from OnPartitionModifications(topic)
        if node is None:
            return
        controller.report(TopicModified, data=text_of(node.data), path=topic_path(topic))
        payload = parsed_if_json(TopicPayload, topic_path(topic), node.data)
        assignment = {} if payload is None else payload.partitions
        partitions = {TopicPartition(topic, partition): replicas for partition, replicas in assignment.items()}
        added = {one: replicas for one, replicas in partitions.items() if one not in known}
        if topic in controller.deleting.queued:
            controller.report(PartitionsSkipped, partitions=tuple(one.partition for one in added), topic=topic)
        elif added:
            controller.report(PartitionsAdded, assignment=tuple(added.items()))
            known.update(added)
            yield from on_new_partition_creation(controller, tuple(added))
    except THROWABLE:
        controller.report(PartitionsError, path=topic_path(topic))
    finally:
        controller.activity = Activity()
