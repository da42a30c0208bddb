"""What a broker writes to state-change.log about a LeaderAndIsr: partitions as they arrive, what becomes of them.

`controller` and `epoch` are the sender's and its controller epoch, except in `BecomeFollowerUnchanged` and
`LeaderUnavailable`: there `epoch` is the one of the partition's last decision.

Kafka: `ReplicaManager`. `BecomeLeaderError` and `BecomeFollowerError` precede an exception that the broker answers with
the code of that exception.
"""

from typing import Final

from spec.formats.kafka_types import V0100, V0101, V082, V090
from spec.logs.broker_change_lines import CONTEXT, CORRELATED, BrokerLine, PartitionLine, RequestLine
from spec.logs.logged_values import PartitionInfo, Role

RECEIVED: Final = "received LeaderAndIsr request %s " + CORRELATED + " for partition {partition:[t,p]}"


class LeaderAndIsrReceived(PartitionLine, text=RECEIVED % "{state}"):
    """A partition of a LeaderAndIsr as it arrived, before any check (0.10.0 means 0.10.0.1 here)."""

    state: PartitionInfo


class UnreadableLeaderAndIsrReceived(
    PartitionLine,
    text={
        V0100: RECEIVED % "org.apache.kafka.common.requests.LeaderAndIsrRequest$PartitionState@{identity:hash}",
        V0101: None,
    },
):
    """The same in 0.10.0.0, whose class had forgotten how to print itself."""


IGNORING: Final = "ignoring LeaderAndIsr request from controller {controller} with correlation id {correlation_id} "


class LeaderAndIsrFromOldController(
    BrokerLine,
    text=IGNORING + "since its controller epoch {epoch:int} is old. Latest known controller epoch is {known_epoch}",
    level="WARN",
):
    """The whole request is refused; 0.8.2 prints this once for each partition."""


OLD_LEADER_EPOCH: Final = (
    IGNORING + "epoch {epoch:id} for partition {partition:[t,p]} since its associated leader epoch {leader_epoch} is "
)


class LeaderEpochNotHigher(
    PartitionLine,
    text={
        V082: OLD_LEADER_EPOCH + "old. Current leader epoch is {current_leader_epoch:int}",
        V0101: OLD_LEADER_EPOCH + "not higher than the current leader epoch {current_leader_epoch:int}",
    },
    level="WARN",
):
    """A partition is refused because this leader epoch, or a higher one, is known already."""


class NotInAssignedReplicas(
    PartitionLine,
    text=IGNORING + "epoch {epoch:id} for partition {partition:[t,p]} as itself is not in assigned replica list"
    " {assigned_replicas}",
    level="WARN",
):
    """A partition is refused because this broker has no replica of it."""


HANDLING: Final = "LeaderAndIsr request correlationId {correlation_id} from " + CONTEXT


class TransitionStarted(
    PartitionLine, text=f"handling {HANDLING} starting the {{role}} transition for partition {{partition}}"
):
    """A partition that was accepted begins to become what it was sent."""

    role: Role


class FetchersStopped(
    PartitionLine,
    text=f"stopped fetchers as part of {{role}} request from {CONTEXT} with correlation id {{correlation_id}}"
    " for partition {partition}",
):
    """The partition no longer fetches from its old leader."""


class TransitionCompleted(
    PartitionLine, text=f"completed {HANDLING} for the {{role}} transition for partition {{partition}}"
):
    """The end of the transition, printed for every accepted partition, also where the leader was unavailable."""


class BecomeLeaderUnchanged(
    PartitionLine,
    text={
        V090: f"skipped the become-leader state change after marking its partition as leader with {CORRELATED}"
        " for partition {partition} since it is already the leader for the partition."
    },
    level="INFO",
):
    """The broker led the partition already and goes on, in the new leader epoch (from 0.9.0 on)."""


class BecomeFollowerUnchanged(
    PartitionLine,
    text=f"skipped the become-follower state change after marking its partition as follower with {CORRELATED}"
    " for partition {partition} since the new leader {leader} is the same as the old leader",
    level="INFO",
):
    """The broker followed this leader already and goes on, in the new leader epoch; `epoch` is the decision's."""


class LeaderUnavailable(
    PartitionLine,
    text=f"received LeaderAndIsrRequest with {CORRELATED} for partition {{partition}} but cannot become follower since"
    " the new leader {leader} is unavailable.",
    level="ERROR",
):
    """The partition keeps its old leader epoch, as the new one is not known to live; `epoch` is the decision's."""


class LogsTruncated(
    PartitionLine,
    text="truncated logs and checkpointed recovery boundaries for partition {partition} as part of become-follower"
    f" request with {CORRELATED}",
):
    """The partition's log ends at its high watermark."""


class FetcherStarted(
    PartitionLine,
    text=f"started fetcher to new leader as part of become-follower request from {CONTEXT} with correlation id"
    " {correlation_id} for partition {partition}",
):
    """The partition fetches from its new leader."""


class FetcherNotStarted(
    PartitionLine,
    text=f"skipped the adding-fetcher step of the become-follower state change with {CORRELATED} for partition"
    " {partition} since it is shutting down",
):
    """The broker is about to stop, so it does not begin to fetch."""


class BecomeLeaderError(
    PartitionLine,
    text="while processing LeaderAndIsr request correlationId {correlation_id} received from "
    f"{CONTEXT} for partition {{partition}}",
    level="ERROR",
    prefix="Error on broker {broker} ",
):
    """Something broke while partitions became leaders; a line for each of them."""


class BecomeFollowerError(
    RequestLine,
    text="while processing LeaderAndIsr request with correlationId {correlation_id} received from " + CONTEXT,
    level="ERROR",
    prefix="Error on broker {broker} ",
):
    """Something broke while partitions became followers."""
