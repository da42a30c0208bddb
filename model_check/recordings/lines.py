"""The lines of a broker's state-change.log as observations: the controller's, the answers that it got, the broker's.

A controller's line is an observation by itself; the answers that it got are held against what the brokers did
(`agreement.py`). A broker's lines are put together to requests (`requests.py`).

Up to 0.10.1 a controller prints an UpdateMetadata's line for each broker. What is to be judged is the same in all
releases, so it is made the same here: one line for all brokers, as 0.10.2 prints it. A batch is sent broker by broker,
so that all that it tells one broker is printed in a row; a broker that is told again, after another, is told by the
next batch.

Kafka: `ControllerBrokerRequestBatch.sendRequestsToBrokers`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from model_check.recordings.entries import Log, head_of
from model_check.recordings.processes import AnswerReceived, ControllerSaid
from model_check.recordings.recording import Cluster, Contradiction, Observed
from model_check.recordings.requests import Requests
from spec.errors import MalformedInput
from spec.formats.kafka_types import LEADER_DURING_DELETE, V0102, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import PartitionsResponse
from spec.logs.broker_change_lines import BrokerLine
from spec.logs.controller_request_lines import (
    ControllerLine,
    LeaderAndIsrSending,
    ResponseReceived,
    UpdateMetadataSending,
)
from spec.logs.leader_and_isr_lines import UnreadableLeaderAndIsrReceived
from spec.logs.log_entries import LogEntry
from spec.logs.log_lines import Line
from spec.logs.state_change_lines import LeaderElected, PartitionBecameOnline, ReplicaChanged

ANSWERED: Final = "the answer to a request, which is delivered and answered in one step"


class Lines:
    """A reader of one broker's state-change.log; `lives` are the times, by its clock, at which its processes began."""

    def __init__(self, cluster: Cluster, broker: int, lives: tuple[int, ...], passed_over: Counter[str]) -> None:
        self.cluster = cluster
        self.broker = broker
        self.lives = lives
        self.passed_over = passed_over
        self.said: list[Observed] = []
        self.answers: list[AnswerReceived] = []
        self.requests = Requests(cluster, broker, self.life, self._pass_over)

    @property
    def contradictions(self) -> list[Contradiction]:
        """What does not go together within the log."""
        return self.requests.contradictions

    def read(self, log: Log) -> dict[str, tuple[Observed, ...]]:
        """The two sequences of a log by name; MalformedInput names the line that is none of Kafka's."""
        for entry, line in log.lines():
            try:
                self._entry(entry, line)
            except KeyError as error:
                raise MalformedInput(entry.place, "", f"names {error}, which no transaction created") from error
        name = self.cluster.broker_ids[self.broker - 1]
        return {f"controller {name}": tuple(for_all_brokers(self.said)), f"broker {name}": self.requests.observed()}

    def _entry(self, entry: LogEntry, line: Line) -> None:
        match line:
            case ResponseReceived():
                self._pass_over(ANSWERED)
                self._check_writer(entry, "controller", line.controller)
                self.answers.append(self._answer(entry, line))
            case ControllerLine():
                self._check_writer(entry, "controller", line.controller)
                self._check_names(line)
                head = head_of(entry)
                life = self.life(head["time"])
                self.said.append(ControllerSaid(**head, controller=self.broker, incarnation=life, line=line))
            case UnreadableLeaderAndIsrReceived():
                reason = "does not tell what was received: Kafka 0.10.0.0 prints no more of it; record 0.10.0.1 instead"
                raise MalformedInput(entry.place, "", reason)
            case BrokerLine():
                self._check_writer(entry, "broker", line.broker)
                self.requests.add(entry, line)
            case _:
                raise MalformedInput(entry.place, "", f"a line of kind {type(line).__name__} has no place here")

    def _check_writer(self, entry: LogEntry, role: str, broker_id: int) -> None:
        own = self.cluster.broker_ids[self.broker - 1]
        if broker_id != own:
            raise MalformedInput(entry.place, role, f"is {broker_id} in a log of broker {own}")

    def _check_names(self, line: ControllerLine) -> None:
        """KeyError for a broker or a partition that there is not."""
        partition = getattr(line, "partition", None)
        if isinstance(partition, TopicPartition):
            self.cluster.partition(partition)
        match line:
            case LeaderElected(leader=leader) | PartitionBecameOnline(leader=leader):
                self.cluster.broker(leader)
            case ReplicaChanged(replica=replica):
                self.cluster.broker(replica)
            case LeaderAndIsrSending(leadership=said, broker=broker):
                for named in (said.leader, *said.isr, broker):
                    self.cluster.broker(named)
            case UpdateMetadataSending(leadership=said, brokers=brokers):
                for named in (*said.isr, *brokers, *({said.leader} - {LEADER_DURING_DELETE})):
                    self.cluster.broker(named)
            case _:
                pass

    def _answer(self, entry: LogEntry, line: ResponseReceived) -> AnswerReceived:
        response: Any = line.answer.response
        codes = None
        if isinstance(response, PartitionsResponse):
            named = ((TopicPartition(one.topic, one.partition), one.error_code) for one in response.partitions)
            codes = {self.cluster.partition(partition): int(code) for partition, code in named}
        return AnswerReceived(
            **head_of(entry),
            controller=self.broker,
            epoch=line.epoch,
            broker=self.cluster.broker(line.broker.id),
            error_code=int(response.error_code),
            codes=codes,
        )

    def life(self, time: int) -> int:
        """Which process of this broker wrote at that time."""
        return max(1, sum(began <= time for began in self.lives))

    def _pass_over(self, reason: str) -> None:
        self.passed_over[f"state-change.log: {reason}"] += 1


AT_ONCE: Final = 100
"""The milliseconds within which a controller prints what a batch tells one broker, and then the next."""

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
    last: Observed | None = None
    for one in group:
        assert isinstance(one, ControllerSaid)  # noqa: S101 - it was chosen so
        assert isinstance(one.line, UpdateMetadataSending)  # noqa: S101 - it was chosen so
        (broker,) = one.line.brokers
        key = one.line.partition, one.line.leadership
        is_next = broker in told[:-1] or (key in batch and broker in _brokers(batch[key]))
        if is_next or (last is not None and _differs(one, last)):
            yield from batch.values()
            batch, told = {}, []
        last = one
        told += [broker] if broker not in told else []
        brokers = (*_brokers(batch[key]), broker) if key in batch else (broker,)
        line = replace(one.line, brokers=brokers, correlation_id=None, version=V0102)
        batch[key] = replace(batch.get(key, one), line=line)
    yield from batch.values()


def _brokers(one: ControllerSaid) -> tuple[int, ...]:
    brokers: tuple[int, ...] = getattr(one.line, "brokers", ())
    return brokers


def _differs(one: Observed, last: Observed) -> bool:
    """Whether two lines are of different processes, terms or requests, or too far apart to be of one batch."""
    lines = [(getattr(each, "incarnation", 0), getattr(each, "line", None)) for each in (one, last)]
    said = [(life, getattr(line, "epoch", 0), getattr(line, "correlation_id", None)) for life, line in lines]
    return said[0] != said[1] or one.time > last.time + AT_ONCE
