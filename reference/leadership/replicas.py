"""Replicas: their state machine, and how a dead one leaves the ISR.

A replica goes Online by being sent the cached leadership. It goes Offline by being removed from the ISR: read the state
znode, give up if it is gone or a newer controller's, write the ISR without it on the version read, and again until the
write holds; the other assigned replicas are sent it. The leader becomes -1 if it was the one removed, and the last
member stays where unclean election is off. A failed attempt of the write overwrites the cache until the next round,
with a version of -1; if that finds a newer controller's znode, for good.

What is raised for one replica is logged in state-change.log, leaves its state as it was, and stops none of the others:
their batch is sent. A batch that cannot be begun ends the call, which is logged in controller.log.

Kafka 0.10.2.2: `ReplicaStateMachine`, `KafkaController.removeReplicaFromIsr`. PROTOCOL.md section 4.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from reference.controller.batch import add_leader_and_isr
from reference.controller.controller import KafkaController, is_permitted
from reference.leadership.effects import (
    ReadForNewReplica,
    ReadForRemoval,
    Replica,
    Replicas,
    StartNewReplica,
    WriteRemoval,
)
from reference.leadership.leader_selection import read_unclean
from reference.leadership.leader_selectors import StateChangeFailed, without
from reference.leadership.machine_batches import begin, send
from reference.procedures import THROWABLE, Procedure, given, whichever
from reference.scripts import Found
from spec.formats.kafka_types import NO_LEADER, TopicPartition
from spec.formats.leadership import NO_VERSION, LeaderIsrAndControllerEpoch
from spec.logs.controller_log.broker_changes import IsrShrunk, LastIsrRetained, NotInIsr, RemovingFromIsr
from spec.logs.controller_log.state_machines import ReplicasInvoked, ReplicasInvokedError
from spec.logs.controller_log.values import PartitionReplica
from spec.logs.controller_log.values import Replicas as LoggedReplicas
from spec.logs.logged_values import LeaderAndIsr
from spec.logs.state_change_lines import ReplicaChanged, ReplicaChangeFailed
from spec.state.enumerations import Handler
from spec.tables.replica_states import ReplicaState, state_at_start_up
from spec.variants import Switch


def start_replica_machine(controller: KafkaController) -> Procedure[None]:
    """`startup`: Online on live brokers, ReplicaDeletionIneligible on all others (D15); the live ones are then sent it.

    Where that is fixed, the others go Offline.
    """
    machine, context = controller.replica_machine, controller.context
    for partition, replicas in context.partition_replica_assignment.items():
        for replica in replicas:
            machine.states[partition, replica] = state_at_start_up(replica, controller.live)
    machine.has_started = True
    set_online_on(controller, controller.live)
    if controller.fixes(Switch.TAKE_THE_DEAD_OFFLINE):
        dead = [key for key in machine.states if key[1] not in controller.live]
        yield from set_offline(controller, dead, Handler.STARTUP)
        controller.is_about(handler=Handler.NONE)


def logged(replicas: Iterable[Replica]) -> LoggedReplicas:
    """Replicas as controller.log has them."""
    return tuple(PartitionReplica(tp.topic, tp.partition, replica) for tp, replica in sorted(replicas))


def _invoke(controller: KafkaController, replicas: Collection[Replica], target: ReplicaState) -> bool:
    """`handleStateChanges` begins, for at least one replica; whether it handles them, as a machine that is up does."""
    if replicas:
        controller.report(ReplicasInvoked, target=target, replicas=logged(replicas))
    error, is_up = partial(ReplicasInvokedError, target=target), controller.replica_machine.has_started
    return begin(controller, controller.replica_batch, error, is_up=is_up or not replicas)


def _send(controller: KafkaController, target: ReplicaState) -> None:
    send(controller, controller.replica_batch, partial(ReplicasInvokedError, target=target))


def set_online_on(controller: KafkaController, brokers: frozenset[int]) -> None:
    """Every replica on these brokers goes Online; where that is fixed, what AR lacks is deleted there (D38, D47)."""
    set_online(controller, controller.context.replicas_on(brokers), _strays(controller, brokers))


def _strays(controller: KafkaController, brokers: frozenset[int]) -> list[Replica]:
    """What these brokers may have, but AR does not; of a topic that is gone, whatever it may have left there."""
    if not controller.fixes(Switch.DELETE_STRAYS):
        return []
    hosts, context = controller.configuration.hosts, controller.context
    gone = {tp: () for tp in controller.configuration.left_behind if tp.topic not in context.all_topics}
    return [
        (partition, broker_id)
        for partition, replicas in {**gone, **context.partition_replica_assignment}.items()
        for broker_id in sorted(brokers - set(replicas))
        if hosts is None or broker_id in hosts[partition]
    ]


def set_online(controller: KafkaController, replicas: Collection[Replica], strays: Collection[Replica] = ()) -> None:
    """To OnlineReplica: whoever is not new is sent the cached leadership, if there is any; one batch, with strays."""
    if not (replicas or strays) or not _invoke(controller, replicas, ReplicaState.ONLINE):
        return
    for partition, replica in strays:
        controller.replica_batch.add_stop_replica((replica,), partition, delete=True)
    for key in replicas:
        with _caught(controller, key, ReplicaState.ONLINE):
            _set_online(controller, key)
    _send(controller, ReplicaState.ONLINE)


def _set_online(controller: KafkaController, key: Replica) -> None:
    partition, replica = key
    source, known = _state(controller, key), controller.context.partition_leadership_info.get(partition)
    if _refused(controller, key, ReplicaState.ONLINE):
        return
    assigned = controller.context.partition_replica_assignment
    if source is ReplicaState.NEW and replica not in assigned[partition]:
        assigned[partition] = (*assigned[partition], replica)
    if known is not None and source is not ReplicaState.NEW and not is_spared(controller, partition):
        add_leader_and_isr(controller, controller.replica_batch, (replica,), partition, known)
    _enter(controller, key, ReplicaState.ONLINE, is_told=source is ReplicaState.NEW or known is not None)


@contextmanager
def _caught(controller: KafkaController, key: Replica, target: ReplicaState) -> Iterator[None]:
    """What `handleStateChange` catches of one replica; what is in the batch by then is sent with the rest."""
    try:
        yield
    except THROWABLE:  # whose stack trace Kafka logs, too
        _log_failure(controller, key, target)


def is_spared(controller: KafkaController, partition: TopicPartition) -> bool:
    """Whether no broker is sent a partition to host, since its topic is queued, and not being reassigned (a fix)."""
    spares, topic = controller.fixes(Switch.DYING_TOPICS_GET_NO_LEADERSHIP), partition.topic
    return spares and topic in controller.deleting.queued and not controller.context.is_reassigned(topic)


def set_new(controller: KafkaController, replicas: Collection[Replica]) -> Procedure[None]:
    """To NewReplica: a state znode that is there already is sent to the replica, unless it is its leader; one batch."""
    if not replicas or not _invoke(controller, replicas, ReplicaState.NEW):
        return
    left = frozenset(key for key in replicas if not _refused(controller, key, ReplicaState.NEW))
    while left:
        key, came = yield from whichever({one: ReadForNewReplica(*one, left) for one in left})
        left -= {key}
        with _caught(controller, key, ReplicaState.NEW):
            _now_new(controller, key, given(came))
    _send(controller, ReplicaState.NEW)


def start_one_by_one(controller: KafkaController, replicas: Replicas) -> Procedure[None]:
    """To NewReplica for a reassignment: the same, each with a batch of its own. What is not up does not even read."""
    if not controller.replica_machine.has_started:
        for key in sorted(replicas):
            _invoke(controller, [key], ReplicaState.NEW)
        return
    left = frozenset(key for key in sorted(replicas) if not _refused(controller, key, ReplicaState.NEW))
    while left:
        key, came = yield from whichever({one: StartNewReplica(*one, left) for one in left})
        left -= {key}
        if _invoke(controller, [key], ReplicaState.NEW):
            with _caught(controller, key, ReplicaState.NEW):
                _now_new(controller, key, given(came))
            _send(controller, ReplicaState.NEW)


def _now_new(controller: KafkaController, key: Replica, found: Found) -> None:
    """The replica is New, and is to be sent what the state znode says; where it leads there, it stays as it is."""
    partition, replica = key
    if found is not None:
        if found.leader == replica:
            raise StateChangeFailed(f"{replica} is to lead {partition}")
        add_leader_and_isr(controller, controller.replica_batch, (replica,), partition, found)
    _enter(controller, key, ReplicaState.NEW)


def set_offline(
    controller: KafkaController, replicas: Collection[Replica], reason: Handler = Handler.NONE
) -> Procedure[None]:
    """To OfflineReplica: stop it, remove it from the ISR, send the others that, unless its topic goes; one batch."""
    if not replicas or not _invoke(controller, replicas, ReplicaState.OFFLINE):
        return
    left, begun = frozenset(key for key in replicas if _stop(controller, key)), set[Replica]()
    if left and reason is not Handler.NONE:
        controller.is_about(handler=reason)
    while left:
        reads = {key: ReadForRemoval(key[0], controller.read_fence, key[1], left) for key in left}
        key, came = yield from whichever(reads)
        if key not in begun:
            begun.add(key)
            isr = controller.context.partition_leadership_info[key[0]].isr
            controller.report(RemovingFromIsr, replica=key[1], isr=isr, partition=key[0])
        done = True
        with _caught(controller, key, ReplicaState.OFFLINE):
            done = yield from _go_offline(controller, key, given(came), left)
        left -= {key} if done else set()
    _send(controller, ReplicaState.OFFLINE)


def _go_offline(controller: KafkaController, key: Replica, found: Found, remaining: Replicas) -> Procedure[bool]:
    """One round of a replica's way out of the ISR; false if the znode is to be read again."""
    if found is None or found.controller_epoch > controller.context.epoch:
        _fail_to_go_offline(controller, key, overtaken=found is not None)
        return True
    known = yield from _remove_replica_from_isr(controller, key, found, remaining)
    if known is not None:
        _after_removal(controller, key, known)
    return known is not None


