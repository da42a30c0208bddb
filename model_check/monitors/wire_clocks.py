"""Arrivals put to ZooKeeper's clock, where the broker's own is off by more than `SKEW`; or what is then not asked.

What a request tells was written before it arrived (`recordings/clocks.py`), and a process has started before its
session began. Two bounds follow for how far a clock is ahead, of which the second keeps a controller that tells what it
has not yet written from being taken for a clock that is behind. A clock that may be ahead, if not all requests were
slow, is one from which nothing follows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from model_check.monitors.arrivals import Received
from model_check.monitors.history import History
from model_check.monitors.requests import writes_told
from model_check.recordings.clocks import ahead_by
from model_check.recordings.sessions import Session
from model_check.recordings.tracks import SKEW
from reference.zookeeper.transactions import SessionCreated, Transaction


def by_zookeepers_clock(
    received: Received, broker: int, history: History, transactions: list[Transaction], sessions: Mapping[int, Session]
) -> Received:
    """What a broker received, at ZooKeeper's times."""
    begun = list(_begun(broker, transactions, sessions))
    told = ahead_by(list(_pairs(received, history)), [ms for ms, _ in begun])
    least = max((start - ms for ms, life in begun for start in _starts(received, life)), default=-SKEW)
    if least > SKEW:
        return _shifted(received, max(least, told))
    if told > SKEW:
        reason = f"its clock may be {told:,} ms ahead of ZooKeeper's, unless all requests were as slow"
        return replace(received, requests=(), unreadable=received.unreadable or reason)
    return _shifted(received, told) if least - told <= SKEW else received


def _begun(
    broker: int, transactions: list[Transaction], sessions: Mapping[int, Session]
) -> Iterator[tuple[int, Session]]:
    """When the sessions of a broker began."""
    for one in transactions:
        whose = sessions.get(one.session)
        if isinstance(one.change, SessionCreated) and whose is not None and whose.broker == broker:
            yield one.time_ms, whose


def _starts(received: Received, life: Session) -> tuple[int, ...]:
    """When the process of a session started; or the first one, which did before any, if that is not known."""
    number = 1 if life.is_guess else life.incarnation
    return (received.starts or ())[number - 1 : number]


def _pairs(received: Received, history: History) -> Iterator[tuple[int, int]]:
    """When what a request tells was written, if it was once, and when the request arrived."""
    for request in received.requests:
        for partition, told in request.states.items():
            writes = list(writes_told(history, request, partition, told))
            if len(writes) == 1:
                yield writes[0].ms, request.ms


def _shifted(received: Received, ahead: int) -> Received:
    if not ahead:
        return received
    starts = None if received.starts is None else tuple(one - ahead for one in received.starts)
    requests = tuple(replace(one, ms=one.ms - ahead) for one in received.requests)
    return replace(received, requests=requests, starts=starts, ahead=ahead)
