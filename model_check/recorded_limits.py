"""Where the specification ends: the first thing in a recording that only a part which is not modelled does.

What follows may depend on it, so a recording is judged up to there. Topic deletion and preferred replica election begin
with a transaction (`recorded_writes`). A controlled shutdown does not: it begins with a request to the
controller, which shows as elections of partitions that have a leader, as StopReplica requests, and at last as a
registered broker that closes its own session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Final, TypeAlias

from model_check.recorded import (
    ControllerSaid,
    NotModelled,
    Observed,
    ReplicaStopped,
    SessionEnded,
    StopReplicaRefused,
)
from spec.partition_states import PartitionState
from spec.state_change_lines import LeaderElectionStarted, PartitionBecameOnline

SequencesByName: TypeAlias = Mapping[str, tuple[Observed, ...]]


STOPPING: Final = frozenset({"reassignment", "deletion"})
"""The parts that bring StopReplica requests to living brokers, and elections of partitions that have a leader."""


def limit_of(sequences: SequencesByName, parts: frozenset[str]) -> NotModelled | None:
    """The first observation, by the clock, of what is not modelled; `parts` are those that the recording has."""
    found = (one for sequence in sequences.values() for one in _limits(sequence, stops=not STOPPING.isdisjoint(parts)))
    return min(found, key=lambda one: one.time, default=None)


def up_to(sequences: SequencesByName, limit: NotModelled | None) -> SequencesByName:
    """The sequences as far as they were observed before a limit."""
    if limit is None:
        return sequences
    return {name: tuple(takewhile(lambda one: one.time < limit.time, track)) for name, track in sequences.items()}


def _limits(sequence: Iterable[Observed], *, stops: bool) -> Iterator[NotModelled]:
    started: dict[object, Observed] = {}
    for one in sequence:
        match one:
            case NotModelled():
                yield one
            case SessionEnded(by_client=True, had_registration=True):
                yield _limit(one, "a broker that shuts itself down")
            case ReplicaStopped() | StopReplicaRefused() if not stops:
                yield _limit(one, "a StopReplica that reaches its broker")
            case ControllerSaid(line=LeaderElectionStarted(partition=partition)):
                started[partition] = one
            case ControllerSaid(line=PartitionBecameOnline(partition=partition, source=PartitionState.ONLINE)) if (
                not stops
            ):
                yield _limit(started.get(partition, one), "the election of another leader where there is one")


def _limit(one: Observed, what: str) -> NotModelled:
    reason = f"{what} is not part of the specification"
    return NotModelled(place=one.place, time=one.time, text=one.text, reason=reason)
