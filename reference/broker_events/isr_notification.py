"""ISR change notification: how leaders announce to the controller the ISR changes that they wrote.

A leader remembers the partitions whose ISR it wrote and, some seconds later, creates one sequential znode that names
them. The controller reads the children, reads the state znodes that they name into its cache, sends UpdateMetadata, and
deletes the children that it handled.

Kafka 0.10.2.2: `ReplicaManager.maybePropagateIsrChanges`, `KafkaController.IsrChangeNotificationListener`. PROTOCOL.md
section 7.7. Left out on purpose: the delays.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from reference.brokers.broker import Broker
from reference.controller.controller import KafkaController
from reference.controller.controller_batch import send_update_metadata
from reference.leadership.effects import FencedStateRead, Partitions
from reference.procedures import THROWABLE, Effect, FencedOff, Procedure, Script, in_any_order
from reference.scripts import ISR_CHANGES, Fence, Found, parsed_if_json, read_data
from reference.zookeeper.api import Create, CreateMode, Delete, GetChildren, NodeData, NoNode
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


class OnIsrChange(Effect[Mapping[str, "NodeData | None"]]):
    """A child callback of /isr_change_notification: the children, as they were read."""

    def script(self) -> Script[Mapping[str, NodeData | None]]:
        """Children and data."""
        children = yield GetChildren(ISR_CHANGES)
        found: dict[str, NodeData | None] = {}
        for name in children.names:
            path = f"{ISR_CHANGES}/{name}"
            found[path] = yield from read_data(path)
        return found


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
        if self.fence is not None:
            yield from self.fence.check()
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
        named = frozenset[TopicPartition]().union(*(_named(controller, *one) for one in notifications.items()))
        if named:
            yield from _update_cache(controller, named, frozenset(notifications))
            controller.is_about(taken=frozenset(notifications))
            yield from send_update_metadata(controller, sorted(named))
    except FencedOff:
        raise
    except THROWABLE:  # what was handled is deleted also on an error
        yield from _delete(controller, frozenset(notifications))
        raise
    yield from _delete(controller, frozenset(notifications))


def _named(controller: KafkaController, path: str, node: NodeData | None) -> Iterable[TopicPartition]:
    """`getTopicAndPartition`: what a notification names; nothing if it is gone, or is no JSON."""
    payload = None if node is None else parsed_if_json(PartitionsPayload, path, node.data)
    if node is not None and payload is None:
        controller.report(NotificationUnreadable, data=(node.data or b"").decode(), path=path)
    return () if payload is None else payload.partitions


def _update_cache(controller: KafkaController, named: Partitions, taken: Paths) -> Procedure[None]:
    """`updateLeaderAndIsrCache`: read the state znodes of these partitions."""
    leadership = controller.context.partition_leadership_info

    def first(partition: TopicPartition, remaining: Partitions) -> ReadNotified:
        return ReadNotified(partition, controller.read_fence, remaining, named, taken)

    def rest(partition: TopicPartition, found: Found, remaining: Partitions) -> Procedure[bool]:
        del remaining
        if found is not None:
            leadership[partition] = found
        yield from ()
        return True

    yield from in_any_order(named, first, rest)


def _delete(controller: KafkaController, paths: Paths) -> Procedure[None]:
    controller.is_about(taken=frozenset())

    def first(path: str, remaining: Paths) -> DeleteNotification:
        return DeleteNotification(path, remaining, controller.fence)

    def rest(path: str, done: None, remaining: Paths) -> Procedure[bool]:
        del path, done, remaining
        yield from ()
        return True

    yield from in_any_order(paths, first, rest)
