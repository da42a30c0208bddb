"""ISR change notifications, 0.9.0 on: the controller reads which partitions changed, and tells all brokers.

Kafka: `KafkaController` (`registerIsrChangeNotificationListener`), `IsrChangeNotificationListener`, which had no prefix
before 0.10.2.
"""

from spec.formats.kafka_types import V0102, V090
from spec.logs.controller_log.parts import ControllerLogLine, ControllerSays, Speaker


class NotificationsWatched(ControllerSays, text={V090: "Registering IsrChangeNotificationListener"}, level="DEBUG"):
    """A failover subscribes to /isr_change_notification."""


class NotificationsUnwatched(
    ControllerSays, text={V090: "De-registering IsrChangeNotificationListener"}, level="DEBUG"
):
    """A resignation unsubscribes."""


class NotificationListenerSays(
    ControllerLogLine,
    level="DEBUG",
    speaker=Speaker(
        {V090: "", V0102: "[IsrChangeNotificationListener on Controller {controller}]: "},
        "IsrChangeNotificationListener",
    ),
):
    """A line of the listener on /isr_change_notification."""


class NotificationsFound(
    NotificationListenerSays,
    text={V090: "[IsrChangeNotificationListener] Fired!!!", V0102: "ISR change notification listener fired"},
):
    """The callback begins; its own deletions trigger it again."""


class MetadataSending(
    NotificationListenerSays,
    text={
        V090: "Sending MetadataRequest to Brokers:{brokers:buffer} for TopicAndPartitions:{partitions:partition_set}"
    },
):
    """The state znodes of these partitions have been read; UpdateMetadata goes to these brokers."""


class NotificationUnreadable(
    NotificationListenerSays, text={V090: "Invalid topic and partition JSON: {data} in ZK: {path}"}, level="ERROR"
):
    """A notification is no JSON."""
