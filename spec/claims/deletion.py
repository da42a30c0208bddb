"""What is claimed of topic deletion: what it may not do, that it ends, and that nothing is left."""

from spec.claims.reassignment import DELIVERIES
from spec.claims.request_batch import ANSWERS
from spec.language.rules import Action, Facts, claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.context.deletion_marks import is_busy, is_queued
from spec.protocol.deletion.thread import replica_states
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.enumerations import At, DeletionThread
from spec.state.state_machines import has_started
from spec.state.zookeeper import ZooKeeper
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch


@claim("sometimes", source="PROTOCOL.md section 7.4", parts=("deletion",))
def a_replica_is_deleted(s: State, m: Model, c: int, t: int) -> Facts:
    """A controller knows that a broker has deleted a replica."""
    yield from (state == ReplicaState.DELETION_SUCCESSFUL for _, state in replica_states(s, m, c, t))


@claim("step", source="PROTOCOL.md sections 7.4 and 10, D57", witness="a_replica_is_deleted", parts=("deletion",))
def deleted_replicas_stay_deleted(
    before: State, after: State, m: Model, action: Action, c: int, b: int, *, p: int
) -> Value | None:
    """No request re-creates a replica that its controller has had deleted. What another one has, a deposed controller
    does not know; a broker that has just started, and knows no epoch, may obey it, whatever is fixed.
    """
    if not action.rule.startswith(("deliver_", "execute_late_")) or b not in m.assigned(p):
        return None
    state = before.controllers[c].partitions[p].replicas[b]
    begins_to_host = both(~before.logs[b][p], after.logs[b][p])
    return ~both(begins_to_host, state == ReplicaState.DELETION_SUCCESSFUL)


@claim("sometimes", source="PROTOCOL.md section 7.4", parts=("refused_deletions",))
def a_deletion_is_asked_for(s: State, m: Model, t: int) -> Value:
    """Somebody asks for the deletion of a topic that is there."""
    return both(s.zookeeper.topics[t], s.zookeeper.deletions[t])


@claim(
    "step", source="PROTOCOL.md section 7.4, KAFKA-3175", witness="a_deletion_is_asked_for",
    parts=("refused_deletions",),
)  # fmt: skip
def no_topic_is_deleted(before: State, after: State, m: Model, c: int) -> Value:
    """Where delete.topic.enable is off no controller deletes a topic, or has a replica deleted, unless for a move."""
    stays = [~before.zookeeper.topics[t] | after.zookeeper.topics[t] for t in m.topics]
    if m.has("reassignment"):
        return both(*stays)  # `assigned_replicas_are_not_deleted` asks of the rest
    return both(*stays, *(~before.logs[b][p] | after.logs[b][p] for p in m.partitions for b in m.assigned(p)))


@claim(
    "step", source="PROTOCOL.md sections 7.1 and 7.4", witness="a_deletion_is_under_way", parts=("deletion",),
    not_of={*DELIVERIES, *ANSWERS},
)  # fmt: skip
def dying_topics_get_no_leadership(before: State, after: State, m: Model, c: int, *, p: int, r: int) -> Value:
    """For a topic that is queued for deletion, and not being reassigned, no LeaderAndIsr goes out."""
    queues = before.connections[c][r], after.connections[c][r]
    sent = either(*(~queues[0][k].partitions[p].ordered & queues[1][k].partitions[p].ordered for k in m.slots))
    doomed = both(is_queued(after, m, c, p), ~is_busy(after, m, c, m.topic_of(p)))
    return ~both(sent, doomed)


@claim("sometimes", source="PROTOCOL.md section 7.4", parts=("deletion",))
def a_topic_is_gone(s: State, m: Model, t: int) -> Value:
    """A topic does not exist, nor a request to delete it."""
    return is_gone(s, t)


def is_gone(s: State, t: int) -> Value:
    """Whether a topic does not exist, nor a request to delete it."""
    return ~either(s.zookeeper.topics[t], s.zookeeper.deletions[t])


