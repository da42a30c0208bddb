"""What is claimed of topics that are created: each of their partitions gets a state znode, and so a leader."""

from __future__ import annotations

from spec.claims.goals import both_claims
from spec.language.terms import Value, both, either
from spec.model import Model
from spec.protocol.context.assignment import stored_set
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.shape import Session


def partitions_are_led(s: State, m: Model) -> Value:
    """Every partition that a topic's znode names has a state znode, unless the topic is to be deleted.

    One of whose replicas no broker runs stays New.
    """
    facts = []
    for p in m.partitions:
        is_named = s.zookeeper.assigned[p] != () if m.has("addition") else True
        is_doomed = s.zookeeper.deletions[m.topic_of(p)] if m.has("deletion") else False
        replicas = stored_set(s, m, p)
        running = (both(m.brokers.in_set(b, replicas), s.processes[b].session == Session.LIVE) for b in m.brokers.ids)
        wanted = both(s.zookeeper.topics[m.topic_of(p)], is_named, either(*running))
        facts.append(either(~wanted, is_doomed, exists(s.zookeeper.state[p])))
    return both(*facts)


CLAIMS = both_claims(partitions_are_led, "PROTOCOL.md section 7.3", ("creation",))
