"""Topics and partitions that appear: the listeners on /brokers/topics and on each topic's znode, and the callbacks.

The listener on a topic's znode goes by its old name, AddPartitionsListener, in every version's prefix.

Kafka: `PartitionStateMachine` (`TopicChangeListener`, `AddPartitionsListener`, from 0.10.0 on
`PartitionModificationsListener`), `KafkaController` (`onNewTopicCreation`, `onNewPartitionCreation`).
"""

from spec.formats.kafka_types import V0100, V082
from spec.logs.controller_log.parts import ON_CONTROLLER, ControllerLogLine, ControllerSays, listener
from spec.logs.controller_log.values import Assignment


class TopicListenerSays(
    ControllerLogLine, speaker=listener("PartitionStateMachine$TopicChangeListener", ON_CONTROLLER)
):
    """A line of the listener on /brokers/topics."""


class TopicsChanged(
    TopicListenerSays, text="Topic change listener fired for path /brokers/topics with children {topics}", level="DEBUG"
):
    """The callback begins, with the children that ZkClient read."""


class TopicDifference(
    TopicListenerSays,
    text="New topics: [{new:topic_set}], deleted topics: [{deleted:topic_set}], new partition replica assignment"
    " [{assignment}]",
):
    """What the controller makes of it, with the assignments that it has read."""

    new: tuple[str, ...]
    assignment: Assignment


class TopicChangeError(TopicListenerSays, text="Error while handling new topic", level="ERROR"):
    """The callback ended with an exception."""


class TopicsCreated(ControllerSays, text="New topic creation callback for {partitions}"):
    """`onNewTopicCreation` begins."""


class PartitionsCreated(ControllerSays, text="New partition creation callback for {partitions}"):
    """`onNewPartitionCreation` begins."""


class PartitionListenerSays(
    ControllerLogLine,
    prefix=listener("AddPartitionsListener").prefix,
    logger={
        V082: "kafka.controller.PartitionStateMachine$AddPartitionsListener",
        V0100: "kafka.controller.PartitionStateMachine$PartitionModificationsListener",
    },
):
    """A line of the listener on a topic's znode."""


class TopicModified(
    PartitionListenerSays,
    text={
        V082: "Add Partition triggered {data} for path {path}",
        V0100: "Partition modification triggered {data} for path {path}",
    },
):
    """The callback begins, with the data that ZkClient read; a reassignment's own writes trigger it, too."""


class PartitionsAdded(PartitionListenerSays, text="New partitions to be added {assignment}"):
    """The znode has partitions that the context has not."""


class PartitionsSkipped(
    PartitionListenerSays,
    text="Skipping adding partitions {partitions:ids} for topic {topic} since it is currently being deleted",
    level="ERROR",
):
    """The topic is queued for deletion; printed whether or not there are new partitions."""


class PartitionsError(
    PartitionListenerSays, text="Error while handling add partitions for data path {path}", level="ERROR"
):
    """The callback ended with an exception."""
