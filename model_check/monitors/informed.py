"""Claims that, once the cluster has come to rest, everybody has been told what concerns him, and to stop what does not.

They are asked of what the present process of a broker has received, and has not refused: what an earlier process was
told is forgotten.

Kafka: `ControllerBrokerRequestBatch`, `ReplicaStateMachine`, 0.10.2.2. PROTOCOL.md sections 7 to 10.
"""

from __future__ import annotations

from collections.abc import Iterable

from model_check.monitors.arrivals import Arrival
from model_check.monitors.claims import Break, Needs
from model_check.monitors.contents import State
from model_check.monitors.deletion import was_deleted
from model_check.monitors.history import state_path
from model_check.monitors.moments import Moment, Shown, at_rest
from model_check.monitors.reassignment import left_at
from model_check.monitors.signatures import row_of_orphan, row_of_silence, row_of_stale_metadata, row_of_stray
from model_check.recordings.tracks import SKEW
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import ApiKey


@at_rest(needs=Needs.REST_AND_REQUESTS)
def eventually_live_replicas_are_informed(at: Moment) -> Shown:
    """Asked of replicas that are up, while a controller is: each has received the leader epoch of the state znode."""
    for partition, replicas, state in at.partitions():
        for broker in replicas if state is not None and at.controller is not None else ():
            received = at.received(broker) if at.is_up(broker) else None
            if received is not None and state is not None:
                yield f"{partition} {broker}", _untold(at, received, partition, broker, state)


def _untold(at: Moment, received: list[Arrival], partition: TopicPartition, broker: int, state: State) -> Break | None:
    told = [_accepted(one, partition) for one in received if one.kind is ApiKey.LEADER_AND_ISR]
    highest = max(told, default=-1)
    if highest >= state.leader_epoch:
        return None
    written = at.history.last(state_path(partition), at.number)
    place = written.place if written else ""
    heard = "no LeaderAndIsr of it" if highest < 0 else f"no later leader epoch of it than {highest}"
    text = f"{partition} has {state} ({place}), and broker {broker}, which runs, has accepted {heard}"
    return Break(at.rest.place, text, row_of_silence(at, partition, broker, highest))


def _accepted(request: Arrival, partition: TopicPartition) -> int:
    """The leader epoch that a request tells of a partition; -1 if it does not, or is refused for it."""
    told = request.states.get(partition)
    code = ErrorCode.NONE if request.answer is None else request.answer.codes.get(partition, ErrorCode.NONE)
    return told.leader_epoch if told is not None and not request.is_refused and code == ErrorCode.NONE else -1


@at_rest(needs=Needs.REST_AND_REQUESTS, kind="eventually", source="PROTOCOL.md sections 7 and 9")
def eventually_live_brokers_know_the_leaders(at: Moment) -> Shown:
    """Every live broker has received UpdateMetadata of each partition's leader and leader epoch."""
    up = {broker: at.received(broker) for broker in at.history.brokers if at.is_up(broker)}
    for partition, _, state in at.partitions():
        for broker, received in up.items():
            if state is not None and received is not None and at.controller is not None:
                told = [one for one in received if one.kind is ApiKey.UPDATE_METADATA and not one.is_refused]
                yield f"{partition} {broker}", _unaware(at, told, partition, broker, state)


def _unaware(at: Moment, told: list[Arrival], partition: TopicPartition, broker: int, state: State) -> Break | None:
    epochs = [one.states[partition].leader_epoch for one in told if partition in one.states]
    highest = max(epochs, default=-1)
    if highest >= state.leader_epoch:
        return None
    heard = "nothing of it" if highest < 0 else f"no later leader epoch of it than {highest}"
    text = f"{partition} has {state}, and broker {broker}, which runs, has been told {heard} by UpdateMetadata"
    return Break(at.rest.place, text, row_of_stale_metadata(at, partition, broker, highest))


@at_rest(needs=Needs.REST_AND_REQUESTS)
def eventually_only_assigned_replicas_have_logs(at: Moment) -> Shown:
    """Asked of brokers that are up, and of partitions that they were made to host, and have not been told to delete.

    Who was made to host one so late that it may have been after the moment is not asked, and whom an admin took out of
    AR by hand need not be told.
    Whoever is of a documented release keeps a log through a restart; others may look what they have as they start.
    """
    history = at.history
    for broker, received in history.arrivals.by_broker.items():
        if not at.is_up(broker) or received.unreadable or at.controller is None:
            continue
        known = received.requests if received.is_documented else at.received(broker) or ()
        for partition, request in _hosted(known, at.rest.ms).items():
            if not history.is_doomed(partition.topic, at.number):
                yield f"{partition} {broker}", _unassigned(at, partition, broker, request)


def _hosted(requests: Iterable[Arrival], ms: int) -> dict[TopicPartition, Arrival]:
    """The partitions that a broker surely hosts at a time, each with the request by which it does."""
    hosted: dict[TopicPartition, Arrival] = {}
    for one in requests:
        if one.ms > ms + SKEW:
            break
        if one.kind is ApiKey.LEADER_AND_ISR and one.ms > ms - SKEW:
            continue
        if one.kind is ApiKey.LEADER_AND_ISR:
            hosted |= {partition: one for partition in one.states if _accepted(one, partition) >= 0}
        elif one.delete and not one.is_refused:
            for partition in one.stopped:
                hosted.pop(partition, None)
    return hosted


def _unassigned(at: Moment, partition: TopicPartition, broker: int, request: Arrival) -> Break | None:
    replicas = at.history.replicas(partition, at.number)
    text = f"broker {broker} hosts {partition} ({request.place}), and was not told to delete it"
    if replicas is not None:
        text = f"{text}; its AR is {list(replicas)}"
        left = left_at(at.history, partition, broker, at.number)
        is_fine = broker in replicas or (left is not None and not left.author.is_members)
        return None if is_fine else Break(at.rest.place, text, row_of_stray(at, partition, broker, request))
    is_gone = was_deleted(at.history, partition.topic, at.number)
    row = row_of_orphan(at, partition, broker, request)
    return Break(at.rest.place, f"{text}; its topic was deleted", row) if is_gone else None