def _stop(controller: KafkaController, key: Replica) -> bool:
    """Have a replica that may go Offline sent StopReplica; say whether it is to be removed from the ISR."""
    partition, replica = key
    if _refused(controller, key, ReplicaState.OFFLINE):
        return False
    controller.replica_batch.add_stop_replica((replica,), partition, delete=False)
    if partition in controller.context.partition_leadership_info:
        return True
    if controller.fixes(Switch.OFFLINE_WITHOUT_LEADERSHIP):
        _enter(controller, key, ReplicaState.OFFLINE)
    else:
        _fail_to_go_offline(controller, key)
    return False


def _fail_to_go_offline(controller: KafkaController, key: Replica, *, overtaken: bool = False) -> None:
    """Its state stays (D16); the want of leadership is no failure where the partition is being deleted.

    Before 0.9.0.1 it always is.
    """
    always = controller.reintroduces(Switch.IGNORE_WHO_IS_NEW)
    if overtaken or always or not controller.is_doomed(key[0]):
        _log_failure(controller, key, ReplicaState.OFFLINE)


def _after_removal(controller: KafkaController, key: Replica, known: LeaderIsrAndControllerEpoch) -> None:
    """Cache the leadership without the replica; the other assigned replicas are sent it, unless the topic is to go.

    Before 0.8.2 only the leader was (D21).
    """
    partition, replica = key
    controller.context.partition_leadership_info[partition] = known
    if not controller.is_doomed(partition) and not is_spared(controller, partition):
        others = without(controller.context.partition_replica_assignment[partition], (replica,))
        if controller.reintroduces(Switch.TELL_ONLY_THE_LEADER):
            others = tuple(one for one in others if one == known.leader)
        add_leader_and_isr(controller, controller.replica_batch, others, partition, known)
    _enter(controller, key, ReplicaState.OFFLINE)


