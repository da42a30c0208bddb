"""The fingerprint: everything concrete about a state of the reference that should not depend on how it was reached.

Left out, and with a reason each:

* zxids, session ids, times, the transaction log and the children's counters: they count what happened;
* the znodes between a topic and its states, and a topic's own where it is only their parent, which hold nothing;
* correlation ids and the numbers of batches, likewise; which requests belong to one batch stays in;
* the journal;
* the watches of a dead process, and those of a path without a listener: they wake nobody;
* how many new sessions a process without a controller has to hear of: the first that it hears of registers it;
* the addresses of leaders in a LeaderAndIsr, which say whom the controller knew to live; 0.10 brokers do not read them;
* the ISR, AR, data version and controller epoch that UpdateMetadata names: a broker's cache has them for clients only;
* what UpdateMetadata says of partitions that are not removed, in a scope that does not tell what a broker has cached;
* the order of the partitions in a request; that of a partition's replicas in a LeaderAndIsr, and so in a broker;
* the ISR changes that a leader has still to announce, in a scope without announcements;
* what a broker has cached of leaderships, in a scope that does not tell it;
* the logs on a broker's disk, in a scope without deletions of replicas;
* which topics' own listeners a controller holds, in a scope without deletions;
* the data versions of what is written unconditionally: assignments, what is to be reassigned, and configurations;
* that a partition was heard of which does not exist: it reads like one that was not;
* partitions whose last replica has gone while their topic's deletion is completed, which forgets them;
* what a procedure was sent: only what it asks for next can matter;
* which request for elections a controller has read, but whether it is the one that stands where that counts;
* which reassignment request a controller has read for its write, but whether it stands, where answers to that may be
  lost;
* what is in a controller's own batch, but that there is something: it is sent within a step, or never (D53);
* which partitions those ISR changes name that are being handled, in a scope where no controller loses topics;
* whether a controller has the id of a name's first topic, or none: who has none tells nobody of that topic;
* which registration of a broker a controller has read, but where broker epochs are on: nobody looks at it.

A session stands as whose it is, and so does the znode of an ISR change.

Subtrees of one graph are walked by several processes, which meet in the same states. So the fingerprint is a digest of
a canonical text, equal in every process; `conditions` is what it is the digest of, for whoever asks what differs.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby
from typing import Any

from model_check.refinement.abstraction.assignments import has_read_remaining
from model_check.refinement.abstraction.connections import batch_of
from model_check.refinement.abstraction.elections import read_elections
from model_check.refinement.history import is_of_a_reassignment
from reference.broker_events.isr_notification import DeleteNotification, ReadNotification, ReadNotified
from reference.brokers.broker import Partition
from reference.controller.context import RequestBatch
from reference.controller.controller import KafkaController
from reference.deletion.completion import DeleteTopic
from reference.elections.requested import DeleteElectionRequest, ElectionRequest
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.procedures import Effect
from reference.reassignment.effects import ReassignmentRequest, WriteRemaining
from reference.requests.connections import QueuedRequest
from reference.scripts import BROKER_TOPICS, broker_path, topic_path
from reference.zookeeper.api import parent_path
from spec.formats.kafka_types import LEADER_DURING_DELETE
from spec.formats.leadership import NO_LEADERSHIP
from spec.formats.request_schemas import LeaderAndIsrRequest, PartitionLeadership, Request, UpdateMetadataRequest
from spec.formats.znode_paths import TOPIC_CONFIG
from spec.state.controller import CachedPartition, Controller
from spec.tables.partition_states import PartitionState
from spec.variants import Switch

SIZE = 16
"""Bytes of a fingerprint."""

PARTITIONS_BELOW = "/partitions"
"""What is in the paths of the znodes below a topic's."""

REMOVED = replace(NO_LEADERSHIP, leader=LEADER_DURING_DELETE, leader_epoch=0, zk_version=0)
"""What is said of a partition that is removed, as far as anybody reads it."""

Named = Iterator[tuple[str, Hashable]]


def fingerprint(cluster: MemoryCluster) -> bytes:
    """The condition of a cluster, as 16 bytes that are the same in every process."""
    parts = _conditions(cluster)
    return _joined(one.digest if isinstance(one, Remembered) else _digest_of(one) for one in parts)


def conditions(cluster: MemoryCluster) -> frozenset[tuple[str, Hashable]]:
    """Everything that the fingerprint is made of, named."""
    parts = (part.content if isinstance(part, Remembered) else (part,) for part in _conditions(cluster))
    return frozenset(one for part in parts for one in part)


def _conditions(cluster: MemoryCluster) -> "Iterator[Remembered | tuple[str, Hashable]]":
    yield "budget", tuple(cluster.budget.items())
    late = cluster.late.items()
    deletions = {way: (copy.request, copy.leader_epoch) for way, copy in late if way[2] is not None}
    yield "copies that stayed behind", _items(deletions)
    yield "requests that did", _items({way: _queued(cluster, one) for way, one in late if way[2] is None})
    if cluster.adding is not None:
        yield "topic to which partitions are being added", (cluster.adding[0], _items(cluster.adding[1]))
    yield from sorted(_znodes(cluster))
    for b, process in cluster.processes.items():
        yield from _outside(cluster, b, process)
        yield memory(cluster, process)


