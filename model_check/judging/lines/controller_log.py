"""What a step of a controller writes to controller.log, of those lines that tell more than state-change.log does.

These are the lines about what the controller read, and when: the epoch at the beginning of its term, the live brokers
and the topics, what a callback finds when it runs, where a failover ends. Kafka writes them one by one on the thread
that holds the controller's lock, so each step has its own, in this order, and no other step may take them.
(A process that is killed may not come to write them, and a log that was copied early does not have them; but behind
what is missing in a log that goes on, no more steps of that process follow.)

The rules say these lines where Kafka writes them (`say`). Kafka 0.10.2.2: `KafkaController`, `PartitionStateMachine`,
`ReplicaStateMachine`. PROTOCOL.md section 12.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from model_check.judging.lines.said_lines import Expected
from model_check.recordings.processes import ControllerSaid
from spec.formats.kafka_types import V0102
from spec.logs.controller_log.failover import Resigned
from spec.logs.log_lines import Line

MAY_BE_OFF: Final = frozenset({"DEBUG", "TRACE"})
"""Levels at which a line need not be written; whether its kind is, holds for the whole life of a process."""


def _may_be_off(kind: type[Line]) -> bool:
    return kind.level_at(V0102) in MAY_BE_OFF


def _must_be_written(kind: type[Line]) -> bool:
    """Whether a line of a kind is there, if its step happened; a resignation at the very end is not read."""
    return kind is not Resigned and not _may_be_off(kind)


class Reports:
    """The lines of a step, to be compared with what its process wrote to controller.log next."""

    def __init__(self, expected: Sequence[Expected]) -> None:
        self.expected = expected
        self._ordered = [one for one in self.expected if not one.in_any_order]
        self._unordered = [one for one in self.expected if one.in_any_order]

    def taken(self, lines: Sequence[ControllerSaid]) -> int | None:
        """How many of the lines that its process has yet to write are this step's; None if one of its lines differs."""
        count = 0
        for one in self._ordered:
            if count == len(lines):
                break
            line = lines[count]
            if type(line.line) is not one.kind and _may_be_off(one.kind) and one.kind not in line.details:
                continue
            if not one.is_written_as(line.line):
                return None
            count += 1
        return self._with_unordered(lines, count)

    def _with_unordered(self, lines: Sequence[ControllerSaid], count: int) -> int | None:
        """The results of an election come last, in any order."""
        left = list(self._unordered)
        for line in lines[count:]:
            found = next((one for one in left if one.is_written_as(line.line)), None)
            if found is None:
                break
            left.remove(found)
            count += 1
        return count if count == len(lines) or all(one.perhaps for one in left) else None

    def is_cut_short(self, lines: Sequence[ControllerSaid]) -> bool:
        """Whether something that must be written is not among these lines of the step."""
        must = sum(_must_be_written(one.kind) for one in self.expected if not one.perhaps)
        return must > sum(_must_be_written(type(one.line)) for one in lines)

    @property
    def must_say(self) -> bool:
        """Whether there is a line that it must write."""
        return bool(self.expected)
