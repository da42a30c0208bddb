"""Claims about removals from an ISR that fail to write, and what their controller believes, and tells, afterwards.

PROTOCOL.md section 4: `KafkaController.removeReplicaFromIsr` overwrites the cache also on a failed attempt.
"""

from spec.language.rules import claim
from spec.language.terms import Value, both, flag
from spec.model import Model
from spec.state.cluster import State

PARTS = ("failed_removals",)


@claim("sometimes", source="PROTOCOL.md section 10", parts=PARTS)
def a_broker_is_up_to_date(s: State, m: Model, p: int, r: int) -> Value:
    """A broker holds the leader epoch of a state znode that has been changed since the start."""
    znodes = s.zookeeper.state
    return both(znodes[p].leader_epoch > 0, s.brokers[r].partitions[p].leader_epoch == znodes[p].leader_epoch)


@claim("always", source="PROTOCOL.md sections 1 and 10", witness="a_broker_is_up_to_date", parts=PARTS)
def one_leader_for_each_leader_epoch(s: State, m: Model, p: int, r: int) -> Value:
    """A broker that holds a state znode's leader epoch holds its leader, too."""
    znode = s.zookeeper.state[p]
    known = s.brokers[r].partitions[p]
    return flag(known.leader_epoch != znode.leader_epoch) | flag(known.leader == znode.leader)
