"""The two state machines: start and stop, the batches of state changes, what a new partition gets.

The transitions themselves are in state-change.log (`spec/logs/state_change_lines.py`).

Kafka: `PartitionStateMachine`, `ReplicaStateMachine`.
"""

from spec.logs.controller_log.parts import PartitionMachineSays, ReplicaMachineSays
from spec.logs.controller_log.values import Leaderships


class PartitionMachineStarted(
    PartitionMachineSays, text="Started partition state machine with initial state -> {states:partition_states}"
):
    """The states that follow from what ZooKeeper holds; the elections of the start come before this line."""


class PartitionMachineStopped(PartitionMachineSays, text="Stopped partition state machine"):
    """The states are forgotten."""


class PartitionsInvoked(
    PartitionMachineSays, text="Invoking state change to {target:partition_state} for partitions {partitions}"
):
    """A batch begins; a start-up's is without partitions, as it goes through those that wait."""


class PartitionsOnlineError(
    PartitionMachineSays, text="Error while moving some partitions to the online state", level="ERROR"
):
    """The batch of the waiting partitions could not be sent."""


class PartitionsInvokedError(
    PartitionMachineSays, text="Error while moving some partitions to {target:partition_state} state", level="ERROR"
):
    """A batch could not be sent."""


class LiveAssignedReplicas(
    PartitionMachineSays, text="Live assigned replicas for partition {partition} are: [{replicas:list}]", level="DEBUG"
):
    """A new partition's candidates; the first becomes the leader."""


class StateInitialized(
    PartitionMachineSays, text="Initializing leader and isr for partition {partition} to {leadership}", level="DEBUG"
):
    """A new partition's state znode is about to be created."""


class LeaderCacheUpdated(
    PartitionMachineSays, text="After leader election, leader cache is updated to {leaders:leaderships}", level="DEBUG"
):
    """The whole leadership cache, after every election, whether or not it was needed."""

    leaders: Leaderships


class ReplicaMachineStarted(
    ReplicaMachineSays, text="Started replica state machine with initial state -> {states:replica_states}"
):
    """The states that follow from the live brokers; the replicas that went online come before this line."""


class ReplicaMachineStopped(ReplicaMachineSays, text="Stopped replica state machine"):
    """The states are forgotten."""


class ReplicasInvoked(
    ReplicaMachineSays, text="Invoking state change to {target:replica_state} for replicas {replicas}"
):
    """A batch of at least one replica begins."""


class ReplicasInvokedError(
    ReplicaMachineSays, text="Error while moving some replicas to {target:replica_state} state", level="ERROR"
):
    """A batch ended with an exception."""


class ReplicasDeletedAsked(
    ReplicaMachineSays, text="Are all replicas for topic {topic} deleted {states:replica_states}", level="DEBUG"
):
    """The deletion thread asks whether a topic is done with."""
