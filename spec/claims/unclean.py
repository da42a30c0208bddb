"""What unclean leader election costs, where it is on: a replica may be elected that is not in sync.

Where topics may be allowed it while all run: that nobody is elected by that alone (D63).
"""

from spec.claims.goals import works
from spec.language.rules import claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.leadership.leader_selectors import may_be_unclean
from spec.protocol.leadership.partitions import live_assigned
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.enumerations import Callback
from spec.tables.partition_states import PartitionState

PARTS = ("partitions", "unclean")
CHANGED = ("partitions", "unclean_changes")


@claim("sometimes", source="PROTOCOL.md section 5", parts=PARTS)
def a_leader_is_lost(s: State, m: Model, p: int) -> Value:
    """Some partition that had a leader has none."""
    return both(exists(s.zookeeper.state[p]), s.zookeeper.state[p].leader == 0)


@claim("step", source="PROTOCOL.md D30, KIP-106", witness="a_leader_is_lost", parts=PARTS)
def leaders_were_in_sync(before: State, after: State, m: Model, *, p: int) -> Value:
    """Whoever is elected leader was in the ISR, so that nothing is lost which was committed."""
    old, new = before.zookeeper.state[p], after.zookeeper.state[p]
    elected = both(exists(old), new.leader != old.leader, new.leader != 0)
    return ~elected | m.brokers.contains(old.isr, new.leader)


@claim("always", source="PROTOCOL.md D29, KAFKA-5083", witness="a_leader_is_lost", parts=PARTS)
def isr_is_not_empty(s: State, m: Model, p: int) -> Value:
    """The ISR in a state znode has a member."""
    return either(~exists(s.zookeeper.state[p]), flag(s.zookeeper.state[p].isr != ()))


@claim("always", source="PROTOCOL.md D63, KAFKA-6835", witness="a_partition_is_offline", parts=CHANGED)
def allowed_elections_are_held(s: State, m: Model, c: int, p: int) -> Value:
    """A controller that works, and has nothing left to hear, leaves no partition Offline that may elect uncleanly, and
    of whose replicas one lives.
    """
    controller = s.controllers[c]
    rests = works(s, c) & (controller.callbacks[0] == Callback.NONE)
    heard = ~controller.allowed[m.topic_of(p)]
    offline = both(controller.partitions[p].state == PartitionState.OFFLINE, ~is_queued(s, m, c, p))
    electable = both(may_be_unclean(s, m, p), live_assigned(s, m, c, p) != ())
    return ~both(rests, heard, offline, electable)
