"""How a controller starts, takes over, and gives up: the lines of `KafkaController` about itself.

`EpochIncremented` is printed even where the increment failed (PROTOCOL.md, D1): the same epoch in the logs of two
controllers is the symptom. `IneligibleTopics` prints the set before it is intersected with the topics to be deleted.

Kafka: `KafkaController` (`startup`, `onControllerFailover`, `onControllerResignation`, `initializeControllerContext`,
`SessionExpirationListener`).
"""

from spec.formats.kafka_types import V0102, V090
from spec.logs.controller_log.parts import ControllerLogLine, ControllerSays, Speaker, Thread


class ControllerStarting(ControllerSays, text="Controller starting up"):
    """The process starts; it watches /controller and tries to be elected."""


class ControllerStarted(ControllerSays, text="Controller startup complete"):
    """The first attempt is over, whoever won."""


class OldControllerInfo(
    ControllerLogLine,
    text="Failed to parse the controller info as json. Probably this controller is still using the old format"
    " [{data}] to store the broker id in zookeeper",
    level="WARN",
    speaker=Speaker("", "KafkaController$"),
):
    """/controller holds what no era of ours writes."""


class BecomingController(ControllerSays, text="Broker {controller} starting become controller state transition"):
    """/controller is ours; the failover begins."""


class EpochRead(
    ControllerSays, text="Initialized controller epoch to {epoch:int} and zk version {epoch_zk_version:int}"
):
    """/controller_epoch was read; where it is absent, nothing is printed."""


class EpochIncrementFailed(ControllerSays, text="Error while incrementing controller epoch", level="ERROR"):
    """Somebody else wrote /controller_epoch in between, or ZooKeeper failed; the stack trace says which."""


class EpochIncremented(ControllerSays, text="Controller {controller} incremented epoch to {epoch:int}"):
    """The epoch that this controller acts in from here on."""

    epoch: int


class ActiveBrokers(ControllerSays, text="Currently active brokers in the cluster: {brokers:set}"):
    """The live brokers of the context, without those that are shutting down."""


class ShuttingDownBrokers(ControllerSays, text="Currently shutting brokers in the cluster: {brokers:set}"):
    """The brokers that are shutting down; a new controller knows of none."""


class CurrentTopics(ControllerSays, text="Current list of topics in the cluster: {topics:topic_set}"):
    """The topics of the context."""


class TopicsToBeDeleted(ControllerSays, text="List of topics to be deleted: {topics}"):
    """The children of /admin/delete_topics."""


class IneligibleTopics(ControllerSays, text="List of topics ineligible for deletion: {topics}"):
    """Topics with a dead replica, a reassignment or an election under way, queued for deletion or not."""


class ReadyToServe(
    ControllerSays, text="Broker {controller} is ready to serve as the new controller with epoch {epoch:int}"
):
    """The state machines have started."""


class FailoverAborted(ControllerSays, text="Controller has been shut down, aborting startup/failover"):
    """The process was elected while it was shutting down."""


class Resigning(ControllerSays, text={V090: "Controller resigning, broker id {controller}"}, level="DEBUG"):
    """The resignation begins: listeners, deletion thread and state machines stop."""


class Resigned(ControllerSays, text={V090: "Broker {controller} resigned as the controller"}):
    """The channels are closed, the context's epoch is 0."""


class ForcedToResign(ControllerSays, text={V090: "Forcing the controller to resign"}, level="ERROR"):
    """A batch could not be built or sent, which only an inconsistent context explains."""


class SessionListenerSays(
    ControllerLogLine,
    speaker=Speaker("[SessionExpirationListener on {controller}], ", "KafkaController$SessionExpirationListener"),
):
    """A line of the listener on a new session."""


class SessionExpired(
    SessionListenerSays,
    text="ZK expired; shut down all controller components and try to re-elect",
    unlocked=Thread.EVENTS,
):
    """The callback of a new session resigns and tries again."""


class SessionExpiredElectedAlready(
    SessionListenerSays,
    text={V0102: "ZK expired, but the current controller id {controller} is the same as this broker id, skip re-elect"},
    unlocked=Thread.EVENTS,
):
    """The callback of a new session finds that this process has been elected in it already (KAFKA-3083)."""
