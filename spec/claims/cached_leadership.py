"""What is claimed of the brokers' metadata caches, and of replicas that are dead: what only some scopes ask about."""

from spec.claims.deletion import is_gone
from spec.claims.goals import runs
from spec.claims.request_batch import ANSWERS, queued_places
from spec.language.rules import Action, Facts, claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.context.assignment import is_there
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.leadership_cache import is_cached
from spec.protocol.requests.handling import is_stale_registration
from spec.state.brokers import Slot, Stage
from spec.state.cluster import State
from spec.state.enumerations import At

CACHED = ("partitions", "cached_leaderships")
MOVED = (*CACHED, "reassignment")
REMOVED = (*CACHED, "deletion")
DEAD = ("partitions", "dead_replicas")

#: The steps in which a broker executes LeaderAndIsr or UpdateMetadata.
DELIVERIES = ("deliver_request", "deliver_request_unanswered")


@claim("sometimes", source="PROTOCOL.md section 10", parts=CACHED)
def a_later_leader_epoch_is_cached(s: State, m: Model, p: int, r: int) -> Value:
    """A broker's metadata cache has a later leader epoch than the first."""
    return s.brokers[r].partitions[p].cached_epoch > 0


@claim("step", source="PROTOCOL.md D43", witness="a_later_leader_epoch_is_cached", parts=CACHED, of=DELIVERIES)
def caches_get_no_older_leadership(before: State, after: State, m: Model, c: int, b: int, *, p: int) -> Value:
    """In no broker's metadata cache an older leadership takes the place of a newer one; a partition may be removed."""
    old, new = before.brokers[b].partitions[p], after.brokers[b].partitions[p]
    return either(_is_removed(m, before.connections[c][b][0], p), old.cached_epoch <= new.cached_epoch)


def _is_removed(m: Model, place: Slot, p: int) -> Value:
    """Whether a batch tells of a partition that it is removed."""
    return both(place.told[p], place.told_epoch[p] == -1)


@claim("sometimes", source="PROTOCOL.md D18", parts=MOVED)
def metadata_follows_an_earlier_leader_and_isr(s: State, m: Model, c: int, p: int, r: int) -> Value:
    """UpdateMetadata is next for a broker, of a partition with a later leader epoch than the first by LeaderAndIsr."""
    return both(_is_told(s.connections[c][r][0], p), s.brokers[r].partitions[p].leader_epoch > 0)


def _is_told(head: Slot, p: int) -> Value:
    """Whether the request at the head is UpdateMetadata, and names a partition."""
    return both(head.stage == Stage.UPDATE_METADATA, head.told[p])


@claim(
    "step", source="PROTOCOL.md D18, KAFKA-9212", witness="metadata_follows_an_earlier_leader_and_isr", parts=MOVED,
    of=DELIVERIES,
)  # fmt: skip
def what_is_told_is_no_older_than_what_was_ordered(
    before: State, after: State, m: Model, c: int, b: int, *, p: int
) -> Value | None:
    """No UpdateMetadata that a broker accepts has an older leader epoch than a LeaderAndIsr that it has accepted."""
    if b not in m.assigned(p):
        return None
    head, ordered = before.connections[c][b][0], before.brokers[b].partitions[p].leader_epoch
    older = both(head.told_epoch[p] < ordered, ~_is_removed(m, head, p))
    return ~both(_is_accepted(before, m, c, b), _is_told(head, p), older)


def _is_accepted(s: State, m: Model, c: int, b: int) -> Value:
    """Whether a broker does not refuse the request at the head."""
    return both(s.connections[c][b][0].epoch >= s.brokers[b].controller_epoch, ~is_stale_registration(s, m, c, b))


# --------------------------------------------------------------------------------------------------- what is removed


@claim("sometimes", source="PROTOCOL.md sections 7.4 and 10", parts=REMOVED)
def metadata_reports_a_removed_partition(s: State, m: Model, c: int, b: int, p: int) -> Value:
    """UpdateMetadata is next for a broker that knows a partition, and tells that it is removed."""
    head, known = s.connections[c][b][0], s.brokers[b].partitions
    return both(_is_told(head, p), _is_removed(m, head, p), known[p].cached_epoch != -1)


