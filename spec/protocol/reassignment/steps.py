"""Partition reassignment: from its original replicas (OAR) to those that the admin wants (RAR), in twelve steps.

How it is asked for, and how it ends, is told in spec/protocol/reassignment/requests.py. In between
`onPartitionReassignment` runs, again and again. As long as the ISR, as read from ZooKeeper, lacks one of RAR, that is
phase A: (1) AR becomes RAR + OAR, in ZooKeeper, then in memory; (2) leader_epoch goes up, and all of AR is told; (3)
the replicas that are new start; (4) the handler ends. Whenever the ISR changes, or a broker of RAR starts, it looks
again. With all of RAR in the ISR comes phase B: (5) RAR goes Online, (6) AR in memory becomes RAR, (7) a leader outside
RAR, or dead, gives way to one of RAR, any other is told its new AR, (8) the others go Offline, which takes them out of
the ISR, and (9) are deleted; (10) AR becomes RAR in ZooKeeper, too; (11) the partition leaves
/admin/reassign_partitions; (12) everybody is told.

An exception leaves everything as it is, and AR the union, if step 1 is done. A new controller takes up what ZooKeeper
holds.

Three pairs are one action each: 5 and 6, the sends that end 8 and those of 9, 11 and 12. Between the two of a pair the
handler keeps the lock and touches neither ZooKeeper nor the wire: it puts requests on unbounded queues, and a crash
there looks like one behind the pair that the queues' tails die with, a session loss or a pause like a later delivery.
So no fault in between differs from one beside the pair.

Left out: in which order step 5 goes through RAR. Answers to the writes that are lost:
spec/protocol/reassignment/lost_answers.py.

Kafka 0.10.2.2: `KafkaController.onPartitionReassignment`, `ReassignedPartitionsIsrChangeListener`. PROTOCOL.md sections
7.8 and 8.
"""

from __future__ import annotations

from spec.language.rules import action, observe, require, reset, say, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.reassignment import (
    AllCaughtUp,
    AssignmentUpdated,
    LeaderEpochUpdated,
    LeaderEpochUpdating,
    LeaderNotReassigned,
    LeaderReassignedAlive,
    LeaderReassignedDead,
    NotCaughtUp,
    SomeBehind,
    WaitingForNewReplicas,
)
from spec.model import Model
from spec.protocol.context.assignment import assigned_replicas, assigned_set, write_assignment
from spec.protocol.context.deletion_marks import adding_raises
from spec.protocol.context.live_brokers import live_brokers
from spec.protocol.controller.controller_batch import is_dirty
from spec.protocol.controller.resignation import controller_moved
from spec.protocol.controller.threads import has_started, rearm_isr_watch, reset_present, take_callback
from spec.protocol.leadership.leader_selectors import ElectionTerms, chosen, elect_noop, elect_reassigned
from spec.protocol.leadership.partitions import everybody_is_informed
from spec.protocol.leadership.replicas import may_go_online_or_offline, movable_replicas
from spec.protocol.leadership.state_writes import cache_state, decide, forget_decision, write_decision
from spec.protocol.leadership_cache import is_cached
from spec.protocol.reassignment.requests import end_run, go_on, stop_watching
from spec.protocol.requests.batch import Batch, send
from spec.protocol.zookeeper import can_operate, exists, is_fenced_off, note_read
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.shape import At, Callback, Handler
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.tables.taken_rows import DELETED_AT_ONCE, move
from spec.variants import Switch

PARTS = ("reassignment",)
SOURCE = "KafkaController.onPartitionReassignment 0.10.2.2"


@action(actor="controller {c}", source="ReassignedPartitionsIsrChangeListener 0.10.2.2", parts=PARTS)
def on_state_change(s: State, m: Model, c: int, p: int) -> None:
    """The state znode of a partition changed: if it is being reassigned and the ISR has all of RAR, go on with it."""
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    require(can_operate(s, c), controller.active, controller.concerns[0] == p)
    rearm_isr_watch(s, m, c)
    take_callback(s, m, c, Callback.STATE)
    with when(both(controller.reassigned[p] != (), exists(znode))):
        _say_how_far(s, m, c, p)
    with when(both(controller.reassigned[p] != (), _has_caught_up(s, m, c, p), exists(znode))):
        controller.handler = Handler.ISR_CHANGE
        controller.reassigning = p
        controller.at = At.REASSIGN_READ