def _remove_replica_from_isr(
    controller: KafkaController, key: Replica, found: LeaderIsrAndControllerEpoch, remaining: Replicas
) -> Procedure[LeaderIsrAndControllerEpoch | None]:
    """`removeReplicaFromIsr`, one round: the leadership without the replica; None if the znode is to be read again."""
    partition, replica = key
    if replica not in found.isr:
        leader, isr = found.leader, found.isr
        controller.report(NotInIsr, replica=replica, partition=partition, leader=leader, isr=isr)
        return replace(found, controller_epoch=controller.context.epoch)  # which is cached, not written
    shrunk = yield from _without_replica(controller, found, key)
    compares, fence = controller.compares_content, controller.fence
    version = yield from WriteRemoval(partition, shrunk, fence, replica, remaining, compares_content=compares)
    if version is None:
        if controller.configuration.caches_failed_removals and not controller.fixes(Switch.CACHE_WHAT_IS_WRITTEN):
            failed = replace(shrunk, zk_version=NO_VERSION)
            controller.context.partition_leadership_info[partition] = failed
        return None
    controller.report(IsrShrunk, partition=partition, leader_and_isr=LeaderAndIsr.of(shrunk))
    return replace(shrunk, zk_version=version)


def _without_replica(
    controller: KafkaController, found: LeaderIsrAndControllerEpoch, key: Replica
) -> Procedure[LeaderIsrAndControllerEpoch]:
    """The leadership to be written; the last member of the ISR stays in it where unclean election is off."""
    partition, replica = key
    isr = without(found.isr, (replica,))
    keeps_last = controller.fixes(Switch.KEEP_LAST_IN_SYNC)
    if not isr and (keeps_last or not (yield from read_unclean(controller, partition))):
        controller.report(LastIsrRetained, replica=replica, partition=partition)
        isr = found.isr
    return found.decided(NO_LEADER if found.leader == replica else found.leader, isr, controller.context.epoch)


