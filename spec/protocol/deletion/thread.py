"""Topic deletion: from the request in /admin/delete_topics to the last znode of the topic.

A listener queues the topic and wakes the deletion thread. That takes the controller lock, once for all queued topics,
and turns to each: if every replica is deleted, it completes the deletion; else, unless a deletion is under way, it
takes failed replicas Offline and, if the topic is not held back, starts (again). Starting takes the live replicas
Offline, which empties the ISR as far as that goes, and sends each a StopReplica with delete; the dead hold the topic
back. The answer comes on the broker's send thread, whose callback takes the controller lock, too: whoever holds the
lock and waits for that thread waits for ever (D50). `requests.py` says how a deletion is asked for, `completion.py` how
it completes.

An exception ends the thread; nothing is deleted until the next failover. The next controller begins every deletion from
the start.

What a listener is given while the thread has the lock is in spec/protocol/controller/early_reads.py. Left out:
that the thread takes its notice before it has the lock (it might run once more, for nothing), and that it ends where an
assigned replica has no state, since no move of it was ever asked for: a reassignment that step 2 ends has put it into
AR, and never started it (S8).

Kafka 0.10.2.2: `TopicDeletionManager`, `PartitionStateMachine.DeleteTopicsListener`. PROTOCOL.md section 7.4.
"""

from collections.abc import Mapping

from spec.language.rules import in_any_order, observe, require, reset, say, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.topic_deletion import (
    DeadReplicasFound,
    DeletionBegun,
    DeletionHalted,
    DeletionInProgress,
    DeletionRetried,
    HandlingDeletion,
    PartitionDeletionStarted,
    ReplicaDeletionStarted,
    ReplicasDeleted,
    TopicDeletionStarted,
)
from spec.model import Model
from spec.protocol.context.assignment import assigned_set, is_there
from spec.protocol.context.deletion_marks import is_busy
from spec.protocol.context.live_brokers import live_brokers
from spec.protocol.controller.controller_batch import tell
from spec.protocol.controller.places import WHERE_LOCK_IS_FREE, controller_step, lock_is_free, locking_step
from spec.protocol.deletion.completion import complete
from spec.protocol.deletion.queue import fail_deletion, say_held_back, turn_to_next, wake
from spec.protocol.leadership.partitions import send_online_batch
from spec.protocol.leadership.replicas import begin_removal, movable_replicas
from spec.protocol.leadership_cache import has_assignment
from spec.protocol.requests.batch import Batch, known_partitions
from spec.protocol.requests.connections import end_deletion
from spec.protocol.state_change_log import refused, replica_goes, replica_stays
from spec.protocol.zookeeper import can_operate
from spec.state.brokers import Slot, Stage
from spec.state.cluster import State
from spec.state.enumerations import At, DeletionThread, Handler
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch

THREAD = "TopicDeletionManager.DeleteTopicsThread 0.10.2.2"


@controller_step(*WHERE_LOCK_IS_FREE, At.DELETE_QUEUED, source=THREAD, parts=("deletion",), over_session=False)
def delete_queued_topic(s: State, m: Model, c: int, t: int) -> None:
    """The deletion thread, woken, takes the lock; or it still has it, and turns to the next topic."""
    controller = s.controllers[c]
    begins = both(lock_is_free(s, m, c), controller.deletion == DeletionThread.RUNNING, controller.woken)
    goes_on = both(controller.at == At.DELETE_QUEUED, controller.turns[t])
    require(either(both(begins, controller.queued[t]), goes_on))
    with when(begins):
        say(HandlingDeletion, topics={u: controller.queued[u] for u in m.topics})
        reset(controller, "handler")
        controller.woken = False
        for u in m.topics:
            controller.turns[u] = controller.queued[u]
    observe(f"controller {c}", "turn to deletion", topic=t)
    controller.turns[t] = False
    controller.topic = t
    _turn_to(s, m, c, t)


def _turn_to(s: State, m: Model, c: int, t: int) -> None:
    """Complete the deletion if all replicas are deleted (also where there is none); else retry, then decide."""
    states = replica_states(s, m, c, t)
    deleted = ~either(*(known & (state != ReplicaState.DELETION_SUCCESSFUL) for known, state in states))
    require(either(~deleted, can_operate(s, c)))
    retries = both(~deleted, ~_is_under_way(s, m, c, t), ~_is_let_alone(s, m, c, t))
    with when(deleted):
        complete(s, m, c, t)
    with when(~deleted):
        _say_how_far(s, m, c, t)
        failed = {}
        for p in m.partitions_of(t):
            replicas = s.controllers[c].partitions[p].replicas
            members = {r: both(retries, replicas[r] == ReplicaState.DELETION_INELIGIBLE) for r in m.assigned(p)}
            failed[p] = m.brokers.intersection(m.brokers.set_from(members), assigned_set(s, m, c, p))
        waiting = begin_removal(s, m, c, failed)
        with when(waiting):
            s.controllers[c].handler = Handler.DELETION_RETRY
            for p in m.partitions_of(t):
                s.controllers[c].retried[p] = failed[p]
        with when(~waiting):
            _end_retry(s, m, c, t, failed)


