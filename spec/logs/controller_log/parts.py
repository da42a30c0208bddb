"""Who speaks in controller.log: the controller, its state machines, its threads, each with its prefix and logger.

Listeners had prefixes of two kinds until 0.10.2 gave them all one (`ControllerZkListener`).

Kafka: `logIdent` of the classes in kafka.controller; the logger is the name of the class.
"""

from typing import Final

from spec.formats.kafka_types import V0102, V082
from spec.logs.controller_log.values import VALUES
from spec.logs.log_lines import ByVersion, Line
from spec.logs.logged_values import FORMS, USUAL


class ControllerLogLine(Line, level="INFO"):
    """A line of controller.log."""

    shapes, usual, forms = VALUES, USUAL, FORMS


class ControllerSays(ControllerLogLine):
    """A line of the controller itself."""

    prefix = "[Controller {controller}]: "
    loggers = "kafka.controller.KafkaController"


class PartitionMachineSays(ControllerLogLine):
    """A line of the partition state machine."""

    prefix = "[Partition state machine on Controller {controller}]: "
    loggers = "kafka.controller.PartitionStateMachine"


class ReplicaMachineSays(ControllerLogLine):
    """A line of the replica state machine."""

    prefix = "[Replica state machine on controller {controller}]: "
    loggers = "kafka.controller.ReplicaStateMachine"


class DeletionManagerSays(ControllerLogLine):
    """A line of the topic deletion manager."""

    prefix = "[Topic Deletion Manager {controller}], "
    loggers = "kafka.controller.TopicDeletionManager"


class DeletionThreadSays(ControllerLogLine):
    """A line of the thread that deletes topics."""

    prefix = "[delete-topics-thread-{controller}], "
    loggers = "kafka.controller.TopicDeletionManager$DeleteTopicsThread"


class ChannelManagerSays(ControllerLogLine):
    """A line of the channel manager."""

    prefix = "[Channel manager on controller {controller}]: "
    loggers = "kafka.controller.ControllerChannelManager"


class SendThreadSays(ControllerLogLine):
    """A line of the thread that sends requests to a broker."""

    prefix = "[Controller-{controller}-to-broker-{broker}-send-thread], "
    loggers = "kafka.controller.RequestSendThread"


def listener(name: str, before: str = "{controller}") -> ByVersion:
    """The prefix of a listener: one of its own until 0.10.1, one form for all since."""
    return {V082: f"[{name} on {before}]: ", V0102: f"[{name} on Controller {{controller}}]: "}


ON_CONTROLLER: Final = "Controller {controller}"
