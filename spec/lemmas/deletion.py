"""Lemmas about topic deletion: what a controller that deletes has in hand, and what is on its way to the brokers.

They speak of one controller at a time, current or not, and of the requests that it has queued. How what it holds is
related to ZooKeeper is said in spec/lemmas/deleted_topic.py. All is said of topics that are deleted, and neither
created, nor moved, nor given more partitions: elsewhere these lemmas are None.
"""

import enum
from collections.abc import Iterable

from spec.language.records import array_of
from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, either, flag
from spec.lemmas.controller import CLEAN, ELECTING, FORGETTING, REMOVING, is_at
from spec.lemmas.leadership import only_deletes
from spec.model import Model
from spec.protocol.controller.threads import has_threads
from spec.protocol.leadership.replicas import may_go_online_or_offline
from spec.state.brokers import Stage
from spec.state.cluster import State
from spec.state.controller import CachedPartition
from spec.state.enumerations import At, DeletionThread, Handler
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch

PARTS = ("deletion", "connections")

#: What the deletion thread does behind its decision to complete a deletion.
COMPLETING = (At.DELETE_STATE, At.DELETE_TOPIC, At.DELETE_CONFIGURATION, At.DELETE_REQUEST)
#: Where a controller deletes, or is about to read what it is to delete.
DELETING = (At.READ_DELETIONS, At.DROP_REQUEST, At.DELETE_QUEUED, *COMPLETING)
#: Where a controller may have topics left to turn to, but for the removals of a deletion.
IN_TURN = (At.DROP_REQUEST, At.DELETE_QUEUED, *COMPLETING)
#: How far a batch is that is deleting replicas, request by request.
DELETING_REPLICAS = (Stage.DELETE_REPLICA, Stage.ANSWERED, Stage.REFUSED)
#: Where LeaderAndIsr is done with.
BEHIND_LEADERSHIP = (Stage.STOP_REPLICA, *DELETING_REPLICAS)
#: No LeaderAndIsr goes out for a topic that is queued.
SILENT = (*CLEAN, Switch.DYING_TOPICS_GET_NO_LEADERSHIP)
#: What a deletion manager remembers of topics.
MARKS = ("queued", "turns", "ineligible", "to_queue")
#: Why a topic's replicas are taken Offline if not for a broker's failure.
FOR_DELETION = (Handler.DELETION_RETRY, Handler.DELETION_START)


def is_one_of(value: Value, members: Iterable[enum.Enum]) -> Value:
    """Whether a value is one of some members of its enumeration."""
    return either(*(value == one for one in members))


@lemma(source="PROTOCOL.md section 7.4", parts=PARTS)
def only_active_controllers_delete(s: State, m: Model, c: int) -> Value:
    """Whoever deletes or is about to read what to delete, has a deletion manager or has queued a topic, is active."""
    controller = s.controllers[c]
    manages = flag(controller.deletion != DeletionThread.NONE)
    queues = either(*(controller.queued[t] for t in m.topics))
    return either(is_at(controller, DELETING), manages, queues).implies(controller.active)


@lemma(source="PROTOCOL.md D4 fixed", parts=PARTS, where=only_deletes, fixed=CLEAN)
def new_controllers_have_nothing_to_delete(s: State, m: Model, c: int) -> Facts:
    """Until a failover has read what is to be deleted nothing is queued, and partitions and replicas have no state.

    No deletion of a replica has begun before there is a thread for it.
    """
    controller = s.controllers[c]
    comes = either(~controller.active, controller.at == At.READ_DELETIONS)
    begins = both(controller.handler == Handler.FAILOVER, is_at(controller, (*ELECTING, *REMOVING)))
    taking_over = either(begins, controller.at == At.FINISH)
    yield taking_over.implies(both(~has_threads(s, c), m.brokers.is_empty(controller.dead)))
    marks = [array_of(controller, name)[t] for name in MARKS for t in m.topics]
    nothing = [*(~mark for mark in marks), ~controller.woken, m.brokers.is_empty(controller.dead)]
    nothing += [controller.handler == Handler.NONE, controller.deletion == DeletionThread.NONE]
    for p in m.partitions:
        cached = controller.partitions[p]
        states = [cached.replicas[r] == ReplicaState.NON_EXISTENT for r in m.assigned(p)]
        nothing += [*states, cached.state == PartitionState.NON_EXISTENT, ~controller.doomed[p]]
        nothing += [m.brokers.is_empty(one) for one in (cached.visiting, cached.batched)]
        nothing.append(either(~cached.todo, controller.at == At.READ_STATES))
        yield from (_is_begun(cached, r).implies(has_threads(s, c)) for r in m.assigned(p))
    yield comes.implies(both(*nothing))


