"""Claims about the brokers' metadata caches, and what UpdateMetadata tells beside LeaderAndIsr.

What is in a cache is known of brokers of documented releases, which cache whatever they accept. Older is a leadership
that was surely written before: nothing is older than a leadership of a topic that has been deleted since.

Kafka: `MetadataCache.updateCache`, 0.10.2.2. PROTOCOL.md section 10, D18 and D43.
"""

from collections.abc import Iterator
from dataclasses import replace

from model_check.monitors import signatures
from model_check.monitors.arrivals import Arrival, Received, accepted
from model_check.monitors.claims import Answers, Break, Needs, monitored
from model_check.monitors.deletion import was_deleted
from model_check.monitors.history import History
from model_check.monitors.moments import Moment, Shown, at_rest
from model_check.monitors.requests import writes_told
from spec.formats.kafka_types import LEADER_DURING_DELETE, TopicPartition
from spec.formats.request_schemas import ApiKey

Known = dict[TopicPartition, Arrival]
"""The last request that has each partition."""


def _updates(broker: Received, kind: ApiKey) -> Iterator[tuple[Arrival, TopicPartition, Arrival]]:
    """What UpdateMetadata says to a broker of a partition, and the last request of a kind that said it before."""
    life, known = 0, Known()
    for one in broker.requests:
        life, known = one.incarnation, known if one.incarnation == life else Known()
        for partition in one.states if one.kind is ApiKey.UPDATE_METADATA else ():
            earlier = known.get(partition)
            answer = None if earlier is None else earlier.answer
            if earlier and answer and tells(one, partition) and answer.order < one.order:
                yield one, partition, earlier
        if one.kind is kind:
            _note(known, one)


def _note(known: Known, request: Arrival) -> None:
    """What is accepted takes the place of what was sent before; of what is removed, or unanswered, nothing is known."""
    for partition in request.states:
        if tells(request, partition):
            known[partition] = request
        elif request.answer is None or accepted(request, partition):
            known.pop(partition, None)


def tells(request: Arrival, partition: TopicPartition) -> bool:
    """Whether a request names the leader of a partition, and is surely accepted."""
    return accepted(request, partition) and request.states[partition].leader != LEADER_DURING_DELETE


@monitored(needs=Needs.REQUESTS)
def caches_get_no_older_leadership(history: History) -> Answers:
    """Asked of each partition of which two requests tell, the first of them answered before the second arrived."""
    for broker in (one for one in history.arrivals.by_broker.values() if one.is_documented):
        for request, partition, earlier in _updates(broker, ApiKey.UPDATE_METADATA):
            older = _older(history, request, partition, earlier)
            yield None if older is None else replace(older, row="D43" if older.row else "")


@monitored(needs=Needs.REQUESTS)
def what_is_told_is_no_older_than_what_was_ordered(history: History) -> Answers:
    """Asked of each partition of which a LeaderAndIsr was accepted before, and that is the last one of it."""
    for broker in history.arrivals.by_broker.values():
        for request, partition, earlier in _updates(broker, ApiKey.LEADER_AND_ISR):
            yield _older(history, request, partition, earlier)


def _older(history: History, request: Arrival, partition: TopicPartition, earlier: Arrival) -> Break | None:
    """Whether a request tells an older leadership of a partition than an earlier one."""
    told, known = request.states[partition], earlier.states[partition]
    if told.leader_epoch >= known.leader_epoch:
        return None
    written = list(writes_told(history, request, partition, told))
    newer = list(writes_told(history, earlier, partition, known))
    if not written or not newer or written[-1].number > newer[0].number:
        return None
    text = f"{request} tells of {partition}: {told}, although {earlier} had said {known} ({earlier.place})"
    return Break(request.place, text, signatures.of_older(history, request, newer[0]))


@at_rest(needs=Needs.REST_AND_REQUESTS)
def eventually_deleted_topics_are_cached_nowhere(at: Moment) -> Shown:
    """Asked of brokers that are up, and of topics that a broker has deleted and nobody has created again."""
    history = at.history
    for broker, received in history.arrivals.by_broker.items():
        requests = at.received(broker) if received.is_documented and at.is_up(broker) else None
        cache = Known()
        for one in requests or ():
            for partition in one.states if one.kind is ApiKey.UPDATE_METADATA else ():
                if accepted(one, partition):
                    cache[partition] = one
                elif one.answer is None:  # it may have been carried out, or not
                    cache.pop(partition, None)
        for partition, one in cache.items():
            if (
                was_deleted(history, partition.topic, at.number)
                and history.assignment(partition.topic, at.number) is None
            ):
                yield f"{partition} {broker}", _left(at, partition, one)


def _left(at: Moment, partition: TopicPartition, last: Arrival) -> Break | None:
    """Whether what a broker was sent last of a partition is that it exists."""
    text = f"broker {last.broker} knows {partition} ({last.place}), and no UpdateMetadata has removed it with its topic"
    row = signatures.of_left_in_cache(at, partition.topic)
    return at.broken(text, row) if tells(last, partition) else None
