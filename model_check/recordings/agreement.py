"""What one process says of another's doing, held against that one's own log.

A broker caches no leadership that the controller did not say it sends to it. A controller gets no answer that the
broker did not give: the answers to its LeaderAndIsr and StopReplica, and to UpdateMetadata that are refused, are those
of requests that the broker handled, in their order; some may be lost. An elector that resigns leaves the channels of
its term open (D4): answers of two terms may cross. (An UpdateMetadata without partitions leaves no line at its broker,
nor does a StopReplica of nothing, so a plain answer to one says nothing.) And a channel gives no number twice. What
does not agree is a contradiction, which no behaviour explains.

PROTOCOL.md sections 9 and 12.2.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from model_check.recordings import seen
from model_check.recordings.recording import Cluster, Contradiction, SequencesByName
from model_check.recordings.tracks import APART, SKEW
from spec.formats.error_codes import ErrorCode, for_stale_leader_epoch
from spec.formats.kafka_types import LEADER_DURING_DELETE, V082, V090, KafkaVersion
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs.controller_request_lines import UpdateMetadataSending

Codes: TypeAlias = Mapping[str, int | None]
"""What a broker answers for a partition, by what became of it; None, if its answer has no word of it."""


def codes_of(release: KafkaVersion) -> Codes:
    """What brokers of a release answer."""
    return {
        **dict.fromkeys(("leader", "follower", "unavailable"), int(ErrorCode.NONE)),
        "ignored": int(for_stale_leader_epoch(release)),
        "unassigned": None if release is V082 else int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    }


Subject: TypeAlias = tuple[int, int, int, int]
"""A controller, its epoch, a broker, and a partition of which the one tells the other."""


def disagreements(
    cluster: Cluster,
    sequences: SequencesByName,
    answers: Iterable[seen.AnswerReceived],
    releases: Mapping[int, KafkaVersion | None],
) -> Iterator[Contradiction]:
    """Lines about another process that its own log does not bear out; `releases` are the brokers', by their ids."""
    everything = [one for track in sequences.values() for one in track]
    handled = [one for one in everything if isinstance(one, seen.Handled)]
    requests = [one for one in handled if isinstance(one, seen.RequestHandled)]
    said = [one for one in everything if isinstance(one, seen.ControllerSaid)]
    logged = {b for name, b in cluster.numbers.items() if f"broker {name}" in sequences}
    yield from _never_sent(cluster, [one for one in requests if one.controller in logged], said)
    of = {b: release for name, b in cluster.numbers.items() if (release := releases.get(name)) is not None}
    registered = [one for one in everything if isinstance(one, seen.BrokerRegistered)]
    numbered = [one for one in requests if of.get(one.controller, V082) >= V090]
    yield from _numbered_twice(numbered, registered)
    codes = {b: codes_of(release) for b, release in of.items()}
    terms = [one for one in everything if isinstance(one, seen.EpochWritten)]
    yield from _never_given([one for one in answers if one.broker in logged], handled, codes, terms)


# ------------------------------------------------------------------------------------------ what is sent and cached


def _never_sent(
    cluster: Cluster, handled: Iterable[seen.RequestHandled], said: Iterable[seen.ControllerSaid]
) -> Iterator[Contradiction]:
    """What is cached of a partition is what was sent of it next, or later; a request that comes again says the same."""
    left: dict[Subject, list[LeaderIsrAndControllerEpoch]] = defaultdict(list)
    for word in said:
        line = word.line
        if isinstance(line, UpdateMetadataSending) and line.leadership.leader != LEADER_DURING_DELETE:
            p, told = cluster.partition(line.partition), cluster.in_numbers(line.leadership)
            for broker in line.brokers:
                left[word.controller, line.epoch, cluster.broker(broker), p].append(told)
    last: dict[tuple[int, int, int], Mapping[int, LeaderIsrAndControllerEpoch]] = {}
    for one in handled:
        connection = one.controller, one.epoch, one.broker
        for p, told in one.told.items() if last.get(connection) != one.told else ():
            sent = left[*connection, p]
            if told not in sent:
                name = cluster.partitions[p]
                yield Contradiction.of(one, f"caches of partition {name} what its controller did not send, or not then")
                continue
            del sent[: sent.index(told) + 1]
        last[connection] = one.told or last.get(connection, {})


# -------------------------------------------------------------------------------------------------------- numbers


def _numbered_twice(
    requests: Iterable[seen.RequestHandled], registered: Sequence[seen.BrokerRegistered]
) -> Iterator[Contradiction]:
    """Requests with a number that their channel has given before.

    From 0.9.0 on each channel counts what it sends from 0, and what is sent again anew (`RequestSendThread`). A broker
    that registers while its process goes on may have another channel, once; then the numbers go back. They go back to
    0 also where the first request came through the channel to the process before, shortly after this one registered.
    """
    channels: dict[tuple[int, int, int, int], _Channel] = {}
    for one in requests:
        key = one.controller, one.epoch, one.broker, one.incarnation
        channel = channels.setdefault(key, _Channel(one.received))
        since = channel.since - (0 if one.correlation_id else SKEW)
        renewals = sum(one.broker == other.by and since < other.time < one.time + SKEW for other in registered)
        if one.correlation_id <= channel.last and channel.renewed < renewals:
            channel.since, channel.renewed = since, channel.renewed + 1
            channel.given.clear()
        if one.correlation_id in channel.given:
            yield Contradiction.of(one, "has a number that its channel has given before")
        channel.given.add(one.correlation_id)
        channel.last = one.correlation_id


