"""Entries of Kafka's log files: a line with its time, level and logger, and the stack trace that may follow it.

    [2016-09-21 13:05:09,418] ERROR Controller 1 epoch 2 initiated state change ... failed (state.change.logger)
    kafka.common.NoReplicaOnlineException: No replica for partition [t,0] is alive. ...
            at kafka.controller.OfflinePartitionLeaderSelector.selectLeader(PartitionLeaderSelector.scala:75)

The layout is `[%d] %p %m (%c)%n` of Kafka's log4j.properties; times are the broker's local ones, to the millisecond.
What does not fit, because two processes wrote to one file or a copy began in mid-line, is yielded as a `TornLine` with
its number and what is wrong with it. Nothing is put together again by guessing.

A process that is killed leaves a line without an end, and the next process goes on in the same line. So where an entry
begins within a line, what stands before it is yielded by itself, and says that it `is_cut`. Whether a process ended
there is for the reader to know.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Final

from spec.logs.log_lines import Line

TIME: Final = r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] "
START: Final = re.compile(TIME)
HEAD: Final = re.compile(TIME + r"(TRACE|DEBUG|INFO|WARN|ERROR|FATAL) (.*) \(([^()\s]+)\)")
SECOND_START: Final = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) ")
EXCEPTION: Final = re.compile(r"(?:[A-Za-z]\w*\.)+[\w$]*(?:Exception|Error|Throwable)(?:: .*)?")
FRAME: Final = re.compile(r"\t+(?:at \S.*|\.\.\. \d+ more|Suppressed: .*)|Caused by: .*")


@dataclass(frozen=True)
class Placed:
    """What stands in a log file, and where it begins."""

    source: str
    line_number: int

    @property
    def place(self) -> str:
        """File and line, as a refusal names them."""
        return f"{self.source}:{self.line_number}"


@dataclass(frozen=True)
class LogEntry(Placed):
    """A line of a log file, and the stack trace below it; what `is_cut` has no end, and may lack its last words."""

    time: datetime
    level: str
    message: str
    logger: str
    trace: tuple[str, ...] = ()
    is_cut: bool = False

    def __str__(self) -> str:
        head = f"[{print_time(self.time)}] {self.level} {self.message} ({self.logger})"
        return "\n".join((head, *self.trace))


@dataclass(frozen=True)
class TornLine(Placed):
    """A line of a log file that is no entry and continues none; or the lines of an exception's message, without frames.

    It `is_cut` if it is what a process may leave that is killed: a line without its end, or half an exception.
    """

    text: str
    reason: str
    is_cut: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}: {self.text[:80]!r}"

    @property
    def time(self) -> datetime | None:
        """When it was written, if so much of it is there."""
        found = START.match(self.text)
        try:
            return datetime.fromisoformat(found[1]) if found else None
        except ValueError:
            return None


def entry_of(line: Line, time: datetime) -> LogEntry:
    """The entry that a process writes for a line, at this time."""
    return LogEntry("", 0, time, line.level, str(line), line.logger)


def print_time(time: datetime) -> str:
    """A time as log4j prints it."""
    return f"{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03}"


def read_entries(lines: Iterable[str], source: str) -> Iterator[LogEntry | TornLine]:
    """The entries of a log file and its torn lines, in the order of the file; line numbers start at 1."""
    entry: LogEntry | None = None
    trace: list[str] = []
    message: list[TornLine] = []
    for read in _heads(lines, source):
        if entry and isinstance(read, TornLine):
            if _continues(entry, trace, read.text):
                trace += [*(one.text for one in message), read.text]
                message = []
                continue
            if _may_be_message(trace, read.text):
                message.append(read)
                continue
        yield from _finished(entry, trace, message)
        entry, trace, message = (read, [], []) if isinstance(read, LogEntry) else (None, [], [])
        if isinstance(read, TornLine):
            yield read
    yield from _finished(entry, trace, message)


def _finished(entry: LogEntry | None, trace: list[str], message: list[TornLine]) -> Iterator[LogEntry | TornLine]:
    """An entry with its trace, and the rest of an exception's message, which no frame follows."""
    if entry:
        yield replace(entry, trace=tuple(trace)) if trace else entry
    if message:
        yield replace(message[0], text="\n".join(one.text for one in message), is_cut=True)


def _heads(lines: Iterable[str], source: str) -> Iterator[LogEntry | TornLine]:
    """Each line by itself, or what stands in it before another entry begins, and that."""
    for number, line in enumerate(lines, start=1):
        text = line.removesuffix("\n").removesuffix("\r")
        starts = [found.start() for found in SECOND_START.finditer(text) if found.start()]
        for start, end in pairwise((0, *starts, len(text))):
            read = _read_head(text[start:end], source, number)
            is_last = end == len(text)
            if isinstance(read, TornLine) and not is_last:
                read = replace(read, reason="has the beginning of another entry in it")
            yield read if is_last and line.endswith("\n") else replace(read, is_cut=True)


def _read_head(text: str, source: str, number: int) -> LogEntry | TornLine:
    """The first line of an entry, or what is wrong with it."""
    found = HEAD.fullmatch(text)
    if not found:
        reason = "does not end with its logger" if START.match(text) else "does not begin with a time"
        return TornLine(source, number, text, reason)
    try:
        time = datetime.fromisoformat(found[1])
    except ValueError as error:
        return TornLine(source, number, text, f"has no such time ({error})")
    return LogEntry(source, number, time, found[2], found[3], found[4])


def _continues(entry: LogEntry, trace: list[str], text: str) -> bool:
    """Whether a line belongs to the stack trace of an entry: an exception first, then frames and causes."""
    if trace:
        return FRAME.fullmatch(text) is not None
    return entry.level in {"WARN", "ERROR", "FATAL"} and EXCEPTION.fullmatch(text) is not None


def _may_be_message(trace: list[str], text: str) -> bool:
    """Whether a line may be another one of an exception's message, which it is if frames or a cause come after it."""
    return bool(trace) and not trace[-1].startswith("\t") and not START.match(text)