def _say_how_far(s: State, m: Model, c: int, p: int) -> None:
    """The listener tells how many of RAR are in the ISR."""
    wanted, isr = m.brokers.members(s.controllers[c].reassigned[p]), m.brokers.members(s.zookeeper.state[p].isr)
    caught_up, behind = m.brokers.intersection(wanted, isr), m.brokers.difference(wanted, isr)
    with when(m.brokers.is_empty(behind)):
        say(AllCaughtUp, partition=p, caught_up=caught_up, all=wanted)
    with when(~m.brokers.is_empty(behind)):
        say(SomeBehind, partition=p, caught_up=caught_up, all=wanted, behind=behind)


def _has_caught_up(s: State, m: Model, c: int, p: int) -> Value:
    """Whether all of RAR is in the ISR."""
    wanted, isr = m.brokers.members(s.controllers[c].reassigned[p]), m.brokers.members(s.zookeeper.state[p].isr)
    return m.brokers.is_subset(wanted, isr)


# ------------------------------------------------------------------------------------------------------ phase A or B?


@action(actor="controller {c}", source="KafkaController.areReplicasInIsr 0.10.2.2", parts=PARTS)
def read_whether_caught_up(s: State, m: Model, c: int, p: int) -> None:
    """Read the ISR: with all of RAR in it, steps 5 and 6 follow, which nobody else sees; otherwise step 1.

    Of a topic that has been deleted there is no AR, which raises (D44, D51).
    """
    controller = s.controllers[c]
    next_one = both(controller.at == At.REASSIGN_NEXT, controller.due[p] != ())
    again = both(next_one, controller.handler == Handler.BROKER_STARTUP)
    running = both(controller.at == At.REASSIGN_READ, controller.reassigning == p)
    require(can_operate(s, c), either(again, running))
    controller.reassigning = p
    controller.due[p] = ()
    note_read(s, m, c, p)
    caught_up = both(exists(s.zookeeper.state[p]), _has_caught_up(s, m, c, p))
    known = assigned_replicas(s, m, c, p) != () if m.topics_vanish else flag(True)
    with when(~caught_up):
        say(NotCaughtUp, partition=p, new_replicas=controller.reassigned[p])
    with when(both(known, ~caught_up)):
        controller.at = At.WRITE_UNION
    with when(both(known, caught_up)):
        _begin_phase_b(s, m, c, p)
    with when(~known):
        end_run(s, m, c, p)


def working_on(s: State, m: Model, c: int, p: int, at: At) -> None:
    """Guard of a step: the controller is at this place of the reassignment of this partition."""
    controller = s.controllers[c]
    require(can_operate(s, c), controller.at == at, controller.reassigning == p)


# -------------------------------------------------------------------------------------------------------------- phase A


@action(actor="controller {c}", source=f"{SOURCE}, step 1", parts=PARTS)
def write_union(s: State, m: Model, c: int, p: int) -> None:
    """Step 1: AR becomes RAR + OAR in the topic's znode, then in memory."""
    controller = s.controllers[c]
    working_on(s, m, c, p, At.WRITE_UNION)
    wanted, assigned = controller.reassigned[p], assigned_replicas(s, m, c, p)
    fenced = is_fenced_off(s, m, c)
    with when(~fenced):
        controller.partitions[p].visiting = m.brokers.difference(m.brokers.members(wanted), m.brokers.members(assigned))
        write_assignment(s, m, c, p, m.brokers.merged(wanted, assigned))
        say(AssignmentUpdated, partition=p, replicas=controller.partitions[p].assigned)
        controller.at = At.BUMP_READ
        _begin_bump(s, m, c, p)
    with when(fenced):
        controller_moved(s, m, c)


def _begin_bump(s: State, m: Model, c: int, p: int) -> None:
    """Steps 2 and 7 begin a batch first: one that is dirty stays so, and ends the run (D53)."""
    dirty = is_dirty(s, m, c)
    with when(~dirty):
        say(LeaderEpochUpdating, partition=p)
    if m.loses_topics:
        with when(dirty):
            end_run(s, m, c, p)


@action(actor="controller {c}", source="KafkaController.updateLeaderEpoch 0.10.2.2", parts=PARTS)
def read_for_bump(s: State, m: Model, c: int, p: int) -> None:
    """Step 2: read the state znode; if it is absent or a newer controller's, that is an exception."""
    working_on(s, m, c, p, At.BUMP_READ)
    note_read(s, m, c, p)
    usable, znode = _is_usable(s, c, p), s.zookeeper.state[p]
    with when(usable):
        decide(s, c, p, leader=znode.leader, isr=znode.isr, at=At.BUMP_WRITE)
    with when(~usable):
        end_run(s, m, c, p)


