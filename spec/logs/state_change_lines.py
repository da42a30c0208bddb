"""What the controller writes to state-change.log about transitions and elections, and the parser of the whole file.

    line = STATE_CHANGE_LOG.parse("Controller 1 epoch 3 elected leader 2 for Offline partition [t,0]", V0102)
    line == LeaderElected(1, 3, 2, TopicPartition("t", 0))        and str(line) is the text again

Every line exists in 0.8.2 to 0.10.2; where its form changed, the first version of each form stands before it.

Kafka: `PartitionStateMachine`, `ReplicaStateMachine`. The stack trace that follows a failure is not part of the line
(`spec/logs/log_entries.py` keeps it).
"""

from typing import Final

from spec.formats.kafka_types import TopicPartition
from spec.logs import broker_change_lines, controller_request_lines, leader_and_isr_lines, logger_lines
from spec.logs.controller_request_lines import ControllerLine
from spec.logs.log_lines import Vocabulary, lines_of
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState


class PartitionBecameNew(
    ControllerLine,
    text="changed partition {partition} state from {source:partition_state} to {target:new}"
    " with assigned replicas {assigned_replicas}",
):
    """A partition has become known, and with it its assigned replicas."""


class PartitionBecameOnline(
    ControllerLine,
    text="changed partition {partition} from {source:partition_state} to {target:online} with leader {leader}",
):
    """A partition has a leader; Kafka leaves out the word "state" here."""

    source: PartitionState
    leader: int


class PartitionLostLeader(
    ControllerLine, text="changed partition {partition} state from {source:partition_state} to {target:without_leader}"
):
    """A partition went offline, or out of existence."""


class PartitionChangeFailed(
    ControllerLine,
    text="initiated state change for partition {partition} from {source:partition_state}"
    " to {target:partition_state} failed",
    level="ERROR",
):
    """A partition stays in its state; the stack trace that follows says why."""


class LeaderElectionStarted(ControllerLine, text="started leader election for partition {partition}"):
    """The state znode is about to be read, a leader to be chosen."""

    partition: TopicPartition


class LeaderElected(ControllerLine, text="elected leader {leader} for Offline partition {partition}"):
    """The new leader stands in the state znode; "Offline" is printed whatever the state."""

    leader: int


class NoAssignedReplicaAlive(
    ControllerLine,
    text="encountered error during state change of partition {partition} from New to Online, assigned replicas"
    " are [{assigned_replicas}], live brokers are [{live_brokers:set}]. No assigned replica is alive.",
    level="ERROR",
):
    """A new partition gets no leader."""


class StateZnodeExists(
    ControllerLine,
    text="encountered error while changing partition {partition}'s state from New to Online since LeaderAndIsr"
    " path already exists with value {value:json} and controller epoch {controller_epoch}",
    level="ERROR",
):
    """Somebody else created the state znode of a new partition, with this content."""


class ElectionAborted(
    ControllerLine,
    text="aborted leader election for partition {partition} since the LeaderAndIsr path was already written by"
    " another controller. This probably means that the current controller {controller} went through a soft"
    " failure and another controller was elected with epoch {controller_epoch}.",
    level="ERROR",
):
    """The state znode bears a higher controller epoch than ours."""


class ElectionFailed(
    ControllerLine,
    text="encountered error while electing leader for partition {partition} due to: {reason}.",
    level="ERROR",
):
    """No leader was elected; `reason` is the message of whatever went wrong."""


class ReplicaChanged(
    ControllerLine,
    text="changed state of replica {replica} for partition {partition} from {source:replica_state}"
    " to {target:replica_state}",
):
    """A replica is in another state now."""

    replica: int
    partition: TopicPartition
    source: ReplicaState
    target: ReplicaState


class ReplicaChangeFailed(
    ControllerLine,
    text="initiated state change of replica {replica} for partition {partition} from {source:replica_state}"
    " to {target:replica_state} failed",
    level="ERROR",
):
    """A replica stays in its state; the stack trace that follows says why."""

    replica: int
    partition: TopicPartition
    target: ReplicaState


MODULES = (controller_request_lines, leader_and_isr_lines, broker_change_lines, logger_lines)

STATE_CHANGE_LOG: Final = Vocabulary(lines_of(__name__, *(one.__name__ for one in MODULES)))
