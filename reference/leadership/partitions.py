"""Partitions: their state machine, and how one gets a leader.

A New partition is initialised: its live assigned replicas become the ISR, the first of them the leader, and the state
znode is created. An Offline partition is elected for: read the state znode, give up if a newer controller wrote it, ask
the offline selector, write on the version read, and again until the write holds. What was decided goes into one batch.

A call handles its partitions one by one; what is raised for one is logged in state-change.log, leaves its state as it
was, and stops none of the others: their batch is sent. A batch that cannot be begun ends the call, which is logged in
controller.log. Nothing is raised out of a call but a fenced write.

Kafka 0.10.2.2: `PartitionStateMachine`. PROTOCOL.md section 3.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final

from reference.controller.batch import add_leader_and_isr
from reference.controller.controller import KafkaController, is_permitted
from reference.journal import ElectionGivenUp
from reference.leadership.effects import CreateState, Partitions, ReadForElection, StateRead, WriteElectedLeader
from reference.leadership.leader_selection import Select, select
from reference.leadership.leader_selectors import (
    ElectionNotNeeded,
    NoReplicaOnline,
    StateChangeFailed,
    elect_on_creation,
)
from reference.leadership.machine_batches import Error, begin, send
from reference.procedures import THROWABLE, NoAssignment, Procedure, given, whichever
from reference.scripts import Found
from reference.zookeeper.api import ZookeeperError
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import NO_LEADERSHIP, LeaderIsrAndControllerEpoch
from spec.formats.scala_collections import filtered_from
from spec.logs import state_change_lines as changes
from spec.logs.controller_log import state_machines as lines
from spec.logs.logged_values import LeaderAndIsr, printed
from spec.state.enumerations import Handler
from spec.tables.partition_states import PartitionState, state_at_start_up
from spec.variants import Switch

ONLINE_ERROR: Final = partial(lines.PartitionsInvokedError, target=PartitionState.ONLINE)


def start_partition_machine(controller: KafkaController) -> Procedure[None]:
    """`startup`: take the states from the caches, then bring online what is New or Offline."""
    machine, context = controller.partition_machine, controller.context
    for partition in context.partition_replica_assignment:
        known = context.partition_leadership_info.get(partition)
        machine.states[partition] = state_at_start_up(None if known is None else known.leader, controller.live)
    machine.has_started = True
    yield from trigger_online_partition_state_change(controller, Handler.FAILOVER)


def trigger_online_partition_state_change(
    controller: KafkaController, reason: Handler, topic: str | None = None
) -> Procedure[None]:
    """Bring every New and every Offline partition online, or those of a topic, unless it is queued for deletion."""
    waiting, queued = (PartitionState.NEW, PartitionState.OFFLINE), controller.deleting.queued
    states = controller.partition_machine.states.items()
    chosen = [tp for tp, state in states if state in waiting and tp.topic not in queued and topic in {None, tp.topic}]
    if begin(controller, controller.partition_batch, lines.PartitionsOnlineError):
        yield from _bring_online(controller, chosen, reason, lines.PartitionsOnlineError)


def bring_online(
    controller: KafkaController,
    partitions: Collection[TopicPartition],
    reason: Handler,
    asks: Callable[[TopicPartition], Select] | None = None,
) -> Procedure[None]:
    """`handleStateChanges(partitions, OnlinePartition)` as one batch, with the selector that the reason asks.

    `asks` gives another for each partition.
    """
    if _invoke(controller, partitions, PartitionState.ONLINE):
        yield from _bring_online(controller, partitions, reason, ONLINE_ERROR, asks)


def _invoke(controller: KafkaController, partitions: Collection[TopicPartition], target: PartitionState) -> bool:
    """`handleStateChanges` begins; whether it handles the partitions."""
    controller.report(lines.PartitionsInvoked, target=target, partitions=tuple(partitions))
    error, is_up = partial(lines.PartitionsInvokedError, target=target), controller.partition_machine.has_started
    return begin(controller, controller.partition_batch, error, is_up=is_up or not partitions)


def _bring_online(
    controller: KafkaController,
    partitions: Collection[TopicPartition],
    reason: Handler,
    error: Error,
    asks: Callable[[TopicPartition], Select] | None = None,
) -> Procedure[None]:
    left = frozenset(partition for partition in partitions if _may_begin(controller, partition))
    if left:
        controller.is_about(handler=reason)
    while left:
        partition, came = yield from whichever({one: _first_effect(controller, one, left) for one in left})
        done = True
        with _caught(controller, partition):
            found = given(came)
            if _state(controller, partition) is PartitionState.NEW:
                _after_creation(controller, partition, found)
            else:
                write = partial(_write, controller, partition, left)
                ask = partial(select, controller, partition, reason) if asks is None else asks(partition)
                done = yield from _elect_leader(controller, partition, found, write, ask)
        left -= {partition} if done else set()
    controller.is_about(handler=Handler.NONE)
    send(controller, controller.partition_batch, error)


def _first_effect(
    controller: KafkaController, partition: TopicPartition, remaining: Partitions
) -> CreateState | ReadForElection:
    """With which a partition's way online begins."""
    if _state(controller, partition) is not PartitionState.NEW:
        return ReadForElection(partition, remaining)
    initial, recognises_own = _initial_leadership(controller, partition), controller.fixes(Switch.RECOGNISE_OWN_CREATE)
    return CreateState(partition, remaining, initial, controller.fence, recognises_own)


