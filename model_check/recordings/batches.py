"""An UpdateMetadata's lines of a controller up to 0.10.1, one for each broker, as 0.10.2 prints them: one for all.

A batch is sent broker by broker, so that all that it tells one broker is printed in a row; a broker that is told again,
after another, is told by the next batch. What is to be judged is the same in all releases, so it is made the same here.

Kafka: `ControllerBrokerRequestBatch.sendRequestsToBrokers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from model_check.recordings.processes import ControllerSaid
from model_check.recordings.recording import Observed
from spec.formats.kafka_types import V0102, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs.controller_request_lines import UpdateMetadataSending

Batch = dict[tuple[TopicPartition, LeaderIsrAndControllerEpoch], ControllerSaid]
"""What one batch tells, each with the brokers that it tells it so far."""


def for_all_brokers(said: Iterable[Observed]) -> Iterator[Observed]:
    """What a controller said, with one line for all brokers in the place of the first of those that tell the same."""
    for is_told_one_by_one, group in groupby(said, _is_told_one_by_one):
        lines = list(group)
        yield from _batches(lines) if is_told_one_by_one else lines


def _is_told_one_by_one(one: Observed) -> bool:
    return isinstance(one, ControllerSaid) and isinstance(one.line, UpdateMetadataSending) and one.line.version < V0102


def _batches(group: Iterable[Observed]) -> Iterator[Observed]:
    """The lines of a row of batches."""
    batch: Batch = {}
    told: list[int] = []
    for one in group:
        assert isinstance(one, ControllerSaid)  # noqa: S101 - it was chosen so
        assert isinstance(one.line, UpdateMetadataSending)  # noqa: S101 - it was chosen so
        (broker,) = one.line.brokers
        key = one.line.partition, one.line.leadership
        is_next = broker in told[:-1] or (key in batch and broker in _brokers(batch[key]))
        if is_next or any(_differs(one, other) for other in batch.values()):
            yield from batch.values()
            batch, told = {}, []
        told += [broker] if broker not in told else []
        brokers = (*_brokers(batch[key]), broker) if key in batch else (broker,)
        line = replace(one.line, brokers=brokers, correlation_id=None, version=V0102)
        batch[key] = replace(batch.get(key, one), line=line)
    yield from batch.values()


def _brokers(one: ControllerSaid) -> tuple[int, ...]:
    brokers: tuple[int, ...] = getattr(one.line, "brokers", ())
    return brokers


def _differs(one: ControllerSaid, other: ControllerSaid) -> bool:
    """Whether two lines are of different processes or terms."""
    return (one.incarnation, getattr(one.line, "epoch", 0)) != (other.incarnation, getattr(other.line, "epoch", 0))
