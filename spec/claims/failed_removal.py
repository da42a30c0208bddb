"""Claims about removals from an ISR that fail to write, and what their controller believes, and tells, afterwards.

PROTOCOL.md section 4: `KafkaController.removeReplicaFromIsr` overwrites the cache also on a failed attempt.
"""

from spec.claims import claims_of
from spec.language.rules import Facts, claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.state.cluster import State

PARTS = ("failed_removals",)


@claim("sometimes", source="PROTOCOL.md section 10", parts=PARTS)
def a_broker_is_up_to_date(s: State, m: Model) -> Value:
    """A broker holds the leader epoch of a state znode that has been changed since the start."""
    znodes = s.zookeeper.state
    return either(
        *(
            both(znodes[p].leader_epoch > 0, s.brokers[b].partitions[p].leader_epoch == znodes[p].leader_epoch)
            for p in m.partitions
            for b in m.assigned(p)
        )
    )


@claim("always", source="PROTOCOL.md sections 1 and 10", witness="a_broker_is_up_to_date", parts=PARTS)
def one_leader_for_each_leader_epoch(s: State, m: Model) -> Facts:
    """A broker that holds a state znode's leader epoch holds its leader, too."""
    for p in m.partitions:
        znode = s.zookeeper.state[p]
        for b in m.assigned(p):
            known = s.brokers[b].partitions[p]
            yield flag(known.leader_epoch != znode.leader_epoch) | flag(known.leader == znode.leader)


CLAIMS = claims_of(__name__)