def _znodes(cluster: MemoryCluster) -> Iterator[tuple[str, tuple[bytes, int, str]]]:
    owners = {cluster.admin_session: "admin"}
    for b, process in cluster.processes.items():
        owners |= {session: f"{b}" for session in (process.session,) if session is not None}
        owners |= {session: f"orphan of {b}" for session in (process.orphan,) if session is not None}
    for path, znode in cluster.zookeeper.tree.items():
        is_bare_topic = parent_path(path) == BROKER_TOPICS and znode.data is None
        if is_bare_topic or (PARTITIONS_BELOW in path and not path.endswith("/state")):
            continue
        owner = owners.get(znode.ephemeral_owner, "nobody")
        version = 0 if is_of_a_reassignment(path) or path.startswith(TOPIC_CONFIG.prefix) else znode.version
        yield f"znode {_standing(cluster, path)}", (znode.data or b"", version, owner)


class Remembered:
    """What was read of a process, with its digest, which is long to compute and often asked for."""

    def __init__(self, content: tuple[tuple[str, Hashable], ...]) -> None:
        self.content = content
        self.digest = _joined(_digest_of(part) for part in content)


def memory(cluster: MemoryCluster, process: MemoryProcess) -> Remembered:
    """What is in the memory of a process and nowhere else; read once, until the process changes."""
    known: Remembered | None = process.remembered.get(fingerprint)
    if known is None:
        known = process.remembered[fingerprint] = Remembered(tuple(_memory(cluster, process)))
    return known


# -------------------------------------------------------------------------------------------------------------- digests


@lru_cache(maxsize=1 << 16)
def _digest_of(part: Hashable) -> bytes:
    return blake2b(_canonical(part), digest_size=SIZE).digest()


def _joined(digests: Iterator[bytes]) -> bytes:
    return blake2b(b"".join(digests), digest_size=SIZE).digest()


def _canonical(value: Any) -> bytes:
    """A text that equal values share; sets are sorted by the texts of their members, and True is 1."""
    match value:
        case Enum():
            return f"{type(value).__name__}.{value.name}".encode()
        case bool():
            return b"%d" % value
        case None | int() | str() | bytes():
            return repr(value).encode()
        case tuple():
            return b"(%s)" % b",".join(map(_canonical, value))
        case frozenset():
            return b"{%s}" % b",".join(sorted(map(_canonical, value)))
        case _ if is_dataclass(value):
            members = (getattr(value, one.name) for one in fields(value))
            return type(value).__name__.encode() + _canonical(tuple(members))
    raise TypeError(f"a fingerprint cannot hold {value!r}")


# ---------------------------------------------------------------------------------------------------------------- parts


def _standing(cluster: MemoryCluster, path: str) -> str:
    return f"notification of {cluster.notifiers[path]}" if path in cluster.notifiers else path


def _outside(cluster: MemoryCluster, b: int, process: MemoryProcess) -> Named:
    """What depends on a process and on ZooKeeper."""
    yield f"session of {b} lives", cluster.can_operate(process)
    if process.session is not None:
        armed = cluster.zookeeper.watches(process.session)
        listened = ((kind.name, path) for kind, path in armed if process.listens_to(path))
        yield f"watches of {b}", frozenset(listened)
    if process.running is not None:
        handled: frozenset[str] = getattr(process.running.options[0], "taken", frozenset())
        gone = frozenset(_standing(cluster, path) for path in handled if path not in cluster.zookeeper.tree)
        yield f"notifications that {b} handles and that are gone", gone
        topics = [one.topic for one in process.running.choices.values() if isinstance(one, DeleteTopic) and one.below]
        yield f"{b} deletes what is below", tuple(one for one in topics if topic_path(one) in cluster.zookeeper.tree)
    if process.controller is not None and Switch.KEEP_UNREAD_REQUESTS in cluster.switches:
        stand = read_elections(cluster, process, process.controller, "")
        yield f"requests that {b} has read, and is given, stand", tuple(stand)
    if process.controller is not None and cluster.model.keeps(Controller.remaining_read):
        yield f"request that {b} has read for its write stands", has_read_remaining(cluster, process)
    if process.controller is not None and Switch.BROKER_EPOCHS in cluster.switches:
        known = process.controller.known_broker_epochs()
        yield (
            f"registrations that {b} knows",
            frozenset((r, cluster.stands(broker_path(r), one)) for r, one in known.items()),
        )


def _memory(cluster: MemoryCluster, process: MemoryProcess) -> Named:
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
    yield f"partitions of broker {b}", _items(partitions)
    if "cached_leaderships" in cluster.scope.parts:
        yield f"leader epochs that broker {b} has cached", _items(broker.cached_epochs)
    if "notifications" in cluster.scope.parts and Switch.ANNOUNCE_NO_ISR not in cluster.switches:
        yield f"ISR changes to announce by {b}", broker.isr_changes
    if cluster.model.stops_replicas:
        yield f"logs of {b}", broker.logs
    yield f"ISR writes of {b}", _items(process.isr_writes)
    if process.controller is not None:
        yield from ((f"{name} of controller {b}", part) for name, part in _controller(cluster, process.controller))


