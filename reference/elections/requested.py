"""Preferred replica election: giving partitions back to the first of their assigned replicas.

The listener of `/admin/preferred_replica_election` takes the partitions that a request names, less those that an
election is under way for, to OnlinePartition with the preferred selector, and deletes the request, whatever came of it.
A failover reads what is requested before its machines start, and runs that when they are up.

Kept as they are: the line that is logged for each partition looks up its leadership, and raises for one that has none
before the request is deleted (D49); so does the failover's read (D42).

Kafka 0.10.2.2: `PreferredReplicaElectionListener`, `KafkaController.onPreferredReplicaElection`,
`initializePreferredReplicaElection`, `removePartitionsFromPreferredReplicaElection`. PROTOCOL.md section 7.5.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Self

from reference.controller.context import NO_REQUEST, Activity
from reference.controller.controller import KafkaController
from reference.deletion.queue import hold_back, resume_deletion
from reference.journal import Milestone
from reference.leadership.partitions import bring_online
from reference.procedures import Effect, NoLeadership, NoReplicas, PastZkClient, Procedure, Script
from reference.scripts import Fence, check, parsed, read_data
from reference.zookeeper.api import Delete, Exists, GetData, NodeData, NoNode
from spec.errors import MalformedInput
from spec.formats import znode_paths as paths
from spec.formats.kafka_types import TopicPartition
from spec.formats.znodes import PartitionsPayload
from spec.logs.controller_log import elections as lines
from spec.state.enumerations import At, Handler
from spec.variants import Switch

ELECTIONS: Final = str(paths.PREFERRED_REPLICA_ELECTION)
Partitions = frozenset[TopicPartition]


@dataclass(frozen=True)
class ElectionRequest:
    """A request as read: what it names, and the zxid of its creation, which tells it from the next one."""

    partitions: Partitions
    czxid: int


NOTHING_ASKED: Final = ElectionRequest(frozenset(), NO_REQUEST)
"""There is no request."""


def _read_request() -> Script[ElectionRequest]:
    """`getPartitionsUndergoingPreferredReplicaElection`: the request, if there is one."""
    node = yield from read_data(ELECTIONS)
    if node is None:
        return NOTHING_ASKED
    partitions = parsed(PartitionsPayload, ELECTIONS, node.data).partitions
    if len(frozenset(partitions)) < len(partitions):
        raise MalformedInput(ELECTIONS, "partitions", "names one of them twice")
    return ElectionRequest(frozenset(partitions), node.stat.czxid)


class OnElectionRequest(Effect[ElectionRequest]):
    """A data callback of the request's path: the request, which may have been read before."""

    given: ElectionRequest | None = None

    def script(self) -> Script[ElectionRequest]:
        """ZkClient sets the watch again, whether or not the znode is there, then reads."""
        if self.given is not None:
            return self.given
        yield Exists(ELECTIONS)
        return (yield from _read_request())


class ReadElectionRequest(Effect[ElectionRequest]):
    """Failover: the request that is pending."""

    at = At.READ_ELECTIONS
    parts = frozenset({"preferred_election"})
    script = staticmethod(_read_request)


class DeleteElectionRequest(Effect[None]):
    """The request was handled, and goes: fenced where writes are, and where that is fixed only with this czxid."""

    fence: Fence | None
    only: int | None
    at = At.DELETE_ELECTIONS

    @classmethod
    def by(cls, controller: KafkaController) -> Self:
        """As this controller deletes it; -1 is the czxid of no request."""
        only = controller.context.election_request if controller.fixes(Switch.KEEP_UNREAD_REQUESTS) else None
        return cls(controller.fence, only)

    def script(self) -> Script[None]:
        """`deletePath`; what the fixes ask before sets no watch, for a transaction would ask it."""
        with suppress(NoNode):
            if self.fence is not None or self.only is not None:
                node: NodeData = yield PastZkClient(GetData(ELECTIONS))
                yield from check(self.fence)
                if self.only not in (None, node.stat.czxid):
                    return
            yield Delete(ELECTIONS)


class FinishFailover(DeleteElectionRequest):
    """Failover: the same with the request that stands by now, which need not be there."""

    at = At.FINISH


