"""What is claimed of partitions that are added to a topic: none is lost again."""

from __future__ import annotations

from spec.claims import claims_of
from spec.language.rules import Action, claim
from spec.language.terms import Value, both, either
from spec.model import Model
from spec.protocol.context.assignment import assigned_replicas
from spec.state.cluster import State

PARTS = ("addition",)


@claim("sometimes", source="PROTOCOL.md section 7.3", parts=PARTS)
def a_partition_is_added(s: State, m: Model) -> Value:
    """A topic's znode has a partition that an active controller does not know yet."""
    return either(
        *(
            both(s.controllers[c].active, s.zookeeper.assigned[p] != (), assigned_replicas(s, m, c, p) == ())
            for c in m.controllers
            for p in m.partitions
        )
    )


@claim("step", source="PROTOCOL.md D39", witness="a_partition_is_added", parts=PARTS)
def partitions_stay(before: State, after: State, m: Model, action: Action) -> Value | None:
    """A topic never has a partition less than before, unless it is deleted."""
    facts = []
    for p in m.partitions:
        lost = both(before.zookeeper.assigned[p] != (), after.zookeeper.assigned[p] == ())
        facts.append(either(~lost, ~after.zookeeper.topics[m.topic_of(p)]))
    return both(*facts)


CLAIMS = claims_of(__name__)
