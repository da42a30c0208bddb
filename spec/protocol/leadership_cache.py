"""The cache of leadership that a controller has: whether there is an entry of a partition.

An entry that is there has a leader epoch; -1 stands for none.

Kafka 0.10.2.2: `ControllerContext.partitionLeadershipInfo`. PROTOCOL.md section 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from spec.language.records import names
from spec.language.terms import Value, flag
from spec.state.controller import CachedPartition
from spec.state.zookeeper import Leadership

LEADERSHIP: Final = tuple(name for name in names(Leadership) if name != "version")
"""What Kafka prints of one."""


def leadership(record: Leadership | Mapping[str, Value]) -> dict[str, Value]:
    """What Kafka prints of a leadership that somebody has cached, or that a state znode says."""
    return {name: record[name] for name in LEADERSHIP}


def is_cached(cached: CachedPartition) -> Value:
    """Whether a controller has cached leadership of a partition; `cached` is what it holds of that."""
    return flag(cached.leader_epoch != -1)
