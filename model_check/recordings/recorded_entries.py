"""The entries of a broker's log, each with the line that it is, and with the time that places it among observations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from spec.errors import MalformedInput
from spec.kafka_types import V0102, KafkaVersion
from spec.logs.log_entries import LogEntry, TornLine, read_entries
from spec.logs.log_lines import Line

Parser: TypeAlias = Callable[[str, KafkaVersion, str], Line]


def lines_of(
    log: Path, parse: Parser, until: int | None = None, *, ahead: int = 0, having: str = ""
) -> Iterator[tuple[LogEntry, Line]]:
    """The entries of a log up to a time, of a clock that is so many milliseconds `ahead`, which is taken off.

    Only those `having` a text count, if one is given. MalformedInput names the line that is torn, or none of Kafka
    0.10.2's.
    """
    for entry in _entries(log, until, ahead, having):
        yield entry, parse(entry.message, V0102, entry.place)


def end_of(log: Path, until: int | None = None, *, ahead: int = 0) -> int:
    """When the last entry of a log was written, whatever it is about, with a clock and a limit as above; 0 if none."""
    return max(map(_milliseconds, _entries(log, until, ahead)), default=0)


def _entries(log: Path, until: int | None, ahead: int, having: str = "") -> Iterator[LogEntry]:
    source = f"{log.parent.name}/{log.name}"
    with log.open(encoding="utf-8", errors="backslashreplace") as lines:
        for entry in read_entries(lines, source):
            if isinstance(entry, TornLine):
                raise MalformedInput(f"{source}:{entry.line_number}", "", f"{entry.reason}: {entry.text[:80]!r}")
            if having not in entry.message:
                continue
            on_time = _set_right(entry, ahead)
            if until is not None and _milliseconds(on_time) >= until:
                break
            yield on_time


def _set_right(entry: LogEntry, ahead: int) -> LogEntry:
    """An entry at the time that a clock would have shown that was not ahead."""
    try:
        return replace(entry, time=entry.time - timedelta(milliseconds=ahead))
    except OverflowError as error:
        off = f"{abs(ahead):,} ms {'ahead of' if ahead > 0 else 'behind'} ZooKeeper's"
        reason = f"is out of range once its clock is set right, which by other lines is {off}"
        raise MalformedInput(entry.place, "time", reason) from error


def head_of(entry: LogEntry) -> dict[str, Any]:
    """Where an observation stands, when it was made, and how it reads."""
    return {"place": entry.place, "time": _milliseconds(entry), "text": entry.message}


def _milliseconds(entry: LogEntry) -> int:
    return int(entry.time.replace(tzinfo=UTC).timestamp() * 1000)
