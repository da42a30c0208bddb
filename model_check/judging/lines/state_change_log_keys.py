"""What identifies a line of a controller's state-change.log, so that one that must be printed can be missed.

A step may print a line for each of several partitions, replicas or brokers; two lines with one key are about the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from spec.logs.controller_request_lines import LeaderAndIsrSending, ReassignmentSent, UpdateMetadataSending
from spec.logs.log_lines import Line
from spec.logs.state_change_lines import (
    LeaderElected,
    LeaderElectionStarted,
    PartitionBecameNew,
    PartitionBecameOnline,
    PartitionChangeFailed,
    PartitionLostLeader,
    ReplicaChanged,
    ReplicaChangeFailed,
)
from spec.tables.replica_states import ReplicaState

Key: TypeAlias = "tuple[Any, ...]"
"""What identifies a line that must be printed: its kind, the partition, and the broker if it names one."""

DELETION: Final = (ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL, ReplicaState.NON_EXISTENT)
"""The states through which a replica goes in step 9 of a reassignment, in one step."""


def up_to(state: ReplicaState) -> tuple[ReplicaState, ...]:
    """Those of them that a replica in one of them has behind it, and its own."""
    return DELETION[: DELETION.index(state) + 1]


def rows_of_step_9(old: ReplicaState) -> tuple[tuple[ReplicaState, ReplicaState], ...]:
    """The transitions of an old replica, Offline first; one whose deletion has begun makes only the others."""
    through = DELETION[DELETION.index(old) + 1 :] if old in DELETION else (ReplicaState.OFFLINE, *DELETION)
    return tuple(zip((old, *through), through, strict=False))


KEYS: Final[Mapping[type[Line], tuple[str, ...]]] = {
    LeaderAndIsrSending: ("partition", "broker"),
    ReplicaChanged: ("partition", "replica"),
    ReplicaChangeFailed: ("partition", "replica"),
    PartitionLostLeader: ("partition", "target"),
    **dict.fromkeys((LeaderElected, PartitionBecameOnline, PartitionBecameNew, PartitionChangeFailed), ("partition",)),
    **dict.fromkeys((UpdateMetadataSending, ReassignmentSent, LeaderElectionStarted), ("partition",)),
}
"""The fields that tell lines of a kind apart."""


def key_of(line: Line) -> Key:
    """What identifies a line that a step must print."""
    key = (type(line), *(getattr(line, name) for name in KEYS.get(type(line), ())))
    return (*key, line.target) if isinstance(line, ReplicaChanged) and line.target in DELETION else key
