"""Partition reassignment: the admin's request, the steps, the wait for the ISR, what a new controller resumes.

Kafka: `KafkaController` (`onPartitionReassignment`, `initiateReassignReplicasForTopicPartition`,
`moveReassignedPartitionLeaderIfRequired`, `updateLeaderEpoch`, `initializePartitionReassignment`),
`PartitionsReassignedListener`, `ReassignedPartitionsIsrChangeListener`.
"""

from typing import Final

from spec.formats.kafka_types import V0101, V082, TopicPartition
from spec.formats.znode_paths import REASSIGN_PARTITIONS, Path
from spec.formats.znodes import ReassignPartitionsPayload, parse_payload
from spec.logs.controller_log.parts import ControllerLogLine, ControllerSays, Thread, listener
from spec.logs.controller_log.values import Assignment


class ReassignmentListenerSays(ControllerLogLine, speaker=listener("PartitionsReassignedListener")):
    """A line of the listener on /admin/reassign_partitions."""


class ReassignmentRequested(
    ReassignmentListenerSays,
    text="Partitions reassigned listener fired for path /admin/reassign_partitions. Record partitions to be reassigned"
    " {data}",
    level="DEBUG",
    unlocked=Thread.EVENTS,
):
    """The callback begins, with the data that ZkClient read."""

    data: str

    @property
    def requested(self) -> Assignment:
        """RAR by partition, as the data says it."""
        payload = parse_payload(Path(REASSIGN_PARTITIONS), self.data)
        if not isinstance(payload, ReassignPartitionsPayload):
            raise TypeError(f"not the data of /admin/reassign_partitions: {self.data}")
        named = ((TopicPartition(one.topic, one.partition), one.replicas) for one in payload.partitions)
        return tuple((partition, tuple(map(int, replicas))) for partition, replicas in named)


class ReassignmentSkipped(
    ReassignmentListenerSays,
    text="Skipping reassignment of partition {partition} for topic {topic} since it is currently being deleted",
    level="ERROR",
):
    """The topic is queued for deletion, so the partition is taken off the request."""

    partition: TopicPartition

    @property
    def topic(self) -> str:
        """The partition's topic."""
        return self.partition.topic


class IsrListenerSays(
    ControllerLogLine, speaker=listener("ReassignedPartitionsIsrChangeListener", "controller {controller}")
):
    """A line of the listener on the state znode of a partition that is being reassigned."""


class ReassignedIsrChanged(
    IsrListenerSays,
    text="Reassigned partitions isr change listener fired for path {path} with children {data}",
    level="DEBUG",
):
    """The callback begins, with the data that ZkClient read; the controller reads the znode again."""


CAUGHT_UP: Final = (
    "{caught_up:id}/{all:id} replicas have caught up with the leader for partition {partition} being reassigned."
)


class AllCaughtUp(IsrListenerSays, text=CAUGHT_UP + "Resuming partition reassignment"):
    """The new replicas are in sync; the missing blank is Kafka's."""


class SomeBehind(IsrListenerSays, text=CAUGHT_UP + "Replica(s) {behind:ids} still need to catch up"):
    """Some of the new replicas are not in sync yet."""

    partition: TopicPartition


class ReassignedNeverCreated(
    IsrListenerSays,
    text="Error handling reassignment of partition {partition} to replicas {new_replicas} as it was never created",
    level="ERROR",
):
    """There is no state znode."""


class ReassignedIsrError(IsrListenerSays, text="Error while handling partition reassignment", level="ERROR"):
    """The callback ended with an exception."""


class ReassignmentStarted(
    ControllerSays, text="Handling reassignment of partition {partition} to new replicas {new_replicas}"
):
    """A reassignment passed the checks that need no broker."""


class ReassignmentFailed(ControllerSays, text="Error completing reassignment of partition {partition}", level="ERROR"):
    """A check or a step failed; the partition is taken off the request."""


class ReassignmentRefused(
    ControllerSays,
    text="Refusing to reassign partition {partition} to replicas {new_replicas:list}: not a list of distinct ids",
    level="ERROR",
):
    """What is asked for cannot be; the partition is taken off the request. No release of Kafka writes this (D61)."""


class NotCaughtUp(
    ControllerSays,
    text="New replicas {new_replicas} for partition {partition} being reassigned not yet caught up with the leader",
):
    """Steps 1 to 3 begin."""


class WaitingForNewReplicas(
    ControllerSays,
    text="Waiting for new replicas {new_replicas} for partition {partition} being reassigned to catch up with"
    " the leader",
):
    """Steps 1 to 3 are done."""


LEADER_OF_REASSIGNED: Final = "Leader {leader} for partition {partition} being reassigned, is "


class LeaderNotReassigned(
    ControllerSays, text=LEADER_OF_REASSIGNED + "not in the new list of replicas {new_replicas}. Re-electing leader"
):
    """Step 7 elects."""


class LeaderReassignedAlive(
    ControllerSays, text=LEADER_OF_REASSIGNED + "already in the new list of replicas {new_replicas} and is alive"
):
    """Step 7 only raises the leader epoch."""


class LeaderReassignedDead(
    ControllerSays, text=LEADER_OF_REASSIGNED + "already in the new list of replicas {new_replicas} but is dead"
):
    """Step 7 elects among the new replicas."""


class AssignmentUpdated(
    ControllerSays, text="Updated assigned replicas for partition {partition} being reassigned to {replicas:ids} "
):
    """The topic's znode has been written, and the context's assignment with it."""


class AssignmentWritten(ControllerSays, text="Updated path {path} with {data} for replica assignment", level="DEBUG"):
    """The topic's znode has been written."""


class LeaderEpochUpdating(ControllerSays, text="Updating leader epoch for partition {partition}.", level="DEBUG"):
    """The state znode is about to be read and written with a higher leader epoch."""


class LeaderEpochUpdated(ControllerSays, text="Updated leader epoch for partition {partition} to {leader_epoch}"):
    """The state znode has been written."""


class ReassignmentRemoved(
    ControllerSays, text="Removed partition {partition} from the list of reassigned partitions in zookeeper"
):
    """Step 11: /admin/reassign_partitions no longer has the partition, which is done with."""


class ReassignmentsFound(ControllerSays, text="Partitions being reassigned: {reassigned:reassignments}"):
    """What a new controller finds in /admin/reassign_partitions."""


class ReassignmentsDone(
    ControllerSays,
    text={
        V082: "Partitions already reassigned: {partitions:partition_list}",
        V0101: "Partitions already reassigned: {partitions:partition_set}",
    },
):
    """Those of them that are assigned as wanted, or whose topic is gone."""


class ReassignmentsResumed(ControllerSays, text="Resuming reassignment of partitions: {reassigned:reassignments}"):
    """The others."""
