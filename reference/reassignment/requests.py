"""Requests to reassign partitions: taken up, accepted, refused, dropped, and resumed by the next controller.

The listener of /admin/reassign_partitions takes up the partitions that are not being reassigned yet, one after the
other, and takes the lock anew for each: other threads may have it in between, so what is still to be taken up is kept
as `controller.to_reassign`. Accepted, a partition's state znode is watched and the first run begins; refused, because
its AR is RAR already, in order too, or because nobody knows it, it is taken from the request. So it is if its first run
ends with an exception, whatever that has done. A failover drops what is so already, or is no more, before its machines
start, and resumes the rest once they run, with what this broker was reassigning in an earlier term (D13).

Kafka 0.10.2.2: `PartitionsReassignedListener`, `KafkaController.initiateReassignReplicasForTopicPartition`,
`initializePartitionReassignment`. PROTOCOL.md section 8. Left out on purpose: that what is to be resumed is remembered
only when all that is to be dropped is.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from reference.controller.context import Activity
from reference.controller.controller import KafkaController
from reference.controller.resignation import on_controller_moved
from reference.deletion.queue import hold_back
from reference.procedures import THROWABLE, FencedOff, Procedure, any_of
from reference.reassignment.effects import (
    NOTHING_ASKED,
    AcceptReassignment,
    BeginAgain,
    OnReassignmentRequest,
    ReadReassignments,
    ReadRemaining,
    ReadWhetherCaughtUp,
    ReassignmentRequest,
    Reassignments,
    RefuseReassignment,
    WriteRemaining,
)
from reference.reassignment.steps import (
    forget_reassignment,
    on_partition_reassignment,
    remove_from_reassigned_partitions,
)
from reference.scripts import state_path
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log import reassignment as lines
from spec.logs.controller_log.values import Assignment
from spec.state.enumerations import Handler
from spec.variants import Switch

Wanted = Mapping[TopicPartition, tuple[int, ...]]


def on_reassignment_request(controller: KafkaController, given: ReassignmentRequest | None = None) -> Procedure[None]:
    """`PartitionsReassignedListener`: what is asked, and not under way yet, is to be taken up one by one.

    MalformedInput ends it where the request cannot be used, which it has logged by then.
    """
    request = yield from OnReassignmentRequest(given)
    if request == NOTHING_ASKED:
        return
    controller.report(lines.ReassignmentRequested, data=request.text)
    if request.error is not None:
        raise request.error
    known = controller.context.partitions_being_reassigned
    controller.to_reassign = {one: wanted for one, wanted in request.wanted.items() if one not in known}


def take_up(controller: KafkaController, partition: TopicPartition) -> Procedure[None]:
    """The listener goes on: under the lock, one of the partitions that are to be taken up is accepted or refused.

    An exception that leaves this ends the listener. There is nothing to do where a thread that had the lock before it
    found the controller fenced off.
    """
    if partition not in controller.to_reassign:
        return
    wanted = controller.to_reassign[partition]
    controller.to_reassign = {one: rar for one, rar in controller.to_reassign.items() if one != partition}
    try:
        left = yield from verdict(controller, partition, wanted, Handler.REASSIGNMENT)
        controller.is_about(handler=Handler.REASSIGNMENT, reassigning=partition)
        yield from _initiate(controller, partition, wanted, left)
    except FencedOff:
        on_controller_moved(controller)
    except THROWABLE:
        controller.to_reassign = {}
    finally:
        controller.activity = Activity()


def resume_reassignments(controller: KafkaController) -> Procedure[None]:
    """Failover 12: everything that is being reassigned is accepted or refused like a request, under one lock."""
    asked = dict(controller.context.partitions_being_reassigned)
    agenda = Agenda(controller, asked, Handler.FAILOVER)
    while agenda.left:
        verdicts = {one: verdict(controller, one, asked[one], Handler.FAILOVER) for one in agenda.left}
        partition, left = yield from any_of(verdicts)
        agenda.begin(partition)
        yield from _initiate(controller, partition, asked[partition], left)
        agenda.end()
    controller.is_about(handler=Handler.NONE)


def verdict(
    controller: KafkaController, partition: TopicPartition, wanted: tuple[int, ...], reason: Handler
) -> AcceptReassignment | RefuseReassignment:
    """`initiateReassignReplicasForTopicPartition`: the step by which it begins, or the one by which it refuses."""
    assigned = controller.context.partition_replica_assignment.get(partition)
    refused = assigned is None or assigned == wanted or _is_doomed(controller, partition, reason)
    refused = refused or _is_unborn(controller, partition) or _lacks_targets(controller, wanted)
    refused = refused or _is_unsound(controller, wanted)
    return RefuseReassignment(partition) if refused else AcceptReassignment(partition)


def _initiate(
    controller: KafkaController, partition: TopicPartition, wanted: tuple[int, ...], left: Reassignments | None
) -> Procedure[None]:
    """The same from there on; `left` is what remains of the request without a partition that is refused."""
    if left is None:
        yield from _run_first(controller, partition, wanted)
        return
    by_listener = controller.activity.handler is Handler.REASSIGNMENT
    if by_listener and _is_doomed(controller, partition, Handler.REASSIGNMENT):
        controller.report(lines.ReassignmentSkipped, partition=partition)
    elif _is_unsound(controller, wanted):
        controller.report(lines.ReassignmentRefused, partition=partition, new_replicas=_as_printed(wanted))
    else:
        controller.report(lines.ReassignmentFailed, partition=partition)
    yield from _drop(controller, partition, left)


def _is_doomed(controller: KafkaController, partition: TopicPartition, reason: Handler) -> bool:
    """Whether a topic is queued for deletion, which is asked of a new request, and where that is fixed at failover."""
    asks = reason is Handler.REASSIGNMENT or controller.fixes(Switch.REFUSE_DOOMED_REASSIGNMENTS)
    return asks and partition.topic in controller.deleting.queued


def _is_unborn(controller: KafkaController, partition: TopicPartition) -> bool:
    """Whether a partition has no leadership, which step 2 needs: asked where that is fixed."""
    known = controller.context.partition_leadership_info
    return controller.fixes(Switch.REFUSE_UNBORN_REASSIGNMENTS) and partition not in known


def _lacks_targets(controller: KafkaController, wanted: tuple[int, ...]) -> bool:
    """Whether not all of RAR lives, which was asked before 0.10.1.0, also when a failover took it up again (D14)."""
    return controller.reintroduces(Switch.REFUSE_DEAD_TARGETS) and not controller.live.issuperset(wanted)


def _is_unsound(controller: KafkaController, wanted: tuple[int, ...]) -> bool:
    """Whether RAR is empty, names a broker twice, or has text in the place of one: asked where that is fixed."""
    sound = wanted and len(set(wanted)) == len(wanted) and all(isinstance(one, int) for one in wanted)
    return controller.fixes(Switch.REFUSE_ODD_TARGETS) and not sound


def _as_printed(wanted: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers that text prints as."""
    return tuple(map(int, wanted))


