"""What unclean leader election costs: claims of scopes in which a replica may be elected that is not in sync."""

from spec.claims import claims_of
from spec.language.rules import Action, Facts, claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.zookeeper import exists
from spec.state.cluster import State

PARTS = ("partitions", "unclean")


@claim("sometimes", source="PROTOCOL.md section 5", parts=PARTS)
def a_leader_is_lost(s: State, m: Model) -> Value:
    """Some partition that had a leader has none."""
    return either(*(both(exists(s.zookeeper.state[p]), s.zookeeper.state[p].leader == 0) for p in m.partitions))


@claim("step", source="PROTOCOL.md D30, KIP-106", witness="a_leader_is_lost", parts=PARTS)
def leaders_were_in_sync(before: State, after: State, m: Model, action: Action) -> Facts:
    """Whoever is elected leader was in the ISR, so that nothing is lost which was committed."""
    for p in m.partitions:
        old, new = before.zookeeper.state[p], after.zookeeper.state[p]
        elected = both(exists(old), new.leader != old.leader, new.leader != 0)
        yield ~elected | m.brokers.contains(old.isr, new.leader)


@claim("always", source="PROTOCOL.md D29, KAFKA-5083", witness="a_leader_is_lost", parts=PARTS)
def isr_is_not_empty(s: State, m: Model) -> Value:
    """The ISR in a state znode has a member."""
    return both(*(either(~exists(s.zookeeper.state[p]), flag(s.zookeeper.state[p].isr != ())) for p in m.partitions))


CLAIMS = claims_of(__name__)