def _say_how_far(s: State, m: Model, c: int, t: int) -> None:
    """What the thread logs of a topic whose replicas are not all deleted: which have yet to answer, or are retried."""
    under_way, failed = (
        _replicas_in(s, m, c, t, state) for state in (ReplicaState.DELETION_STARTED, ReplicaState.DELETION_INELIGIBLE)
    )
    partitions = {p: ~m.brokers.is_empty(replicas) for p, replicas in under_way.items()}
    brokers = m.brokers.empty_set()
    for replicas in under_way.values():
        brokers = m.brokers.union(brokers, replicas)
    waits = either(*partitions.values())
    with when(waits):
        say(DeletionInProgress, replicas=brokers, partitions=partitions, topic=t)
    retries = both(~waits, ~_is_let_alone(s, m, c, t))
    with when(both(retries, either(*(~m.brokers.is_empty(replicas) for replicas in failed.values())))):
        say(DeletionRetried, topic=t, replicas=failed)


def _replicas_in(s: State, m: Model, c: int, t: int, state: ReplicaState) -> dict[int, Value]:
    """The assigned replicas of a topic that are in a state, by partition."""
    found = {}
    for p in m.partitions_of(t):
        replicas = s.controllers[c].partitions[p].replicas
        members = m.brokers.set_from({r: replicas[r] == state for r in m.assigned(p)})
        found[p] = m.brokers.intersection(members, assigned_set(s, m, c, p))
    return found


def _end_retry(s: State, m: Model, c: int, t: int, failed: Mapping[int, Value]) -> None:
    """What failed has been taken Offline as far as that goes, and is told to stop; then decide."""
    send_online_batch(s, m, c, failed)
    _decide(s, m, c, t)


def _is_let_alone(s: State, m: Model, c: int, t: int) -> Value:
    """Whether a topic that is being reassigned is not even retried (a fix)."""
    return is_busy(s, m, c, t) if m.fixes(Switch.MARK_WHAT_IS_QUEUED) else flag(False)


def replica_states(s: State, m: Model, c: int, t: int) -> list[tuple[Value, Value]]:
    """Of each replica that a topic may have: whether the controller knows it as assigned, and its state."""
    partitions, found = s.controllers[c].partitions, []
    for p in m.partitions_of(t):
        assigned = assigned_set(s, m, c, p)
        found += [(m.brokers.in_set(r, assigned), partitions[p].replicas[r]) for r in m.assigned(p)]
    return found


def _is_under_way(s: State, m: Model, c: int, t: int) -> Value:
    """Whether the answer to some StopReplica with delete is yet to come (`isTopicDeletionInProgress`)."""
    return either(*(known & (one == ReplicaState.DELETION_STARTED) for known, one in replica_states(s, m, c, t)))


def _decide(s: State, m: Model, c: int, t: int) -> None:
    """Start the deletion, unless one is under way or the topic is held back."""
    held_back = s.controllers[c].ineligible[t] | _is_under_way(s, m, c, t)
    with when(held_back):
        say_held_back(s, c, t)
        turn_to_next(s, m, c)
    with when(~held_back):
        _start(s, m, c, t)


def _start(s: State, m: Model, c: int, t: int) -> None:
    """Tell everybody that the topic goes, then take the live replicas that are not deleted Offline."""
    controller = s.controllers[c]
    if m.loses_topics:
        controller.handler = Handler.DELETION_START
    known = known_partitions(s, m, c)
    say(DeletionBegun, topic=t)
    say(TopicDeletionStarted, topics={t: flag(True)})
    about = {p: is_there(s, m, c, p) for p in m.partitions_of(t)}
    told = tell(s, m, c, Batch(metadata={p: known[p] for p in about}, about=about))
    with when(told):
        assigned = {p: ~m.brokers.is_empty(assigned_set(s, m, c, p)) for p in m.partitions_of(t)}
        say(PartitionDeletionStarted, partitions=assigned)
        for p in m.partitions_of(t):
            dead = m.brokers.difference(assigned_set(s, m, c, p), live_brokers(s, m, c))
            _refuse(s, m, c, p, dead, ReplicaState.DELETION_INELIGIBLE)
        waiting = begin_removal(s, m, c, _live_undeleted(s, m, c, t))
        with when(waiting):
            controller.handler = Handler.DELETION_START
        with when(~waiting):
            _stop_and_delete(s, m, c, t)


def _live_undeleted(s: State, m: Model, c: int, t: int) -> dict[int, Value]:
    """The replicas to delete: on live brokers, and not deleted yet."""
    controller, chosen = s.controllers[c], {}
    for p in m.partitions_of(t):
        states = controller.partitions[p].replicas
        undeleted = m.brokers.set_from({r: states[r] != ReplicaState.DELETION_SUCCESSFUL for r in m.assigned(p)})
        live = m.brokers.intersection(assigned_set(s, m, c, p), live_brokers(s, m, c))
        chosen[p] = m.brokers.intersection(undeleted, live)
    return chosen


