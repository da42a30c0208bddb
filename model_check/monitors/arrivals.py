"""The requests of controllers that arrived at brokers: what each said, when, and what was answered.

`wire_arrivals` reads them from what brokers wrote down of the wire, `logged_arrivals` from logs of documented releases.
`unreadable` says what cannot be read of one; then nothing is concluded from a request's absence.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from model_check.monitors.contents import State
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import ApiKey

NAMES = {
    ApiKey.LEADER_AND_ISR: "LeaderAndIsr",
    ApiKey.STOP_REPLICA: "StopReplica",
    ApiKey.UPDATE_METADATA: "UpdateMetadata",
}

NOT_TOLD: Final = -2
"""The data version of a state znode that a log does not tell; -1 may be in it, where the write has failed (S4)."""


def in_no_order(state: State) -> State:
    """A leadership, with its ISR as a set: sorted."""
    return replace(state, isr=tuple(sorted({*state.isr})))


@dataclass(frozen=True)
class Answer:
    """What was answered, and when in the order of the broker's events; codes by partition, where it has any."""

    order: int
    code: int
    codes: Mapping[TopicPartition, int]


@dataclass(frozen=True, kw_only=True)
class Arrival:
    """A request at a process of a broker, each state's ISR in no order; a log does not tell who sent a StopReplica.

    `assigned` are the replicas that it tells of each partition; `named` are the brokers that it says where they listen:
    the leaders of a LeaderAndIsr, all of an UpdateMetadata. A log tells neither.
    """

    place: str
    ms: int
    order: int
    broker: int
    incarnation: int
    kind: ApiKey
    controller: int | None
    epoch: int | None
    states: Mapping[TopicPartition, State] = field(default_factory=dict)
    assigned: Mapping[TopicPartition, frozenset[int]] = field(default_factory=dict)
    named: frozenset[int] | None = None
    stopped: frozenset[TopicPartition] = frozenset()
    delete: bool = False
    answer: Answer | None = None

    @property
    def is_refused(self) -> bool:
        """Whether it was refused as a whole."""
        return self.answer is not None and self.answer.code != ErrorCode.NONE

    def refuses(self, partition: TopicPartition) -> bool:
        """Whether it is known that it was refused, as a whole or for a partition."""
        code = ErrorCode.NONE if self.answer is None else self.answer.codes.get(partition, ErrorCode.NONE)
        return self.is_refused or code != ErrorCode.NONE

    def fails_to_delete(self, partition: TopicPartition) -> bool:
        """Whether a broker was to delete a replica, and answered that it could not."""
        code = None if self.answer is None or self.is_refused else self.answer.codes.get(partition)
        return self.delete and partition in self.stopped and code == ErrorCode.UNKNOWN

    def __str__(self) -> str:
        sender = "" if self.controller is None else f" of controller {self.controller}, epoch {self.epoch},"
        return f"{NAMES[self.kind]}{sender} to broker {self.broker}"


def accepted(request: Arrival, partition: TopicPartition) -> bool:
    """Whether it is known that a request was accepted for a partition."""
    return request.answer is not None and not request.refuses(partition)


@dataclass(frozen=True)
class Unread:
    """A request that cannot be read, and why; `is_known`: its key and version are those of a documented release."""

    place: str
    text: str
    is_known: bool


@dataclass(frozen=True)
class Received:
    """What one broker received, in order; `starts` are the times of its processes, if its file tells them.

    `unread` are requests among it that cannot be read.

    `is_documented`: the broker is of a documented release, so that it never deletes a replica but on request.
    `torn_ends` are the places where what a killed process wrote last is torn, and was cut off. `ahead` are the
    milliseconds that were taken off all times, for the broker's clock is so far ahead of ZooKeeper's.
    """

    requests: tuple[Arrival, ...]
    starts: tuple[int, ...] | None = None
    unreadable: str = ""
    unread: tuple[Unread, ...] = ()
    is_documented: bool = False
    torn_ends: tuple[str, ...] = ()
    ahead: int = 0


@dataclass(frozen=True)
class Arrivals:
    """What was received, by broker; `reason` says why nothing is known of the others."""

    by_broker: Mapping[int, Received] = field(default_factory=dict)
    reason: str = "no broker wrote down what arrived at it"

    def all(self) -> Iterator[Arrival]:
        """Every request, broker by broker."""
        for one in self.by_broker.values():
            yield from one.requests

    def whole(self, broker: int) -> Received | None:
        """What a broker received, if all of it is known."""
        received = self.by_broker.get(broker)
        return received if received is not None and not received.unreadable else None
