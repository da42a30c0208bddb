"""Leadership in the abstraction: what a znode, a cache, a request or a broker says of a partition, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spec.formats.request_schemas import PartitionLeadership
from spec.kafka_types import NO_LEADER

Named = Iterator[tuple[str, object]]
"""Values of the specification's variables, each with its name."""
NOBODY = 0
"""How the specification writes "no broker"."""


def leadership(path: str, known: Any, version: int) -> Named:
    """Leadership as read, cached or sent; None where there is none."""
    leader = NO_LEADER if known is None else known.leader
    yield f"{path}.leader", NOBODY if leader == NO_LEADER else leader
    yield f"{path}.leader_epoch", -1 if known is None else known.leader_epoch
    yield f"{path}.isr", () if known is None else known.isr
    yield f"{path}.version", version
    yield f"{path}.controller_epoch", 0 if known is None else known.controller_epoch


def is_same(told: PartitionLeadership, known: Any) -> bool:
    """Whether what is told of a partition is what is known of it."""
    version = -1 if known is None else known.zk_version
    return list(leadership("", told, told.zk_version)) == list(leadership("", known, version))