Write = Callable[[LeaderIsrAndControllerEpoch], Procedure["int | None"]]
"""The write of what was decided, on the version that was read: the new version, or None if all is to be done again."""


def bring_online_with(controller: KafkaController, read: StateRead, write: Write, ask: Select) -> Procedure[None]:
    """`handleStateChanges` of one partition that was led before, with a selector."""
    partition = read.partition
    if not _invoke(controller, (partition,), PartitionState.ONLINE):
        return
    done = _refused(controller, partition, PartitionState.ONLINE)
    while not done:
        done = True
        with _caught(controller, partition):
            found = yield from read
            done = yield from _elect_leader(controller, partition, found, write, ask)
    send(controller, controller.partition_batch, ONLINE_ERROR)


def set_new(controller: KafkaController, partitions: Collection[TopicPartition]) -> None:
    """To NewPartition: they are known, with their assigned replicas; nothing is sent."""
    if _invoke(controller, partitions, PartitionState.NEW):
        for partition in partitions:
            told = {"partition": partition, "source": _state(controller, partition), "target": PartitionState.NEW}
            if not _refused(controller, partition, PartitionState.NEW):
                controller.partition_machine.states[partition] = PartitionState.NEW
                replicas = controller.context.partition_replica_assignment.get(partition)
                if replicas is None:  # which only the line looks up
                    controller.log_state_change(changes.PartitionChangeFailed, **told)
                else:
                    controller.log_state_change(changes.PartitionBecameNew, **told, assigned_replicas=replicas)


def lose_leaders(controller: KafkaController, partitions: Collection[TopicPartition], target: PartitionState) -> None:
    """To OfflinePartition, where their leader is gone, or to NonExistentPartition, where their topic is deleted.

    Nothing is written, and nothing is sent.
    """
    for partition in partitions if _invoke(controller, partitions, target) else ():
        source = _state(controller, partition)
        if not _refused(controller, partition, target):
            controller.log_state_change(changes.PartitionLostLeader, partition=partition, source=source, target=target)
            controller.partition_machine.states[partition] = target


def _state(controller: KafkaController, partition: TopicPartition) -> PartitionState:
    return controller.partition_machine.states.get(partition, PartitionState.NON_EXISTENT)


def _refused(controller: KafkaController, partition: TopicPartition, target: PartitionState) -> bool:
    """Ask the table; a move that it does not permit is logged."""
    if is_permitted("partition", _state(controller, partition), target):
        return False
    _log_failure(controller, partition, target)
    return True


@contextmanager
def _caught(controller: KafkaController, partition: TopicPartition) -> Iterator[None]:
    """What `handleStateChange` catches of one partition on its way online, and `electLeaderForPartition` before it."""
    try:
        yield
    except THROWABLE as error:
        _fail(controller, partition, error)


def _fail(controller: KafkaController, partition: TopicPartition, error: Exception) -> None:
    """What cannot be read, or is refused, was so before anything was sent of the partition."""
    if isinstance(error, MalformedInput | ZookeeperError):
        _tell_of_attempt(controller, partition)
    creating = _state(controller, partition) is PartitionState.NEW
    if not creating and not isinstance(error, NoReplicaOnline):  # which Kafka passes through as it is
        controller.log_state_change(changes.ElectionFailed, partition=partition, reason=str(error))
    if not isinstance(error, NoAssignment):
        controller.journal(ElectionGivenUp(controller.broker_id, partition, creating))
    _log_failure(controller, partition, PartitionState.ONLINE)


def _tell_of_attempt(controller: KafkaController, partition: TopicPartition) -> None:
    """A leader is about to be found for a partition."""
    if _state(controller, partition) is PartitionState.NEW:
        initial = _initial_leadership(controller, partition)
        assigned = controller.context.partition_replica_assignment[partition]
        controller.report(
            lines.LiveAssignedReplicas, partition=partition, replicas=filtered_from(assigned, initial.isr)
        )
        controller.report(lines.StateInitialized, partition=partition, leadership=printed(initial))
    else:
        controller.log_state_change(changes.LeaderElectionStarted, partition=partition)


def _log_failure(controller: KafkaController, partition: TopicPartition, target: PartitionState) -> None:
    source = _state(controller, partition)
    controller.log_state_change(changes.PartitionChangeFailed, partition=partition, source=source, target=target)


