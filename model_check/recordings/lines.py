"""The lines of a broker's state-change.log as observations: the controller's, the answers that it got, the broker's.

A controller's line is an observation by itself; the answers that it got are held against what the brokers did
(`agreement.py`). A broker's lines are put together to requests (`requests.py`).
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from model_check.recordings.entries import Log, head_of
from model_check.recordings.recording import Cluster, Observed
from model_check.recordings.requests import Requests
from model_check.recordings.seen import AnswerReceived, ControllerSaid
from spec.errors import MalformedInput
from spec.formats.kafka_types import LEADER_DURING_DELETE, TopicPartition
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


@dataclass
class Lines:
    """A reader of one broker's state-change.log; `lives` are the times, by its clock, at which its processes began."""

    cluster: Cluster
    broker: int
    lives: tuple[int, ...]
    passed_over: Counter[str]
    said: list[Observed] = field(default_factory=list)
    answers: list[AnswerReceived] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.requests = Requests(self.cluster, self.broker, self.life, self._pass_over)

    def read(self, log: Log) -> dict[str, tuple[Observed, ...]]:
        """The two sequences of a log by name; MalformedInput names the line that is not one of Kafka's."""
        for entry, line in log.lines():
            try:
                self._entry(entry, line)
            except KeyError as error:
                raise MalformedInput(entry.place, "", f"names {error}, which no transaction created") from error
        name = self.cluster.broker_ids[self.broker - 1]
        return {f"controller {name}": tuple(self.said), f"broker {name}": self.requests.observed()}

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
            case LeaderElected(leader=named) | PartitionBecameOnline(leader=named) | ReplicaChanged(replica=named):
                self.cluster.broker(named)
            case LeaderAndIsrSending(leadership=said, broker=broker):
                self.cluster.replicas((said.leader, *said.isr, broker))
            case UpdateMetadataSending(leadership=said, brokers=brokers):
                self.cluster.replicas((*said.isr, *brokers, *({said.leader} - {LEADER_DURING_DELETE})))

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
            correlation_id=line.answer.correlation_id,
        )

    def life(self, time: int) -> int:
        """Which process of this broker wrote at that time."""
        return max(1, sum(began <= time for began in self.lives))

    def _pass_over(self, reason: str) -> None:
        self.passed_over[f"state-change.log: {reason}"] += 1
