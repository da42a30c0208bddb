"""Which lines of controller.log are observations: those that a step of the specification writes."""

from __future__ import annotations

from typing import Final

from spec.logs.controller_log.broker_changes import (
    AllLeaders,
    AllShuttingDown,
    BrokerDifference,
    LiveBrokers,
    NotInIsr,
    ShuttingDownBroker,
)
from spec.logs.controller_log.channels import DeletionThreadFailed
from spec.logs.controller_log.failover import (
    ActiveBrokers,
    BecomingController,
    CurrentTopics,
    EpochIncremented,
    EpochIncrementFailed,
    EpochRead,
    ReadyToServe,
    Resigned,
    SessionExpired,
    SessionExpiredElectedAlready,
    TopicsToBeDeleted,
)
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_log.preferred_election import (
    ImbalanceRatio,
    PreferredElectionDone,
    PreferredElectionFound,
    PreferredElectionResumed,
    PreferredElectionStarted,
    PreferredReplicaDoesNotLead,
    PreferredReplicaLeads,
)
from spec.logs.controller_log.reassignment import (
    AllCaughtUp,
    AssignmentUpdated,
    LeaderEpochUpdated,
    LeaderEpochUpdating,
    LeaderNotReassigned,
    LeaderReassignedAlive,
    LeaderReassignedDead,
    NotCaughtUp,
    ReassignedIsrError,
    ReassignmentFailed,
    ReassignmentRemoved,
    ReassignmentRequested,
    ReassignmentsDone,
    ReassignmentsFound,
    ReassignmentSkipped,
    ReassignmentsResumed,
    ReassignmentStarted,
    SomeBehind,
    WaitingForNewReplicas,
)
from spec.logs.controller_log.state_machines import PartitionMachineStarted
from spec.logs.controller_log.topic_deletion import (
    DeadReplicasFound,
    DeletionBegun,
    DeletionHalted,
    DeletionIneligible,
    DeletionInProgress,
    DeletionQueued,
    DeletionRequested,
    DeletionRetried,
    HandlingDeletion,
    PartitionDeletionStarted,
    ReplicaDeletionFailed,
    ReplicaDeletionStarted,
    ReplicasDeleted,
    TopicDeleted,
    TopicDeletionStarted,
    UnknownTopicsIgnored,
)
from spec.logs.controller_log.topics import PartitionsAdded, TopicDifference
from spec.logs.log_lines import Line

ELECTION_REPORTS: Final[frozenset[type[Line]]] = frozenset({
    PreferredElectionFound, PreferredElectionDone, PreferredElectionResumed, PreferredElectionStarted,
    PreferredReplicaLeads, PreferredReplicaDoesNotLead, ImbalanceRatio, ShuttingDownBroker, AllShuttingDown,
    LiveBrokers, AllLeaders,
})  # fmt: skip
"""The lines that are observations; an ImbalanceRatio only where it is beyond the percentage."""

REPORTS: Final[frozenset[type[Line]]] = frozenset({
    BecomingController, EpochRead, EpochIncremented, EpochIncrementFailed, ActiveBrokers, CurrentTopics,
    PartitionMachineStarted, ReadyToServe, Resigned, SessionExpired, SessionExpiredElectedAlready, BrokerDifference,
    TopicDifference, PartitionsAdded, NotInIsr, TopicsToBeDeleted, NotificationsFound,
}) | ELECTION_REPORTS  # fmt: skip
"""The lines that are observations."""

DELETION_REPORTS: Final[frozenset[type[Line]]] = frozenset({
    DeletionRequested, UnknownTopicsIgnored, DeletionQueued, HandlingDeletion, DeletionInProgress, DeletionRetried,
    DeletionBegun, TopicDeletionStarted, PartitionDeletionStarted, ReplicaDeletionStarted, DeadReplicasFound,
    DeletionHalted, DeletionIneligible, ReplicasDeleted, ReplicaDeletionFailed, TopicDeleted, DeletionThreadFailed,
})  # fmt: skip
"""The lines of deletion that are observations."""

REASSIGNMENT_REPORTS: Final[frozenset[type[Line]]] = frozenset({
    AllCaughtUp, AssignmentUpdated, LeaderEpochUpdated, LeaderEpochUpdating, LeaderNotReassigned, LeaderReassignedAlive,
    LeaderReassignedDead, NotCaughtUp, ReassignedIsrError, ReassignmentFailed,
    ReassignmentRemoved, ReassignmentRequested, ReassignmentsDone, ReassignmentsFound, ReassignmentSkipped,
    ReassignmentsResumed, ReassignmentStarted, SomeBehind, WaitingForNewReplicas,
})  # fmt: skip
"""The lines that are observations where something is reassigned."""
