"""What is claimed of the brokers' metadata caches, and of replicas that are dead: what only some scopes ask about."""

from __future__ import annotations

from typing import Any

from spec.language import Action, claim
from spec.model import Model
from spec.state import At
from spec.terms import Value, both, either, flag

CACHED = ("partitions", "cached_leaderships")
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


@claim("sometimes", source="PROTOCOL.md D15", parts=DEAD)
def a_dead_replica_is_known(s: Any, m: Model) -> Value:
    """A controller at rest takes an assigned replica to be dead."""
    return either(
        *(
            both(_rests(s.controllers[c]), ~m.brokers.in_set(r, s.controllers[c].live))
            for c in m.controllers
            for p in m.partitions
            for r in m.assigned(p)
        )
    )


@claim("always", source="PROTOCOL.md D15, KAFKA-3143", witness="a_dead_replica_is_known", parts=DEAD)
def the_dead_are_not_in_sync(s: Any, m: Model) -> Value:
    """A controller at rest knows of no ISR with a dead member, but the last one."""
    facts = []
    for c in m.controllers:
        controller = s.controllers[c]
        for p in m.partitions:
            isr = controller.partitions[p].isr
            dead = m.brokers.difference(m.brokers.members(isr), controller.live)
            single = flag(m.brokers.at(isr, 1) == 0)
            facts.append(either(~_rests(controller), m.brokers.is_empty(dead), single))
    return both(*facts)


def _rests(controller: Any) -> Value:
    return both(controller.active, controller.at == At.IDLE)


CLAIMS = (
    a_later_leader_epoch_is_cached, caches_get_no_older_leadership, a_dead_replica_is_known,
    the_dead_are_not_in_sync,
)  # fmt: skip