def end_retry(s: State, m: Model, c: int) -> None:
    """What had failed of the topic at hand has been taken Offline."""
    for t in m.topics:
        with when(s.controllers[c].topic == t):
            failed = {p: s.controllers[c].retried[p] for p in m.partitions_of(t)}
            reset(s.controllers[c], "retried")
            _end_retry(s, m, c, t, failed)


def stop_and_delete(s: State, m: Model, c: int) -> None:
    """The live replicas of the topic at hand have been taken Offline."""
    for t in m.topics:
        with when(s.controllers[c].topic == t):
            _stop_and_delete(s, m, c, t)


def _stop_and_delete(s: State, m: Model, c: int, t: int) -> None:
    """All are told to stop, those that did go Offline also to delete; one on a broker that is not live holds it back.

    Kafka sends two batches, one right behind the other; the second has no more than the deletions.
    """
    for p, chosen in _live_undeleted(s, m, c, t).items():
        _refuse(s, m, c, p, chosen, ReplicaState.DELETION_STARTED)
    _tell_to_delete(s, m, c, t)
    turn_to_next(s, m, c)


def _refuse(s: State, m: Model, c: int, p: int, replicas: Value, target: ReplicaState) -> None:
    """The table lets the dead not become ineligible (D15, D45), nor who did not go Offline be deleted (D16)."""
    for r in m.assigned(p):
        with when(m.brokers.in_set(r, replicas)):
            refused(s, m, c, p, r, target)


def _tell_to_delete(s: State, m: Model, c: int, t: int) -> None:
    """The batches of those that went Offline, and of those that start to be deleted."""
    controller = s.controllers[c]
    stopped, deleted, live = {}, {}, live_brokers(s, m, c)
    say(ReplicaDeletionStarted, replicas=_live_undeleted(s, m, c, t))
    dead = {p: m.brokers.difference(assigned_set(s, m, c, p), live) for p in m.partitions_of(t)}
    with when(either(*(~m.brokers.is_empty(replicas) for replicas in dead.values()))):
        say(DeadReplicasFound, replicas=dead, topic=t)
        say(DeletionHalted, topics={t: flag(True)})
    for p, chosen in _live_undeleted(s, m, c, t).items():
        states = controller.partitions[p].replicas
        movable = movable_replicas(m, controller.partitions[p], p)
        offline = m.brokers.set_from({r: states[r] == ReplicaState.OFFLINE for r in m.assigned(p)})
        stopped[p], deleted[p] = m.brokers.intersection(chosen, movable), m.brokers.intersection(chosen, offline)
        with when(~m.brokers.is_subset(assigned_set(s, m, c, p), live_brokers(s, m, c))):
            controller.ineligible[t] = True
    send_online_batch(s, m, c, stopped, deleted)
    with in_any_order():
        for p, brokers in deleted.items():
            for r in m.assigned(p):
                with when(m.brokers.in_set(r, brokers)):
                    replica_goes(s, c, p, r, ReplicaState.DELETION_STARTED)


@locking_step(source="TopicDeletionManager.deleteTopicStopReplicaCallback", parts=("deletion",))
def on_replica_deleted(s: State, m: Model, c: int, b: int, p: int) -> None:
    """The send thread's callback has the lock: a replica that was deleted is remembered as such, the thread is woken.

    One that could not be deleted holds the topic back (D72). An answer that names no partition (the request's
    controller epoch was stale) changes nothing (D46).
    """
    controller, head = s.controllers[c], s.connections[c][b][0]
    succeeded = flag(head.stage == Stage.ANSWERED)
    require(either(succeeded, head.stage == Stage.REFUSED), head.answered == p)
    if m.keeps(Slot.failed):
        with when(head.failed):
            fail_deletion(s, m, c, p, b, holds_back=not m.fixes(Switch.RETRY_FAILED_DELETIONS))
    with when(both(succeeded, ~head.failed)):
        say(ReplicasDeleted, replicas={p: (controller.queued[m.topic_of(p)], m.brokers.set_kind.constant((b,)))})
        wake(s, m, c)
        state, queued = controller.partitions[p].replicas[b], controller.queued[m.topic_of(p)]
        goes = both(state == ReplicaState.DELETION_STARTED, has_assignment(s, m, c, p))
        with when(both(queued, ~goes)):
            replica_stays(s, m, c, p, b, ReplicaState.DELETION_SUCCESSFUL)
        with when(both(queued, goes)):
            replica_goes(s, c, p, b, ReplicaState.DELETION_SUCCESSFUL)
    if m.fixes(Switch.REFUSED_DELETIONS_FAIL):
        with when(~succeeded):
            fail_deletion(s, m, c, p, b)
    end_deletion(s, m, c, b, p)
