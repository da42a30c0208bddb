"""Phase B of a reassignment, with all of RAR in the ISR: steps 5 to 10, by which RAR takes over.

Steps 11 and 12 stand in spec/protocol/reassignment/requests.py.

Kafka 0.10.2.2: `KafkaController.onPartitionReassignment`, `moveReassignedPartitionLeaderIfRequired`. PROTOCOL.md
section 8.
"""

from spec.language.rules import in_any_order, reset, say, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.reassignment import (
    AssignmentUpdated,
    LeaderEpochUpdated,
    LeaderNotReassigned,
    LeaderReassignedAlive,
    LeaderReassignedDead,
)
from spec.logs.state_change_lines import LeaderElectionStarted, ReplicaChanged
from spec.model import Model
from spec.protocol.context.assignment import assigned_set, write_assignment
from spec.protocol.context.deletion_marks import adding_raises
from spec.protocol.context.live_brokers import live_brokers
from spec.protocol.controller.places import controller_step
from spec.protocol.controller.resignation import controller_moved
from spec.protocol.leadership.leader_selectors import ElectionTerms, chosen, elect_noop, elect_reassigned
from spec.protocol.leadership.partitions import everybody_is_informed, fail_election, now_led
from spec.protocol.leadership.replicas import may_go_online_or_offline, movable_replicas
from spec.protocol.leadership.state_writes import decide, forget_decision, write_decision
from spec.protocol.leadership_cache import is_cached
from spec.protocol.reassignment.leader_epoch import begin_bump, is_usable, tell_bumped
from spec.protocol.reassignment.requests import end_run, go_on, stop_watching, working_on
from spec.protocol.requests.batch import Batch, send
from spec.protocol.state_change_log import log, log_replica, partition_stays, refused, replica_stays
from spec.protocol.zookeeper import is_fenced_off, note_read
from spec.state.cluster import State
from spec.state.enumerations import At, Handler
from spec.state.state_machines import has_started
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.tables.taken_rows import DELETED_AT_ONCE, move
from spec.variants import Switch

PARTS = ("reassignment",)
SOURCE = "KafkaController.onPartitionReassignment 0.10.2.2"


def begin_phase_b(s: State, m: Model, c: int, p: int) -> None:
    """Steps 5 and 6: RAR goes Online, each in turn with a batch of its own, as often as RAR names it; AR in memory
    becomes RAR. Then step 7.

    Step 6 looks up the leader in the cache, before it does anything: without leadership there, that is an exception. A
    resigned controller has no state machines: what they raise in steps 5, 7, 8 and 9 is caught, and leaves all as it is
    (D8).
    """
    controller = s.controllers[c]
    cached, wanted = controller.partitions[p], controller.reassigned[p]
    controller.leaving = m.brokers.difference(assigned_set(s, m, c, p), m.brokers.members(wanted))
    controller.outside = m.brokers.difference(m.brokers.members(wanted), assigned_set(s, m, c, p))
    for replicas in m.requested(p):
        with when(both(wanted == replicas, _has_machines(s, m, c))):
            for r in (one for one in replicas if one > 0):
                _to_online(s, m, c, p, r)
    if not m.fixes(Switch.WAIT_FOR_LEADER):
        with when(is_cached(cached)):
            cached.assigned = wanted
    unknown = both(_moves(s, m, c, p), cached.state == PartitionState.NON_EXISTENT)
    with when(is_cached(cached)):
        _say_who_leads(s, m, c, p)
    with when(both(is_cached(cached), ~unknown)):
        controller.at = At.MOVE_READ
        with when(~_moves(s, m, c, p)):
            begin_bump(s, m, c, p)
    with when(both(is_cached(cached), unknown)):
        partition_stays(s, m, c, p, target=PartitionState.ONLINE)
        _go_on_without_leader(s, m, c, p)
    with when(~is_cached(cached)):
        end_run(s, m, c, p)


def _has_machines(s: State, m: Model, c: int) -> Value:
    """Whether the state machines are up, which a resignation shuts down."""
    return has_started(s, m, c) if m.reassignments_outlive_terms else flag(True)


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
    if m.fixes(Switch.WAIT_FOR_LEADER):
        go_on(s, m, c)
    else:
        _begin_step_8(s, m, c, p)


def _to_online(s: State, m: Model, c: int, p: int, r: int) -> None:
    """A replica goes Online; if it was not New, it is sent the cached leadership."""
    cached = s.controllers[c].partitions[p]
    was_new = flag(cached.replicas[r] == ReplicaState.NEW)
    told = both(may_go_online_or_offline(cached.replicas[r]), ~was_new, is_cached(cached))
    refused(s, m, c, p, r, ReplicaState.ONLINE)
    raises = both(told, adding_raises(s, m, c))
    with when(raises):
        replica_stays(s, m, c, p, r, ReplicaState.ONLINE)
    goes = both(may_go_online_or_offline(cached.replicas[r]), ~raises)
    with when(both(goes, either(was_new, is_cached(cached)))):
        log_replica(s, c, p, r, ReplicaState.ONLINE)
    with when(told):
        one = m.brokers.set_kind.constant((r,))
        send(s, m, c, Batch(ordered={p: one}, metadata={p: flag(True)}))
    with when(goes):
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


