"""The journal: what processes record of themselves while they run, in the order in which it happens.

The lines of state-change.log and of controller.log, where a controller is, and every request that is put on a queue
or dropped. Whoever drives the handlers gives them a journal: a list in memory, log files live.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, dataclass_transform

from reference.requests.connections import QueuedRequest
from reference.zookeeper.api import AnyOperation
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import ControlledShutdownResponse, Request, Response
from spec.logs.log_lines import Line


@dataclass_transform(frozen_default=True)
class Entry:
    """What is recorded of one moment. Each kind is a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class Milestone(Enum):
    """Where a controller is."""

    RESIGNED = "a resignation has taken everything down"
    READY = "a failover is done"
    EPOCH_CONFLICT = "the conditional write of /controller_epoch failed"
    METADATA_FAILED = "UpdateMetadata could not be put together: a partition with leadership has no AR"
    SEND_FAILED = "something was not sent: a resigned controller has no channels, or a state machine's send raised"
    DIRTY_BATCH = "the controller's own batch holds what an earlier exception left in it"
    LEFT_OVER_CHANNELS = "a channel of an earlier term was in the way"
    FAILOVER_FAILED = "an exception ended a failover"
    LEADERLESS_ELECTION = "a pending election names a partition without leadership"
    ELECTION_FAILED = "a requested election ended with a partition without leadership"
    DELETION_THREAD_ENDED = "an exception ended the deletion thread"
    BROKER_CHANGE = "the callback of a broker change has read who is registered"


class StateChange(Entry):
    """A line of state-change.log."""

    line: Line


class Report(Entry):
    """A line of controller.log."""

    line: Line


class Reached(Entry):
    """A milestone of a controller, with the epoch that it holds, and the brokers that it speaks of."""

    controller: int
    milestone: Milestone
    epoch: int
    listed: frozenset[int] = frozenset()
    new: frozenset[int] = frozenset()
    dead: frozenset[int] = frozenset()


class RequestSent(Entry):
    """A controller put a request on a broker's queue, or (`queued` false) dropped it for lack of a channel."""

    controller: int
    broker: int
    request: QueuedRequest
    queued: bool


class ElectionGivenUp(Entry):
    """A controller could not bring a partition online; `creating` where its state znode was to be created."""

    controller: int
    partition: TopicPartition
    creating: bool


class ReassignmentGivenUp(Entry):
    """A run of a partition's reassignment ended with an exception."""

    controller: int
    partition: TopicPartition


class TurnedTo(Entry):
    """The deletion thread turned to a queued topic."""

    controller: int
    topic: str


class ImbalanceFound(Entry):
    """The rebalance thread found that a broker leads too few of the partitions that it is to lead."""

    controller: int
    broker: int


class ShutdownRequested(Entry):
    """A broker that is to stop asked a controller for a controlled shutdown."""

    broker: int
    controller: int


class ShutdownBegun(Entry):
    """A controller counts a broker as shutting down from now on."""

    controller: int
    broker: int


class ShutdownAnswered(Entry):
    """A controller answered a broker that is to stop: what it still leads, or why it is refused."""

    controller: int
    broker: int
    response: ControlledShutdownResponse


class SelectorAsked(Entry):
    """A controller asked a selector whom to elect: `offline`, `preferred`, `controlled-shutdown` or `reassigned`."""

    controller: int
    partition: TopicPartition
    selector: str


class StartupFailed(Entry):
    """An exception ended the start-up of a process, and the process with it."""

    broker: int
    reason: str


class OperationDone(Entry):
    """A process had an operation done; `answer` is the result or the refusal."""

    process: int
    operation: AnyOperation
    answer: object


class RequestHandled(Entry):
    """A broker carried out a request of a controller and answered it, whether or not the answer arrived."""

    broker: int
    request: Request
    response: Response


class Fate(Enum):
    """What becomes of a process or of its session."""

    STARTED = "the process starts"
    CRASHED = "the process is killed"
    TOLD_TO_STOP = "the process is told to stop"
    STOPPED = "the process stops"
    SESSION_ENDED = "ZooKeeper ends a session of the process"
    SESSION_RENEWED = "the client makes a new session"
    TOPIC_CREATED = "the admin tool creates a topic"
    TOPIC_READ = "the admin tool reads a topic to which it will add partitions"
    PARTITIONS_ADDED = "the admin tool adds partitions to a topic"
    ASSIGNMENT_EDITED = "somebody writes other replicas of a topic's partitions by hand"
    ELECTION_REQUESTED = "the admin tool asks for elections"
    REASSIGNMENT_REQUESTED = "the admin tool asks for a reassignment"
    DELETION_REQUESTED = "the admin tool asks for a topic to be deleted"
    TOPIC_REMOVED = "somebody removes the znodes of a topic by hand"
    STATE_REMOVED = "somebody removes the state znode of a partition by hand"
    REASSIGNMENT_WITHDRAWN = "somebody deletes the request for reassignments by hand"
    CONTROLLER_REMOVED = "somebody deletes /controller by hand"
    UNCLEAN_CHANGED = "somebody allows, or forbids, a topic unclean election"
    ELECTION_WITHDRAWN = "somebody deletes the request for elections by hand"


class FateMet(Entry):
    """What became of a process (0: the admin tool), and of which znodes or partitions by it."""

    process: int
    fate: Fate
    paths: tuple[str, ...] = ()


Journal: TypeAlias = Callable[[Entry], None]


def nowhere(entry: Entry) -> None:
    """Discards every entry."""
    del entry
