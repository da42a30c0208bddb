"""The lines of a broker's state-change.log as observations, in two sequences: the controller's, and the broker's.

A controller's line is an observation by itself. A broker's lines are put together to the requests that they tell of: a
LeaderAndIsr prints a line for each partition as it arrives and more as it is handled; it is handled, all of it at once,
where its first line under the lock stands. One that was only received, because the process was killed before, is passed
over. So are lines that repeat what others say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any, Final

from model_check.recorded import Cluster, ControllerSaid, Leadership, Observed, RequestHandled
from spec.broker_change_lines import (
    BrokerLine,
    LeaderInfoCached,
    PartitionLine,
    PartitionUncached,
    StopReplicaFromOldController,
    StopReplicaStarted,
    UpdateMetadataFromOldController,
)
from spec.errors import MalformedInput
from spec.leader_and_isr_lines import (
    LeaderAndIsrFromOldController,
    LeaderAndIsrReceived,
    LeaderEpochNotHigher,
    LeaderUnavailable,
    NotInAssignedReplicas,
    TransitionStarted,
)
from spec.log_entries import LogEntry, TornLine, read_entries
from spec.log_lines import Line
from spec.logged_values import PartitionInfo, Role
from spec.state_change_lines import ControllerLine, ResponseReceived, parse_line

ANSWERED: Final = "the answer to a request, which is delivered and answered in one step"
REPEATED: Final = "repeats what another line of the same request says"
NOT_HANDLED: Final = "a request that was received, and not handled before the process ended"


Key = tuple[str, int, int]
"""Kind, controller and correlation id: what the lines of one request share."""


@dataclass
class _Request:
    """The lines of one request so far."""

    key: Key
    epoch: int
    states: dict[int, Leadership] = field(default_factory=dict)
    outcomes: dict[int, str] = field(default_factory=dict)
    refused: bool = False
    handled: LogEntry | None = None


class Lines:
    """A reader of one broker's state-change.log; `lives` are the times at which its processes began."""

    def __init__(self, cluster: Cluster, broker: int, lives: tuple[int, ...], passed_over: Counter[str]) -> None:
        self.cluster = cluster
        self.broker = broker
        self.lives = lives
        self.passed_over = passed_over
        self.arrived: dict[Key, _Request] = {}
        self.handled: list[_Request] = []

    def read(self, log: Path, *, until: int | None = None) -> dict[str, tuple[Observed, ...]]:
        """The two sequences of a log by name, up to a time; MalformedInput names the line that is none of Kafka's."""
        source = f"{log.parent.name}/{log.name}"
        said: list[Observed] = []
        with log.open(encoding="utf-8") as lines:
            for entry in read_entries(lines, source):
                if isinstance(entry, TornLine):
                    raise MalformedInput(f"{source}:{entry.line_number}", "", f"{entry.reason}: {entry.text[:80]!r}")
                if until is not None and _milliseconds(entry) >= until:
                    break
                try:
                    said += self._entry(entry, parse_line(entry.message, source=entry.place))
                except KeyError as error:
                    raise MalformedInput(entry.place, "", f"names {error}, which no transaction created") from error
        for request in self.arrived.values():
            if request.handled is None:
                self._pass_over(NOT_HANDLED)
        name = self.cluster.broker_ids[self.broker - 1]
        return {f"controller {name}": tuple(said), f"broker {name}": tuple(map(self._observed, self.handled))}

    def _entry(self, entry: LogEntry, line: Line) -> Iterator[ControllerSaid]:
        match line:
            case ResponseReceived():
                self._pass_over(ANSWERED)
            case ControllerLine():
                head = self._head(entry)
                yield ControllerSaid(**head, controller=self.broker, incarnation=self._life(head["time"]), line=line)
            case BrokerLine():
                self._broker_line(entry, line)
            case _:
                raise MalformedInput(entry.place, "", f"a line of kind {type(line).__name__} has no place here")

    def _head(self, entry: LogEntry) -> dict[str, Any]:
        return {"place": entry.place, "time": _milliseconds(entry), "text": entry.message}

    def _life(self, time: int) -> int:
        """Which process of this broker wrote at that time."""
        return max(1, sum(began <= time for began in self.lives))

    def _pass_over(self, reason: str) -> None:
        self.passed_over[f"state-change.log: {reason}"] += 1

    def _broker_line(self, entry: LogEntry, line: BrokerLine) -> None:
        """One line added to its request."""
        match line:
            case LeaderAndIsrReceived(partition=partition, state=state):
                self._arriving(line).states[self.cluster.partition(partition)] = self._leadership(state)
            case LeaderAndIsrFromOldController():
                self._handling(entry, line, "LeaderAndIsr").refused = True
            case UpdateMetadataFromOldController():
                self._handling(entry, line, "UpdateMetadata").refused = True
            case LeaderInfoCached() | PartitionUncached():
                self._handling(entry, line, "UpdateMetadata")
            case StopReplicaStarted() | StopReplicaFromOldController():
                self.handled.append(_Request(("StopReplica", 0, -1), 0, handled=entry))
            case PartitionLine(partition=partition) if outcome := _outcome(line):
                outcomes = self._handling(entry, line, "LeaderAndIsr").outcomes
                outcomes[self.cluster.partition(partition)] = outcome
            case _:
                self._pass_over(REPEATED)

    def _arriving(self, line: LeaderAndIsrReceived) -> _Request:
        """The request whose partitions are being received: one that has not been handled yet, or a new one."""
        key = ("LeaderAndIsr", self.cluster.broker(line.controller), line.correlation_id)
        request = self.arrived.get(key)
        if request is None or request.handled is not None:
            request = self.arrived[key] = _Request(key, line.epoch)
        return request

    def _handling(self, entry: LogEntry, line: Any, kind: str) -> _Request:
        """The request that a line under the lock tells of; it is handled from its first such line on."""
        key = (kind, self.cluster.broker(line.controller), line.correlation_id)
        if self.handled and self.handled[-1].key == key:
            return self.handled[-1]
        request = self.arrived.get(key) if kind == "LeaderAndIsr" else None
        if request is None:
            request = _Request(key, line.epoch)
        if request.handled is None:
            request.handled = entry
            self.handled.append(request)
        return request

    def _leadership(self, state: PartitionInfo) -> Leadership:
        number = self.cluster.broker
        return Leadership(
            leader=number(state.leader),
            leader_epoch=state.leader_epoch,
            isr=tuple(map(number, state.isr)),
            version=-1 if state.zk_version is None else state.zk_version,
            controller_epoch=state.controller_epoch,
        )

    def _observed(self, request: _Request) -> RequestHandled:
        assert request.handled is not None  # noqa: S101 - it is in the list of those that were
        kind, controller, correlation_id = request.key
        head = self._head(request.handled)
        shown = f"{kind} {correlation_id} of controller {controller} epoch {request.epoch}"
        return RequestHandled(
            **head | {"text": f"handled {shown}: {head['text']}"},
            broker=self.broker,
            incarnation=self._life(head["time"]),
            kind=kind,
            controller=controller,
            epoch=request.epoch,
            states=request.states,
            outcomes=request.outcomes,
            refused=request.refused,
        )


def _milliseconds(entry: LogEntry) -> int:
    return int(entry.time.replace(tzinfo=UTC).timestamp() * 1000)


def _outcome(line: PartitionLine) -> str:
    """What a line says became of its partition; nothing, if it only repeats."""
    match line:
        case LeaderEpochNotHigher():
            return "ignored"
        case NotInAssignedReplicas():
            return "unassigned"
        case TransitionStarted(role=role):
            return "leader" if role is Role.LEADER else "follower"
        case LeaderUnavailable():
            return "unavailable"
        case _:
            return ""