@claim("step", source="PROTOCOL.md sections 7.4 and 9", witness="metadata_reports_a_removed_partition", parts=REMOVED)
def metadata_reports_partitions_being_deleted(
    before: State, after: State, m: Model, action: Action, c: int, *, b: int
) -> Facts:
    """Every UpdateMetadata, whatever it is about, tells that partitions which are to be deleted are removed."""
    if action.rule in ANSWERS:
        return
    for new, place in queued_places(before, after, m, action, b):
        told = both(new, place.metadata)
        for p in m.partitions:
            known = is_cached(after.controllers[c].partitions[p])
            yield either(~both(told, after.controllers[c].doomed[p], known), _is_removed(m, place, p))


@claim(
    "step", source="PROTOCOL.md D71, KAFKA-3175", witness="a_deletion_is_asked_for",
    parts=(*REMOVED, "refused_deletions"),
)  # fmt: skip
def topics_that_stay_are_not_told_to_be_removed(
    before: State, after: State, m: Model, action: Action, c: int, *, b: int
) -> Facts:
    """Where delete.topic.enable is off no UpdateMetadata tells of a partition with leadership that it is removed."""
    if action.rule in ANSWERS:
        return
    for new, place in queued_places(before, after, m, action, b):
        for p in m.partitions:
            stays = both(after.controllers[c].topics[m.topic_of(p)], is_cached(after.controllers[c].partitions[p]))
            yield ~both(new, place.metadata, stays, _is_removed(m, place, p))


@claim(
    "step", source="PROTOCOL.md section 10", witness="metadata_reports_a_removed_partition", parts=REMOVED,
    of=DELIVERIES,
)  # fmt: skip
def removed_partitions_leave_metadata_caches(before: State, after: State, m: Model, c: int, b: int, *, p: int) -> Value:
    """A broker that accepts an UpdateMetadata which tells that a partition is removed has it no more in its cache."""
    head = before.connections[c][b][0]
    told = both(_is_accepted(before, m, c, b), _is_told(head, p), _is_removed(m, head, p))
    return either(~told, after.brokers[b].partitions[p].cached_epoch == -1)


@claim("goal", source="PROTOCOL.md sections 7.4 and 10", parts=REMOVED)
def deleted_topics_are_cached_nowhere(s: State, m: Model, p: int, b: int) -> Value:
    """No live broker's metadata cache has a partition of a topic whose deletion is complete."""
    gone = is_gone(s, m.topic_of(p))
    return either(~gone, ~runs(s, b), s.brokers[b].partitions[p].cached_epoch == -1)


@claim("sometimes", source="PROTOCOL.md D15", parts=DEAD)
def a_dead_replica_is_known(s: State, m: Model, c: int, p: int, r: int) -> Value:
    """A controller at rest takes an assigned replica to be dead."""
    return both(_rests(s, c), ~m.brokers.in_set(r, s.controllers[c].live))


@claim("always", source="PROTOCOL.md D15, KAFKA-3143", witness="a_dead_replica_is_known", parts=DEAD)
def the_dead_are_not_in_sync(s: State, m: Model, c: int, p: int) -> Value:
    """A controller at rest has no partition with a dead member in its ISR, but the last one.

    A partition of a topic that vanished does not count, though its leadership stays in the cache (D53); and from a
    topic that is queued for deletion nobody takes the dead out.
    """
    controller, busy = s.controllers[c], ~_rests(s, c)
    cached = controller.partitions[p]
    dead = m.brokers.difference(m.brokers.members(cached.isr), controller.live)
    single = flag(m.brokers.at(cached.isr, 1) == 0)
    has = both(controller.topics[m.topic_of(p)], is_there(s, m, c, p), ~is_queued(s, m, c, p))
    return either(busy, ~has, m.brokers.is_empty(dead), single)


def _rests(s: State, c: int) -> Value:
    """Whether this controller does nothing; one that gave up and stays active (D4) does not count."""
    controller = s.controllers[c]
    return both(controller.active, controller.leader_id == c, controller.at == At.IDLE)
