"""An exception ends a LeaderAndIsr half way, at a broker of the cluster in memory.

It comes where a partition is to get its first replica here, for which the topic's configuration is read and a log made,
or behind all that became followers, before they fetch.

Kafka 0.10.2.2: `ReplicaManager.makeLeaders`, `makeFollowers`; `KafkaApis.handle`. PROTOCOL.md D64.
"""

from collections.abc import Iterator
from functools import partial

from reference.brokers.broker import NO_LEADER_EPOCH
from reference.memory import steps
from reference.memory.choices import Choice
from reference.memory.cluster import MemoryCluster
from reference.requests.connections import QueuedRequest
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import LeaderAndIsrRequest


def choices(cluster: MemoryCluster, c: int, b: int, queued: QueuedRequest) -> Iterator[Choice]:
    """The partitions that may be done before the exception comes, as bits of `done`."""
    if not isinstance(queued.request, LeaderAndIsrRequest) or steps.is_stale(cluster, b, queued):
        return
    for done in range(1 << len(cluster.partitions)):
        reached = frozenset(one for p, one in enumerate(cluster.partitions) if done >> p & 1)
        if _may_end(cluster, b, queued, queued.request, reached):
            deliver = partial(steps.deliver, c=c, b=b, reaches=reached)
            yield Choice("deliver_request_in_half", (("c", c), ("b", b), ("done", done)), deliver)


def _may_end(
    cluster: MemoryCluster, b: int, queued: QueuedRequest, request: LeaderAndIsrRequest, done: frozenset[TopicPartition]
) -> bool:
    """Whether an exception may come when just these are done."""
    broker, ids = cluster.processes[b].broker, dict(queued.topic_ids or ())
    states = [one for one in request.partition_states if broker.verdict(one, ids) is ErrorCode.NONE]
    accepted = {one.topic_partition: one.leadership.leader for one in states}
    if request.controller_epoch < broker.controller_epoch or not done <= accepted.keys():
        return False
    left = accepted.keys() - done
    following = [one for one in done if accepted[one] != b]
    if not left:
        known = {one: broker.partition(one).leadership.leader for one in following}
        return any(broker.knows_alive(accepted[one], request) and accepted[one] != known[one] for one in following)
    to_lead = {one for one in left if accepted[one] == b}
    if to_lead and following:
        return False
    return any(broker.partition(one).leadership.leader_epoch == NO_LEADER_EPOCH for one in to_lead or left)
