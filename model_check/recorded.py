"""What a recording shows, as values: a change in ZooKeeper, a request that a broker handled, a controller's line.

Each observation stands in one sequence: ZooKeeper's transactions are totally ordered by their zxid; what a process
writes as controller, and what it writes as broker, is in the order of its log; what was done to the cluster, in the
order of the protocol of the experiment. Between the sequences nothing is certain. `time` is a wall clock, which orders
a search and forbids nothing.

Brokers are numbered as in the specification, from 1 in the order of their ids, 0 for none; partitions over all topics,
in the order in which the topics were created.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from spec.kafka_types import TopicPartition
from spec.log_lines import Line


@dataclass(frozen=True)
class Leadership:
    """What a state znode or a request says of a partition; `version` is the znode's, `isr` in its order."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    version: int
    controller_epoch: int


@dataclass(frozen=True, kw_only=True)
class Observed:
    """One thing that was seen: where it stands (`file:line`), when, and how it reads."""

    place: str
    time: int
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


@dataclass(frozen=True, kw_only=True)
class NotModelled(Observed):
    """The work of a part of the protocol that the specification does not have; a recording is judged up to it."""

    reason: str


# ----------------------------------------------------------------------------------------- ZooKeeper's transactions


@dataclass(frozen=True, kw_only=True)
class ZooKeeperChange(Observed):
    """A transaction that changed what is modelled of ZooKeeper, or failed; `by` is a broker, 0 the admin."""

    zxid: int
    by: int


@dataclass(frozen=True, kw_only=True)
class SessionBegan(ZooKeeperChange):
    """A broker got a session; `first` if it is the first of its process, as far as that `is_guess`ed or told."""

    first: bool
    is_guess: bool


@dataclass(frozen=True, kw_only=True)
class SessionEnded(ZooKeeperChange):
    """A broker's session ended, with its ephemeral znodes.

    `by_client`: the broker closed it. `superseded`: a later process of this broker had a session by then.
    `survived`: the same process got another one afterwards.
    """

    by_client: bool
    superseded: bool
    survived: bool
    had_controller: bool
    had_registration: bool


@dataclass(frozen=True, kw_only=True)
class ControllerCreated(ZooKeeperChange):
    """A broker won /controller; `may_be_unanswered`: without having been told, perhaps."""

    may_be_unanswered: bool


@dataclass(frozen=True, kw_only=True)
class ControllerDeleted(ZooKeeperChange):
    """A broker deleted /controller."""


@dataclass(frozen=True, kw_only=True)
class EpochWritten(ZooKeeperChange):
    """/controller_epoch was created (version 0) or written."""

    epoch: int
    version: int


@dataclass(frozen=True, kw_only=True)
class BrokerRegistered(ZooKeeperChange):
    """/brokers/ids/N was created; `may_be_unanswered` as above."""

    may_be_unanswered: bool


@dataclass(frozen=True, kw_only=True)
class OfATopic(ZooKeeperChange):
    """Something was done to one topic."""

    topic: int


@dataclass(frozen=True, kw_only=True)
class TopicCreated(OfATopic):
    """/brokers/topics/T was created with this AR by partition; `recreation` numbers those that had been there."""

    assigned: Mapping[int, tuple[int, ...]]
    recreation: int | None


@dataclass(frozen=True, kw_only=True)
class DeletionAsked(OfATopic):
    """/admin/delete_topics/T was created."""


@dataclass(frozen=True, kw_only=True)
class RequestDeleted(OfATopic):
    """A controller deleted /admin/delete_topics/T."""


@dataclass(frozen=True, kw_only=True)
class StateDeleted(ZooKeeperChange):
    """A controller deleted a partition's state znode."""

    partition: int


@dataclass(frozen=True, kw_only=True)
class TopicDeleted(OfATopic):
    """A controller deleted /brokers/topics/T."""


@dataclass(frozen=True, kw_only=True)
class ConfigurationDeleted(OfATopic):
    """A controller deleted /config/topics/T."""


@dataclass(frozen=True, kw_only=True)
class StateWritten(ZooKeeperChange):
    """A partition's state znode was created (version 0), or written; by its leader, if the epoch is as before.

    `changed` are the replicas that came into the ISR or left it.
    """

    partition: int
    state: Leadership
    by_leader: bool
    changed: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class AssignmentRead(OfATopic):
    """The tool read what it writes next, with new partitions: just before, since that is what was there."""


@dataclass(frozen=True, kw_only=True)
class AssignmentWritten(OfATopic):
    """The AR of all partitions of a topic was written: by a controller, or by the tool (`Cluster.additions`)."""

    assigned: Mapping[int, tuple[int, ...]]
    addition: int | None = None


@dataclass(frozen=True, kw_only=True)
class ReassignmentRequested(ZooKeeperChange):
    """/admin/reassign_partitions was created; `request` is its number in `Cluster.requests`."""

    request: int


@dataclass(frozen=True, kw_only=True)
class ReassignmentsWritten(ZooKeeperChange):
    """A controller wrote what is still to be reassigned, RAR by partition, or deleted the znode."""

    left: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, kw_only=True)
class NotificationCreated(ZooKeeperChange):
    """A leader announced ISR changes; `notice` is the place of its notification (`Model.notices`)."""

    partitions: frozenset[int]
    notice: int