@claim("always", source="PROTOCOL.md section 7.4", witness="a_topic_is_gone", parts=("deletion",))
def nothing_of_a_deleted_topic_is_left(s: State, m: Model, t: int) -> Value:
    """Once its deletion is complete, no state znode and no configuration of a topic is in ZooKeeper.

    A configuration that allows or forbids unclean election may exist for a topic that is yet to be created.
    """
    states = either(*(exists(s.zookeeper.state[p]) for p in m.partitions_of(t)))
    configured = s.zookeeper.configurations[t]
    if m.keeps(ZooKeeper.unclean):
        configured &= flag(s.zookeeper.unclean[t] == m.unclean)
    return either(~is_gone(s, t), ~states & ~configured)


@claim("always", source="PROTOCOL.md D57, D23, D38, D72-log", witness="a_topic_is_gone", parts=("deletion",))
def deleted_topics_are_hosted_nowhere(s: State, m: Model, p: int, r: int) -> Value:
    """Once a topic's deletion is complete, no broker that the controller in office knows to live hosts a replica of it,
    unless a StopReplica with delete is on its way there. A broker that is dead, or just back, is yet to be sent one.
    """
    known = either(*(_knows_to_live(s, m, c, r) for c in m.controllers))
    waits = either(*(_tells_to_delete(s, m, c, r, p) for c in m.controllers))
    return either(~is_gone(s, m.topic_of(p)), ~s.logs[r][p], ~known, waits)


def _is_in_office(s: State, m: Model, c: int) -> Value:
    """Whether a controller has come to work, and has no successor: /controller_epoch is its own."""
    controller = s.controllers[c]
    return both(controller.active, has_started(s, m, c), controller.epoch == s.zookeeper.epoch)


def _knows_to_live(s: State, m: Model, c: int, r: int) -> Value:
    """Whether a controller is in office, and has handled the start of a broker as it is registered now."""
    controller = s.controllers[c]
    seen = controller.seen[r] if m.fixes(Switch.BROKER_EPOCHS) else flag(True)
    return both(_is_in_office(s, m, c), m.brokers.in_set(r, controller.live), seen)


def _tells_to_delete(s: State, m: Model, c: int, r: int, p: int) -> Value:
    """Whether a controller is in office, and a StopReplica with delete of a replica waits in its queue."""
    return both(_is_in_office(s, m, c), either(*(s.connections[c][r][k].delete[p] for k in m.slots)))


@claim("always", source="PROTOCOL.md D55, D70", witness="a_topic_is_gone", parts=("deletion",))
def topics_have_their_configuration(s: State, m: Model, t: int) -> Value:
    """A topic that is not being deleted has the configuration that it was created with."""
    return either(~s.zookeeper.topics[t], s.zookeeper.deletions[t], s.zookeeper.configurations[t])


@claim("sometimes", source="PROTOCOL.md section 7.4", parts=("deletion",))
def a_topic_is_held_back(s: State, m: Model, c: int, t: int) -> Value:
    """A controller holds a topic's deletion back."""
    return s.controllers[c].ineligible[t]


@claim("always", source="PROTOCOL.md section 7.4, D45", witness="a_topic_is_held_back", parts=("deletion",))
def only_queued_topics_are_held_back(s: State, m: Model, c: int, t: int) -> Value:
    """Only a topic that is queued for deletion is marked as ineligible for it."""
    return either(~s.controllers[c].ineligible[t], s.controllers[c].queued[t])


@claim("sometimes", source="PROTOCOL.md section 7.4", parts=("deletion",))
def a_deletion_is_under_way(s: State, m: Model, c: int, p: int, r: int) -> Value:
    """A replica is to be deleted, and the lock is free."""
    return _waits_for_its_deletion(s, c, p, r)


def _waits_for_its_deletion(s: State, c: int, p: int, r: int) -> Value:
    controller = s.controllers[c]
    state = controller.partitions[p].replicas[r]
    return both(controller.at == At.IDLE, state == ReplicaState.DELETION_STARTED)