@action(actor="controller {c}", source="KafkaController.updateLeaderEpochAndSendRequest 0.10.2.2", parts=PARTS)
def write_bump(s: State, m: Model, c: int, p: int) -> None:
    """Step 2: write leader_epoch + 1, if the version is the one read, and tell all of AR; the cache stays behind.

    A replica machine that is not up refuses step 3, before it has read anything; that is only logged.
    """
    controller = s.controllers[c]
    working_on(s, m, c, p, At.BUMP_WRITE)
    done, again = write_decision(s, m, c, p)
    with when(done):
        say(LeaderEpochUpdated, partition=p, leader_epoch=s.zookeeper.state[p].leader_epoch)
        told = _tell_bumped(s, m, c, p, assigned_set(s, m, c, p))
        with when(told):
            forget_decision(s, c, At.START_READ)
            with when(either(m.brokers.is_empty(controller.partitions[p].visiting), ~has_started(s, m, c))):
                reset(controller.partitions[p], "visiting")
                _wait(s, m, c, p)
    with when(again):
        forget_decision(s, c, At.BUMP_READ)


@action(actor="controller {c}", source=f"{SOURCE}, step 3", parts=PARTS)
def start_new_replica(s: State, m: Model, c: int, p: int, r: int) -> None:
    """Step 3: a replica of RAR - OAR goes New and is sent what the state znode says, unless it is the leader there."""
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    cached = controller.partitions[p]
    working_on(s, m, c, p, At.START_READ)
    require(m.brokers.in_set(r, cached.visiting))
    note_read(s, m, c, p)
    one = m.brokers.set_kind.constant((r,))
    starts = both(cached.replicas[r] == ReplicaState.NON_EXISTENT, ~both(exists(znode), znode.leader == r))
    with when(starts):
        with when(~both(exists(znode), adding_raises(s, m, c))):
            move(cached.replicas, r, ReplicaState.NEW)
        with when(exists(znode)):
            batch = Batch(ordered={p: one}, metadata={p: is_cached(cached)}, everybody=True, content={(p, r): znode})
            send(s, m, c, batch)
    cached.visiting = m.brokers.difference(cached.visiting, one)
    with when(m.brokers.is_empty(cached.visiting)):
        _wait(s, m, c, p)


def _wait(s: State, m: Model, c: int, p: int) -> None:
    """Step 4: the new replicas are to catch up; the handler is done with the partition."""
    say(WaitingForNewReplicas, partition=p, new_replicas=s.controllers[c].reassigned[p])
    go_on(s, m, c)


# -------------------------------------------------------------------------------------------------------------- phase B


def _begin_phase_b(s: State, m: Model, c: int, p: int) -> None:
    """Steps 5 and 6: RAR goes Online, each in turn with a batch of its own; AR in memory becomes RAR. Then step 7.

    Step 6 asks who leads by the cache, before it does anything: without leadership there, that is an exception.
    """
    controller = s.controllers[c]
    cached, wanted = controller.partitions[p], controller.reassigned[p]
    controller.leaving = m.brokers.difference(assigned_set(s, m, c, p), m.brokers.members(wanted))
    for replicas in m.requested(p):
        with when(wanted == replicas):
            for r in replicas:
                _to_online(s, m, c, p, r)
    if not m.mends(Switch.WAIT_FOR_LEADER):
        with when(is_cached(cached)):
            cached.assigned = wanted
    unknown = both(_moves(s, m, c, p), cached.state == PartitionState.NON_EXISTENT)
    with when(is_cached(cached)):
        _say_who_leads(s, m, c, p)
    with when(both(is_cached(cached), ~unknown)):
        controller.at = At.MOVE_READ
        with when(~_moves(s, m, c, p)):
            _begin_bump(s, m, c, p)
    with when(both(is_cached(cached), unknown)):
        _go_on_without_leader(s, m, c, p)
    with when(~is_cached(cached)):
        end_run(s, m, c, p)


def _say_who_leads(s: State, m: Model, c: int, p: int) -> None:
    """Step 7 tells whether the leader is of RAR, and lives."""
    controller = s.controllers[c]
    wanted, leader, moves = controller.reassigned[p], controller.partitions[p].leader, _moves(s, m, c, p)
    among = m.brokers.contains(wanted, leader)
    for kind, applies in (
        (LeaderNotReassigned, ~among),
        (LeaderReassignedDead, both(among, moves)),
        (LeaderReassignedAlive, ~moves),
    ):
        with when(applies):
            say(kind, partition=p, leader=leader, new_replicas=wanted)


