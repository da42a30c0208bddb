"""The cache of leadership that a controller has: whether there is an entry of a partition.

An entry that is there has a leader epoch; -1 stands for none.

Kafka 0.10.2.2: `ControllerContext.partitionLeadershipInfo`. PROTOCOL.md section 1.
"""

from __future__ import annotations

from spec.language.terms import Value, flag
from spec.state.controller import CachedPartition


def is_cached(cached: CachedPartition) -> Value:
    """Whether a controller has cached leadership of a partition; `cached` is what it holds of that."""
    return flag(cached.leader_epoch != -1)