def _is_begun(cached: CachedPartition, r: int) -> Value:
    return flag(cached.replicas[r] == ReplicaState.DELETION_STARTED)


@lemma(source="PROTOCOL.md section 9", parts=PARTS, where=only_deletes)
def a_batch_is_as_far_as_its_stage(s: State, m: Model) -> Facts:
    """An empty place of a queue holds nothing and is at its end; where StopReplica is due LeaderAndIsr is done with.

    Replicas are deleted by the batch at the head only, and an answer that waits for its callback is to a deletion.
    """
    for queue in (s.connections[c][b] for c in m.controllers for b in m.brokers.ids):
        for k in m.slots:
            slot, empty = queue[k], flag(queue[k].stage == Stage.EMPTY)
            if k + 1 in m.slots:
                yield empty.implies(queue[k + 1].stage == Stage.EMPTY)
                yield ~is_one_of(queue[k + 1].stage, DELETING_REPLICAS)
            silent = either(empty, is_one_of(slot.stage, BEHIND_LEADERSHIP))
            for p in m.partitions:
                yield empty.implies(both(~slot.stop[p], ~slot.delete[p]))
                yield silent.implies(~slot.partitions[p].ordered)
        waits = is_one_of(queue[0].stage, (Stage.ANSWERED, Stage.REFUSED))
        yield from (both(waits, queue[0].answered == p).implies(queue[0].delete[p]) for p in m.partitions)


@lemma(source="PROTOCOL.md section 9; D4 fixed", parts=PARTS, where=only_deletes, fixed=CLEAN)
def batches_wait_only_where_there_is_a_channel(s: State, m: Model, c: int) -> Facts:
    """No batch waits for a broker without a channel, and to the dead that are being handled there is none."""
    controller = s.controllers[c]
    yield m.brokers.disjoint(controller.dead, controller.channels)
    for b in m.brokers.ids:
        empty = s.connections[c][b][0].stage == Stage.EMPTY
        yield either(m.brokers.in_set(b, controller.channels), empty)


@lemma(source="PROTOCOL.md sections 7.4 and 9; D57 fixed", parts=PARTS, where=only_deletes, fixed=SILENT)
def no_leader_and_isr_behind_a_deletion(s: State, m: Model) -> Facts:
    """A StopReplica with delete is on its way once, to a replica whose deletion has started, no LeaderAndIsr behind it.

    Or to one of a topic that its controller has lost meanwhile. To one that is deleted no LeaderAndIsr is on its way.
    """
    for c in m.controllers:
        for b in m.brokers.ids:
            queue = s.connections[c][b]
            for p in m.partitions:
                if b not in m.assigned(p):
                    yield from (~queue[k].delete[p] for k in m.slots)
                    continue
                state = s.controllers[c].partitions[p].replicas[b]
                started = either(state == ReplicaState.DELETION_STARTED, ~s.controllers[c].topics[m.topic_of(p)])
                for k in m.slots:
                    behind = [either(queue[i].partitions[p].ordered, queue[i].delete[p]) for i in m.slots[k + 1 :]]
                    yield queue[k].delete[p].implies(both(started, *(~one for one in behind)))
                    deleted = flag(state == ReplicaState.DELETION_SUCCESSFUL)
                    yield deleted.implies(~queue[k].partitions[p].ordered)


@lemma(source="PROTOCOL.md section 7.4, D46 fixed", parts=PARTS, where=only_deletes, fixed=FORGETTING)
def started_deletions_have_a_stop_replica_waiting(s: State, m: Model, c: int) -> Facts:
    """For a replica whose deletion has begun a StopReplica waits, or its broker's death is being handled.

    For it was sent to a live broker, and each of those has a channel. A controller that is handling no broker failure
    knows of no dead broker.
    """
    controller = s.controllers[c]
    nobody_dies = [is_at(controller, (At.IDLE, *IN_TURN)), is_one_of(controller.handler, FOR_DELETION)]
    yield either(*nobody_dies).implies(m.brokers.is_empty(controller.dead))
    yield either(~controller.active, m.brokers.is_subset(controller.live, controller.channels))
    for p in m.partitions:
        for r in m.assigned(p):
            sent = either(*(s.connections[c][r][k].delete[p] for k in m.slots))
            is_handled = either(sent, m.brokers.in_set(r, controller.dead))
            yield _is_begun(controller.partitions[p], r).implies(is_handled)


