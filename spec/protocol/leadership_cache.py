"""What a controller has cached of a partition: leadership, if there is an entry, and AR.

An entry of leadership that is there has a leader epoch; -1 stands for none.

Kafka 0.10.2.2: `ControllerContext.partitionLeadershipInfo`, `partitionReplicaAssignment`. PROTOCOL.md section 1.
"""

from collections.abc import Mapping
from typing import Final

from spec.language.records import names
from spec.language.terms import Value, both, choose, flag
from spec.model import Model
from spec.state.cluster import State
from spec.state.controller import CachedPartition
from spec.state.zookeeper import Leadership

LEADERSHIP: Final = tuple(name for name in names(Leadership) if name != "version")
"""What Kafka prints of one."""


def leadership(record: Leadership | Mapping[str, Value]) -> dict[str, Value]:
    """What Kafka prints of a leadership that somebody has cached, or that a state znode says."""
    return {name: record[name] for name in LEADERSHIP}


def is_cached(cached: CachedPartition) -> Value:
    """Whether a controller has cached leadership of a partition; `cached` is what it holds of that."""
    return flag(cached.leader_epoch != -1)


def assigned_replicas(s: State, m: Model, c: int, p: int) -> Value:
    """A partition's AR as a controller holds it, in order; empty if it does not know the partition."""
    if m.keeps_assignments:
        return s.controllers[c].partitions[p].assigned
    replicas = m.brokers.list_kind.constant(m.first_assigned(p))
    return choose(s.controllers[c].topics[m.topic_of(p)], replicas, ()) if m.topics_vanish else replicas


def has_assignment(s: State, m: Model, c: int, p: int) -> Value:
    """Whether a controller knows a partition's AR; if not, none of its replicas goes to another state (S7)."""
    return flag(assigned_replicas(s, m, c, p) != ()) if m.loses_topics else flag(True)


def lacks_head(s: State, m: Model, c: int, p: int) -> Value:
    """Whether a controller holds a partition's AR, and it is empty: to ask for its first replica raises (D61)."""
    if not m.brokers.odd:
        return flag(False)
    assigned = assigned_replicas(s, m, c, p)
    return both(assigned != (), m.brokers.is_empty(m.brokers.members(assigned)))


def lacks_assignment(s: State, m: Model, c: int, p: int) -> Value:
    """Whether a partition has leadership in the cache and no AR: it cannot be sent (D53)."""
    if not m.loses_topics:
        return flag(False)
    return both(is_cached(s.controllers[c].partitions[p]), assigned_replicas(s, m, c, p) == ())
