"""The request batch: what one call of the controller sends the brokers, gathered first, then put on their queues.

LeaderAndIsr is gathered by broker and partition, where the last word wins; UpdateMetadata once for all brokers;
StopReplica as a list. What is said of a partition is what the cache says at the moment of adding. A batch that was not
sent stays as it is, and the next call fails on it (D28).

Kafka 0.10.2.2: `ControllerBrokerRequestBatch`. PROTOCOL.md section 9.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from reference.controller.context import RequestBatch
from reference.controller.controller import KafkaController
from reference.journal import RequestSent
from reference.procedures import NoAssignment, NoChannels
from reference.requests.connections import QueuedRequest
from reference.requests.texts import text_of
from spec.formats.kafka_types import LEADER_DURING_DELETE, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import (
    EndPoint,
    LeaderAndIsrRequest,
    LiveBroker,
    LiveLeader,
    PartitionLeadership,
    Request,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from spec.logs.controller_log.channels import RequestDropped, StopReplicaSending
from spec.logs.controller_log.values import PartitionReplica, Replicas
from spec.logs.controller_request_lines import LeaderAndIsrSending, UpdateMetadataSending
from spec.logs.logged_values import Role, printed
from spec.variants import Switch

LISTENER = "PLAINTEXT"


def add_leader_and_isr(
    controller: KafkaController,
    batch: RequestBatch,
    brokers: Iterable[int],
    partition: TopicPartition,
    known: LeaderIsrAndControllerEpoch,
) -> None:
    """Tell these brokers of a partition's leadership, and every registered broker of its metadata."""
    told = _leadership(controller, partition, known)
    for broker_id in brokers:
        if broker_id >= 0:
            batch.leader_and_isr.setdefault(broker_id, {})[partition] = told
    add_update_metadata(controller, batch, (partition,))


def add_update_metadata(
    controller: KafkaController,
    batch: RequestBatch,
    partitions: Collection[TopicPartition] | None = None,
    *,
    brokers: frozenset[int] | None = None,
) -> None:
    """Send these brokers, or all, these partitions, or all; those without leadership are skipped.

    It says of every partition that is being deleted that it is, whichever are named. Where one of them has no AR it
    raises NoAssignment, and the brokers stay in the batch (D53). Where that leaves no partition, nothing is sent before
    0.9.0.0 (D60), nor before 0.10.2.0 if some were named, all of them unknown (KAFKA-4415).
    """
    context, deleted = controller.context, controller.deleting.partitions
    batch.metadata_receivers |= context.live_or_shutting_down_broker_ids if brokers is None else brokers
    batch.is_whole = partitions is None and controller.fixes(Switch.FULL_METADATA)
    for partition in context.partition_leadership_info if partitions is None else partitions:
        known = context.partition_leadership_info.get(partition)
        if known is not None and partition not in deleted:
            batch.metadata[partition] = _leadership(controller, partition, known)
    for partition in sorted(deleted & context.partition_leadership_info.keys()):
        known = context.partition_leadership_info[partition]
        doomed = replace(known, leader=LEADER_DURING_DELETE, leader_epoch=0, zk_version=0)
        batch.metadata[partition] = _leadership(controller, partition, doomed)
    nobody = controller.reintroduces(Switch.TELL_ONLY_THE_NEW) or is_about_the_unknown(controller, partitions)
    if nobody and not batch.metadata:
        batch.metadata_receivers.clear()


def send_batch(controller: KafkaController, batch: RequestBatch) -> None:
    """Put everything on the queues: LeaderAndIsr, then UpdateMetadata, then StopReplica."""
    controller.batches_sent += 1
    _send_leader_and_isr(controller, batch)
    _send_update_metadata(controller, batch)
    _send_stop_replica(controller, batch)


def _send_leader_and_isr(controller: KafkaController, batch: RequestBatch) -> None:
    for broker_id, states in batch.leader_and_isr.items():
        for partition, state in states.items():
            known = state.leadership
            role = Role.LEADER if known.leader == broker_id else Role.FOLLOWER
            controller.log_state_change(
                LeaderAndIsrSending, role=role, leadership=printed(known), broker=broker_id, partition=partition
            )
        leaders = {state.leadership.leader for state in states.values()}
        registered = leaders & controller.context.live_or_shutting_down_broker_ids
        live_leaders = tuple(_live_leader(controller, leader) for leader in sorted(registered))
        request = LeaderAndIsrRequest(
            controller.broker_id, controller.context.epoch, tuple(states.values()), live_leaders
        )
        _send(controller, broker_id, request, topic_ids=_topic_ids(controller, states))
    batch.leader_and_isr.clear()


def _send_update_metadata(controller: KafkaController, batch: RequestBatch) -> None:
    receivers = tuple(sorted(batch.metadata_receivers))
    for partition, state in batch.metadata.items():
        controller.log_state_change(
            UpdateMetadataSending, leadership=printed(state.leadership), brokers=receivers, partition=partition
        )
    registered = sorted(controller.context.live_or_shutting_down_broker_ids)
    live_brokers = tuple(_live_broker(controller, broker_id) for broker_id in registered)
    request = UpdateMetadataRequest(
        controller.broker_id, controller.context.epoch, tuple(batch.metadata.values()), live_brokers
    )
    for broker_id in receivers:
        _send(controller, broker_id, request, whole=batch.is_whole)
    batch.metadata.clear()
    batch.metadata_receivers.clear()
    batch.is_whole = False


