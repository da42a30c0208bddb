"""Requests that come late to brokers of the cluster in memory: a copy is executed behind what was sent after it.

When a connection breaks while a request is in flight, its sender sends it again over a new one; the first copy may
still lie with the broker, to be executed at any time, and nobody waits for that answer. Of StopReplica with delete
there is one copy for a replica at a time, of other requests one for a broker.

Kafka 0.10.2.2: `RequestSendThread.doWork`; PROTOCOL.md D22.
"""

from collections.abc import Iterator
from functools import partial

from reference.memory import steps
from reference.memory.choices import Choice, choice
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import StopReplicaRequest


def choices(cluster: MemoryCluster, receiver: MemoryProcess) -> Iterator[Choice]:
    """A copy may stay behind of what is in flight, and one that did may be executed."""
    if cluster.scope.budget("late_copies"):
        yield from _of_deletions(cluster, receiver)
    if cluster.scope.budget("late_requests"):
        yield from _of_requests(cluster, receiver)


def _of_requests(cluster: MemoryCluster, receiver: MemoryProcess) -> Iterator[Choice]:
    b = receiver.broker_id
    for c, sender in cluster.processes.items():
        late = cluster.late_requests.get((c, b))
        queue = [] if sender.controller is None else sender.controller.queue_to(b)
        if late is not None:
            if not steps.waits_for_isr_write(cluster, b, late):
                yield choice("execute_late_request", execute_request, c=c, b=b)
            continue
        for place, queued in steps.due(cluster, queue):
            if (kind := steps.kind_of(cluster, queued)) != "deletion":
                leave, named = partial(leave_request, c=c, b=b, place=place), steps.named(cluster, queued)
                yield Choice(f"leave_late_{kind}", (("c", c), ("b", b), *named), leave)


def leave_request(cluster: MemoryCluster, *, c: int, b: int, place: int) -> None:
    """The connection breaks: what is in flight stays with the broker, too."""
    sender = cluster.processes[c].controller
    if sender is not None:
        cluster.late_requests = {**cluster.late_requests, (c, b): sender.queue_to(b)[place]}


def execute_request(cluster: MemoryCluster, *, c: int, b: int) -> None:
    """The broker executes what stayed behind."""
    late = dict(cluster.late_requests)
    steps.execute(cluster, b, late.pop((c, b)), number=0)
    cluster.late_requests = late


def _of_deletions(cluster: MemoryCluster, receiver: MemoryProcess) -> Iterator[Choice]:
    b = receiver.broker_id
    for c, sender in cluster.processes.items():
        for p, partition in enumerate(cluster.partitions):
            key = (c, b, partition)
            if key in cluster.late_copies and partition in receiver.isr_writes:
                continue  # which holds the partition's lock
            if key in cluster.late_copies:
                yield choice("execute_late_copy", execute, c=c, b=b, p=p)
            elif sender.controller is not None and _place(sender, b, partition) is not None:
                yield choice("leave_late_copy", leave, c=c, b=b, p=p)


def _place(sender: MemoryProcess, b: int, partition: TopicPartition) -> int | None:
    """Where in the queue the deletion of a replica is that may be in flight: it is in the batch at the head."""
    queue = [] if sender.controller is None else sender.controller.queue_to(b)
    for place, queued in enumerate(queue):
        request = queued.request
        if not (isinstance(request, StopReplicaRequest) and request.delete_partitions and queued.answer is None):
            return None
        if queued.batch == queue[0].batch and partition in request.partitions:
            return place
    return None


def leave(cluster: MemoryCluster, *, c: int, b: int, p: int) -> None:
    """The connection breaks: the request stays in the queue, and a copy with the broker."""
    sender, partition = cluster.processes[c], cluster.partitions[p]
    place = _place(sender, b, partition)
    if sender.controller is not None and place is not None:
        cluster.late_copies = {**cluster.late_copies, (c, b, partition): sender.controller.queue_to(b)[place]}


def execute(cluster: MemoryCluster, *, c: int, b: int, p: int) -> None:
    """The broker executes the copy."""
    copies = dict(cluster.late_copies)
    steps.execute(cluster, b, copies.pop((c, b, cluster.partitions[p])), number=0)
    cluster.late_copies = copies