def _go_on_without_leader(s: State, m: Model, c: int, p: int) -> None:
    """Nobody was elected, or the partition machine, which is not up, does not know the partition: step 8 (D48)."""
    if m.mends(Switch.WAIT_FOR_LEADER):
        go_on(s, m, c)
    else:
        _begin_step_8(s, m, c, p)


def _to_online(s: State, m: Model, c: int, p: int, r: int) -> None:
    """A replica goes Online; if it was not New, it is sent the cached leadership."""
    cached = s.controllers[c].partitions[p]
    was_new = flag(cached.replicas[r] == ReplicaState.NEW)
    told = both(may_go_online_or_offline(cached.replicas[r]), ~was_new, is_cached(cached))
    with when(told):
        one = m.brokers.set_kind.constant((r,))
        send(s, m, c, Batch(ordered={p: one}, metadata={p: flag(True)}))
    with when(both(may_go_online_or_offline(cached.replicas[r]), ~both(told, adding_raises(s, m, c)))):
        move(cached.replicas, r, ReplicaState.ONLINE)


def _moves(s: State, m: Model, c: int, p: int) -> Value:
    """Whether a new leader is to be elected: the cached one is not of RAR, or is dead."""
    controller = s.controllers[c]
    leader = controller.partitions[p].leader
    return ~both(m.brokers.contains(controller.reassigned[p], leader), m.brokers.in_set(leader, live_brokers(s, m, c)))


def election_of_move(s: State, m: Model, c: int, p: int) -> ElectionTerms:
    """What step 7 makes of the state znode: a leader of RAR, or the same one where that is of RAR and lives."""
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    moved = elect_reassigned(m.brokers, controller.reassigned[p], znode.isr, live_brokers(s, m, c))
    kept = elect_noop(m.brokers, controller.reassigned[p], znode.isr, znode.leader)
    return chosen(_moves(s, m, c, p), moved, kept)


@action(actor="controller {c}", source="moveReassignedPartitionLeaderIfRequired 0.10.2.2", parts=PARTS)
def read_for_move(s: State, m: Model, c: int, p: int) -> None:
    """Step 7: read the state znode. Where nobody of RAR can be elected, that is only logged, and step 8 follows (D48).

    Where no election is needed, an absent znode, or a newer controller's, is an exception.
    """
    working_on(s, m, c, p, At.MOVE_READ)
    note_read(s, m, c, p)
    moves, election = _moves(s, m, c, p), election_of_move(s, m, c, p)
    possible = both(_is_usable(s, c, p), election.possible)
    with when(possible):
        decide(s, c, p, leader=election.leader, isr=election.isr, at=At.MOVE_WRITE)
    with when(~possible & moves):
        observe(f"controller {c}", "fail election", partition=p)
        _go_on_without_leader(s, m, c, p)
    with when(~possible & ~moves):
        end_run(s, m, c, p)


@action(actor="controller {c}", source="moveReassignedPartitionLeaderIfRequired 0.10.2.2", parts=PARTS)
def write_move(s: State, m: Model, c: int, p: int) -> None:
    """Step 7: write the elected leader, or the same one, with leader_epoch + 1, if the version is the one read.

    An election is cached and told to RAR. Otherwise old replicas are told as well, and the cache stays behind.
    """
    controller = s.controllers[c]
    wanted, moves = controller.reassigned[p], _moves(s, m, c, p)
    working_on(s, m, c, p, At.MOVE_WRITE)
    done, again = write_decision(s, m, c, p)
    with when(done):
        controller.partitions[p].assigned = wanted
        with when(moves):
            cache_state(s, c, p)
            with when(~adding_raises(s, m, c)):
                move(controller.partitions[p], "state", PartitionState.ONLINE)
            send(s, m, c, Batch(ordered={p: m.brokers.members(wanted)}, metadata={p: flag(True)}))
        told = moves
        with when(~moves):
            say(LeaderEpochUpdated, partition=p, leader_epoch=s.zookeeper.state[p].leader_epoch)
            told = told | _tell_bumped(s, m, c, p, m.brokers.union(controller.leaving, m.brokers.members(wanted)))
        with when(told):
            forget_decision(s, c, At.MOVE_READ)
            _begin_step_8(s, m, c, p)
    with when(again):
        forget_decision(s, c, At.MOVE_READ)