def _send_stop_replica(controller: KafkaController, batch: RequestBatch) -> None:
    """One request for all that is only to stop, then one for each deletion; the first is sent even if empty.

    Before 0.10.2.0 each replica has one of its own, in the order in which they were added (KAFKA-4420).
    """
    single = controller.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE)
    for broker_id, entries in batch.stop_replica.items():
        for kind in (True, False):
            controller.note(StopReplicaSending(kind, broker_id, _replicas(broker_id, entries, delete=kind)))
        if single:
            for partition, delete, calls_back in dict.fromkeys(entries):
                _send_stop(controller, broker_id, partition, delete=delete, calls_back=calls_back)
            continue
        stopped = tuple(dict.fromkeys(partition for partition, delete, _ in entries if not delete))
        _send(controller, broker_id, _stop(controller, stopped, delete=False))
        for partition, delete, calls_back in entries:
            if delete:
                _send_stop(controller, broker_id, partition, delete=True, calls_back=calls_back)
    batch.stop_replica.clear()


def _send_stop(
    controller: KafkaController, broker_id: int, partition: TopicPartition, *, delete: bool, calls_back: bool
) -> None:
    """A StopReplica of one replica; only one with delete has a leader epoch, where that is fixed."""
    epoch = _known_epoch(controller, partition) if delete else None
    request = _stop(controller, (partition,), delete=delete)
    _send(controller, broker_id, request, calls_back=calls_back, leader_epoch=epoch)


def is_about_the_unknown(controller: KafkaController, partitions: Collection[TopicPartition] | None) -> bool:
    """Whether all that UpdateMetadata is to tell of is unknown: before 0.10.2.0 then none goes out (KAFKA-4415)."""
    if partitions is None or not controller.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE):
        return False
    deleted, known = controller.deleting.partitions, controller.context.partition_leadership_info.keys()
    asked = set(partitions) - deleted
    return bool(asked) and known.isdisjoint(asked | deleted)


def _replicas(broker_id: int, entries: Iterable[tuple[TopicPartition, bool, bool]], *, delete: bool) -> Replicas:
    """The replicas on a broker that are only to stop, or to be deleted, too."""
    chosen = dict.fromkeys(partition for partition, deletes, _ in entries if deletes is delete)
    return tuple(PartitionReplica(partition.topic, partition.partition, broker_id) for partition in chosen)


def _stop(controller: KafkaController, partitions: tuple[TopicPartition, ...], *, delete: bool) -> StopReplicaRequest:
    return StopReplicaRequest(controller.broker_id, controller.context.epoch, delete, partitions)


def _known_epoch(controller: KafkaController, partition: TopicPartition) -> int | None:
    """The leader epoch that a StopReplica has, where that is fixed (D22); -1 where none is known."""
    if not controller.fixes(Switch.STOP_REPLICA_HAS_LEADER_EPOCH):
        return None
    known = controller.context.partition_leadership_info.get(partition)
    return -1 if known is None else known.leader_epoch


def _topic_ids(controller: KafkaController, partitions: Iterable[TopicPartition]) -> tuple[tuple[str, int], ...] | None:
    """What tells the topics of a LeaderAndIsr from earlier ones of their names, where that is fixed (D23)."""
    if not controller.fixes(Switch.TOPIC_IDS):
        return None
    known, topics = controller.context.topic_ids, {partition.topic for partition in partitions}
    return tuple((topic, known[topic]) for topic in sorted(topics) if topic in known)


def _send(
    controller: KafkaController,
    broker_id: int,
    request: Request,
    *,
    calls_back: bool = False,
    leader_epoch: int | None = None,
    topic_ids: tuple[tuple[str, int], ...] | None = None,
    whole: bool = False,
) -> None:
    """`sendRequest`: to the broker's queue, or nowhere if it has no channel, which is logged; NoChannels if none is."""
    manager = controller.context.controller_channel_manager
    if manager is None:
        raise NoChannels("java.lang.NullPointerException")
    registration = controller.context.live_brokers.get(broker_id)
    broker_epoch = -1 if registration is None else registration.broker_epoch
    queued = QueuedRequest(
        request, controller.batches_sent, broker_epoch, calls_back, leader_epoch=leader_epoch, topic_ids=topic_ids,
        whole=whole,
    )  # fmt: skip
    sent = manager.send_request(broker_id, queued)
    if not sent:
        controller.report(RequestDropped, request=text_of(request), broker=broker_id)
    controller.journal(RequestSent(controller.broker_id, broker_id, queued, sent))


def _leadership(
    controller: KafkaController, partition: TopicPartition, known: LeaderIsrAndControllerEpoch
) -> PartitionLeadership:
    """What is sent of a partition that has leadership, AR as a set; NoAssignment if its topic vanished."""
    replicas = controller.context.partition_replica_assignment.get(partition)
    if replicas is None:
        raise NoAssignment(f"key not found: {partition}")
    return PartitionLeadership(partition.topic, partition.partition, known, tuple(dict.fromkeys(replicas)))


def _live_leader(controller: KafkaController, broker_id: int) -> LiveLeader:
    payload = controller.context.live_brokers[broker_id].payload
    return LiveLeader(broker_id, payload.host or "", payload.port)


def _live_broker(controller: KafkaController, broker_id: int) -> LiveBroker:
    payload = controller.context.live_brokers[broker_id].payload
    return LiveBroker(broker_id, end_points=(EndPoint(payload.port, payload.host or "", LISTENER),), rack=payload.rack)
