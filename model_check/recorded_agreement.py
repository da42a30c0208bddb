"""What one process says of another's doing, held against that one's own log.

A broker caches no leadership that the controller did not say it sends to it. A controller gets no answer that the
broker did not give: the answers to its LeaderAndIsr, and to UpdateMetadata that are refused, are those of requests that
the broker handled, in their order; some may be lost. (An UpdateMetadata without partitions leaves no line at its
broker, so a plain answer to one says nothing.) What does not agree is a contradiction, which no behaviour explains.

PROTOCOL.md sections 9 and 12.2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from model_check.recorded import AnswerReceived, Cluster, Contradiction, ControllerSaid, Leadership, RequestHandled
from model_check.recorded_limits import SequencesByName
from spec.controller_request_lines import UpdateMetadataSending
from spec.error_codes import ErrorCode

CODES: Final[Mapping[str, int]] = {
    "leader": ErrorCode.NONE,
    "follower": ErrorCode.NONE,
    "unavailable": ErrorCode.NONE,
    "ignored": ErrorCode.STALE_CONTROLLER_EPOCH,
    "unassigned": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}
"""What a broker answers for a partition, by what became of it."""

Subject: TypeAlias = tuple[int, int, int, int]
"""A controller, its epoch, a broker, and a partition of which the one tells the other."""


def disagreements(
    cluster: Cluster, sequences: SequencesByName, answers: Iterable[AnswerReceived]
) -> Iterator[Contradiction]:
    """Lines about another process that its own log does not bear out."""
    handled = [one for track in sequences.values() for one in track if isinstance(one, RequestHandled)]
    said = [one for track in sequences.values() for one in track if isinstance(one, ControllerSaid)]
    logged = {b for b, name in enumerate(cluster.broker_ids, start=1) if f"broker {name}" in sequences}
    yield from _never_sent(cluster, [one for one in handled if one.controller in logged], said)
    yield from _never_given([one for one in answers if one.broker in logged], handled)


# ------------------------------------------------------------------------------------------ what is sent and cached


def _never_sent(
    cluster: Cluster, handled: Iterable[RequestHandled], said: Iterable[ControllerSaid]
) -> Iterator[Contradiction]:
    """What is cached of a partition is what was sent of it next, or later; a request that comes again says the same."""
    left: dict[Subject, list[Leadership]] = defaultdict(list)
    for word in said:
        if isinstance(word.line, UpdateMetadataSending):
            for subject, told in _words(cluster, word):
                left[subject].append(told)
    last: dict[tuple[int, int, int], Mapping[int, Leadership]] = {}
    for one in handled:
        connection = one.controller, one.epoch, one.broker
        for p, told in one.told.items() if last.get(connection) != one.told else ():
            sent = left[*connection, p]
            if told not in sent:
                reason = f"caches of partition {cluster.partitions[p]} what its controller did not send, or not then"
                yield Contradiction(place=one.place, time=one.time, text=one.text, reason=reason)
                continue
            del sent[: sent.index(told) + 1]
        last[connection] = one.told or last.get(connection, {})


def _words(cluster: Cluster, one: ControllerSaid) -> Iterator[tuple[Subject, Leadership]]:
    """What an UpdateMetadata's line says, for each broker that it names."""
    line = one.line
    assert isinstance(line, UpdateMetadataSending)  # noqa: S101 - it was chosen so
    told = Leadership(
        leader=cluster.broker(line.leadership.leader),
        leader_epoch=line.leadership.leader_epoch,
        isr=tuple(map(cluster.broker, line.leadership.isr)),
        version=-1,
        controller_epoch=line.leadership.controller_epoch,
    )
    for broker in line.brokers:
        yield (one.controller, line.epoch, cluster.broker(broker), cluster.partition(line.partition)), told


# -------------------------------------------------------------------------------------------------------- answers


def _never_given(answers: Iterable[AnswerReceived], handled: Iterable[RequestHandled]) -> Iterator[Contradiction]:
    requests: dict[tuple[int, int], list[RequestHandled]] = defaultdict(list)
    for request in handled:
        requests[request.controller, request.broker].append(request)
    for answer in answers:
        if answer.codes is None and answer.error_code == ErrorCode.NONE:
            continue
        left = requests[answer.controller, answer.broker]
        answered = next((number for number, one in enumerate(left) if _answers(answer, one)), None)
        if answered is None:
            reason = "is an answer that its broker did not give, or not then"
            yield Contradiction(place=answer.place, time=answer.time, text=answer.text, reason=reason)
        else:
            del left[: answered + 1]


def _answers(answer: AnswerReceived, request: RequestHandled) -> bool:
    """Whether an answer may be this request's; what became of a request need not be known for all of its partitions."""
    if answer.epoch not in {request.epoch, 0}:
        return False  # after its resignation, a controller has epoch 0
    if (answer.codes is None) != (request.kind == "UpdateMetadata") or request.refused != (answer.error_code != 0):
        return False
    codes = answer.codes or {}
    return request.refused or (
        codes.keys() == request.states.keys()
        and all(codes.get(p) == CODES[outcome] for p, outcome in request.outcomes.items())
    )
