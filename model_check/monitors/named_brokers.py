"""Claims about the brokers that requests name, beside who leads and is in sync: replicas, end points, all that live.

A leader takes back into the ISR only whom it was told to be a replica; a follower finds its leader by the end point
that came with the order, and a client any broker by those of UpdateMetadata. What logs tell of requests has none of it.

Kafka: `ControllerBrokerRequestBatch`, 0.10.2.2. PROTOCOL.md section 9.
"""

from collections.abc import Iterator

from model_check.monitors import signatures
from model_check.monitors.arrivals import Arrival
from model_check.monitors.claims import Answers, Break, Needs, monitored
from model_check.monitors.contents import MOVES, Assignment, Moves, State
from model_check.monitors.history import History
from model_check.monitors.moments import Moment, Shown, at_rest
from model_check.monitors.requests import writes_told
from model_check.recordings.tracks import SKEW
from spec.formats.kafka_types import NO_LEADER, TopicPartition
from spec.formats.request_schemas import ApiKey

Replicas = frozenset[int]


@monitored(needs=Needs.REQUESTS, source="PROTOCOL.md section 9; ControllerBrokerRequestBatch.sendRequestsToBrokers")
def leaders_come_with_their_end_points(history: History) -> Answers:
    """LeaderAndIsr says of each leader that lives where it listens."""
    for request in history.arrivals.all():
        if request.kind is ApiKey.LEADER_AND_ISR and request.named is not None:
            for partition, told in request.states.items():
                if _was_there_all_along(history, request, partition, told):
                    text = f"{request} makes {told.leader} leader of {partition}, and does not say where that listens"
                    yield None if told.leader in request.named else Break(request.place, text)


def _was_there_all_along(history: History, request: Arrival, partition: TopicPartition, told: State) -> bool:
    """Whether a leader was registered before it was written down as that, and until the request arrived.

    One that came later may have been down when the request was made.
    """
    written = list(writes_told(history, request, partition, told))
    first, past = (history.registered(told.leader, history.before(request.ms + off)) for off in (-SKEW, SKEW + 1))
    is_same = first is not None and past is not None and first.number == past.number
    return (
        told.leader > NO_LEADER and is_same and first is not None and any(first.number < one.number for one in written)
    )


@monitored(needs=Needs.REQUESTS, source="PROTOCOL.md section 9; ControllerBrokerRequestBatch")
def what_is_told_has_the_assigned_replicas(history: History) -> Answers:
    """LeaderAndIsr and UpdateMetadata tell AR as it is, or was, or, of a move, as it is to be."""
    for request in history.arrivals.all():
        for partition, told in request.assigned.items():
            known = _assigned(history, partition, history.before(request.ms + SKEW + 1))
            if known and not _is_later(history, partition.topic):
                text = f"{request} tells of {partition} that its replicas are {sorted(told)}, which they never were"
                yield None if told in known else Break(request.place, text)


def _assigned(history: History, partition: TopicPartition, number: int) -> set[Replicas]:
    """Every AR that a partition has had, each RAR that was asked for, and what a move makes of both on the way."""
    written = (one.after for one in history.until(f"/brokers/topics/{partition.topic}", number))
    had = {frozenset(one.replicas.get(partition.partition, ())) for one in written if isinstance(one, Assignment)}
    moves = (one.after for one in history.until(MOVES, number) if isinstance(one.after, Moves))
    wanted = {frozenset(one.replicas[partition]) for one in moves if partition in one.replicas}
    return {*had, *wanted, *(old | new for old in had for new in wanted)}


def _is_later(history: History, topic: str) -> bool:
    """Whether a later release wrote the assignment, whose moves are asked for elsewhere (2.4.0)."""
    written = (one.after for one in history.of(f"/brokers/topics/{topic}"))
    return any(isinstance(one, Assignment) and one.is_later for one in written)


@at_rest(
    needs=Needs.REST_AND_REQUESTS,
    kind="eventually",
    source="PROTOCOL.md sections 7.1 and 9; KafkaController.onBrokerStartup, onBrokerFailure",
)
def eventually_live_brokers_know_each_other(at: Moment) -> Shown:
    """The last UpdateMetadata that a live broker has received names the brokers that are registered, and no others."""
    here = frozenset(one for one in at.history.brokers if at.history.registered(one, at.number) is not None)
    for broker in sorted(here) if at.controller is not None else ():
        told = [one for one in at.received(broker) or () if one.kind is ApiKey.UPDATE_METADATA and not one.is_refused]
        last = list(_last(told, at))
        if last and last[-1].named is not None:
            knows = sorted(last[-1].named)
            text = f"broker {broker} knows the brokers {knows} ({last[-1].place}), and {sorted(here)} are registered"
            is_right = any(one.named == here for one in last)
            yield f"brokers of {broker}", None if is_right else at.broken(text, signatures.of_unnamed(at))


def _last(told: list[Arrival], at: Moment) -> Iterator[Arrival]:
    """What may be the last of these requests: those around the moment, and the one before."""
    before = [one for one in told if one.ms < at.rest.ms - SKEW]
    yield from before[-1:]
    yield from told[len(before) :]