@dataclass
class _Channel:
    """The numbers of a controller's term to a process: those given, the last one, and how often they went back.

    `since` is when the first of its requests was received: whatever registered before has that channel.
    """

    since: int
    last: int = -1
    renewed: int = 0
    given: set[int] = field(default_factory=set)


# -------------------------------------------------------------------------------------------------------- answers


WAYS: Final = 64
"""Where answers may be put to requests in so many ways, none is told to be missing any more."""


def _never_given(
    answers: Iterable[seen.AnswerReceived],
    handled: Iterable[seen.Handled],
    codes: Mapping[int, Codes],
    terms: Collection[seen.EpochWritten],
) -> Iterator[Contradiction]:
    """Answers to nothing that their brokers handled since the one before; whose a StopReplica is, is not said."""
    all_of: dict[int, list[seen.Handled]] = defaultdict(list)
    for one in handled:
        all_of[one.broker].append(one)
    left: dict[tuple[int, int], list[list[seen.Handled]]] = {}
    for answer in answers:
        c, b = connection = answer.controller, answer.broker
        if connection not in left:
            left[connection] = [[one for one in all_of[b] if getattr(one, "controller", c) == c]]
        if not answer.codes and answer.error_code == ErrorCode.NONE:
            continue  # it may be one to a request that left no line: an UpdateMetadata, or a stop of nothing
        epochs = {one.epoch for one in terms if one.by == c and one.time <= answer.time + SKEW}
        ways = [way for waiting in left[connection] for way in _left_by(answer, waiting, codes[b], epochs)]
        if ways:
            left[connection] = list({tuple(map(id, way)): way for way in ways}.values())[:WAYS]
        elif len(left[connection]) < WAYS:
            yield Contradiction.of(answer, "is an answer that its broker did not give, or not then")


def _left_by(
    answer: seen.AnswerReceived, waiting: list[seen.Handled], code_of: Codes, epochs: Collection[int]
) -> Iterator[list[seen.Handled]]:
    """What is yet to be answered, for each request that an answer may be to: the first of each term.

    What came before it through the same channel is lost. Of what stops replicas no term is known; where its controller
    has begun several of these `epochs`, it may have come through any channel.
    """
    met = set[int | None]()
    for at, one in enumerate(waiting):
        if one.time > answer.time + APART:
            return
        term = getattr(one, "epoch", None) if len(epochs) > 1 else 0
        after = None if term in met else _behind(answer, waiting, at, code_of, epochs)
        if after is not None:
            met.add(term)
            others = [each for each in waiting[:at] if term is None or getattr(each, "epoch", None) != term]
            yield [*(others if len(epochs) > 1 else ()), *waiting[after:]]


def _behind(
    answer: seen.AnswerReceived, handled: Sequence[seen.Handled], at: int, code_of: Codes, epochs: Collection[int]
) -> int | None:
    """The place behind what an answer is to, if it is to this: nobody answers what is yet to come.

    Its controller has begun these `epochs` by then.
    """
    one = handled[at]
    if one.time > answer.time + APART:
        return None
    if isinstance(one, seen.RequestHandled):
        return at + 1 if _answers(answer, one, code_of, epochs) else None
    if isinstance(one, seen.StopReplicaRefused):
        return at + 1 if not answer.codes and answer.error_code != ErrorCode.NONE else None
    codes = answer.codes or {}
    stops = [stop for stop in handled[at : at + len(codes)] if isinstance(stop, seen.ReplicaStopped)]
    is_one = len({stop.delete for stop in stops}) == 1 and answer.error_code == ErrorCode.NONE
    answered = {stop.partition: stop.codes for stop in stops}
    is_its = answered.keys() == codes.keys() and all(code in answered[p] for p, code in codes.items())
    return at + len(codes) if is_one and is_its else None


def _answers(
    answer: seen.AnswerReceived, request: seen.RequestHandled, code_of: Codes, epochs: Collection[int]
) -> bool:
    """Whether an answer may be this request's; what became of a request need not be known for all of its partitions.

    It is logged with the epoch that the controller has by then: 0 after a resignation, and a later one of its own where
    the elector resigned, which leaves the channels, and won again (D4).
    """
    if answer.correlation_id not in {None, request.correlation_id}:
        return False
    if answer.epoch not in {0, request.epoch, *(one for one in epochs if one > request.epoch)}:
        return False
    if (answer.codes is None) != (request.kind == "UpdateMetadata") or request.refused != (answer.error_code != 0):
        return False
    codes = answer.codes or {}
    expected = {p: code_of[outcome] for p, outcome in request.outcomes.items()}
    silent = {p for p, code in expected.items() if code is None}
    return request.refused or (
        codes.keys() == request.states.keys() - silent and all(codes.get(p) == code for p, code in expected.items())
    )
