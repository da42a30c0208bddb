"""Topic deletion: the admin's request, the manager's bookkeeping, the deletion thread's decisions.

Kafka: `PartitionStateMachine.DeleteTopicsListener`, `TopicDeletionManager` and its `DeleteTopicsThread`.
"""

from typing import Final

from spec.formats.kafka_types import V0102
from spec.logs.controller_log.parts import ControllerLogLine, DeletionManagerSays, DeletionThreadSays, listener
from spec.logs.controller_log.values import Topics


class DeletionListenerSays(ControllerLogLine, speaker=listener("PartitionStateMachine$DeleteTopicsListener")):
    """A line of the listener on /admin/delete_topics."""


class DeletionRequested(
    DeletionListenerSays, text="Delete topics listener fired for topics {topics} to be deleted", level="DEBUG"
):
    """The callback begins, with the children that ZkClient read."""

    topics: Topics


class UnknownTopicsIgnored(
    DeletionListenerSays, text="Ignoring request to delete non-existing topics {topics}", level="WARN"
):
    """The requests for topics that the context has not are deleted."""


class DeletionQueued(DeletionListenerSays, text="Starting topic deletion for topics {topics}"):
    """The topics are queued, marked ineligible where something is in the way."""


REQUEST_REMOVED: Final = "Removing /admin/delete_topics/{topic} since delete topic is disabled"


class RequestRefused(DeletionListenerSays, text={V0102: REQUEST_REMOVED}):
    """delete.topic.enable is not set."""


class RequestRefusedAtStart(DeletionManagerSays, text={V0102: REQUEST_REMOVED}):
    """The same for a request that a new controller finds."""


class WaitingForSignal(
    DeletionManagerSays, text="Waiting for signal to start or continue topic deletion", level="DEBUG"
):
    """The deletion thread has nothing to do."""


class ReplicaDeletionFailed(
    DeletionManagerSays,
    text="Deletion failed for replicas {replicas}. Halting deletion for topics {topics:topic_set}",
    level="DEBUG",
):
    """Replicas answered with an error, or their broker died."""


class DeletionHalted(DeletionManagerSays, text="Halted deletion of topics {topics}"):
    """Topics are marked ineligible."""


class ReplicasDeleted(
    DeletionManagerSays, text="Deletion successfully completed for replicas {replicas}", level="DEBUG"
):
    """Replicas answered without error."""


class DeletionRetried(
    DeletionManagerSays,
    text="Retrying delete topic for topic {topic} since replicas {replicas} were not successfully deleted",
):
    """Ineligible replicas go back to offline."""


class TopicDeletionStarted(DeletionManagerSays, text="Topic deletion callback for {topics}"):
    """`onTopicDeletion` begins: the brokers are sent that the topics are being deleted."""


class PartitionDeletionStarted(DeletionManagerSays, text="Partition deletion callback for {partitions}"):
    """`onPartitionDeletion` begins."""


class ReplicaDeletionStarted(DeletionManagerSays, text="Deletion started for replicas {replicas}", level="DEBUG"):
    """StopReplica with delete has been sent to the live replicas."""


class DeadReplicasFound(DeletionManagerSays, text="Dead Replicas ({replicas}) found for topic {topic}", level="DEBUG"):
    """The topic is marked ineligible."""


class DeletionAnswered(DeletionManagerSays, text="Delete topic callback invoked for {answer}", level="DEBUG"):
    """A broker answered a StopReplica with delete; this is on its send thread, before the lock."""


class HandlingDeletion(DeletionThreadSays, text="Handling deletion for topics {topics}"):
    """The deletion thread goes through the queue."""


class TopicDeleted(DeletionThreadSays, text="Deletion of topic {topic} successfully completed"):
    """Nothing of the topic is left in ZooKeeper."""


class DeletionInProgress(
    DeletionThreadSays,
    text="Deletion for replicas {replicas:ids} for partition {partitions} of topic {topic} in progress",
):
    """Some replicas have not answered yet."""


class DeletionBegun(DeletionThreadSays, text="Deletion of topic {topic} (re)started"):
    """The topic is eligible, and no replica of it is being deleted."""


class DeletionIneligible(
    DeletionThreadSays,
    text="Not retrying deletion of topic {topic} at this time since it is marked ineligible for deletion",
):
    """The topic waits for what is in the way."""