def _run_first(controller: KafkaController, partition: TopicPartition, wanted: tuple[int, ...]) -> Procedure[None]:
    """A reassignment is accepted; what its first run raises has it refused after all."""
    controller.report(lines.ReassignmentStarted, partition=partition, new_replicas=_as_printed(wanted))
    controller.listeners |= {state_path(partition)}
    controller.context.partitions_being_reassigned[partition] = wanted
    hold_back(controller, (partition.topic,))
    try:
        found = yield from ReadWhetherCaughtUp(partition)
        yield from on_partition_reassignment(controller, partition, found)
    except THROWABLE:
        controller.report(lines.ReassignmentFailed, partition=partition)
        yield from remove_from_reassigned_partitions(controller, ReadRemaining(partition))


def _drop(controller: KafkaController, partition: TopicPartition, left: Reassignments) -> Procedure[None]:
    """Take a partition from the request, of which this is left."""
    yield from WriteRemaining(partition, left, controller.fence, controller.fixes(Switch.KEEP_UNREAD_REQUESTS))
    forget_reassignment(controller, partition)


def initialize_partition_reassignment(controller: KafkaController) -> Procedure[None]:
    """Failover 7: read what is being reassigned; what is so already, or is no more, is dropped."""
    found, context = (yield from ReadReassignments()).wanted, controller.context
    assigned = context.partition_replica_assignment
    done = {one: wanted for one, wanted in found.items() if assigned.get(one) in (None, wanted)}
    resumed = {one: wanted for one, wanted in found.items() if one not in done}
    context.partitions_being_reassigned.update(resumed)
    agenda = Agenda(controller, done, Handler.NONE)
    while agenda.left:
        partition, left = yield from any_of({one: RefuseReassignment(one) for one in agenda.left})
        agenda.begin(partition)
        yield from _drop(controller, partition, left)
        agenda.end()
    controller.report(lines.ReassignmentsFound, reassigned=_listed(found))
    controller.report(lines.ReassignmentsDone, partitions=tuple(done))
    controller.report(lines.ReassignmentsResumed, reassigned=_listed(resumed))


def _listed(wanted: Wanted) -> Assignment:
    """What is to be reassigned, as a line has it."""
    return tuple((partition, _as_printed(replicas)) for partition, replicas in wanted.items())


def reassignments_concerning(controller: KafkaController, new: frozenset[int]) -> Wanted:
    """OnBrokerStartup 4: what is being reassigned to one of these brokers."""
    reassigned = controller.context.partitions_being_reassigned
    return {one: wanted for one, wanted in reassigned.items() if not new.isdisjoint(wanted)}


def begin_again(controller: KafkaController, concerned: Wanted) -> Procedure[None]:
    """OnBrokerStartup 4: run these once more; what is raised ends the handling of the broker change (D51)."""
    agenda = Agenda(controller, concerned, Handler.BROKER_STARTUP)
    while agenda.left:
        partition, found = yield from any_of({one: BeginAgain(one) for one in agenda.left})
        agenda.begin(partition)
        yield from on_partition_reassignment(controller, partition, found)
        agenda.end()
    controller.is_about(handler=Handler.NONE)


@dataclass
class Agenda:
    """Which partitions a handler has still to begin with, and which is in work; outsiders see both."""

    controller: KafkaController
    wanted: Wanted
    reason: Handler

    def __post_init__(self) -> None:
        self.left = frozenset(self.wanted)
        if self.wanted:
            self.controller.is_about(handler=self.reason, due=tuple(sorted(self.wanted.items())))

    def begin(self, partition: TopicPartition) -> None:
        """A partition, one of those that are left, is in work."""
        self.left -= {partition}
        due = tuple((one, self.wanted[one]) for one in sorted(self.left))
        self.controller.is_about(due=due, reassigning=partition)

    def end(self) -> None:
        """It is done with."""
        self.controller.is_about(reassigning=None, leaving=frozenset(), outside=frozenset())
