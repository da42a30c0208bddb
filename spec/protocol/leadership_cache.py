"""The cache of leadership that a controller has: whether there is an entry of a partition.

An entry that is there has a leader epoch; -1 stands for none.

Kafka 0.10.2.2: `ControllerContext.partitionLeadershipInfo`. PROTOCOL.md section 1.
"""

from __future__ import annotations

from typing import Any

from spec.language.terms import Value, flag


def is_cached(cached: Any) -> Value:
    """Whether there is leadership in what a controller holds of a partition."""
    return flag(cached.leader_epoch != -1)
