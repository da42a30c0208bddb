"""What is seen of ZooKeeper, as values: transactions that changed something that is modelled, or failed.

They are totally ordered by their zxid, and say who did it, but for what an admin does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model_check.recordings.recording import Observed
from spec.formats.leadership import LeaderIsrAndControllerEpoch


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
    """/controller was deleted: by a broker, or by hand."""


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
class UncleanChanged(OfATopic):
    """A topic's configuration, or that of the brokers in its stead, allows unclean election now, or forbids it."""

    unclean: bool


@dataclass(frozen=True, kw_only=True)
class StateWritten(ZooKeeperChange):
    """A partition's state znode was created (version 0), or written; by its leader, if the epoch is as before.

    `changed` are the replicas that came into the ISR or left it.
    """

    partition: int
    state: LeaderIsrAndControllerEpoch
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
    """A controller wrote what is still to be reassigned, RAR by partition, or deleted the znode, as hands may."""

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
    """Somebody asks for elections of these partitions."""

    partitions: frozenset[int]


@dataclass(frozen=True, kw_only=True)
class ElectionRequestDeleted(ZooKeeperChange):
    """The request for elections was deleted: by a controller, or by hand."""


@dataclass(frozen=True, kw_only=True)
class WriteConflicted(ZooKeeperChange):
    """A conditional write failed on its version; ZooKeeper's log does not say which.

    It was an ISR change by the leader of the partition `of_leader`, if that is said; None leaves it open.
    """

    of_leader: int | None = None