@controller_step(At.MOVE_READ, source="moveReassignedPartitionLeaderIfRequired 0.10.2.2", parts=PARTS)
def read_for_move(s: State, m: Model, c: int, p: int) -> None:
    """Step 7: read the state znode. Where nobody of RAR can be elected, that is only logged, and step 8 follows (D48).

    Where no election is needed, an absent znode, or a newer controller's, is an exception.
    """
    working_on(s, c, p)
    note_read(s, m, c, p)
    moves, election = _moves(s, m, c, p), election_of_move(s, m, c, p)
    with when(moves):
        log(s, c, LeaderElectionStarted, perhaps=True, partition=p)
    possible = both(is_usable(s, c, p), election.possible)
    with when(possible):
        decide(s, c, p, leader=election.leader, isr=election.isr, at=At.MOVE_WRITE)
    with when(~possible & moves):
        fail_election(s, m, c, p, says_why=flag(False))
        _go_on_without_leader(s, m, c, p)
    with when(~possible & ~moves):
        end_run(s, m, c, p)


@controller_step(At.MOVE_WRITE, source="moveReassignedPartitionLeaderIfRequired 0.10.2.2", parts=PARTS)
def write_move(s: State, m: Model, c: int, p: int) -> None:
    """Step 7: write the elected leader, or the same one, with leader_epoch + 1, if the version is the one read.

    An election is cached and sent to RAR. Otherwise AR is sent as it was before step 6, and the cache stays behind.
    """
    controller = s.controllers[c]
    wanted, moves = controller.reassigned[p], _moves(s, m, c, p)
    working_on(s, c, p)
    done, again = write_decision(s, m, c, p)
    with when(done):
        controller.partitions[p].assigned = wanted
        with when(moves):
            now_led(s, m, c, p)
            send(s, m, c, Batch(ordered={p: m.brokers.members(wanted)}, metadata={p: flag(True)}))
        told = moves
        with when(~moves):
            say(LeaderEpochUpdated, partition=p, leader_epoch=s.zookeeper.state[p].leader_epoch)
            before = m.brokers.difference(
                m.brokers.union(controller.leaving, m.brokers.members(wanted)), controller.outside
            )
            told = told | tell_bumped(s, m, c, p, before)
        with when(told):
            forget_decision(s, c, At.MOVE_READ)
            _begin_step_8(s, m, c, p)
    with when(again):
        forget_decision(s, c, At.MOVE_READ)


def _begin_step_8(s: State, m: Model, c: int, p: int) -> None:
    """Step 8: the replicas that are to go, if there are any, go Offline like a failed broker's; others refuse."""
    controller = s.controllers[c]
    cached = controller.partitions[p]
    cached.visiting = m.brokers.intersection(controller.leaving, movable_replicas(m, cached, p))
    controller.at = At.REMOVE_READ
    reset(controller, "outside")
    for r in m.assigned(p):
        with when(both(m.brokers.in_set(r, controller.leaving), ~m.brokers.is_empty(cached.visiting))):
            refused(s, m, c, p, r, ReplicaState.OFFLINE)
    with when(m.brokers.is_empty(cached.visiting)):
        _end_step_9(s, m, c, p)
        controller.at = At.WRITE_TARGET


def delete_old_replicas(s: State, m: Model, c: int, p: int) -> None:
    """Steps 8 and 9, where it is a reassignment whose removals are over: stop the old replicas, then delete them.

    A deletion is not waited for: its replica is NonExistent at once (D38). Only a replica that is Offline is told to
    delete, and none to stop that refused to go Offline since the deletion of its topic had begun.
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
        reset(cached, "batched", "informed")
        _end_step_9(s, m, c, p)
        controller.at = At.WRITE_TARGET


def _end_step_9(s: State, m: Model, c: int, p: int) -> None:
    """Old replicas are gone, also those that the deletion of their topic has begun on, which refused to go Offline."""
    controller, ends = s.controllers[c], [ReplicaState.OFFLINE]
    if m.has("deletion"):
        ends += [ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL]
    replicas = controller.partitions[p].replicas
    for target in DELETED_AT_ONCE:
        with in_any_order():
            for r in m.assigned(p):
                with when(m.brokers.in_set(r, controller.leaving)):
                    _log_deletion(s, m, c, p, r, target)
    for r in m.assigned(p):
        with when(both(m.brokers.in_set(r, controller.leaving), either(*(replicas[r] == one for one in ends)))):
            move(replicas, r, *DELETED_AT_ONCE)
    reset(controller, "leaving")


def _log_deletion(s: State, m: Model, c: int, p: int, r: int, target: ReplicaState) -> None:
    """An old replica goes to a state of its deletion, by way of those before; from others the table does not let it.

    Its state is not set before it is at the end of that way.
    """
    state, way = s.controllers[c].partitions[p].replicas[r], (ReplicaState.OFFLINE, *DELETED_AT_ONCE)
    behind = way[: way.index(target)]
    goes = either(*(state == one for one in behind))
    with when(goes):
        log(s, c, ReplicaChanged, partition=p, replica=r, source=behind[-1], target=target)
    with when(~goes):
        refused(s, m, c, p, r, ReplicaState.OFFLINE)
        replica_stays(s, m, c, p, r, target, perhaps=True)


@controller_step(At.WRITE_TARGET, source=f"{SOURCE}, step 10", parts=PARTS)
def write_target(s: State, m: Model, c: int, p: int) -> None:
    """Step 10: AR becomes RAR in the topic's znode; from now on nobody listens to the state znode."""
    controller = s.controllers[c]
    working_on(s, c, p)
    fenced = is_fenced_off(s, m, c)
    with when(~fenced):
        write_assignment(s, m, c, p, controller.reassigned[p])
        say(AssignmentUpdated, partition=p, replicas=controller.partitions[p].assigned)
        stop_watching(controller, p)
        controller.at = At.COMPLETE_READ
    controller_moved(s, m, c, where=fenced)