@dataclass(frozen=True, kw_only=True)
class NotificationDeleted(ZooKeeperChange):
    """A controller deleted the notification in this place."""

    notice: int


@dataclass(frozen=True, kw_only=True)
class ElectionRequested(ZooKeeperChange):
    """/admin/preferred_replica_election was created, and names these partitions."""

    partitions: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class ElectionRequestDeleted(ZooKeeperChange):
    """/admin/preferred_replica_election was deleted: by a controller, or by hand."""


@dataclass(frozen=True, kw_only=True)
class WriteConflicted(ZooKeeperChange):
    """A conditional write failed on its version; ZooKeeper's log does not say which."""


# ---------------------------------------------------------------------------------------------------- what else is seen


@dataclass(frozen=True, kw_only=True)
class ProcessKilled(Observed):
    """A broker's process was killed."""

    broker: int


@dataclass(frozen=True, kw_only=True)
class ProcessPaused(Observed):
    """A broker's process was stopped (SIGSTOP), or goes on (`resumed`)."""

    broker: int
    resumed: bool


@dataclass(frozen=True, kw_only=True)
class ProcessStopping(Observed):
    """A broker's process was told to stop (SIGTERM): it asks for a controlled shutdown first."""

    broker: int


@dataclass(frozen=True, kw_only=True)
class ControllerSaid(Observed):
    """A line by a process as controller, in its life number `incarnation`, the first being 1.

    Lines of state-change.log are one sequence, those of controller.log another, which has DEBUG lines of `details`.
    """

    controller: int
    incarnation: int
    line: Line
    details: frozenset[type[Line]] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Handled(Observed):
    """A broker handled something of a request of a controller, in its life number `incarnation`."""

    broker: int
    incarnation: int


@dataclass(frozen=True, kw_only=True)
class ReplicaStopped(Handled):
    """A broker was told to stop a replica, and to delete it if `delete`; by whom and in which request is not logged."""

    partition: int
    delete: bool


@dataclass(frozen=True, kw_only=True)
class StopReplicaRefused(Handled):
    """A broker refused a StopReplica for its controller epoch; by whom it was is not logged."""

    epoch: int


@dataclass(frozen=True, kw_only=True)
class RequestHandled(Handled):
    """A broker handled a LeaderAndIsr or an UpdateMetadata of a controller.

    `kind` is one of these two; `states` what the LeaderAndIsr says of each partition, `replicas` its AR, and `outcomes`
    what became of it: leader, follower, unavailable, ignored or unassigned (not every partition's is known where the
    process was killed). `told` is what an UpdateMetadata says, without versions. `refused`: as a whole, for its
    controller epoch. Correlation ids begin anew with each channel.
    """

    kind: str
    controller: int
    epoch: int
    correlation_id: int
    states: Mapping[int, Leadership]
    outcomes: Mapping[int, str]
    refused: bool
    told: Mapping[int, Leadership] = field(default_factory=dict)
    replicas: Mapping[int, frozenset[int]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class AnswerReceived(Observed):
    """A controller got an answer; `codes` by partition, None where the answer has none (an UpdateMetadata's)."""

    controller: int
    epoch: int
    broker: int
    error_code: int
    codes: Mapping[int, int] | None


@dataclass(frozen=True, kw_only=True)
class Contradiction(Observed):
    """A line that does not go with other lines: whatever the cluster did, its processes do not write both."""

    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}: {self.text}"


# ------------------------------------------------------------------------------------------------------- the whole


@dataclass(frozen=True)
class Cluster:
    """The names of a recording, and their numbers in the specification.

    `unclean` are the numbers of the partitions with unclean leader election; a topic may override the default. `parts`
    are those of the protocol that the recording shows beyond what any cluster does; `requests` the reassignments that
    were asked for, each the RAR of every partition (empty: not named); `assignments` the replicas that each partition
    has had, or was to have, as sets; `recreations` the AR of all partitions as topics were created again with it, one
    by one (for those of other topics, as at first); `additions` that of the partitions that were added at once.
    """

    broker_ids: tuple[int, ...]
    topics: tuple[str, ...]
    partitions: tuple[TopicPartition, ...]
    assigned: tuple[tuple[int, ...], ...]
    unclean: frozenset[int] = frozenset()
    unclean_by_default: bool = False
    parts: frozenset[str] = frozenset()
    requests: tuple[tuple[tuple[int, ...], ...], ...] = ()
    assignments: tuple[frozenset[frozenset[int]], ...] = ()
    recreations: tuple[tuple[tuple[int, ...], ...], ...] = ()
    additions: tuple[tuple[tuple[int, ...], ...], ...] = ()

    @cached_property
    def _brokers(self) -> Mapping[int, int]:
        return {-1: 0, **{broker: number for number, broker in enumerate(self.broker_ids, start=1)}}

    def broker(self, broker_id: int) -> int:
        """The number of a broker; KeyError if it never had a session."""
        return self._brokers[broker_id]

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
    `contradictions`, no behaviour explains the recording, even if one explains all observations.
    """

    folder: Path
    cluster: Cluster
    tracks: Mapping[str, tuple[Observed, ...]]
    passed_over: Mapping[str, int]
    controller_epochs: int
    cut: NotModelled | None = None
    tells_acts: bool = True
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def observations(self) -> int:
        """How many observations there are in all."""
        return sum(map(len, self.tracks.values()))
