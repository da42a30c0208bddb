"""What brokers know, and what is on its way to them: a queue of requests there is a queue of batches here.

A batch is at the stage of its first request that is not answered yet; what those before it said is forgotten.
"""

from itertools import groupby

from model_check.refinement.abstraction.leadership import Named, flags, leadership
from model_check.refinement.abstraction.topics import is_another
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from reference.requests.connections import QueuedRequest
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import LEADER_DURING_DELETE, TopicPartition
from spec.formats.request_schemas import LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest
from spec.model import Model
from spec.state.brokers import Stage


def connection(m: Model, cluster: MemoryCluster, path: str, queue: list[QueuedRequest]) -> Named:
    """A queue of requests as a queue of batches."""
    batches = [list(batch) for _, batch in groupby(queue, key=batch_of)]
    for place in m.slots:
        yield from _slot(cluster, f"{path}[{place}]", batches[place] if place < len(batches) else [])


def _slot(cluster: MemoryCluster, slot: str, batch: list[QueuedRequest]) -> Named:
    requests = [queued.request for queued in batch]
    ordered = [one for one in requests if isinstance(one, LeaderAndIsrRequest)]
    updates = [one for one in requests if isinstance(one, UpdateMetadataRequest)]
    yield f"{slot}.stage", _stage(batch[0]) if batch else Stage.EMPTY
    yield f"{slot}.epoch", max((queued.controller_epoch for queued in batch), default=0)
    told = {state.topic_partition: state for one in ordered for state in one.partition_states}
    leaders = {live.id for one in ordered for live in one.live_leaders}
    ids = dict(one for queued in batch for one in queued.topic_ids or ())
    for p, partition in enumerate(cluster.partitions):
        state, content = told.get(partition), f"{slot}.partitions[{p}]"
        yield from leadership(content, None if state is None else state.leadership)
        yield f"{content}.ordered", state is not None
        yield f"{content}.assigned", frozenset(() if state is None else state.replicas)
        yield f"{content}.leader_lives", state is not None and state.leadership.leader in leaders
        another = is_another(cluster, partition.topic, ids.get(partition.topic))
        yield f"{content}.topic_id", state is not None and another
    yield f"{slot}.metadata", bool(updates)
    yield f"{slot}.alive", frozenset(live.id for one in updates for live in one.live_brokers)
    yield from _leaderships(cluster, slot, updates, whole=any(queued.whole for queued in batch))
    yield from _stops(cluster, slot, batch)
    yield from _answers(cluster, slot, batch)


def batch_of(queued: QueuedRequest) -> int:
    """The number of a request's batch; the deletion manager's deletions go with the batch before, which stops them."""
    return queued.batch - queued.calls_back


def _answers(cluster: MemoryCluster, slot: str, batch: list[QueuedRequest]) -> Named:
    """What has been answered and waits for its callback."""
    answered = [queued.request for queued in batch if queued.answer is not None]
    named = [one.partitions[0] for one in answered if isinstance(one, StopReplicaRequest)]
    yield f"{slot}.answered", cluster.partitions.index(named[0]) if named else 0
    codes = (one.error_code for queued in batch if queued.answer is not None for one in queued.answer.partitions)
    yield f"{slot}.failed", ErrorCode.UNKNOWN in codes
    yield f"{slot}.calls_back", any(queued.calls_back for queued in batch)


def _stage(queued: QueuedRequest) -> Stage:
    if queued.answer is not None:
        return Stage.ANSWERED if queued.answer.error_code is ErrorCode.NONE else Stage.REFUSED
    match request := queued.request:
        case LeaderAndIsrRequest():
            return Stage.LEADER_AND_ISR
        case UpdateMetadataRequest():
            return Stage.UPDATE_METADATA
        case StopReplicaRequest(delete_partitions=delete):
            return Stage.DELETE_REPLICA if delete else Stage.STOP_REPLICA
    raise TypeError(f"a connection carries no {type(request).__name__}")


def _leaderships(cluster: MemoryCluster, slot: str, updates: list[UpdateMetadataRequest], *, whole: bool) -> Named:
    """Of which partitions UpdateMetadata tells who leads, and in which leader epoch, or that they are removed.

    If it is of all partitions, and says so, those are removed that it does not name.
    """
    told = {
        state.topic_partition: -1 if (told := state.leadership).leader == LEADER_DURING_DELETE else told.leader_epoch
        for one in updates
        for state in one.partition_states
    }
    for p, partition in enumerate(cluster.partitions):
        yield f"{slot}.told[{p}]", whole or partition in told
        yield f"{slot}.told_epoch[{p}]", told.get(partition, -1)


def late_copies(m: Model, cluster: MemoryCluster, c: int) -> Named:
    """Copies of a controller's requests that stayed behind on old connections."""
    for b in cluster.processes:
        if m.scope.budget("late_requests"):
            late = cluster.late.get((c, b, None))
            yield from _slot(cluster, f"late_requests[{c}][{b}]", [] if late is None else [late])
        for p, partition in enumerate(cluster.partitions):
            copy, path = cluster.late.get((c, b, partition)), f"late[{c}][{b}][{p}]"
            yield f"{path}.waits", copy is not None
            yield f"{path}.epoch", 0 if copy is None else copy.controller_epoch
            yield f"{path}.leader_epoch", -1 if copy is None or copy.leader_epoch is None else copy.leader_epoch


def _stops(cluster: MemoryCluster, slot: str, batch: list[QueuedRequest]) -> Named:
    """The partitions that are to stop, and those that are to be deleted, with the leader epochs of these replicas."""
    named: dict[bool, set[TopicPartition]] = {False: set(), True: set()}
    epochs: dict[tuple[TopicPartition, ...], int | None] = {}
    for queued in batch:
        if isinstance(queued.request, StopReplicaRequest):
            named[queued.request.delete_partitions] |= set(queued.request.partitions)
            epochs[queued.request.partitions] = queued.leader_epoch
    yield from flags(slot, cluster.partitions, stop=named[False], delete=named[True])
    for p, partition in enumerate(cluster.partitions):
        epoch = epochs.get((partition,))
        yield f"{slot}.delete_epoch[{p}]", -1 if epoch is None else epoch


def known_to_broker(m: Model, cluster: MemoryCluster, process: MemoryProcess) -> Named:
    """What a broker knows of partitions, the cluster and its controller, and what lies on its disk."""
    path, broker = f"brokers[{process.broker_id}]", process.broker
    yield f"{path}.controller_epoch", broker.controller_epoch
    for p, partition in enumerate(cluster.partitions):
        known, place = broker.partition(partition), f"{path}.partitions[{p}]"
        yield from leadership(place, known.leadership)
        yield f"{place}.topic_id", is_another(cluster, partition.topic, known.topic_id)
        yield f"{place}.cached_epoch", broker.cached_epochs.get(partition, -1)
        yield f"{place}.unreported", partition in broker.isr_changes
        write = process.isr_writes.get(partition)
        yield f"{place}.retrying", () if write is None else write.leadership.isr
        yield f"{place}.idle", known.is_idle
        yield f"{place}.assigned", frozenset(known.assigned_replicas)
        yield f"{place}.abandoned", partition in broker.abandoned
        if process.broker_id in m.assigned(p):
            yield f"logs[{process.broker_id}][{p}]", partition in broker.logs
    yield f"{path}.alive", broker.alive or frozenset()
