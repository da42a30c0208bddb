"""What is claimed of the brokers' metadata caches, and of replicas that are dead: what only some scopes ask about."""

from __future__ import annotations

from typing import Any

from spec.assignment import is_there
from spec.broker_requests import is_stale_registration
from spec.broker_state import Stage
from spec.deletion_queue import is_queued
from spec.language import Action, claim
from spec.model import Model
from spec.state import At
from spec.terms import Value, both, either, flag

CACHED = ("partitions", "cached_leaderships")
MOVED = (*CACHED, "reassignment")
DEAD = ("partitions", "dead_replicas")


@claim("sometimes", source="PROTOCOL.md section 10", parts=CACHED)
def a_later_leader_epoch_is_cached(s: Any, m: Model) -> Value:
    """A broker's metadata cache has a later leader epoch than the first."""
    return either(*(s.brokers[b].partitions[p].cached_epoch > 0 for p in m.partitions for b in m.assigned(p)))


@claim("step", source="PROTOCOL.md D43", witness="a_later_leader_epoch_is_cached", parts=CACHED)
def caches_get_no_older_leadership(before: Any, after: Any, m: Model, action: Action) -> Value | None:
    """In no broker's metadata cache an older leadership takes the place of a newer one."""
    if action.rule not in {"deliver_request", "deliver_request_unanswered"}:
        return None
    b, facts = action.parameters["b"], []
    for p in m.partitions:
        old, new = before.brokers[b].partitions[p], after.brokers[b].partitions[p]
        facts.append(flag(old.cached_epoch <= new.cached_epoch))
    return both(*facts)


@claim("sometimes", source="PROTOCOL.md D18", parts=MOVED)
def a_broker_that_was_ordered_is_to_be_told(s: Any, m: Model) -> Value:
    """UpdateMetadata is next for a broker, of a partition with a later leader epoch than the first by LeaderAndIsr."""
    facts = []
    for c in m.controllers:
        for p in m.partitions:
            heads = {b: s.connections[c][b][0] for b in m.assigned(p)}
            facts += [both(_is_told(head, p), s.brokers[b].partitions[p].leader_epoch > 0) for b, head in heads.items()]
    return either(*facts)


def _is_told(head: Any, p: int) -> Value:
    """Whether the request at the head is UpdateMetadata, and names a partition."""
    return both(head.stage == Stage.UPDATE_METADATA, head.told[p])


@claim(
    "step", source="PROTOCOL.md D18, KAFKA-9212", witness="a_broker_that_was_ordered_is_to_be_told", parts=MOVED
)  # fmt: skip
def what_is_told_is_no_older_than_what_was_ordered(before: Any, after: Any, m: Model, action: Action) -> Value | None:
    """No UpdateMetadata that a broker accepts tells an older leader epoch than LeaderAndIsr has told this broker."""
    if action.rule not in {"deliver_request", "deliver_request_unanswered"}:
        return None
    c, b = action.parameters["c"], action.parameters["b"]
    broker, head = before.brokers[b], before.connections[c][b][0]
    accepted = both(head.epoch >= broker.controller_epoch, ~is_stale_registration(before, m, c, b))
    facts = []
    for p in m.partitions:
        if b in m.assigned(p):
            older = flag(head.told_epoch[p] < broker.partitions[p].leader_epoch)
            facts.append(~both(accepted, _is_told(head, p), older))
    return both(*facts)


@claim("sometimes", source="PROTOCOL.md D15", parts=DEAD)
def a_dead_replica_is_known(s: Any, m: Model) -> Value:
    """A controller at rest takes an assigned replica to be dead."""
    return either(
        *(
            both(_rests(s, c), ~m.brokers.in_set(r, s.controllers[c].live))
            for c in m.controllers
            for p in m.partitions
            for r in m.assigned(p)
        )
    )


@claim("always", source="PROTOCOL.md D15, KAFKA-3143", witness="a_dead_replica_is_known", parts=DEAD)
def the_dead_are_not_in_sync(s: Any, m: Model) -> Value:
    """A controller at rest has no partition with a dead member in its ISR, but the last one.

    A partition of a topic that vanished is none, though its leadership stays in the cache (D53); and from a topic that
    is queued for deletion nobody takes the dead out.
    """
    facts = []
    for c in m.controllers:
        controller = s.controllers[c]
        busy = ~_rests(s, c)
        for p in m.partitions:
            cached = controller.partitions[p]
            dead = m.brokers.difference(m.brokers.members(cached.isr), controller.live)
            single = flag(m.brokers.at(cached.isr, 1) == 0)
            has = both(controller.topics[m.topic_of(p)], is_there(s, m, c, p), ~is_queued(s, m, c, p))
            facts.append(either(busy, ~has, m.brokers.is_empty(dead), single))
    return both(*facts)


def _rests(s: Any, c: int) -> Value:
    """Whether this is a controller that does nothing; who gave up and stays active (D4) is none."""
    controller = s.controllers[c]
    return both(controller.active, controller.leader_id == c, controller.at == At.IDLE)


CLAIMS = (
    a_later_leader_epoch_is_cached, caches_get_no_older_leadership, a_broker_that_was_ordered_is_to_be_told,
    what_is_told_is_no_older_than_what_was_ordered, a_dead_replica_is_known, the_dead_are_not_in_sync,
)  # fmt: skip
