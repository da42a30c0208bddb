"""Topic creation: what the controller does when a topic appears in /brokers/topics.

It listens to the topic's own znode from now on (`addition.py`). The partitions go New, their replicas go New
(looking for a state znode, which normally is not there), the partitions go Online (which creates it), and the replicas
Online (which sends nothing).

Kafka 0.10.2.2: `PartitionStateMachine.TopicChangeListener`, `KafkaController.onNewPartitionCreation`. PROTOCOL.md
section 7.3. Of a topic that is gone without this controller's doing only the assignment is forgotten (D53).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reference.controller.context import Activity
from reference.controller.controller import KafkaController
from reference.leadership import partitions as partition_leadership
from reference.leadership import replicas as replica_transitions
from reference.procedures import THROWABLE, Effect, Procedure, Script
from reference.scripts import BROKER_TOPICS, parsed_if_json, read_data, topic_path
from reference.zookeeper.api import Exists, GetChildren
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.formats.znodes import TopicPayload
from spec.logs.controller_log import topics as lines
from spec.state.enumerations import At, Handler
from spec.variants import Switch

Assignment = Mapping[int, tuple[int, ...]]
Names = frozenset[str]


@dataclass(frozen=True)
class Topics:
    """The topics that exist, and the assignments of those that were read, with the zxids of their creation.

    The latter tell a topic from one before it that had its name, which only later versions do (topic ids, KIP-516).
    `are_read` is false where what one of them holds raises.
    """

    names: Names
    assignments: Mapping[str, Assignment]
    ids: Mapping[str, int] = field(default_factory=dict)
    are_read: bool = True


def _read_topics(known: Names = frozenset(), given: Names | None = None, *, listens: bool = False) -> Script[Topics]:
    """`getAllTopics`, and `getReplicaAssignmentForTopics` for those not known yet, each perhaps listened to before."""
    children = given if given is not None else frozenset((yield GetChildren(BROKER_TOPICS)).names)
    found, ids = {}, {}
    for topic in sorted(children):
        if topic in known:
            continue
        if listens:
            yield Exists(topic_path(topic), watch=True)
        node = yield from read_data(topic_path(topic))
        if node is not None:
            payload = parsed_if_json(TopicPayload, topic_path(topic), node.data)
            found[topic] = {} if payload is None else payload.partitions
            ids[topic] = node.stat.czxid
    return Topics(children, found, ids)


class ReadTopics(Effect[Topics]):
    """Failover: the topics and their assignments; where that is fixed, each is listened to before it is read."""

    listens: bool = False
    at = At.READ_TOPICS
    parts = frozenset({"partitions"})

    def script(self) -> Script[Topics]:
        """Children and data."""
        return _read_topics(listens=self.listens)


class OnTopicChange(Effect[Topics]):
    """A child callback of /brokers/topics: the topics, and the assignments of those that are not known yet."""

    known: Names
    given: Names | None = None

    def script(self) -> Script[Topics]:
        """Children and data."""
        children = self.given if self.given is not None else frozenset((yield GetChildren(BROKER_TOPICS)).names)
        try:
            return (yield from _read_topics(self.known, children))
        except MalformedInput:
            return Topics(children, {}, are_read=False)


class ListenToTopics(Effect[None]):
    """`registerPartitionChangeListener` for some topics; it is done within the step of the caller."""

    topics: tuple[str, ...]

    def script(self) -> Script[None]:
        """`subscribeDataChanges` sets a watch, whether or not the znode is there."""
        for topic in self.topics:
            yield Exists(topic_path(topic), watch=True)


def listen_to_topics(controller: KafkaController, topics: Iterable[str]) -> Procedure[None]:
    """Listen to the znodes of topics; nothing is read."""
    if controller.configuration.listens_to_topics:
        yield from ListenToTopics(tuple(sorted(topics)))
        controller.listeners |= {topic_path(topic) for topic in topics}


def on_topic_change(controller: KafkaController, given: Names | None = None) -> Procedure[None]:
    """Learn the new topics and their assignments, and create their partitions."""
    context = controller.context
    topics = yield from OnTopicChange(context.all_topics, given)
    if not controller.partition_machine.has_started:
        return
    if not topics.are_read:  # the names are taken before, so that none of them is new again
        context.all_topics = topics.names
        controller.report(lines.TopicsChanged, topics=tuple(sorted(topics.names)))
        controller.report(lines.TopicChangeError)
        return
    names, vanished = sorted(topics.names - context.all_topics), context.all_topics - topics.names
    new = {
        TopicPartition(topic, partition): replicas
        for topic in names
        for partition, replicas in topics.assignments.get(topic, {}).items()
    }
    controller.report(lines.TopicsChanged, topics=tuple(sorted(topics.names)))
    try:
        context.all_topics = topics.names
        context.topic_ids |= topics.ids
        kept = {tp: ar for tp, ar in context.partition_replica_assignment.items() if tp.topic not in vanished}
        context.partition_replica_assignment = kept | new
        deleted = tuple(sorted(vanished))
        _forget_vanished(controller, vanished)
        controller.report(lines.TopicDifference, new=tuple(names), deleted=deleted, assignment=tuple(new.items()))
        controller.topic_listeners |= set(names)
        if names:
            controller.report(lines.TopicsCreated, partitions=tuple(new))
            controller.is_about(created=frozenset(names))
            yield from listen_to_topics(controller, names)
            yield from on_new_partition_creation(controller, tuple(new))
    except THROWABLE:
        controller.report(lines.TopicChangeError)
    finally:
        controller.activity = Activity()


def _forget_vanished(controller: KafkaController, topics: frozenset[str]) -> None:
    """Where that is fixed, with a topic that vanished goes all that was known of its partitions (D51, D53)."""
    if not controller.fixes(Switch.FORGET_THE_VANISHED):
        return
    for topic in topics:
        controller.context.forget_topic(topic)
    partitions, replicas = controller.partition_machine.states, controller.replica_machine.states
    controller.partition_machine.states = {tp: state for tp, state in partitions.items() if tp.topic not in topics}
    controller.replica_machine.states = {key: state for key, state in replicas.items() if key[0].topic not in topics}


def on_new_partition_creation(controller: KafkaController, partitions: Sequence[TopicPartition]) -> Procedure[None]:
    """From nothing to the first leader."""
    controller.report(lines.PartitionsCreated, partitions=tuple(partitions))
    assignment = controller.context.partition_replica_assignment
    replicas = [(partition, replica) for partition in partitions for replica in assignment[partition]]
    partition_leadership.set_new(controller, partitions)
    controller.is_about(creating=frozenset(partitions))
    yield from replica_transitions.set_new(controller, replicas)
    controller.is_about(creating=frozenset())
    if controller.fixes(Switch.DYING_TOPICS_GET_NO_LEADERSHIP):
        partitions = [one for one in partitions if one.topic not in controller.deleting.queued]
    yield from partition_leadership.bring_online(controller, partitions, Handler.CREATION)
    replica_transitions.set_online(controller, replicas)
