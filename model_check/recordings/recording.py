"""A recording, as a value: the cluster that it is of, and its sequences of observations.

Each observation stands in one sequence: ZooKeeper's transactions are totally ordered by their zxid; what a process
writes as controller, and what it writes as broker, is in the order of its log; what was done to the cluster, in the
order of the protocol of the experiment. Between the sequences nothing is certain. `time` is a wall clock, which orders
a search, and tells a hole in a log from its end; else it forbids nothing.

A recording ends where the specification does: at the first transaction that only a part does which is not modelled
(`changes.py`), for what follows may depend on it.

Brokers are numbered as in the specification, from 1 in the order of their ids, 0 for none; partitions over all topics,
in the order in which the topics were created.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TypeAlias, dataclass_transform

from spec.formats.kafka_types import NO_LEADER, V0102, KafkaVersion, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.language.broker_lists import as_listed
from spec.language.lists_in_use import Members


@dataclass_transform(frozen_default=True, kw_only_default=True)
@dataclass(frozen=True, kw_only=True)
class Observed:
    """One thing that was seen: where it is (`file:line`), when, and how it reads. Each kind is such a dataclass."""

    place: str
    time: int
    text: str

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


class NotModelled(Observed):
    """The work of a part of the protocol that the specification does not have; a recording is judged up to it."""

    reason: str


class Contradiction(Observed):
    """A line that does not go with other lines: whatever the cluster did, its processes do not write both."""

    reason: str

    @classmethod
    def of(cls, one: Observed, reason: str) -> "Contradiction":
        """What was observed, and why it cannot have been."""
        return cls(place=one.place, time=one.time, text=one.text, reason=reason)

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}: {self.text}"


@dataclass(frozen=True)
class Cluster:
    """The names of a recording, and their numbers in the specification.

    `unclean` are the topics that have ever allowed unclean election, by their own configuration or by the brokers'.
    `parts` are those of the protocol that the recording shows beyond what any cluster does; `requests` the
    reassignments that were asked for, each the RAR of every partition (empty: not named); `assignments` the replicas
    that each partition has had, or was to have, as sets; `recreations` the AR of all partitions as topics were created
    again with it, one by one (for those of other topics, as at first); `additions` that of partitions added at once;
    `edited` that of a topic's partitions as somebody wrote it by hand.
    """

    broker_ids: tuple[int, ...]
    topics: tuple[str, ...]
    partitions: tuple[TopicPartition, ...]
    assigned: tuple[tuple[int, ...], ...]
    unclean: frozenset[str] = frozenset()
    unclean_by_default: bool = False
    deletes_topics: bool = True
    parts: frozenset[str] = frozenset()
    requests: tuple[tuple[tuple[int, ...], ...], ...] = ()
    assignments: tuple[frozenset[frozenset[int]], ...] = ()
    recreations: tuple[tuple[tuple[int, ...], ...], ...] = ()
    additions: tuple[tuple[tuple[int, ...], ...], ...] = ()
    edited: tuple[tuple[tuple[int, ...], ...], ...] = ()

    @cached_property
    def numbers(self) -> Mapping[int, int]:
        """The number of each broker, by its id."""
        return {broker: number for number, broker in enumerate(self.broker_ids, start=1)}

    def broker(self, broker_id: int) -> int:
        """The number of a broker, 0 for none; KeyError if it never had a session."""
        return 0 if broker_id == NO_LEADER else self.numbers[broker_id]

    def replicas(self, written: Iterable[int | str]) -> Members:
        """The numbers of a list of replicas that somebody wrote; text stays text."""
        return as_listed(str(self.broker(int(one))) if isinstance(one, str) else self.broker(one) for one in written)

    def in_numbers(self, leadership: LeaderIsrAndControllerEpoch) -> LeaderIsrAndControllerEpoch:
        """A leadership with the numbers of its brokers."""
        isr = tuple(map(self.broker, leadership.isr))
        return replace(leadership, leader=self.broker(leadership.leader), isr=isr)

    def partition(self, partition: TopicPartition) -> int:
        """The number of a partition; KeyError if its topic was never created."""
        return self._partitions[partition]

    @cached_property
    def _partitions(self) -> Mapping[TopicPartition, int]:
        return {one: number for number, one in enumerate(self.partitions)}

    @cached_property
    def topic_of(self) -> tuple[int, ...]:
        """The number of each partition's topic."""
        return tuple(self.topics.index(one.topic) for one in self.partitions)


@dataclass(frozen=True)
class Recording:
    """A recording, read: its cluster, its sequences of observations by name, and what was passed over, how often.

    `cut` is the first change of a part of the protocol that is not modelled; nothing from its time on is kept. Where
    the recording does not tell what was done to the cluster (`tells_acts`), deaths are inferred. Where there are
    `contradictions`, no behaviour explains the recording, even if one explains all observations. `log_ends` tells of
    each controller's sequence when its log ends, with a line of whatever kind: a broker's, or one that is passed over.
    `torn_ends` are the places where what a killed process wrote last is torn, and was cut off. `releases` are
    those that the members claim or show, by broker id; None, if one claims none of the documented controller's.
    """

    folder: Path
    cluster: Cluster
    tracks: Mapping[str, tuple[Observed, ...]]
    passed_over: Mapping[str, int]
    controller_epochs: int
    cut: NotModelled | None = None
    tells_acts: bool = True
    contradictions: tuple[Contradiction, ...] = ()
    log_ends: Mapping[str, int] = field(default_factory=dict)
    torn_ends: tuple[str, ...] = ()
    releases: Mapping[int, KafkaVersion | None] = field(default_factory=dict)

    @property
    def claims_era(self) -> bool:
        """Whether all members claim to be of the era, so that its specification can be asked what they did."""
        return None not in self.releases.values()

    @property
    def release(self) -> KafkaVersion | None:
        """The release that all brokers are of, if there is one; where no log tells of any, the last of the era."""
        releases = set(self.releases.values()) or {V0102}
        return releases.pop() if len(releases) == 1 else None

    @property
    def observations(self) -> int:
        """How many observations there are in all."""
        return sum(map(len, self.tracks.values()))


SequencesByName: TypeAlias = Mapping[str, tuple[Observed, ...]]


def up_to(sequences: SequencesByName, limit: float) -> SequencesByName:
    """The sequences as far as they were observed before a limit."""
    return {name: tuple(takewhile(lambda one: one.time < limit, track)) for name, track in sequences.items()}
