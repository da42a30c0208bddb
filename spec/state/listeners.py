"""The listeners of the active controller, in the order in which ZkClient queues their callbacks after an expiry.

First come the listeners on children, as its table of hashes has their paths, which has 16 places, or 32; then those on
data, the last of them behind the elector's own, on /controller.

ZkClient 0.10: `ZkClient.fireAllEvents`, `ConcurrentHashMap` of Java 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from spec.formats import znode_paths as paths
from spec.formats.znode_paths import PathKind

ON_CHILDREN: Final[Mapping[str, PathKind]] = {
    "isr_changes": paths.ISR_CHANGES,
    "brokers": paths.BROKER_IDS,
    "deletions": paths.DELETE_TOPICS,
    "topics": paths.BROKER_TOPICS,
}
"""The paths whose children are listened to, by the names that their watches have in the state."""

BEHIND_CONTROLLER: Final = ("preferred",)
"""The watches whose callbacks come behind that of /controller."""

LISTENED: Final[Mapping[str, PathKind]] = {
    **ON_CHILDREN,
    "reassignments": paths.REASSIGN_PARTITIONS,
    "preferred": paths.PREFERRED_REPLICA_ELECTION,
}
"""All paths that only the active controller listens to."""
