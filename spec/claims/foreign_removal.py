"""What is claimed where topics are removed by hand: that no broker change is lost, and no controller stays inert."""

from spec.language.rules import claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.leadership_cache import is_cached
from spec.state.cluster import State
from spec.state.enumerations import At
from spec.tables.partition_states import PartitionState

PARTS = ("partitions", "removals")


@claim("sometimes", source="PROTOCOL.md D53", parts=PARTS)
def a_known_topic_is_gone(s: State, m: Model, c: int, t: int) -> Value:
    """A topic is gone which its controller knows."""
    return both(s.controllers[c].topics[t], ~s.zookeeper.topics[t])


@claim("always", source="PROTOCOL.md D51", witness="a_known_topic_is_gone", parts=PARTS)
def dead_leaders_are_replaced(s: State, m: Model, c: int, p: int) -> Value:
    """A controller at rest takes no partition to be online whose leader, for all it knows, is dead."""
    controller = s.controllers[c]
    rests = both(controller.active, controller.at == At.IDLE)
    cached = controller.partitions[p]
    online = both(is_cached(cached), cached.leader != 0, cached.state == PartitionState.ONLINE)
    lives = m.brokers.in_set(cached.leader, controller.live)
    return either(~rests, ~online, is_queued(s, m, c, p), lives)


@claim("always", source="PROTOCOL.md D53", witness="a_known_topic_is_gone", parts=PARTS)
def batches_are_clean(s: State, m: Model) -> Value:
    """No exception has left anything in a controller's own batch, which would end its term with the next one."""
    return ~either(*(s.controllers[c].dirty for c in m.controllers))


@claim("step", source="PROTOCOL.md D28", witness="a_known_topic_is_gone", parts=PARTS, of={"on_broker_change"})
def a_dirty_batch_ends_the_term(before: State, after: State, m: Model, c: int) -> Value:
    """No controller that finds its batch dirty, when a broker has started, goes on with it as it is."""
    old, new = (one.controllers[c] for one in (before, after))
    return ~both(old.dirty, new.dirty, ~m.brokers.is_subset(new.live, old.live), flag(new.at == At.IDLE))