def on_election_request(controller: KafkaController, given: ElectionRequest | None = None) -> Procedure[None]:
    """`PreferredReplicaElectionListener`: elect for what is asked and not under way yet."""
    request = yield from OnElectionRequest(given)
    if request == NOTHING_ASKED:
        return
    context = controller.context
    context.election_request = request.czxid
    try:
        queued = {one for one in request.partitions if one.topic in controller.deleting.queued}
        asked = request.partitions - context.partitions_undergoing_election - queued
        yield from _elect(controller, asked, Handler.REQUESTED_ELECTION)
        yield from DeleteElectionRequest.by(controller)
    finally:
        controller.activity = Activity()


def load_pending_elections(controller: KafkaController) -> Procedure[None]:
    """Failover: what is requested, less what is led by the preferred replica already and what nobody knows."""
    request = yield from ReadElectionRequest()
    context, named = controller.context, request.partitions
    context.election_request = request.czxid
    done = frozenset(one for one in named if _is_done(controller, one))
    context.partitions_undergoing_election |= named
    context.partitions_undergoing_election -= done
    controller.report(lines.PreferredElectionFound, partitions=tuple(sorted(named)))
    controller.report(lines.PreferredElectionDone, partitions=tuple(sorted(done)))
    resumed = context.partitions_undergoing_election
    controller.report(lines.PreferredElectionResumed, partitions=tuple(sorted(resumed)))


def _is_done(controller: KafkaController, partition: TopicPartition) -> bool:
    """Whether a pending election of a partition is completed, or of no topic.

    NoLeadership where it has no leader, NoReplicas where it has nobody to prefer.
    """
    context = controller.context
    replicas = context.partition_replica_assignment.get(partition)
    if replicas is None:
        return True
    known = context.partition_leadership_info.get(partition)
    if known is None:
        if controller.fixes(Switch.ELECT_ONLY_THE_LED):
            return True
        controller.reach(Milestone.LEADERLESS_ELECTION)
        raise NoLeadership(f"key not found: {partition}")
    if not replicas:
        controller.reach(Milestone.LEADERLESS_ELECTION)
        raise NoReplicas(f"head of empty list: AR of {partition}")
    return known.leader == replicas[0]


def run_pending_elections(controller: KafkaController) -> Procedure[None]:
    """Failover 13, without the delete: whatever is under way, of this request or left from an earlier term (D13)."""
    yield from _elect(controller, controller.context.partitions_undergoing_election, Handler.PENDING_ELECTION)


def _elect(controller: KafkaController, partitions: Partitions, reason: Handler) -> Procedure[None]:
    """`onPreferredReplicaElection`, without the delete; NoLeadership leaves the running set as it is."""
    context = controller.context
    tell_start(controller, partitions)
    context.partitions_undergoing_election |= partitions
    hold_back(controller, {partition.topic for partition in partitions})
    controller.is_about(asked=partitions)
    elected = sorted(partitions)
    if controller.fixes(Switch.DYING_TOPICS_GET_NO_LEADERSHIP):
        elected = [one for one in elected if one.topic not in controller.deleting.queued]
    yield from bring_online(controller, elected, reason)
    controller.is_about(asked=frozenset())
    tell_outcome(controller, partitions)
    context.partitions_undergoing_election -= partitions
    resume_deletion(controller, {partition.topic for partition in partitions})


def tell_start(controller: KafkaController, partitions: Partitions) -> None:
    """Say for which partitions an election begins."""
    controller.report(lines.PreferredElectionStarted, partitions=tuple(sorted(partitions)))


def tell_outcome(controller: KafkaController, partitions: Partitions) -> None:
    """Say of each partition who leads it; one without leadership ends that, unless it is left out (D49).

    So does one with an empty AR (D61).
    """
    context = controller.context
    for partition in sorted(partitions):
        known = context.partition_leadership_info.get(partition)
        replicas = context.partition_replica_assignment.get(partition)
        if known is not None and replicas == ():
            controller.reach(Milestone.ELECTION_FAILED)
            raise NoReplicas(f"head of empty list: AR of {partition}")
        if known is not None:
            preferred = (replicas or ())[:1]
            line = lines.PreferredReplicaLeads if preferred == (known.leader,) else lines.PreferredReplicaDoesNotLead
            controller.report(line, partition=partition, leader=known.leader)
        elif not controller.fixes(Switch.ELECT_ONLY_THE_LED):
            controller.reach(Milestone.ELECTION_FAILED)
            raise NoLeadership(f"key not found: {partition}")