def _begin_step_8(s: State, m: Model, c: int, p: int) -> None:
    """Step 8: the replicas that are to go, if there are any, go Offline like a failed broker's."""
    controller = s.controllers[c]
    cached = controller.partitions[p]
    cached.visiting = m.brokers.intersection(controller.leaving, movable_replicas(m, cached, p))
    controller.at = At.REMOVE_READ
    with when(m.brokers.is_empty(cached.visiting)):
        _end_step_9(m, controller, p)
        controller.at = At.WRITE_TARGET


def delete_old_replicas(s: State, m: Model, c: int, p: int) -> None:
    """Steps 8 and 9, where it is a reassignment whose removals are over: stop the old replicas, then delete them.

    A deletion is not waited for: its replica is NonExistent at once (D38). Only who is Offline is told to delete, and
    nobody to stop who refused to go Offline since the deletion of its topic had begun.
    """
    controller = s.controllers[c]
    cached = controller.partitions[p]
    with when(controller.handler != Handler.NONE):
        ordered, leaving = cached.batched, controller.leaving
        informed = {p: everybody_is_informed(m, cached)}
        stopped = m.brokers.intersection(leaving, movable_replicas(m, cached, p))
        send(s, m, c, Batch(ordered={p: ordered}, metadata=informed, stopped={p: stopped}))
        offline = m.brokers.set_from({r: cached.replicas[r] == ReplicaState.OFFLINE for r in m.assigned(p)})
        deleted = m.brokers.intersection(leaving, offline)
        send(s, m, c, Batch(deleted={p: deleted}))
        reset_present(cached, "batched", "informed")
        _end_step_9(m, controller, p)
        controller.at = At.WRITE_TARGET


def _end_step_9(m: Model, controller: Controller, p: int) -> None:
    """Old replicas are gone, also those that the deletion of their topic has begun on, which refused to go Offline."""
    ends = [ReplicaState.OFFLINE]
    if m.has("deletion"):
        ends += [ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL]
    replicas = controller.partitions[p].replicas
    for r in m.assigned(p):
        with when(both(m.brokers.in_set(r, controller.leaving), either(*(replicas[r] == one for one in ends)))):
            move(replicas, r, *DELETED_AT_ONCE)
    reset(controller, "leaving")


@action(actor="controller {c}", source=f"{SOURCE}, step 10", parts=PARTS)
def write_target(s: State, m: Model, c: int, p: int) -> None:
    """Step 10: AR becomes RAR in the topic's znode; from now on nobody listens to the state znode."""
    controller = s.controllers[c]
    working_on(s, m, c, p, At.WRITE_TARGET)
    fenced = is_fenced_off(s, m, c)
    with when(~fenced):
        write_assignment(s, m, c, p, controller.reassigned[p])
        say(AssignmentUpdated, partition=p, replicas=controller.partitions[p].assigned)
        stop_watching(controller, p)
        controller.at = At.COMPLETE_READ
    with when(fenced):
        controller_moved(s, m, c)


# ------------------------------------------------------------------------------------------------------ the state znode


def _is_usable(s: State, c: int, p: int) -> Value:
    """Whether there is a state znode, and not a newer controller's."""
    znode = s.zookeeper.state[p]
    return both(exists(znode), znode.controller_epoch <= s.controllers[c].epoch)


def _tell_bumped(s: State, m: Model, c: int, p: int, receivers: Value) -> Value:
    """What was written is told, but not cached (D18, KAFKA-9212); whether that was possible.

    If not, what was added stays in the controller's own batch, and the run ends (D53).
    """
    if m.mends(Switch.CACHE_BUMPED_EPOCH):
        cache_state(s, c, p)
    raises = adding_raises(s, m, c)
    if m.loses_topics:
        with when(raises):
            s.controllers[c].dirty = True
            end_run(s, m, c, p)
    with when(~raises):
        _tell(s, m, c, p, receivers)
    return ~raises


def _tell(s: State, m: Model, c: int, p: int, receivers: Value) -> None:
    """LeaderAndIsr says what the state znode does, UpdateMetadata what is cached."""
    cached, znode = s.controllers[c].partitions[p], s.zookeeper.state[p]
    content = {(p, b): znode for b in m.assigned(p)}
    send(s, m, c, Batch(ordered={p: receivers}, metadata={p: is_cached(cached)}, everybody=True, content=content))


RULES = (
    on_state_change, read_whether_caught_up, write_union, read_for_bump, write_bump, start_new_replica, read_for_move,
    write_move, write_target,
)  # fmt: skip
