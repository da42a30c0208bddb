"""Lemmas about in-sync replicas: a leader is one, and so there always is one.

They are asked for with reassignments and controlled shutdowns, and where only its fixes keep election clean.
They hold elsewhere, too, but no other proof needs them.
"""

from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.leadership.partitions import live_assigned
from spec.state.cluster import State
from spec.state.enumerations import At
from spec.tables.partition_states import PartitionState
from spec.variants import Switch


def _keeps_the_last(m: Model) -> bool:
    """Whether it is asked if somebody is in sync, and the last member of an ISR stays in it (D29)."""
    return m.scope.unclean and m.fixes(Switch.KEEP_LAST_IN_SYNC)


@lemma(
    source="PROTOCOL.md sections 5 and 10", parts=("partitions",),
    where=lambda m: m.has("reassignment") or m.has("shutdown") or _keeps_the_last(m),
)  # fmt: skip
def every_leader_is_in_sync(s: State, m: Model, p: int) -> Facts:
    """The leader that the state znode names, or a copy, is in the ISR there; no leader writes an ISR without itself."""
    memories = {b: s.brokers[b].partitions[p] for b in m.assigned(p)}
    caches = [s.controllers[c].partitions[p] for c in m.controllers]
    slots = [s.connections[c][b][k] for c in m.controllers for b in m.brokers.ids for k in m.slots]
    named = (s.zookeeper.state[p], *caches, *(slot.partitions[p] for slot in slots))
    yield from (either(one.leader == 0, m.brokers.contains(one.isr, one.leader)) for one in named)
    for b, known in memories.items():
        yield flag(known.leader == b).implies(m.brokers.contains(known.isr, b))
        yield either(known.retrying == (), m.brokers.contains(known.retrying, b))


@lemma(
    source="PartitionStateMachine.initializeLeaderAndIsrForPartition 0.10.2.2", parts=("partitions",),
    where=_keeps_the_last,
)  # fmt: skip
def a_new_partition_is_visited_where_a_replica_lives(s: State, m: Model, c: int, p: int) -> Value:
    """Whoever is about to create a state znode knows of an assigned replica that lives."""
    controller = s.controllers[c]
    online = either(controller.at == At.ONLINE_READ, controller.at == At.ONLINE_WRITE)
    cached = controller.partitions[p]
    visited = both(online, cached.todo, cached.state == PartitionState.NEW)
    return visited.implies(live_assigned(s, m, c, p) != ())
