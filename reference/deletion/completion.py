"""The end of a topic's deletion: its replicas and partitions are forgotten, then its znodes go, one after the other.

The order is: the state znodes, the topic, its configuration, the request. ZkClient deletes the topic's znode with all
that is below it: it lists the partitions, and empties and deletes each in the order of the list. A znode that appears
below one that is to go is in the way, and the exception ends the thread; one that is gone when it is to be deleted, and
was there when its own children were listed, ends the recursion, and what is left of the topic stays.

Kafka 0.10.2.2: `TopicDeletionManager.completeDeleteTopic`; ZkClient 0.10 `deleteRecursive`. PROTOCOL.md section 7.4.
"""

from abc import abstractmethod
from dataclasses import replace

from reference.controller.controller import KafkaController
from reference.leadership.effects import Partitions, Replica
from reference.leadership.partitions import lose_leaders
from reference.leadership.replicas import set_non_existent
from reference.procedures import Effect, NoSuchListener, Procedure, Script, any_of
from reference.scripts import (
    Fence,
    check,
    children_of,
    delete_if_there,
    delete_recursively,
    delete_topic_path,
    number_of,
    topic_config_path,
    topic_path,
)
from spec.formats.kafka_types import TopicPartition
from spec.state.enumerations import At
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch


def partitions_path(topic: str) -> str:
    """The parent of a topic's partitions."""
    return f"{topic_path(topic)}/partitions"


def partition_path(partition: TopicPartition) -> str:
    """The parent of a partition's state znode."""
    return f"{partitions_path(partition.topic)}/{partition.partition}"


def list_partitions(topic: str) -> Script[Partitions | None]:
    """What is below a topic's znode, as `deleteRecursive` lists it; None where there is no parent of partitions."""
    if not (yield from children_of(topic_path(topic))):
        return None
    parent = partitions_path(topic)
    names = yield from children_of(parent)
    return None if names is None else frozenset(TopicPartition(topic, number_of(parent, name)) for name in names)


class Completion(Effect[bool]):
    """A step of a deletion's end; false where another has deleted what was listed."""

    fence: Fence | None

    def script(self) -> Script[bool]:
        """The fence, where there is one, then the deletion."""
        yield from check(self.fence)
        return (yield from self.deletion())

    @abstractmethod
    def deletion(self) -> Script[bool]:
        """What goes in this step."""


class DeleteState(Completion):
    """Delete a partition's znodes; `remaining` are the listed partitions that are not deleted yet."""

    partition: TopicPartition
    remaining: Partitions
    at = At.DELETE_STATE

    @property
    def written(self) -> str:
        """The parent of the state znode, which goes last."""
        return partition_path(self.partition)

    @property
    def repeated(self) -> "DeleteState":
        """The last delete alone."""
        return DeleteStateAgain(self.fence, self.partition, self.remaining)

    def deletion(self) -> Script[bool]:
        """The state znode, and its parent."""
        return delete_recursively(self.written)


class DeleteStateAgain(DeleteState):
    """The last of these deletes once more, since its answer was lost: to find nothing is to fail (D70)."""

    def deletion(self) -> Script[bool]:
        """The parent of the state znode."""
        return delete_if_there(self.written)


class DeleteTopic(Completion):
    """Delete the topic's znode; where that is fixed, its configuration and the request go in the same transaction."""

    topic: str
    below: bool
    atomic: bool
    at = At.DELETE_TOPIC

    @property
    def written(self) -> str:
        """What goes last."""
        return delete_topic_path(self.topic) if self.atomic else topic_path(self.topic)

    @property
    def repeated(self) -> "DeleteTopic":
        """What goes behind the parent of the partitions."""
        return replace(self, below=False)

    def deletion(self) -> Script[bool]:
        """The parent of the partitions, if there was one to be listed, and the topic.

        The transaction fails where the request is gone.
        """
        if self.below and not (yield from delete_if_there(partitions_path(self.topic))):
            return False
        if self.atomic and (yield from children_of(delete_topic_path(self.topic), watches=False)) is None:
            return False
        gone = yield from delete_if_there(topic_path(self.topic))
        if self.atomic:
            yield from delete_recursively(topic_config_path(self.topic))
            yield from delete_if_there(delete_topic_path(self.topic))
        return gone


class DeleteConfiguration(Completion):
    """Delete the topic's configuration."""

    topic: str
    at = At.DELETE_CONFIGURATION

    @property
    def written(self) -> str:
        """The configuration."""
        return topic_config_path(self.topic)

    def deletion(self) -> Script[bool]:
        """`deleteRecursive`."""
        return delete_recursively(topic_config_path(self.topic))


class DeleteRequest(Completion):
    """Delete the request."""

    topic: str
    at = At.DELETE_REQUEST

    @property
    def written(self) -> str:
        """The request."""
        return delete_topic_path(self.topic)

    def deletion(self) -> Script[bool]:
        """`delete`."""
        return delete_if_there(delete_topic_path(self.topic))


def complete_delete_topic(controller: KafkaController, topic: str, listed: Partitions | None) -> Procedure[None]:
    """`completeDeleteTopic`; without a listener on the topic's own znode it raises, which ends the thread (D37)."""
    context = controller.context
    if topic not in controller.topic_listeners and not controller.fixes(Switch.COMPLETE_UNKNOWN_DELETIONS):
        raise NoSuchListener(f"key not found: {topic}")
    controller.topic_listeners -= {topic}
    controller.listeners -= {topic_path(topic)}
    states = controller.replica_machine.states.items()
    deleted = [key for key, state in states if key[0].topic == topic and state is ReplicaState.DELETION_SUCCESSFUL]
    set_non_existent(controller, deleted)
    partitions = context.partitions_of(topic)
    lose_leaders(controller, partitions, PartitionState.OFFLINE)
    lose_leaders(controller, partitions, PartitionState.NON_EXISTENT)
    _dequeue(controller, topic)
    atomic = controller.fixes(Switch.ATOMIC_COMPLETION)
    is_whole = yield from _delete_states(controller, listed or frozenset())
    if is_whole:
        yield from DeleteTopic(controller.fence, topic, listed is not None, atomic)
    if not (is_whole and atomic):
        yield from DeleteConfiguration(controller.fence, topic)
        yield from DeleteRequest(controller.fence, topic)
    context.forget_topic(topic)


def _dequeue(controller: KafkaController, topic: str) -> None:
    """The topic is queued no more; a mark as ineligible stays (D45)."""
    deleting = controller.deleting
    deleting.queued -= {topic}
    deleting.partitions = frozenset(tp for tp in deleting.partitions if tp.topic != topic)
    if controller.fixes(Switch.COMPLETION_FORGETS_MARK):
        deleting.ineligible -= {topic}


def _delete_states(controller: KafkaController, listed: Partitions) -> Procedure[bool]:
    """Delete what is below the topic's znode, in the order of a list that ZooKeeper gives; whether all went.

    A znode that is gone when it is to be deleted, after it has been listed itself, ends that, unless it is fixed (D70).
    """
    while listed:
        partition, deleted = yield from any_of({one: DeleteState(controller.fence, one, listed) for one in listed})
        if not (deleted or controller.fixes(Switch.GONE_IS_DELETED)):
            return False
        listed -= {partition}
    return True


def in_state(controller: KafkaController, topic: str, state: ReplicaState) -> list[Replica]:
    """`replicasInState`: the assigned replicas of a topic that are in a state."""
    states = controller.replica_machine.states
    return [key for key in controller.context.replicas_of(topic) if states.get(key) is state]