# ------------------------------------------------------------------------------------------------------------- deletion


def set_deletion_started(controller: KafkaController, replicas: Collection[Replica], *, calls_back: bool) -> None:
    """To ReplicaDeletionStarted: StopReplica with delete, one batch; `calls_back`: its answer is for a callback."""
    started = _moved(controller, replicas, ReplicaState.DELETION_STARTED)
    for partition, replica in started:
        controller.replica_batch.add_stop_replica((replica,), partition, delete=True, calls_back=calls_back)
    if started:
        _send(controller, ReplicaState.DELETION_STARTED)


def set_deletion_ended(controller: KafkaController, replicas: Collection[Replica], target: ReplicaState) -> None:
    """To ReplicaDeletionSuccessful or ReplicaDeletionIneligible: the answer has come, or never will."""
    _moved(controller, replicas, target)


def set_non_existent(controller: KafkaController, replicas: Collection[Replica]) -> None:
    """To NonExistentReplica: no assigned replica any more, and nothing is known of it."""
    assignment = controller.context.partition_replica_assignment
    for partition, replica in _moved(controller, replicas, ReplicaState.NON_EXISTENT):
        assignment[partition] = without(assignment[partition], (replica,))
        del controller.replica_machine.states[partition, replica]


def delete_at_once(controller: KafkaController, replicas: Collection[Replica]) -> None:
    """From OfflineReplica to NonExistentReplica, without waiting for the answer to StopReplica (D38)."""
    set_deletion_started(controller, replicas, calls_back=False)
    set_deletion_ended(controller, replicas, ReplicaState.DELETION_SUCCESSFUL)
    set_non_existent(controller, replicas)


def _moved(controller: KafkaController, replicas: Collection[Replica], target: ReplicaState) -> list[Replica]:
    """Make moves that are about the state only, each if the table permits it; the replicas that have moved."""
    moved = []
    for key in replicas if replicas and _invoke(controller, replicas, target) else ():
        if not _refused(controller, key, target):
            _enter(controller, key, target)
            moved.append(key)
    return moved


# --------------------------------------------------------------------------------------------------- table and log


def _state(controller: KafkaController, key: Replica) -> ReplicaState:
    return controller.replica_machine.states.get(key, ReplicaState.NON_EXISTENT)


def _refused(controller: KafkaController, key: Replica, target: ReplicaState) -> bool:
    """Ask the table, once the partition's AR is known; a move that it does not permit is logged."""
    known = key[0] in controller.context.partition_replica_assignment
    if known and is_permitted("replica", _state(controller, key), target):
        return False
    _log_failure(controller, key, target)
    return True


def _log_failure(controller: KafkaController, key: Replica, target: ReplicaState) -> None:
    told = {"replica": key[1], "partition": key[0], "source": _state(controller, key), "target": target}
    controller.log_state_change(ReplicaChangeFailed, **told)


def _enter(controller: KafkaController, key: Replica, target: ReplicaState, *, is_told: bool = True) -> None:
    """The replica has another state now, and then state-change.log says so."""
    told = {"replica": key[1], "partition": key[0], "source": _state(controller, key), "target": target}
    controller.replica_machine.states[key] = target
    if is_told:
        controller.log_state_change(ReplicaChanged, **told)
