"""Preferred replica election and automatic rebalance: the admin's request, what a new controller resumes, the outcome.

Kafka: `KafkaController` (`onPreferredReplicaElection`, `initializeAndMaybeTriggerPreferredReplicaElection`,
`removePartitionsFromPreferredReplicaElection`, `checkAndTriggerPartitionRebalance`),
`PreferredReplicaElectionListener`.
"""

from spec.logs.controller_log.parts import ControllerLogLine, ControllerSays, listener


class ElectionListenerSays(ControllerLogLine, speaker=listener("PreferredReplicaElectionListener")):
    """A line of the listener on /admin/preferred_replica_election."""


class PreferredElectionRequested(
    ElectionListenerSays,
    text="Preferred replica election listener fired for path /admin/preferred_replica_election. Record partitions to"
    " undergo preferred replica election {data}",
    level="DEBUG",
):
    """The callback begins, with the data that ZkClient read."""


class PreferredElectionUnderWay(
    ElectionListenerSays, text="These partitions are already undergoing preferred replica election: {partitions}"
):
    """A request came while another was not finished."""


class PreferredElectionSkipped(
    ElectionListenerSays,
    text="Skipping preferred replica election for partitions {partitions:partition_set} since the respective topics are"
    " being deleted",
    level="ERROR",
):
    """Their topics are queued for deletion."""


class PreferredElectionFound(ControllerSays, text="Partitions undergoing preferred replica election: {partitions}"):
    """What a new controller finds in /admin/preferred_replica_election."""


class PreferredElectionDone(ControllerSays, text="Partitions that completed preferred replica election: {partitions}"):
    """Those of them that are led by their preferred replica, or whose topic is gone."""


class PreferredElectionResumed(ControllerSays, text="Resuming preferred replica election for partitions: {partitions}"):
    """The others."""


class PreferredElectionStarted(
    ControllerSays, text="Starting preferred replica leader election for partitions {partitions}"
):
    """`onPreferredReplicaElection` begins; at every failover it does, with whatever is resumed."""


class PreferredElectionError(
    ControllerSays, text="Error completing preferred replica leader election for partitions {partitions}", level="ERROR"
):
    """`onPreferredReplicaElection` ended with an exception."""


class PreferredReplicaLeads(
    ControllerSays, text="Partition {partition} completed preferred replica leader election. New leader is {leader:id}"
):
    """The partition is led as preferred."""


class PreferredReplicaDoesNotLead(
    ControllerSays,
    text="Partition {partition} failed to complete preferred replica leader election. Leader is {leader}",
    level="WARN",
):
    """The partition is led otherwise, and the request for it is dropped all the same."""


class RebalanceScheduled(ControllerSays, text="starting the partition rebalance scheduler"):
    """auto.leader.rebalance.enable is set; the first check comes 5 s later."""


class RebalanceChecking(ControllerSays, text="checking need to trigger partition rebalance", level="TRACE"):
    """A check begins."""


class PreferredByBroker(ControllerSays, text="preferred replicas by broker {assignments}", level="DEBUG"):
    """The partitions by their preferred replica; topics queued for deletion are left out."""


class NotLedByPreferred(ControllerSays, text="topics not in preferred replica {assignment}", level="DEBUG"):
    """The partitions of one broker that it ought to lead and does not."""


class ImbalanceRatio(ControllerSays, text="leader imbalance ratio for broker {broker} is {ratio}", level="TRACE"):
    """The share of them, compared with leader.imbalance.per.broker.percentage."""

    broker: int
    ratio: float