def _may_begin(controller: KafkaController, partition: TopicPartition) -> bool:
    """Whether the way online begins at all: the table permits it, and a New partition has somebody to lead it."""
    if _refused(controller, partition, PartitionState.ONLINE):
        return False
    if _state(controller, partition) is not PartitionState.NEW:
        return True
    replicas = controller.context.partition_replica_assignment.get(partition)
    if replicas is None:  # its topic vanished; what looks for AR raises
        _log_failure(controller, partition, PartitionState.ONLINE)
        return False
    if controller.live.isdisjoint(replicas):
        live = tuple(sorted(controller.live))
        controller.log_state_change(
            changes.NoAssignedReplicaAlive, partition=partition, assigned_replicas=replicas, live_brokers=live
        )
        _log_failure(controller, partition, PartitionState.ONLINE)
        return False
    return True


# ------------------------------------------------------------------------------------------------------- New to Online


def _initial_leadership(controller: KafkaController, partition: TopicPartition) -> LeaderIsrAndControllerEpoch:
    """`initializeLeaderAndIsrForPartition`: the live assigned replicas, the first of them leading."""
    election = elect_on_creation(controller.context.partition_replica_assignment[partition], controller.live)
    return replace(NO_LEADERSHIP.decided(election.leader, election.isr, controller.context.epoch), zk_version=0)


def _after_creation(controller: KafkaController, partition: TopicPartition, found: Found) -> None:
    """The state znode was created; or it is somebody else's, and the partition stays New."""
    _tell_of_attempt(controller, partition)
    if found is None:
        initial = _initial_leadership(controller, partition)
        _now_online(controller, partition, initial, initial.isr)
        return
    value, epoch = LeaderAndIsr.of(found), found.controller_epoch
    controller.log_state_change(changes.StateZnodeExists, partition=partition, value=value, controller_epoch=epoch)
    raise StateChangeFailed(f"the state znode of {partition} is there already")


# --------------------------------------------------------------------------------------------------- Offline to Online


def _write(
    controller: KafkaController, partition: TopicPartition, remaining: Partitions, decided: LeaderIsrAndControllerEpoch
) -> Procedure[int | None]:
    """Write an elected leader."""
    compares, fence = controller.compares_content, controller.fence
    write = WriteElectedLeader(partition, decided, fence, remaining, compares_content=compares)
    return (yield from write)


def _report_cache(controller: KafkaController) -> None:
    """The whole cache of leaderships, as it is after an election that ended without an exception."""
    cached = controller.context.partition_leadership_info.items()
    controller.report(lines.LeaderCacheUpdated, leaders=tuple((tp, printed(known)) for tp, known in cached))


def _elect_leader(
    controller: KafkaController, partition: TopicPartition, found: Found, write: Write, ask: Select
) -> Procedure[bool]:
    """`electLeaderForPartition`, one round: choose and write; false if the znode is to be read again."""
    _tell_of_attempt(controller, partition)
    if found is None:
        state = _state(controller, partition)
        raise StateChangeFailed(f"LeaderAndIsr information doesn't exist for partition {partition} in {state} state")
    if found.controller_epoch > controller.context.epoch:
        epoch = found.controller_epoch
        controller.log_state_change(changes.ElectionAborted, partition=partition, controller_epoch=epoch)
        raise StateChangeFailed(_aborted(controller, partition, epoch))
    try:
        election = yield from ask(found)
    except ElectionNotNeeded:
        _report_cache(controller)
        _log_online(controller, partition)
        return True
    decided = found.decided(election.leader, election.isr, controller.context.epoch)
    if not election.raises_leader_epoch:  # which only the no-op selector does not, and no handler asks that
        decided = replace(decided, leader_epoch=found.leader_epoch)
    version = yield from write(decided)
    if version is None:
        return False
    controller.log_state_change(changes.LeaderElected, leader=election.leader, partition=partition)
    _now_online(controller, partition, replace(decided, zk_version=version), election.receivers)
    return True


def _aborted(controller: KafkaController, partition: TopicPartition, epoch: int) -> str:
    """What the exception says that ends an aborted election: the line before, less its head."""
    line = changes.ElectionAborted(controller.broker_id, controller.context.epoch, partition, epoch)
    return str(line).partition(f" epoch {controller.context.epoch} ")[2]


def _now_online(
    controller: KafkaController, partition: TopicPartition, known: LeaderIsrAndControllerEpoch, receivers: Iterable[int]
) -> None:
    """The znode is as we wrote it: cache it, add it to the batch for its replicas, and the partition is Online.

    NoAssignment, of this or any other partition, ends it in between; what was added by then is sent (D53).
    """
    controller.context.partition_leadership_info[partition] = known
    add_leader_and_isr(controller, controller.partition_batch, receivers, partition, known)
    if _state(controller, partition) is not PartitionState.NEW:
        _report_cache(controller)
    _log_online(controller, partition)


def _log_online(controller: KafkaController, partition: TopicPartition) -> None:
    """The partition is Online, led as the cache says."""
    source, leader = _state(controller, partition), controller.context.partition_leadership_info[partition].leader
    controller.partition_machine.states[partition] = PartitionState.ONLINE
    controller.log_state_change(
        changes.PartitionBecameOnline, partition=partition, source=source, target=PartitionState.ONLINE, leader=leader
    )
