"""Requests that come late to brokers of the cluster in memory: a copy is executed behind what was sent after it.

When a connection breaks while a request is in flight, its sender sends it again over a new one; the first copy may
still lie with the broker, to be executed at any time, and nobody waits for that answer. Only of StopReplica with
delete, and one copy for a replica at a time: what LeaderAndIsr says is fenced by its leader epoch.

Kafka 0.10.2.2: `RequestSendThread.doWork`; PROTOCOL.md D22.
"""

from collections.abc import Iterator
from functools import partial

from reference.memory import steps
from reference.memory.choices import Choice
from reference.memory.cluster import MemoryCluster
from reference.memory.process import MemoryProcess
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import StopReplicaRequest


def choices(cluster: MemoryCluster, receiver: MemoryProcess) -> Iterator[Choice]:
    """A copy may stay behind of what is to be deleted next, and one that did may be executed."""
    b = receiver.broker_id
    for c, sender in cluster.processes.items():
        for p, partition in enumerate(cluster.partitions):
            parameters, key = (("c", c), ("b", b), ("p", p)), (c, b, partition)
            if key in cluster.late_copies and partition in receiver.isr_writes:
                continue  # which holds the partition's lock
            if key in cluster.late_copies:
                yield Choice("execute_late_copy", parameters, partial(execute, c=c, b=b, partition=partition))
            elif sender.controller is not None and _place(sender, b, partition) is not None:
                yield Choice("leave_late_copy", parameters, partial(leave, c=c, b=b, partition=partition))


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


def leave(cluster: MemoryCluster, *, c: int, b: int, partition: TopicPartition) -> None:
    """The connection breaks: the request stays in the queue, and a copy with the broker."""
    sender = cluster.processes[c]
    place = _place(sender, b, partition)
    if sender.controller is not None and place is not None:
        cluster.late_copies = {**cluster.late_copies, (c, b, partition): sender.controller.queue_to(b)[place]}


def execute(cluster: MemoryCluster, *, c: int, b: int, partition: TopicPartition) -> None:
    """The broker executes the copy."""
    copies = dict(cluster.late_copies)
    steps.execute(cluster, b, copies.pop((c, b, partition)), number=0)
    cluster.late_copies = copies
