"""What is in the memory of a process and nowhere else, by name. The fingerprint is made of it: see there what is left
out.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from model_check.refinement.abstraction.connections import batch_of
from reference.broker_events.isr_notification import DeleteNotification, ReadNotification, ReadNotified
from reference.brokers.broker import Partition
from reference.controller.context import Activity, RequestBatch
from reference.controller.controller import KafkaController
from reference.deletion.completion import DeleteTopic
from reference.elections.requested import DeleteElectionRequest, ElectionRequest
from reference.forking import changed
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.procedures import Effect
from reference.reassignment.effects import ReassignmentRequest, WriteRemaining
from reference.requests.connections import QueuedRequest
from spec.formats.kafka_types import LEADER_DURING_DELETE
from spec.formats.leadership import NO_LEADERSHIP
from spec.formats.request_schemas import LeaderAndIsrRequest, PartitionLeadership, Request, UpdateMetadataRequest
from spec.state.controller import CachedPartition
from spec.tables.partition_states import PartitionState
from spec.variants import Switch

REMOVED = replace(NO_LEADERSHIP, leader=LEADER_DURING_DELETE, leader_epoch=0, zk_version=0)
"""What is said of a partition that is removed, as far as anybody reads it."""

Named = Iterator[tuple[str, Hashable]]


def memory_of(cluster: MemoryCluster, process: MemoryProcess) -> Named:
    """All of it, named."""
    running, broker, b = process.running, process.broker, process.broker_id
    starting = process.starting, process.electing
    events = bool(process.events) if process.controller is None else tuple(process.events)
    yield f"process {b}", (process.is_running, process.orphan is not None, starting, events)
    yield f"given to the listener of {b}", _given(process)
    yield f"departure of {b}, and what it has to hear", (process.departure, process.allowed)
    if running is not None:
        asked = frozenset(_asked(cluster, one) for one in running.choices.values())
        yield f"handler of {b}", (asked, running.create)
    yield f"broker {b}", (broker.controller_epoch, broker.alive)
    partitions = {tp: _unordered(cluster, tp.topic, known) for tp, known in broker.partitions.items()}
    yield f"partitions of broker {b}", items(partitions)
    if "cached_leaderships" in cluster.scope.parts:
        yield f"leader epochs that broker {b} has cached", items(broker.cached_epochs)
    if "notifications" in cluster.scope.parts and Switch.ANNOUNCE_NO_ISR not in cluster.switches:
        yield f"ISR changes to announce by {b}", broker.isr_changes
    if cluster.model.stops_replicas:
        yield f"logs of {b}", (broker.logs, broker.abandoned)
    yield f"ISR writes of {b}", items(process.isr_writes)
    if process.controller is not None:
        yield from ((f"{name} of controller {b}", part) for name, part in _controller(cluster, process.controller))


def standing(cluster: MemoryCluster, path: str) -> str:
    """A path, or the place of the notification of an ISR change that it is of."""
    return f"notification of {cluster.notifiers[path]}" if path in cluster.notifiers else path


def _given(process: MemoryProcess) -> Hashable:
    """What the listener that is next is given; of a request, what it names."""
    match process.given:
        case ReassignmentRequest(wanted=wanted):
            return "request", items(wanted)
        case ElectionRequest(partitions=partitions):
            return "request", partitions
    return process.given


def _asked(cluster: MemoryCluster, effect: Effect[Any]) -> Hashable:
    """An effect, with ISR changes named by the broker that announced them."""
    match effect:
        case DeleteElectionRequest(fence=fence) | DeleteTopic(fence=fence):
            return type(effect).__name__, getattr(effect, "topic", ""), fence
        case ReadNotified(taken=taken, named=named):
            told_of = named if cluster.model.keeps(CachedPartition.named) else frozenset()
            return replace(effect, taken=frozenset(standing(cluster, path) for path in taken), named=told_of)
        case ReadNotification(path=path, unread=unread, named=named, taken=taken):
            paths = (frozenset(standing(cluster, one) for one in some) for some in ((path,), unread, taken))
            return named, *paths
        case WriteRemaining(remaining=remaining):
            return replace(effect, remaining=replace(remaining, czxid=0))
        case DeleteNotification(path=path, taken=taken):
            return standing(cluster, path), frozenset(standing(cluster, path) for path in taken)
    return effect


def _controller(cluster: MemoryCluster, controller: KafkaController) -> Named:
    context, manager = controller.context, controller.context.controller_channel_manager
    queues = {} if manager is None else manager.queues
    yield "standing", (controller.leader_id, controller.deletion, controller.listeners, _activity(cluster, controller))
    yield "epochs and topics", (context.epoch, context.epoch_zk_version, context.all_topics)
    if controller.fixes(Switch.TOPIC_IDS):
        known = ((topic, context.topic_ids.get(topic)) for topic in cluster.topics())
        yield "which topics", _told_apart(cluster, known)
    yield "live brokers", context.live_or_shutting_down_broker_ids
    yield "returned brokers", frozenset(dict(controller.activity.returned))
    yield (
        "shutting down brokers",
        (context.shutting_down_broker_ids, controller.shutdown, controller.elects, controller.resigns),
    )
    deleting = controller.deleting
    is_woken = deleting.woken and bool(deleting.queued)
    yield "deletions", (deleting.queued, deleting.ineligible, deleting.partitions, is_woken)
    if "deletion" in cluster.scope.parts:
        yield "listeners of topics", controller.topic_listeners
    yield "elections", (context.partitions_undergoing_election, controller.imbalanced)
    assignment = {tp: replicas for tp, replicas in context.partition_replica_assignment.items() if replicas}
    yield "assignment", items(assignment)
    yield "reassignments", (items(context.partitions_being_reassigned), items(controller.to_reassign))
    yield "leadership", items(context.partition_leadership_info)
    partitions, replicas = controller.partition_machine, controller.replica_machine
    existing = {key: state for key, state in partitions.states.items() if state is not PartitionState.NON_EXISTENT}
    yield "partition states", (items(existing), partitions.has_started)
    yield "replica states", (items(replicas.states), replicas.has_started)
    yield "channels", (frozenset(controller.metrics), None if manager is None else frozenset(queues))
    yield from ((f"queue to {b}", _queue(cluster, queue)) for b, queue in sorted(queues.items()))
    for b, queue in sorted(controller.abandoned.items()):
        yield f"abandoned queue to {b}", _queue(cluster, queue)
    yield "batches", tuple(map(_batch, (controller.partition_batch, controller.replica_batch)))
    yield "own batch is dirty", controller.batch.is_dirty
    yield "the next send fails", controller.send_fails


def _activity(cluster: MemoryCluster, controller: KafkaController) -> Activity:
    """What the handler is about, with ISR changes named by their brokers; brokers that have returned are apart."""
    activity = controller.activity
    if not (activity.taken or activity.returned):
        return activity
    return changed(activity, taken=frozenset(standing(cluster, path) for path in activity.taken), returned=())


def _queue(cluster: MemoryCluster, queue: list[QueuedRequest]) -> Hashable:
    batches = groupby(queue, key=batch_of)
    return tuple(tuple(queued(cluster, one) for one in batch) for _, batch in batches)


def queued(cluster: MemoryCluster, one: QueuedRequest) -> Hashable:
    """A request on its way, without what is left out."""
    request = _with_the_unnamed(cluster, one.request) if one.whole else one.request
    topics = _told_apart(cluster, one.topic_ids or ())
    return _spoken(cluster, request), one.calls_back, one.answer, one.leader_epoch, topics


def _with_the_unnamed(cluster: MemoryCluster, request: Request) -> Request:
    """An UpdateMetadata of all partitions, which removes what it does not name, as one that names that."""
    if not isinstance(request, UpdateMetadataRequest):
        return request
    named = {state.topic_partition for state in request.partition_states}
    gone = (one for one in cluster.partitions if one not in named)
    removed = (PartitionLeadership(one.topic, one.partition, REMOVED, ()) for one in gone)
    return replace(request, partition_states=(*request.partition_states, *removed))


def _told_apart(cluster: MemoryCluster, topic_ids: Iterable[tuple[str, int | None]]) -> Hashable:
    """Topics, each with which of its name it is."""
    return tuple((topic, cluster.incarnation(topic, topic_id)) for topic, topic_id in topic_ids)


def _unordered(cluster: MemoryCluster, topic: str, known: Partition) -> Partition:
    """A partition as a broker knows it, its replicas in no order, and its topic known by which of its name it is."""
    which = None if known.topic_id is None else cluster.incarnation(topic, known.topic_id)
    return changed(known, assigned_replicas=tuple(sorted(known.assigned_replicas)), topic_id=which)


def _spoken(cluster: MemoryCluster, request: Request) -> Request:
    if not isinstance(request, LeaderAndIsrRequest | UpdateMetadataRequest):
        return request
    states = tuple(sorted(request.partition_states, key=lambda state: state.topic_partition))
    if isinstance(request, UpdateMetadataRequest):
        tells = "cached_leaderships" in cluster.scope.parts
        read = (one for one in states if tells or one.leadership.leader == LEADER_DURING_DELETE)
        return changed(request, partition_states=tuple(map(_unread, read)))
    unordered = tuple(changed(state, replicas=tuple(sorted(state.replicas))) for state in states)
    return changed(request, partition_states=unordered, live_leaders=())


def _unread(state: PartitionLeadership) -> PartitionLeadership:
    """What UpdateMetadata says of a partition, without what no broker reads."""
    return changed(state, leadership=changed(state.leadership, controller_epoch=0, isr=(), zk_version=0), replicas=())


def _batch(batch: RequestBatch) -> Hashable:
    """What a call has gathered; of what was left nothing counts but that it is."""
    if batch.is_left:
        return "left"
    ordered = frozenset((b, items(states)) for b, states in batch.leader_and_isr.items())
    stopped = frozenset((b, frozenset(entries)) for b, entries in batch.stop_replica.items())
    return ordered, stopped, items(batch.metadata), frozenset(batch.metadata_receivers)


def items(mapping: Mapping[Any, Hashable]) -> Hashable:
    """A dictionary as a set of its items; the order of insertion is no one's business."""
    return frozenset(mapping.items())