def _given(process: MemoryProcess) -> Hashable:
    """What the listener that is next is given; of a request, what it names."""
    match process.given:
        case ReassignmentRequest(wanted=wanted):
            return "request", _items(wanted)
        case ElectionRequest(partitions=partitions):
            return "request", partitions
    return process.given


def _asked(cluster: MemoryCluster, effect: Effect[Any]) -> Hashable:
    """An effect, with ISR changes named by who announced them."""
    match effect:
        case DeleteElectionRequest(fence=fence) | DeleteTopic(fence=fence):
            return type(effect).__name__, getattr(effect, "topic", ""), fence
        case ReadNotified(taken=taken, named=named):
            told_of = named if cluster.model.keeps(CachedPartition.named) else frozenset()
            return replace(effect, taken=frozenset(_standing(cluster, path) for path in taken), named=told_of)
        case ReadNotification(path=path, unread=unread, named=named, taken=taken):
            paths = (frozenset(_standing(cluster, one) for one in some) for some in ((path,), unread, taken))
            return named, *paths
        case WriteRemaining(remaining=remaining):
            return replace(effect, remaining=replace(remaining, czxid=0))
        case DeleteNotification(path=path, taken=taken):
            return _standing(cluster, path), frozenset(_standing(cluster, path) for path in taken)
    return effect


def _controller(cluster: MemoryCluster, controller: KafkaController) -> Named:
    context, manager = controller.context, controller.context.controller_channel_manager
    queues = {} if manager is None else manager.queues
    taken = frozenset(_standing(cluster, path) for path in controller.activity.taken)
    activity = replace(controller.activity, taken=taken, returned=())
    yield "standing", (controller.leader_id, controller.deletion, controller.listeners, activity)
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
    yield "assignment", _items(assignment)
    yield "reassignments", (_items(context.partitions_being_reassigned), _items(controller.to_reassign))
    yield "leadership", _items(context.partition_leadership_info)
    partitions, replicas = controller.partition_machine, controller.replica_machine
    existing = {key: state for key, state in partitions.states.items() if state is not PartitionState.NON_EXISTENT}
    yield "partition states", (_items(existing), partitions.has_started)
    yield "replica states", (_items(replicas.states), replicas.has_started)
    yield "channels", (frozenset(controller.metrics), None if manager is None else frozenset(queues))
    yield from ((f"queue to {b}", _queue(cluster, queue)) for b, queue in sorted(queues.items()))
    for b, queue in sorted(controller.abandoned.items()):
        yield f"abandoned queue to {b}", _queue(cluster, queue)
    yield "batches", tuple(map(_batch, (controller.partition_batch, controller.replica_batch)))
    yield "own batch is dirty", controller.batch.is_dirty
    yield "the next send fails", controller.send_fails


def _queue(cluster: MemoryCluster, queue: list[QueuedRequest]) -> Hashable:
    batches = groupby(queue, key=batch_of)
    return tuple(tuple(_queued(cluster, one) for one in batch) for _, batch in batches)


def _queued(cluster: MemoryCluster, one: QueuedRequest) -> Hashable:
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
    """A partition as a broker knows it, its replicas in no order, and its topic told by which of its name it is."""
    which = None if known.topic_id is None else cluster.incarnation(topic, known.topic_id)
    return replace(known, assigned_replicas=tuple(sorted(known.assigned_replicas)), topic_id=which)


def _spoken(cluster: MemoryCluster, request: Request) -> Request:
    if not isinstance(request, LeaderAndIsrRequest | UpdateMetadataRequest):
        return request
    states = tuple(sorted(request.partition_states, key=lambda state: state.topic_partition))
    if isinstance(request, UpdateMetadataRequest):
        tells = "cached_leaderships" in cluster.scope.parts
        read = (one for one in states if tells or one.leadership.leader == LEADER_DURING_DELETE)
        return replace(request, partition_states=tuple(map(_unread, read)))
    unordered = tuple(replace(state, replicas=tuple(sorted(state.replicas))) for state in states)
    return replace(request, partition_states=unordered, live_leaders=())


def _unread(state: PartitionLeadership) -> PartitionLeadership:
    """What UpdateMetadata says of a partition, without what no broker reads."""
    return replace(state, leadership=replace(state.leadership, controller_epoch=0, isr=(), zk_version=0), replicas=())


def _batch(batch: RequestBatch) -> Hashable:
    """What a call has gathered; of what was left nothing counts but that it is."""
    if batch.is_left:
        return "left"
    ordered = frozenset((b, _items(states)) for b, states in batch.leader_and_isr.items())
    stopped = frozenset((b, frozenset(entries)) for b, entries in batch.stop_replica.items())
    return ordered, stopped, _items(batch.metadata), frozenset(batch.metadata_receivers)


def _items(mapping: Mapping[Any, Hashable]) -> Hashable:
    """A dictionary as a set of its items; the order of insertion is no one's business."""
    return frozenset(mapping.items())
