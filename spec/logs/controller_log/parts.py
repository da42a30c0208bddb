"""What writes to controller.log: the controller, its state machines, its threads, each with its prefix and logger.

Listeners had prefixes of two kinds until 0.10.2 gave them all one (`ControllerZkListener`).

Kafka: `logIdent` of the classes in kafka.controller; the logger is the name of the class.
"""

import enum
from typing import Any, ClassVar, Final, NamedTuple

from spec.formats.kafka_types import V0102, V082
from spec.logs.controller_log.values import VALUES
from spec.logs.log_lines import ByVersion, Line
from spec.logs.logged_values import FORMS, USUAL


class Speaker(NamedTuple):
    """A writer: what its lines begin with, and the name of its class in kafka.controller."""

    prefix: str | ByVersion
    name: str


class Thread(enum.Enum):
    """A thread that writes before it has the controller's lock, so that its line comes amid those of whoever has it."""

    EVENTS = "ZkClient's event thread"
    REQUESTS = "a request handler"


class ControllerLogLine(Line, level="INFO"):
    """A line of controller.log."""

    shapes, usual, forms = VALUES, USUAL, FORMS
    unlocked: ClassVar[Thread | None] = None
    """The thread that writes it before it has the controller's lock; None where its writer has that."""

    def __init_subclass__(cls, speaker: Speaker | None = None, unlocked: Thread | None = None, **told: Any) -> None:
        if speaker is not None:
            told |= {"prefix": speaker.prefix, "logger": f"kafka.controller.{speaker.name}"}
        if unlocked is not None:
            cls.unlocked = unlocked
        super().__init_subclass__(**told)


class ControllerSays(ControllerLogLine, speaker=Speaker("[Controller {controller}]: ", "KafkaController")):
    """A line of the controller itself."""


class PartitionMachineSays(
    ControllerLogLine,
    speaker=Speaker("[Partition state machine on Controller {controller}]: ", "PartitionStateMachine"),
):
    """A line of the partition state machine."""


class ReplicaMachineSays(
    ControllerLogLine, speaker=Speaker("[Replica state machine on controller {controller}]: ", "ReplicaStateMachine")
):
    """A line of the replica state machine."""


class DeletionManagerSays(
    ControllerLogLine, speaker=Speaker("[Topic Deletion Manager {controller}], ", "TopicDeletionManager")
):
    """A line of the topic deletion manager."""


class DeletionThreadSays(
    ControllerLogLine,
    speaker=Speaker("[delete-topics-thread-{controller}], ", "TopicDeletionManager$DeleteTopicsThread"),
):
    """A line of the thread that deletes topics."""


class ChannelManagerSays(
    ControllerLogLine, speaker=Speaker("[Channel manager on controller {controller}]: ", "ControllerChannelManager")
):
    """A line of the channel manager."""


class SendThreadSays(
    ControllerLogLine,
    speaker=Speaker("[Controller-{controller}-to-broker-{broker}-send-thread], ", "RequestSendThread"),
):
    """A line of the thread that sends requests to a broker."""


def listener(name: str, before: str = "{controller}") -> Speaker:
    """A listener: its prefix is one of its own until 0.10.1, one form for all since; it may be an inner class."""
    own = name.rpartition("$")[2]
    return Speaker({V082: f"[{own} on {before}]: ", V0102: f"[{own} on Controller {{controller}}]: "}, name)


ON_CONTROLLER: Final = "Controller {controller}"
