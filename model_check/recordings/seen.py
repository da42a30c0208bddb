"""What is seen of a cluster, as values: ZooKeeper's transactions, what is done to processes, and what these write.

Transactions are those that changed something that is modelled, or failed. They are totally ordered by their zxid, and
each but an admin's names its author. Processes write what they do as controllers, and what they handle as brokers.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from model_check.recordings.recording import Observed
from spec.formats.error_codes import ErrorCode
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs.controller_log.parts import ControllerLogLine, Thread
from spec.logs.log_lines import Line

MAY_BE_OFF: Final = frozenset({"DEBUG", "TRACE"})
"""Levels at which controller.log need not have lines; whether it has a kind holds for the whole life of a process."""


class ProcessKilled(Observed):
    """A broker's process was killed."""

    broker: int


class ProcessPaused(Observed):
    """A broker's process was stopped (SIGSTOP), or goes on (`resumed`)."""

    broker: int
    resumed: bool


class ProcessStopping(Observed):
    """A broker's process was told to stop (SIGTERM): it asks for a controlled shutdown first."""

    broker: int


class ControllerSaid(Observed):
    """A line by a process as controller, in its life number `incarnation`, the first being 1.

    Lines of state-change.log are one sequence; those of controller.log are two, one of whoever has the controller's
    lock, one of other threads. That log has, of the kinds that `MAY_BE_OFF`, those of `details`.
    """

    controller: int
    incarnation: int
    line: Line
    details: frozenset[type[Line]] = frozenset()

    @property
    def unlocked(self) -> Thread | None:
        """The thread that wrote it without the controller's lock; none, if its writer had that."""
        return self.line.unlocked if isinstance(self.line, ControllerLogLine) else None

    @property
    def number(self) -> int:
        """The number of the line in its file."""
        return int(self.place.rpartition(":")[2])


class Handled(Observed):
    """A broker handled something of a request of a controller, in its life number `incarnation`."""

    broker: int
    incarnation: int


class ReplicaStopped(Handled):
    """A broker was told to stop a replica, and to delete it if `delete`; by whom and in which request is not logged.

    `codes` are those that it may have answered: UNKNOWN where it could not delete the log.
    """

    partition: int
    delete: bool
    codes: frozenset[int] = frozenset({ErrorCode.NONE})

    @property
    def may_have_failed(self) -> bool:
        """Whether it may not have deleted the log."""
        return ErrorCode.UNKNOWN in self.codes

    @property
    def may_be_done(self) -> bool:
        """Whether it may have done what it was told to do."""
        return ErrorCode.NONE in self.codes


class StopReplicaRefused(Handled):
    """A broker refused a StopReplica for its controller epoch; by whom it was is not logged."""

    epoch: int


class RequestHandled(Handled):
    """A broker handled a LeaderAndIsr or an UpdateMetadata of a controller.

    `kind` is one of these two; `states` what the LeaderAndIsr says of each partition, `replicas` its AR, and `outcomes`
    what became of it: leader, follower, unavailable, ignored or unassigned (not every partition's is known where the
    process was killed). `told` is what an UpdateMetadata says, without versions; by it, what is `removed` is gone.
    `refused`: as a whole, for its controller epoch. Correlation ids begin anew with each channel. Its first line was
    written when it was `received`, its last one at its `time`.
    """

    received: int
    kind: str
    controller: int
    epoch: int
    correlation_id: int
    states: Mapping[int, LeaderIsrAndControllerEpoch]
    outcomes: Mapping[int, str]
    refused: bool
    told: Mapping[int, LeaderIsrAndControllerEpoch] = field(default_factory=dict)
    removed: frozenset[int] = frozenset()
    replicas: Mapping[int, frozenset[int]] = field(default_factory=dict)


class AnswerReceived(Observed):
    """A controller got an answer; `codes` by partition, None where the answer has none (an UpdateMetadata's).

    Only 0.8.2 prints the number of the request that it is to.
    """

    controller: int
    epoch: int
    broker: int
    error_code: int
    codes: Mapping[int, int] | None
    correlation_id: int | None = None


class ZooKeeperChange(Observed):
    """A transaction that changed what is modelled of ZooKeeper, or failed; `by` is a broker, 0 the admin."""

    zxid: int
    by: int


class SessionBegan(ZooKeeperChange):
    """A broker got a session; `first` if it is the first of its process, as far as that `is_guess`ed or known."""

    first: bool
    is_guess: bool


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


class ControllerCreated(ZooKeeperChange):
    """A broker won /controller; `may_be_unanswered`: perhaps without an answer."""

    may_be_unanswered: bool


class ControllerDeleted(ZooKeeperChange):
    """/controller was deleted: by a broker, or by hand."""


class EpochWritten(ZooKeeperChange):
    """/controller_epoch was created (version 0) or written."""

    epoch: int
    version: int


class BrokerRegistered(ZooKeeperChange):
    """/brokers/ids/N was created; `may_be_unanswered` as above."""

    may_be_unanswered: bool


class OfATopic(ZooKeeperChange):
    """Something was done to one topic."""

    topic: int


class TopicCreated(OfATopic):
    """/brokers/topics/T was created with this AR by partition; `recreation` numbers those that had been there."""

    assigned: Mapping[int, tuple[int, ...]]
    recreation: int | None


class StateDeleted(ZooKeeperChange):
    """A controller deleted a partition's state znode."""

    partition: int


class TopicDeleted(OfATopic):
    """A controller deleted /brokers/topics/T."""


class ConfigurationDeleted(OfATopic):
    """A controller deleted /config/topics/T."""


class UncleanChanged(OfATopic):
    """A topic's configuration, or that of the brokers in its stead, allows unclean election now, or forbids it."""

    unclean: bool


class StateWritten(ZooKeeperChange):
    """A partition's state znode was created (version 0), or written; by its leader, if the epoch is as before.

    `changed` are the replicas that came into the ISR or left it.
    """

    partition: int
    state: LeaderIsrAndControllerEpoch
    by_leader: bool
    changed: frozenset[int]


class AssignmentRead(OfATopic):
    """The tool read what it writes next, with new partitions: just before, since that is what was there."""


class AssignmentWritten(OfATopic):
    """The AR of a topic was written: by a controller, by the tool (`Cluster.additions`), or by hand (`edited`)."""

    assigned: Mapping[int, tuple[int, ...]]
    addition: int | None = None
    edit: int | None = None


class RequestChanged(ZooKeeperChange):
    """What somebody asks of a part of the protocol changed; `says` is what of its topic, or of each partition."""

    part: str
    says: Mapping[int, Any]


class RequestMade(RequestChanged):
    """Somebody asked for something below /admin, with these parameters of the action that does so."""

    parameters: Mapping[str, int]


class RequestWritten(RequestChanged):
    """A controller wrote what is left of a request, or deleted it, as hands may."""


class NotificationCreated(ZooKeeperChange):
    """A leader announced ISR changes; `notice` is the place of its notification (`Model.notices`)."""

    partitions: frozenset[int]
    notice: int


class NotificationDeleted(ZooKeeperChange):
    """A controller deleted the notification in this place."""

    notice: int


class WriteConflicted(ZooKeeperChange):
    """A conditional write failed on its version; ZooKeeper's log does not say which.

    It was an ISR change by the leader of the partition `of_leader`, if that is said; None leaves it open.
    """

    of_leader: int | None = None
