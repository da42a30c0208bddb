"""What is claimed where an exception may end a LeaderAndIsr half way: that followers fetch in the end."""

from spec.claims.goals import runs
from spec.language.rules import Facts, claim
from spec.language.terms import either, flag
from spec.model import Model
from spec.state.cluster import State


@claim("goal", source="PROTOCOL.md D64", parts=("connections", "half_requests"))
def live_followers_fetch(s: State, m: Model) -> Facts:
    """Every live replica that follows the leader, in its leader epoch, fetches from it."""
    for p in m.partitions:
        znode = s.zookeeper.state[p]
        for r in m.assigned(p):
            known = s.brokers[r].partitions[p]
            follows = flag(known.leader == znode.leader) & (known.leader_epoch == znode.leader_epoch)
            yield either(~runs(s, r), ~follows, ~flag(known.idle))
