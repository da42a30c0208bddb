"""Claims about requests, held against what ZooKeeper had: what they tell was written before, and is not outdated.

A request may have waited long, so that it tells an older leadership is fine, unless the epoch that it names was raised
after the newer one was written: then its sender has read it. Clocks are off by `SKEW` at most.

Kafka: `ControllerBrokerRequestBatch`, 0.10.2.2. PROTOCOL.md section 9.
"""

from collections.abc import Iterator
from dataclasses import replace

from model_check.monitors.arrivals import NOT_TOLD, Arrival, in_no_order
from model_check.monitors.claims import Answers, Break, Needs, monitored
from model_check.monitors.contents import State
from model_check.monitors.controllers import raisers
from model_check.monitors.history import History, Write
from model_check.recordings.tracks import SKEW
from spec.formats.kafka_types import LEADER_DURING_DELETE, TopicPartition
from spec.formats.request_schemas import ApiKey


@monitored(needs=Needs.REQUESTS, source="PROTOCOL.md section 9")
def requests_can_be_read(history: History) -> Answers:
    """Each request can be read by the broker that receives it.

    A broker that is of no documented release may know later versions.
    """
    for broker, received in history.arrivals.by_broker.items():
        yield from (None for _ in received.requests if received.starts is not None)
        for one in received.unread:
            if one.is_known or received.is_documented:
                yield Break(one.place, f"broker {broker} cannot read {one.text}")


@monitored(needs=Needs.REQUESTS, source="PROTOCOL.md sections 3 and 9: ZooKeeper is always ahead of the requests")
def what_is_told_was_written(history: History) -> Answers:
    """What LeaderAndIsr and UpdateMetadata tell of a partition was in its state znode before."""
    for request in history.arrivals.all():
        for partition, told in request.states.items():
            if told.leader != LEADER_DURING_DELETE:
                yield _unwritten(history, request, partition, told)


def _unwritten(history: History, request: Arrival, partition: TopicPartition, told: State) -> Break | None:
    end = history.before(request.ms + SKEW + 1)
    one = next(writes_told(history, request, partition, told), None)
    if one is not None:
        text = f"{request} tells of {partition}: {told}, which was written only later ({one.place})"
        return None if one.number < end else Break(request.place, text)
    version = told.zk_version if request.kind is ApiKey.LEADER_AND_ISR else NOT_TOLD
    shown = "" if version == NOT_TOLD else f", version {version}"
    text = f"{request} tells of {partition}: {told}{shown}, which nobody ever wrote"
    errors = {one.error for one in history.refusals if one.author.broker == request.controller and one.number <= end}
    return Break(request.place, text, "S4" if version == -1 or ("BadVersion" in errors and version == NOT_TOLD) else "")


def writes_told(history: History, request: Arrival, partition: TopicPartition, told: State) -> Iterator[Write]:
    """The writes that a request may have its word on a partition from; no UpdateMetadata is held to a version."""
    sought = told if request.kind is ApiKey.LEADER_AND_ISR else replace(told, zk_version=NOT_TOLD)
    return (one for one in history.saying(partition, told) if tells(sought, one))


def tells(told: State, write: Write) -> bool:
    """Whether a request says what was written; a controller that keeps a decision may send its own epoch with it."""
    state = write.after
    if not isinstance(state, State) or told.zk_version not in {NOT_TOLD, write.version}:
        return False
    own_epoch = replace(in_no_order(state), zk_version=told.zk_version, controller_epoch=told.controller_epoch)
    return told == own_epoch and told.controller_epoch >= state.controller_epoch


@monitored(needs=Needs.REQUESTS)
def new_terms_send_the_latest_leadership(history: History) -> Answers:
    """Asked of each partition that a request tells of: its sender has read what was there as it raised the epoch."""
    raised = raisers(history)
    for request in history.arrivals.all():
        write = next(iter(raised.get(-1 if request.epoch is None else request.epoch, [])), None)
        if write is None or write.author.broker != request.controller:
            continue
        if history.before(request.ms + SKEW + 1) > history.epochs_end:
            continue
        for partition, told in request.states.items():
            known = history.state(partition, write.number)
            topic = history.last(f"/brokers/topics/{partition.topic}", write.number)
            later = history.of(f"/brokers/topics/{partition.topic}")
            is_whole = topic is not None and not any(one.is_create and one.number > write.number for one in later)
            if known is not None and is_whole and told.leader != LEADER_DURING_DELETE:
                text = f"{request} tells of {partition}: {told}; as {write.author} raised the epoch ({write.place})"
                is_older = told.leader_epoch < known.leader_epoch
                yield Break(request.place, f"{text} the state had {known}") if is_older else None


@monitored(needs=Needs.REQUESTS, source="PROTOCOL.md section 7.4")
def only_doomed_partitions_are_told_to_be_removed(history: History) -> Answers:
    """UpdateMetadata tells that a partition is removed only if the deletion of its topic was asked for."""
    for request in history.arrivals.all():
        for partition, told in request.states.items():
            if told.leader == LEADER_DURING_DELETE:
                asked = history.asked_to_delete(partition.topic, history.before(request.ms + SKEW + 1))
                text = f"{request} tells that {partition} is removed, and nobody had asked to delete its topic"
                yield None if asked else Break(request.place, text)
