"""The fingerprint: everything concrete about a state of the reference that should not depend on how it was reached.

Left out, and with a reason each:

* zxids, session ids, times, the transaction log and the children's counters: they count what happened;
* correlation ids and the numbers of batches, likewise; which requests belong to one batch stays in;
* the journal;
* the watches of a dead process, and those of a path without a listener: they wake nobody;
* the addresses of leaders in a LeaderAndIsr, which say whom the controller knew to live; 0.10 brokers do not read them;
* the order of the partitions in a request;
* the ISR changes that a leader has still to announce, in a scope without announcements;
* what a procedure was sent: only what it asks for next can matter;
* which registration of a broker a controller has read, but where broker epochs are on: nobody looks at it.

A session stands as whose it is, and so does the znode of an ISR change.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from reference.connections import QueuedRequest
from reference.context import Registration
from reference.controller import KafkaController
from reference.isr_notification import DeleteNotification, ReadNotified
from reference.memory_cluster import MemoryCluster
from reference.memory_process import MemoryProcess
from reference.procedures import Effect
from reference.request_batch import RequestBatch
from reference.zookeeper_scripts import broker_path
from spec.request_schemas import LeaderAndIsrRequest, Request, UpdateMetadataRequest
from spec.variants import Switch


def fingerprint(cluster: MemoryCluster) -> Hashable:
    """The condition of a cluster, as a value that can be compared and hashed."""
    owners = {cluster.admin_session: "admin"}
    for b, process in cluster.processes.items():
        owners |= {session: f"{b}" for session in (process.session,) if session is not None}
        owners |= {session: f"orphan of {b}" for session in (process.orphan,) if session is not None}
    znodes = frozenset(
        (_standing(cluster, path), znode.data, znode.version, owners.get(znode.ephemeral_owner))
        for path, znode in cluster.zookeeper.tree.items()
    )
    processes = tuple(_process(cluster, process) for process in cluster.processes.values())
    return znodes, processes, tuple(cluster.budget.items())


def _standing(cluster: MemoryCluster, path: str) -> str:
    return f"notification of {cluster.notifiers[path]}" if path in cluster.notifiers else path


def _process(cluster: MemoryCluster, process: MemoryProcess) -> Hashable:
    watches, stands = frozenset[object](), frozenset[object]()
    if process.session is not None:
        armed = cluster.zookeeper.watches(process.session)
        watches = frozenset(watch for watch in armed if process.listens_to(watch[1]))
    if process.controller is not None:
        live = process.controller.context.live_brokers
        stands = frozenset((b, _stands(cluster, b, known)) for b, known in live.items())
    if fingerprint not in process.remembered:
        process.remembered[fingerprint] = _memory(cluster, process)
    return cluster.can_operate(process), watches, stands, process.remembered[fingerprint]


@dataclass(frozen=True, eq=False)
class Remembered:
    """What was read of a process, with its hash, which is long to compute and often asked for."""

    content: tuple[Hashable, ...]
    known_hash: int

    def __hash__(self) -> int:
        return self.known_hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remembered) and self.content == other.content


def _memory(cluster: MemoryCluster, process: MemoryProcess) -> Remembered:
    """What is in the memory of a process and nowhere else."""
    running, broker = process.running, process.broker
    content = (
        (process.is_running, process.orphan is not None, process.starting, tuple(process.events)),
        None if running is None else (tuple(_asked(cluster, one) for one in running.options), running.unanswered),
        (broker.controller_epoch, broker.alive, _items(broker.partitions)),
        broker.isr_changes if "notifications" in cluster.scope.parts else None,
        _items(process.isr_writes),
        None if process.controller is None else _controller(process.controller),
    )
    return Remembered(content, hash(content))


def _asked(cluster: MemoryCluster, effect: Effect[Any]) -> Hashable:
    """An effect, with ISR changes named by who announced them."""
    match effect:
        case ReadNotified(taken=taken):
            return replace(effect, taken=frozenset(_standing(cluster, path) for path in taken))
        case DeleteNotification(path=path, taken=taken):
            return _standing(cluster, path), frozenset(_standing(cluster, path) for path in taken)
    return effect


def _controller(controller: KafkaController) -> Hashable:
    context, manager = controller.context, controller.context.controller_channel_manager
    queues = {} if manager is None else manager.queues
    return (
        (controller.leader_id, controller.deletion, controller.listeners, controller.activity),
        (context.epoch, context.epoch_zk_version, context.all_topics),
        (_items(context.partition_replica_assignment), _items(context.partition_leadership_info)),
        (_items(controller.partition_machine.states), controller.partition_machine.has_started),
        (_items(controller.replica_machine.states), controller.replica_machine.has_started),
        frozenset(controller.metrics),
        None if manager is None else frozenset((b, _queue(queue)) for b, queue in queues.items()),
        frozenset((b, _queue(queue)) for b, queue in controller.abandoned.items()),
        tuple(map(_batch, (controller.batch, controller.partition_batch, controller.replica_batch))),
    )


def _stands(cluster: MemoryCluster, b: int, known: Registration) -> bool:
    """Whether the registration that was read is the one that stands, as far as that matters."""
    znode = cluster.zookeeper.tree.get(broker_path(b))
    if Switch.BROKER_EPOCHS not in cluster.switches:
        return True
    return znode is not None and znode.czxid == known.broker_epoch


def _queue(queue: list[QueuedRequest]) -> Hashable:
    batches = groupby(queue, key=lambda queued: queued.batch)
    return tuple(tuple(_spoken(queued.request) for queued in batch) for _, batch in batches)


def _spoken(request: Request) -> Request:
    if not isinstance(request, LeaderAndIsrRequest | UpdateMetadataRequest):
        return request
    states = tuple(sorted(request.partition_states, key=lambda state: state.topic_partition))
    if isinstance(request, UpdateMetadataRequest):
        return replace(request, partition_states=states)
    return replace(request, partition_states=states, live_leaders=())


def _batch(batch: RequestBatch) -> Hashable:
    ordered = frozenset((b, _items(states)) for b, states in batch.leader_and_isr.items())
    stopped = frozenset((b, frozenset(entries)) for b, entries in batch.stop_replica.items())
    return ordered, stopped, _items(batch.metadata), frozenset(batch.metadata_receivers)


def _items(mapping: Mapping[Any, Hashable]) -> Hashable:
    """A dictionary as a set of its items; the order of insertion is no one's business."""
    return frozenset(mapping.items())
