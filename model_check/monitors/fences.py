"""Claims about brokers' fences: a broker that knows a later epoch obeys no earlier one, and refuses nothing else.

What a broker knows is what it has answered before the next request arrived, in one process: the order of the events in
one broker's file is certain. A restart forgets all epochs, and the deletion of a replica its leader epoch.

Kafka: `ReplicaManager.becomeLeaderOrFollower`, `stopReplicas` and `maybeUpdateMetadataCache`, 0.10.2.2. PROTOCOL.md
section 10.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import Final

from model_check.monitors.arrivals import Arrival
from model_check.monitors.claims import Answers, Break, Needs, monitored
from model_check.monitors.history import History, state_path
from model_check.monitors.requests import tells
from model_check.recordings.tracks import SKEW
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import ApiKey

STALE: Final = (ErrorCode.STALE_CONTROLLER_EPOCH, ErrorCode.STALE_LEADER_EPOCH)
"""What is answered for a leader epoch that is not higher: the second up to 0.9.0."""


def lives(history: History) -> Iterator[Sequence[Arrival]]:
    """The requests of each process, in the order in which they arrived."""
    for received in history.arrivals.by_broker.values():
        for _, some in groupby(received.requests, key=lambda one: one.incarnation):
            yield list(some)


@monitored(needs=Needs.REQUESTS)
def brokers_obey_no_older_epoch(history: History) -> Answers:
    """Asked of each request that is older than one which was answered, and not refused, before it arrived."""
    for requests in lives(history):
        for request, epoch, known in _with_known(requests):
            if epoch < known:
                text = f"{request} was obeyed, although its broker had obeyed epoch {known} before"
                yield None if request.is_refused else Break(request.place, text)


def _with_known(requests: Sequence[Arrival]) -> Iterator[tuple[Arrival, int, int]]:
    """Each answered request with its epoch, and the highest epoch that was obeyed before it arrived."""
    obeyed = sorted(
        (one.answer.order, one.epoch)
        for one in requests
        if one.answer is not None and not one.is_refused and one.epoch is not None
    )
    orders, highest = [order for order, _ in obeyed], [0, *accumulate((epoch for _, epoch in obeyed), max)]
    for request in requests:
        if request.answer is not None and request.epoch is not None:
            yield request, request.epoch, highest[bisect_left(orders, request.order)]


@monitored(needs=Needs.REQUESTS, source="PROTOCOL.md section 10")
def brokers_refuse_only_older_epochs(history: History) -> Answers:
    """A broker refuses a request for its controller epoch only if a request of a later one has arrived before."""
    for requests in lives(history):
        highest = 0
        for request in requests:
            epoch = request.epoch or 0
            if request.answer is not None and request.answer.code == ErrorCode.STALE_CONTROLLER_EPOCH:
                text = f"{request} was refused as stale, and none of a later epoch than {highest} had arrived"
                earlier = [one for one in requests if one.order < request.answer.order]
                later = any(one.epoch is None or one.epoch > epoch for one in earlier)
                yield None if later or request.controller is None else Break(request.place, text)
            highest = max(highest, epoch)


@monitored(needs=Needs.REQUESTS)
def brokers_accept_only_higher_leader_epochs(history: History) -> Answers:
    """Asked of each partition state that is no newer than one which has made its broker leader, as was answered before.

    A follower keeps no leader epoch of a leader that it does not know, so what makes it follow proves nothing.
    """
    for requests in lives(history):
        led: dict[TopicPartition, list[tuple[int, int]]] = {}
        for request in requests:
            for partition in request.stopped if request.delete else ():
                led.pop(partition, None)
            if request.kind is ApiKey.LEADER_AND_ISR and request.answer is not None and not request.is_refused:
                for partition, told in request.states.items():
                    code = request.answer.codes.get(partition)
                    known = [epoch for order, epoch in led.get(partition, ()) if order < request.order]
                    if code is not None and known and told.leader_epoch <= max(known):
                        text = f"{request} was obeyed for {partition}, leader epoch {told.leader_epoch}"
                        text = f"{text}, although its broker led in {max(known)} before"
                        yield Break(request.place, text) if code == ErrorCode.NONE else None
                    if code == ErrorCode.NONE and told.leader == request.broker:
                        led.setdefault(partition, []).append((request.answer.order, told.leader_epoch))


@monitored(needs=Needs.REQUESTS, source="PROTOCOL.md section 10, D23")
def brokers_refuse_only_known_leader_epochs(history: History) -> Answers:
    """A broker refuses a leader epoch only if it has accepted as high a one before, in the same life of the topic."""
    for requests in lives(history):
        if history.arrivals.whole(requests[0].broker) is None:
            continue
        for request in requests:
            codes = request.answer.codes if request.answer is not None and not request.is_refused else {}
            for partition, told in request.states.items():
                if request.kind is ApiKey.LEADER_AND_ISR and codes.get(partition) in STALE:
                    yield _unknown(history, requests, request, partition, told.leader_epoch)


def _unknown(
    history: History, requests: Sequence[Arrival], request: Arrival, partition: TopicPartition, epoch: int
) -> Break | None:
    order = request.answer.order if request.answer is not None else request.order
    known = [one for one in requests if one is not request and one.order < order and _may_accept(one, partition)]
    as_high = [one for one in known if one.states[partition].leader_epoch >= epoch]
    text = f"{request} was refused for {partition}, leader epoch {epoch}"
    if not as_high:
        return Break(request.place, f"{text}, and none as high had arrived")
    told = (one for one in history.of(state_path(partition)) if tells(request.states[partition], one))
    first = next(told, None)  # of the first topic of its name of which the request can tell what it tells
    born = None if first is None else history.birth(partition.topic, first.number)
    is_hosted = born is None or any(_may_accept(one, partition) and one.ms >= born.ms - SKEW for one in requests)
    text = f"{text}, as its broker knows one as high of an earlier topic of this name ({as_high[-1].place})"
    return None if is_hosted else Break(request.place, text, "D23")


def _may_accept(request: Arrival, partition: TopicPartition) -> bool:
    """Whether a LeaderAndIsr may have been accepted for a partition: nobody says that it was not."""
    is_about = request.kind is ApiKey.LEADER_AND_ISR and partition in request.states
    return is_about and not request.refuses(partition)
