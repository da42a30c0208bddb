"""What is claimed of topics that are created, and of partitions added: each gets a state znode, and none is lost."""

from spec.language.rules import claim
from spec.language.terms import Value, both, either
from spec.model import Model
from spec.protocol.context.assignment import stored_set
from spec.protocol.context.deletion_marks import is_to_go
from spec.protocol.leadership_cache import assigned_replicas
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.enumerations import Session

PARTS = ("addition",)


@claim("sometimes", source="PROTOCOL.md section 7.3", parts=PARTS)
def a_partition_is_added(s: State, m: Model, c: int, p: int) -> Value:
    """A topic's znode has a partition that an active controller does not know yet."""
    return both(s.controllers[c].active, s.zookeeper.assigned[p] != (), assigned_replicas(s, m, c, p) == ())


@claim("step", source="PROTOCOL.md D39", witness="a_partition_is_added", parts=PARTS)
def partitions_stay(before: State, after: State, m: Model, *, p: int) -> Value:
    """A topic never has a partition less than before, unless it is deleted."""
    lost = both(before.zookeeper.assigned[p] != (), after.zookeeper.assigned[p] == ())
    return either(~lost, ~after.zookeeper.topics[m.topic_of(p)])


@claim("goal", source="PROTOCOL.md section 7.3", parts=("creation",))
def partitions_are_led(s: State, m: Model, p: int) -> Value:
    """Every partition that a topic's znode names has a state znode, unless the topic is to be deleted.

    A partition none of whose replicas is running stays New.
    """
    is_named = s.zookeeper.assigned[p] != () if m.has("addition") else True
    replicas = stored_set(s, m, p)
    running = (both(m.brokers.in_set(b, replicas), s.processes[b].session == Session.LIVE) for b in m.brokers.ids)
    wanted = both(s.zookeeper.topics[m.topic_of(p)], is_named, either(*running))
    return either(~wanted, is_to_go(s, m, p), exists(s.zookeeper.state[p]))
