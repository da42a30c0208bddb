"""ISR change notification: how leaders announce to the controller the ISR changes that they wrote.

A leader remembers the partitions whose ISR it wrote and, some seconds later, creates one sequential znode that names
them. The controller reads the children, reads the state znodes that they name into its cache, sends UpdateMetadata, and
deletes the children that it handled.

Kafka 0.10.2.2: `ReplicaManager.maybePropagateIsrChanges`, `KafkaController.IsrChangeNotificationListener`. PROTOCOL.md
section 7.7. Left out on purpose: the delays.
"""

from collections.abc import Iterable
from contextlib import suppress

from reference.brokers.broker import Broker
from reference.controller.controller import KafkaController
from reference.controller.controller_batch import send_update_metadata
from reference.leadership.effects import FencedStateRead, Partitions
from reference.procedures import THROWABLE, Effect, Procedure, Script, any_of
from reference.scripts import ISR_CHANGES, Fence, check, parsed_if_json, read_data, text_of
from reference.zookeeper.api import Create, CreateMode, Delete, GetChildren, NodeData, NoNode, ZookeeperError
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.formats.znode_paths import ISR_CHANGE
from spec.formats.znodes import PartitionsPayload
from spec.logs.controller_log.isr_notification import NotificationsFound, NotificationUnreadable
from spec.state.enumerations import At

Paths = frozenset[str]


class ReportIsrChanges(Effect[str]):
    """A leader announces partitions; the result is the path of the znode."""

    partitions: tuple[TopicPartition, ...]

    def script(self) -> Script[str]:
        """Create a sequential znode."""
        data = PartitionsPayload(partitions=self.partitions).encode()
        path: str = yield Create(ISR_CHANGE.prefix, data, CreateMode.PERSISTENT_SEQUENTIAL)
        return path


class OnIsrChange(Effect[Paths]):
    """A child callback of /isr_change_notification: the children."""

    def script(self) -> Script[Paths]:
        """List them."""
        children = yield GetChildren(ISR_CHANGES)
        return frozenset(f"{ISR_CHANGES}/{name}" for name in children.names)


class ReadNotification(Effect["NodeData | None"]):
    """A notification that was listed; `named` are the partitions that those before it named."""

    path: str
    unread: Paths
    named: Partitions
    taken: Paths
    at = At.NOTIFIED_READ
    parts = frozenset({"notification_reads"})

    def script(self) -> Script[NodeData | None]:
        """`readDataMaybeNull`."""
        return read_data(self.path)


class ReadNotified(FencedStateRead):
    """The state znode of a partition that was `named`; `taken` are the notifications that are being handled."""

    remaining: Partitions
    named: Partitions
    taken: Paths
    at = At.NOTIFIED_READ


class DeleteNotification(Effect[None]):
    """A notification that was handled goes."""

    path: str
    taken: Paths
    fence: Fence | None
    at = At.NOTIFIED_DELETE

    def script(self) -> Script[None]:
        """`deletePath`."""
        yield from check(self.fence)
        with suppress(NoNode):
            yield Delete(self.path)


def maybe_propagate_isr_changes(
    broker: Broker, named: Partitions, noted_later: Partitions = frozenset()
) -> Procedure[str]:
    """Announce the partitions whose ISR this broker wrote since it last did; some may be noted (again) just after."""
    path = yield from ReportIsrChanges(tuple(sorted(named)))
    broker.isr_changes = noted_later
    return path


def on_isr_change(controller: KafkaController) -> Procedure[None]:
    """Refresh the cache for the partitions that are named, send UpdateMetadata to all, delete what was handled."""
    notifications = yield from OnIsrChange()
    controller.report(NotificationsFound)
    try:
        named = yield from _read(controller, notifications)
        if named:
            yield from _update_cache(controller, named, notifications)
            controller.is_about(taken=notifications)
            yield from send_update_metadata(controller, sorted(named))
    except THROWABLE:  # what was handled is deleted also on an error
        yield from _delete(controller, notifications)
        raise
    yield from _delete(controller, notifications)


def _read(controller: KafkaController, notifications: Paths) -> Procedure[Partitions]:
    """What the notifications name."""
    named, left = frozenset[TopicPartition](), notifications
    while left:
        path, node = yield from any_of({one: ReadNotification(one, left, named, notifications) for one in left})
        named = named.union(_named(controller, path, node))
        left -= {path}
    return named


def _named(controller: KafkaController, path: str, node: NodeData | None) -> Iterable[TopicPartition]:
    """`getTopicAndPartition`: what a notification names; nothing if it is gone, or is no JSON."""
    payload = None if node is None else parsed_if_json(PartitionsPayload, path, node.data)
    if node is not None and payload is None:
        controller.report(NotificationUnreadable, data=text_of(node.data), path=path)
    return () if payload is None else payload.partitions


def _update_cache(controller: KafkaController, named: Partitions, taken: Paths) -> Procedure[None]:
    """`updateLeaderAndIsrCache`: read the state znodes of these partitions.

    Kafka reads all of them before the cache takes any, so where one cannot be read it takes none.
    """
    fence, left, before = controller.read_fence, named, dict(controller.context.partition_leadership_info)
    while left:
        try:
            partition, found = yield from any_of({one: ReadNotified(one, fence, left, named, taken) for one in left})
        except (MalformedInput, ZookeeperError):
            controller.context.partition_leadership_info = before
            raise
        if found is not None:
            controller.context.partition_leadership_info[partition] = found
        left -= {partition}


def _delete(controller: KafkaController, paths: Paths) -> Procedure[None]:
    controller.is_about(taken=frozenset())
    while paths:
        path, _ = yield from any_of({one: DeleteNotification(one, paths, controller.fence) for one in paths})
        paths -= {path}
