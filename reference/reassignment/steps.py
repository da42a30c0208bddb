"""Partition reassignment: from its original replicas (OAR) to those that the admin wants (RAR), in twelve steps.

`on_partition_reassignment` runs when a reassignment is accepted, and again whenever the ISR has all of RAR, or a broker
of RAR starts. As long as the ISR in ZooKeeper lacks one of RAR it does steps 1 to 3, which get the new replicas going;
with all of them in sync it does steps 5 to 12. How a reassignment is asked for, accepted and refused is described in
reference/reassignment/requests.py.

Kept as they are: the leader epoch that steps 2 and 7 raise does not come into the cache, from which UpdateMetadata is
filled (D18); an election that fails in step 7 is only logged, and the old replicas go all the same (D48); nobody waits
for their deletion (D38), and a former leader hears of nothing else (D47). An exception leaves everything as it is.

Kafka 0.10.2.2: `KafkaController.onPartitionReassignment`, `ReassignedPartitionsIsrChangeListener`. PROTOCOL.md sections
7.8 and 8. Left out on purpose: in which order step 5 goes through RAR, which here is its own.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from reference.controller.batch import add_leader_and_isr, send_batch
from reference.controller.context import Activity
from reference.controller.controller import KafkaController
from reference.controller.controller_batch import send_update_metadata
from reference.deletion.queue import resume_deletion
from reference.journal import ReassignmentGivenUp
from reference.leadership import replicas as replica_transitions
from reference.leadership.effects import StateRead, StateWrite
from reference.leadership.leader_selection import select_reassigned
from reference.leadership.leader_selectors import without
from reference.leadership.partitions import bring_online_with
from reference.procedures import THROWABLE, NoLeadership, Procedure, ReassignmentImpossible
from reference.reassignment.effects import (
    CompleteReassignment,
    OnStateChange,
    ReadForBump,
    ReadForMove,
    ReadRemaining,
    ReadWhetherCaughtUp,
    WriteBump,
    WriteMove,
    WriteRemaining,
    WriteRemainingAtEnd,
    WriteTarget,
    WriteUnion,
)
from reference.scripts import Fence, Found, leadership_in, state_path, text_of, topic_path
from reference.zookeeper.api import NodeData
from spec.errors import MalformedInput, NotJson
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.scala_collections import set_to_seq
from spec.logs.controller_log import reassignment as lines
from spec.logs.controller_request_lines import ReassignmentSent
from spec.logs.logged_values import printed
from spec.state.enumerations import Handler
from spec.variants import Switch


def on_state_change(controller: KafkaController, partition: TopicPartition) -> Procedure[None]:
    """`ReassignedPartitionsIsrChangeListener`: with all of RAR in the ISR, go on with the reassignment.

    Where the znode is gone, ZkClient says so to the listener, which does and says nothing (`handleDataDeleted`).
    """
    node = yield from OnStateChange(partition)
    if node is None:
        return
    controller.report(lines.ReassignedIsrChanged, path=state_path(partition), data=text_of(node.data))
    wanted = controller.context.partitions_being_reassigned.get(partition)
    if wanted is None or not _tell_progress(controller, partition, wanted, node):
        return
    controller.is_about(handler=Handler.ISR_CHANGE, reassigning=partition)
    try:
        again = yield from ReadWhetherCaughtUp(partition)
        yield from on_partition_reassignment(controller, partition, again)
    except THROWABLE:
        controller.report(lines.ReassignedIsrError)
    finally:
        controller.activity = Activity()


def _tell_progress(
    controller: KafkaController, partition: TopicPartition, wanted: tuple[int, ...], node: NodeData
) -> bool:
    """Say how many of RAR have caught up, each once; whether that is all of them."""
    wanted = tuple(dict.fromkeys(wanted))
    try:
        found = leadership_in(state_path(partition), node.data, node.stat.version)
    except NotJson:
        controller.report(lines.ReassignedNeverCreated, partition=partition, new_replicas=wanted)
        return False
    except MalformedInput:
        controller.report(lines.ReassignedIsrError)
        return False
    behind = without(wanted, found.isr)
    counted = {"caught_up": len(wanted) - len(behind), "all": len(wanted), "partition": partition}
    if behind:
        controller.report(lines.SomeBehind, **counted, behind=behind)
    else:
        controller.report(lines.AllCaughtUp, **counted)
    return not behind


def on_partition_reassignment(controller: KafkaController, partition: TopicPartition, found: Found) -> Procedure[None]:
    """Steps 1 to 3, or 5 to 12, as the state znode that was just read says; what is raised ends the run."""
    context = controller.context
    wanted = context.partitions_being_reassigned[partition]
    try:
        if found is not None and any(isinstance(one, str) for one in wanted):
            raise ReassignmentImpossible(f"text cannot be cast to Integer: {wanted}")
        caught_up = found is not None and not without(wanted, found.isr)
        if not caught_up:
            controller.report(lines.NotCaughtUp, new_replicas=wanted, partition=partition)
        original = context.partition_replica_assignment.get(partition)
        if original is None:
            raise ReassignmentImpossible(f"key not found: {partition}")
        go_on = _replace_old_replicas if caught_up else _start_new_replicas
        yield from go_on(controller, partition, original, wanted)
    except THROWABLE:
        controller.journal(ReassignmentGivenUp(controller.broker_id, partition))
        controller.is_about(leaving=frozenset(), outside=frozenset())
        raise


# --------------------------------------------------------------------------------------------------------- steps 1 to 3


def _start_new_replicas(
    controller: KafkaController, partition: TopicPartition, original: tuple[int, ...], wanted: tuple[int, ...]
) -> Procedure[None]:
    """AR becomes RAR + OAR; all of it is sent a higher leader epoch; then the new replicas start."""
    union = set_to_seq(tuple(dict.fromkeys((*wanted, *original))))
    starting = frozenset((partition, replica) for replica in without(wanted, original))
    yield from _update_assigned_replicas(controller, partition, union, WriteUnion)
    write = partial(WriteBump, remaining=starting)
    yield from _update_leader_epoch_and_send_request(
        controller, ReadForBump(partition, starting), write, receivers=union, assigned=union
    )
    yield from replica_transitions.start_one_by_one(controller, starting)
    controller.report(lines.WaitingForNewReplicas, new_replicas=wanted, partition=partition)


def _update_assigned_replicas(
    controller: KafkaController, partition: TopicPartition, replicas: tuple[int, ...], write: type[WriteUnion]
) -> Procedure[None]:
    """`updateAssignedReplicasForPartition`: the whole topic is written from memory, which then has it, too."""
    assignment = controller.context.partition_replica_assignment
    topic = {one.partition: assignment[one] for one in controller.context.partitions_of(partition.topic)}
    updated = tuple(sorted({**topic, partition.partition: replicas}.items()))
    keeps_others = controller.fixes(Switch.KEEP_OTHERS_ASSIGNMENTS)
    data = yield from write(partition, updated, controller.fence, keeps_others)
    controller.report(lines.AssignmentWritten, path=topic_path(partition.topic), data=text_of(data))
    controller.report(lines.AssignmentUpdated, partition=partition, replicas=replicas)
    assignment[partition] = replicas


Write = Callable[[TopicPartition, LeaderIsrAndControllerEpoch, "Fence | None"], StateWrite]
"""Makes the write of a state znode."""


def _update_leader_epoch_and_send_request(
    controller: KafkaController, read: StateRead, write: Write, receivers: Iterable[int], assigned: tuple[int, ...]
) -> Procedure[None]:
    """`updateLeaderEpochAndSendRequest`: raise the leader epoch, and send it to the receivers with these AR."""
    partition, context = read.partition, controller.context
    controller.batch.new_batch()
    known = yield from _update_leader_epoch(controller, read, write)
    context.partition_replica_assignment[partition] = assigned
    if controller.fixes(Switch.CACHE_BUMPED_EPOCH):
        context.partition_leadership_info[partition] = known
    add_leader_and_isr(controller, controller.batch, receivers, partition, known)
    send_batch(controller, controller.batch)
    controller.log_state_change(
        ReassignmentSent, leadership=printed(known), assigned_replicas=assigned, partition=partition
    )


def _update_leader_epoch(
    controller: KafkaController, read: StateRead, write: Write
) -> Procedure[LeaderIsrAndControllerEpoch]:
    """`updateLeaderEpoch`: the same leader and ISR with leader_epoch + 1, again and again until the write holds."""
    controller.report(lines.LeaderEpochUpdating, partition=read.partition)
    while True:
        found = yield from read
        if found is None:
            raise ReassignmentImpossible(f"{read.partition} has no state znode whose leader epoch could be raised")
        if found.controller_epoch > controller.context.epoch:
            raise ReassignmentImpossible(f"the state znode of {read.partition} was written by a newer controller")
        raised = found.decided(found.leader, found.isr, controller.context.epoch)
        conditional = write(read.partition, raised, controller.fence)
        version = yield from replace(conditional, compares_content=controller.compares_content)
        if version is not None:
            controller.report(lines.LeaderEpochUpdated, partition=read.partition, leader_epoch=raised.leader_epoch)
            return replace(raised, zk_version=version)


# -------------------------------------------------------------------------------------------------------- steps 5 to 12


def _replace_old_replicas(
    controller: KafkaController, partition: TopicPartition, original: tuple[int, ...], wanted: tuple[int, ...]
) -> Procedure[None]:
    """RAR goes Online, one of it leads, the others go Offline and are deleted; AR is RAR, which all are sent."""
    leaving = without(tuple(dict.fromkeys(original)), wanted)
    controller.is_about(leaving=frozenset(leaving), outside=frozenset(wanted) - frozenset(original))
    for replica in wanted:
        replica_transitions.set_online(controller, [(partition, replica)])
    has_leader = yield from _move_leader_if_required(controller, partition, original, wanted)
    controller.is_about(outside=frozenset())
    if not has_leader and controller.fixes(Switch.WAIT_FOR_LEADER):
        return
    old = [(partition, replica) for replica in leaving]
    yield from replica_transitions.set_offline(controller, old)
    replica_transitions.delete_at_once(controller, old)
    controller.is_about(leaving=frozenset())
    yield from _update_assigned_replicas(controller, partition, wanted, WriteTarget)
    yield from remove_from_reassigned_partitions(controller, CompleteReassignment(partition), WriteRemainingAtEnd)
    controller.report(lines.ReassignmentRemoved, partition=partition)
    yield from send_update_metadata(controller, (partition,))
    resume_deletion(controller, (partition.topic,))


def _move_leader_if_required(
    controller: KafkaController, partition: TopicPartition, original: tuple[int, ...], wanted: tuple[int, ...]
) -> Procedure[bool]:
    """`moveReassignedPartitionLeaderIfRequired`, steps 6 and 7: AR in memory is RAR; whether one of RAR leads."""
    context = controller.context
    known = context.partition_leadership_info.get(partition)
    if known is None:
        raise NoLeadership(f"key not found: {partition}")
    if not controller.fixes(Switch.WAIT_FOR_LEADER):
        context.partition_replica_assignment[partition] = wanted
    about = {"leader": known.leader, "partition": partition, "new_replicas": wanted}
    if known.leader in wanted and known.leader in controller.live:
        controller.report(lines.LeaderReassignedAlive, **about)
        yield from _update_leader_epoch_and_send_request(
            controller, ReadForMove(partition), WriteMove, receivers=original, assigned=wanted
        )
        return True
    controller.report(lines.LeaderReassignedDead if known.leader in wanted else lines.LeaderNotReassigned, **about)
    return (yield from _elect_among_reassigned(controller, partition, wanted))


def _elect_among_reassigned(
    controller: KafkaController, partition: TopicPartition, wanted: tuple[int, ...]
) -> Procedure[bool]:
    """To OnlinePartition with the reassigned selector; a failure is only logged (D48). Whether a leader was written."""
    elected = False

    def write(decided: LeaderIsrAndControllerEpoch) -> Procedure[int | None]:
        nonlocal elected
        compares, fence = controller.compares_content, controller.fence
        version = yield from WriteMove(partition, decided, fence, compares_content=compares)
        elected = version is not None
        if elected:
            controller.context.partition_replica_assignment[partition] = wanted
        return version

    ask = partial(select_reassigned, controller, partition, wanted)
    yield from bring_online_with(controller, ReadForMove(partition), write, ask)
    return elected


def remove_from_reassigned_partitions(
    controller: KafkaController, read: ReadRemaining, write: type[WriteRemaining] = WriteRemaining
) -> Procedure[None]:
    """`removePartitionFromReassignedPartitions`: unsubscribe, then take the partition from the request."""
    controller.listeners -= {state_path(read.partition)}
    remaining = yield from read
    yield from write(read.partition, remaining, controller.fence, controller.fixes(Switch.KEEP_UNREAD_REQUESTS))
    forget_reassignment(controller, read.partition)


def forget_reassignment(controller: KafkaController, partition: TopicPartition) -> None:
    """It is done, or refused; only where that is fixed the latter, too, lets the topic be deleted."""
    controller.context.partitions_being_reassigned.pop(partition, None)
    if controller.fixes(Switch.REFUSE_DOOMED_REASSIGNMENTS):
        resume_deletion(controller, (partition.topic,))
