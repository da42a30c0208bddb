"""What is claimed where an exception may end a LeaderAndIsr half way: that followers fetch in the end."""

from spec.claims.goals import runs
from spec.language.rules import claim
from spec.language.terms import Value, either, flag
from spec.model import Model
from spec.state.cluster import State


@claim("goal", source="PROTOCOL.md D64", parts=("connections", "half_requests"))
def live_followers_fetch(s: State, m: Model, p: int, r: int) -> Value:
    """Every live replica that follows the leader, in its leader epoch, fetches from it."""
    znode = s.zookeeper.state[p]
    known = s.brokers[r].partitions[p]
    follows = flag(known.leader == znode.leader) & (known.leader_epoch == znode.leader_epoch)
    return either(~runs(s, r), ~follows, ~flag(known.idle))