@claim("always", source="PROTOCOL.md section 7.4, D46", witness="a_deletion_is_under_way", parts=("deletion",))
def started_deletions_are_on_their_way(s: State, m: Model, c: int, p: int, r: int) -> Value:
    """For a replica in ReplicaDeletionStarted there is a StopReplica that is yet to be answered."""
    sent = either(*(s.connections[c][r][k].delete[p] for k in m.slots))
    return either(~_waits_for_its_deletion(s, c, p, r), sent)


@claim("step", source="PROTOCOL.md section 7.4", witness="a_topic_is_held_back", parts=("deletion",))
def held_back_topics_are_not_deleted(before: State, after: State, m: Model, c: int, *, p: int, r: int) -> Value:
    """No replica's deletion starts while its topic is held back."""
    held_back = before.controllers[c].ineligible[m.topic_of(p)]
    return ~both(held_back, _deletion_starts(before, after, c, p, r))


@claim("sometimes", source="PROTOCOL.md section 7.4", parts=("deletion", "busy_topics"))
def a_doomed_topic_is_busy(s: State, m: Model, c: int, t: int) -> Value:
    """A controller reassigns, or elects for, a partition of a topic that is queued for deletion."""
    return s.controllers[c].queued[t] & is_busy(s, m, c, t)


@claim(
    "step", source="PROTOCOL.md section 7.4, D44", witness="a_doomed_topic_is_busy", parts=("deletion", "busy_topics")
)
def busy_topics_are_not_deleted(before: State, after: State, m: Model, c: int, *, p: int) -> Value:
    """While a controller reassigns, or elects for, a partition of a topic, it starts no deletion of a replica of the
    topic, and deletes no znode of it.
    """
    t = m.topic_of(p)
    starts = either(*(_deletion_starts(before, after, c, p, r) for r in m.assigned(p)))
    goes = both(exists(before.zookeeper.state[p]), ~exists(after.zookeeper.state[p]))
    goes = either(goes, both(before.zookeeper.topics[t], ~after.zookeeper.topics[t]))
    return either(~is_busy(before, m, c, t), ~starts & ~goes)


def _deletion_starts(before: State, after: State, c: int, p: int, r: int) -> Value:
    """Whether a replica goes to ReplicaDeletionStarted in this step."""
    states = [one.controllers[c].partitions[p].replicas[r] for one in (before, after)]
    return both(states[0] != states[1], states[1] == ReplicaState.DELETION_STARTED)


@claim("sometimes", source="PROTOCOL.md section 7.4", parts=("deletion",))
def a_deletion_thread_is_woken(s: State, m: Model, c: int) -> Value:
    """A controller's deletion thread has something to do."""
    return s.controllers[c].woken


@claim("always", source="PROTOCOL.md D37", witness="a_deletion_thread_is_woken", parts=("deletion",))
def deletion_threads_live(s: State, m: Model, c: int) -> Value:
    """No exception ends a deletion thread."""
    return s.controllers[c].deletion != DeletionThread.ENDED


@claim("always", source="PROTOCOL.md D50", witness="a_deletion_is_under_way", parts=("deletion",))
def no_controller_waits_for_itself(s: State, m: Model, c: int) -> Value:
    """No holder of the controller lock waits for a thread that waits for the lock."""
    return s.controllers[c].at != At.DEADLOCKED


@claim(
    "step", source="PROTOCOL.md D37, D70", witness="a_deletion_is_under_way", parts=("deletion", "remembered_requests")
)
def topics_are_deleted_on_request(before: State, after: State, m: Model, *, t: int) -> Value:
    """No topic is deleted but on a request that was made while it was there."""
    return either(~both(before.zookeeper.topics[t], ~after.zookeeper.topics[t]), before.history.asked[t])


@claim("goal", source="PROTOCOL.md section 7.4, D16, D72", parts=("deletion",))
def deletions_complete(s: State, m: Model, t: int) -> Value:
    """Every topic whose deletion was asked for is deleted."""
    return ~s.zookeeper.deletions[t]