@lemma(source="PROTOCOL.md sections 3 and 4", parts=PARTS, where=only_deletes)
def only_known_topics_are_handled(s: State, m: Model, c: int, p: int) -> Facts:
    """What waits to be brought online, or to go Offline, does so in its handler; what goes Offline is known, and may.

    The partition or the replica that is being written of still waits. Brokers are sent only partitions of known topics,
    and none while a topic is being deleted.
    """
    controller = s.controllers[c]
    cached, known = controller.partitions[p], controller.topics[m.topic_of(p)]
    concerned = flag(controller.partition == p)
    yield cached.todo.implies(is_at(controller, (*ELECTING, At.READ_STATES, At.DELETE_STATE)))
    yield both(controller.at == At.ONLINE_WRITE, concerned).implies(cached.todo)
    told, leave = ~m.brokers.is_empty(cached.batched), ~m.brokers.is_empty(cached.visiting)
    for_deletion = is_one_of(controller.handler, FOR_DELETION)
    yield told.implies(both(known, is_at(controller, (*ELECTING, *REMOVING)), ~for_deletion))
    yield leave.implies(both(known, is_at(controller, REMOVING)))
    for r in m.assigned(p):
        waits = m.brokers.in_set(r, cached.visiting)
        yield waits.implies(may_go_online_or_offline(cached.replicas[r]))
        written = both(controller.at == At.REMOVE_WRITE, concerned, controller.replica == r)
        yield written.implies(waits)


@lemma(source="PROTOCOL.md section 7.4", parts=PARTS, where=only_deletes)
def deleted_replicas_are_of_queued_topics(s: State, m: Model, c: int) -> Facts:
    """Replicas go Offline for a deletion exactly if their topic is queued; for its start it is not held back.

    A controller that finds its batch dirty at that start has its elector resign first, and then ends the thread.

    The partitions of a queued topic that is known are doomed. The thread turns to queued topics only; requests are
    dropped of unknown topics only, while known ones wait.
    """
    controller = s.controllers[c]
    begun = is_one_of(controller.handler, FOR_DELETION)
    for_deletion = both(begun, is_at(controller, REMOVING))
    starts, resigns = controller.handler == Handler.DELETION_START, controller.at == At.RESIGN_DELETE
    yield begun.implies(either(for_deletion, both(starts, resigns, controller.active)))
    in_turn = is_at(controller, (At.DELETE_QUEUED, *COMPLETING))
    if m.fixes(Switch.RESIGN_CLEANS_UP):
        yield either(begun, in_turn).implies(has_threads(s, c))
    drops = flag(controller.at == At.DROP_REQUEST)
    for t in m.topics:
        yield controller.to_queue[t].implies(both(drops, controller.topics[t]))
        queued, at_hand = controller.queued[t], flag(controller.topic == t)
        yield both(for_deletion, at_hand).implies(queued)
        yield both(starts, for_deletion, at_hand).implies(~controller.ineligible[t])
        yield controller.turns[t].implies(either(is_at(controller, IN_TURN), for_deletion))
        yield both(controller.turns[t], ~drops).implies(queued)
        yield both(controller.turns[t], drops).implies(~controller.topics[t])
        for p in m.partitions_of(t):
            leaves = ~m.brokers.is_empty(controller.partitions[p].visiting)
            yield both(leaves, for_deletion).implies(at_hand)
            yield both(leaves, ~for_deletion).implies(~queued)
            yield both(queued, controller.topics[t]).implies(controller.doomed[p])


@lemma(source="PROTOCOL.md section 7.4; D57 fixed", parts=PARTS, where=only_deletes, fixed=SILENT)
def queued_topics_get_no_leader(s: State, m: Model, c: int, p: int) -> Value:
    """No partition of a queued topic is brought online, or sent to a broker."""
    controller = s.controllers[c]
    t, cached = m.topic_of(p), controller.partitions[p]
    queued = controller.queued[t]
    visited = both(cached.todo, is_at(controller, ELECTING))
    return queued.implies(both(~visited, m.brokers.is_empty(cached.batched)))
