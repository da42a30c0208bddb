"""Requests that come late to brokers of the cluster in memory: a copy is executed behind what was sent after it.

When a connection breaks while a request is in flight, its sender sends it again over a new one; the first copy may
still lie with the broker, to be executed at any time, and nobody waits for that answer. Of StopReplica with delete
there is one copy for a replica at a time, of other requests one for a broker.

Kafka 0.10.2.2: `RequestSendThread.doWork`; PROTOCOL.md D22.
"""

from collections.abc import Iterator
from functools import partial

from reference.memory import steps
from reference.memory.choices import Choice
from reference.memory.cluster import MemoryCluster, Way
from reference.memory.process import MemoryProcess
from reference.requests.connections import QueuedRequest


def choices(cluster: MemoryCluster, receiver: MemoryProcess) -> Iterator[Choice]:
    """A copy may stay behind of what is in flight, and one that did may be executed."""
    deletions, others = (cluster.scope.budget(name) for name in ("late_copies", "late_requests"))
    for c, sender in cluster.processes.items() if deletions or others else ():
        in_flight = _in_flight(cluster, sender, receiver.broker_id)
        if deletions:
            yield from _of_deletions(cluster, receiver, c, in_flight)
        if others:
            yield from _of_requests(cluster, receiver, c, in_flight)


def _in_flight(cluster: MemoryCluster, sender: MemoryProcess, b: int) -> list[QueuedRequest]:
    """What may be under way to a broker, and unanswered."""
    queue = [] if sender.controller is None else sender.controller.queue_to(b)
    is_answered = any(head.answer is not None for head in queue[:1])
    return [] if is_answered else [queued for _, queued in steps.due(cluster, queue)]


def _of_requests(
    cluster: MemoryCluster, receiver: MemoryProcess, c: int, in_flight: list[QueuedRequest]
) -> Iterator[Choice]:
    way = c, receiver.broker_id, None
    late = cluster.late.get(way)
    if late is not None:
        if not steps.waits_for_isr_write(cluster, receiver.broker_id, late):
            yield Choice("execute_late_request", (("c", c), ("b", receiver.broker_id)), partial(execute, way=way))
        return
    for queued in in_flight:
        if (kind := steps.kind_of(cluster, queued)) != "deletion":
            parameters = (("c", c), ("b", receiver.broker_id), *steps.named(cluster, queued))
            yield Choice(f"leave_late_{kind}", parameters, partial(leave, way=way, copy=queued))


def _of_deletions(
    cluster: MemoryCluster, receiver: MemoryProcess, c: int, in_flight: list[QueuedRequest]
) -> Iterator[Choice]:
    b = receiver.broker_id
    for p, partition in enumerate(cluster.partitions):
        if (way := (c, b, partition)) in cluster.late and partition not in receiver.isr_writes:  # which hold its lock
            yield Choice("execute_late_copy", (("c", c), ("b", b), ("p", p)), partial(execute, way=way))
    for queued in in_flight:
        for _, p in steps.named(cluster, queued) if steps.kind_of(cluster, queued) == "deletion" else ():
            if (way := (c, b, cluster.partitions[p])) not in cluster.late:
                parameters = (("c", c), ("b", b), ("p", p))
                yield Choice("leave_late_copy", parameters, partial(leave, way=way, copy=queued))


def leave(cluster: MemoryCluster, *, way: Way, copy: QueuedRequest) -> None:
    """The connection breaks: the request stays in the queue, and a copy with the broker."""
    cluster.late = {**cluster.late, way: copy}


def execute(cluster: MemoryCluster, *, way: Way) -> None:
    """The broker executes the copy."""
    late = dict(cluster.late)
    steps.execute(cluster, way[1], late.pop(way), number=0)
    cluster.late = late
