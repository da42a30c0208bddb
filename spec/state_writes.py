"""How a controller changes a partition's state znode, and takes over into its cache what the znode says.

Every write of the controller raises the leader epoch by one, also one that leaves the leader as it is, and names the
controller's epoch. On which version a write is conditional, and who is told of it, is the business of who writes.

Kafka 0.10.2.2: `ReplicationUtils.updateLeaderAndIsr`. PROTOCOL.md sections 2 and 3.
"""

from __future__ import annotations

from typing import Any

from spec.language import observe, successor
from spec.model import Model
from spec.request_batch import FIELDS, acts
from spec.terms import Value
from spec.zookeeper import state_changed


def write_state(s: Any, m: Model, c: int, p: int, *, leader: Value, isr: Value) -> None:
    """The state znode gets this leader and ISR, in the next leader epoch."""
    znode = s.zookeeper.state[p]
    znode.leader = leader
    znode.isr = isr
    znode.leader_epoch = successor(znode.leader_epoch)
    znode.version = successor(znode.version)
    znode.controller_epoch = s.controllers[c].epoch
    acts(s, m, c)
    state_changed(s, m, p)
    observe(f"controller {c}", "write state", partition=p, **{name: znode[name] for name in FIELDS})


def cache_state(s: Any, c: int, p: int) -> None:
    """The cache takes over what the state znode says."""
    for name in FIELDS:
        s.controllers[c].partitions[p][name] = s.zookeeper.state[p][name]
