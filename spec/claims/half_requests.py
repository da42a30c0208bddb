"""What is claimed where an exception may end a LeaderAndIsr half way: that followers fetch in the end."""

from __future__ import annotations

from spec.claims.goals import both_claims, runs
from spec.language.rules import Facts
from spec.language.terms import either, flag
from spec.model import Model
from spec.state.cluster import State


def live_followers_fetch(s: State, m: Model) -> Facts:
    """Every live replica that follows the leader, in its leader epoch, fetches from it."""
    for p in m.partitions:
        znode = s.zookeeper.state[p]
        for r in m.assigned(p):
            known = s.brokers[r].partitions[p]
            follows = flag(known.leader == znode.leader) & (known.leader_epoch == znode.leader_epoch)
            yield either(~runs(s, r), ~follows, ~flag(known.idle))


CLAIMS = both_claims(live_followers_fetch, "PROTOCOL.md D64", ("connections", "half_requests"))
