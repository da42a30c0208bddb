"""The entries of a broker's log, each with the line that it is, and with the time that places it among observations.

All processes of a broker append to one file. One that is killed may leave a line without its end, and the next one goes
on in it: such a torn end is cut off, and reported. It is one only at the end of the file, or where a process's life
ended between what is torn and what comes next. A line that is torn elsewhere, because two processes wrote at once or a
copy is damaged, is refused.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise, takewhile
from math import inf
from pathlib import Path
from typing import Any, Final

from spec.errors import MalformedInput
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.logs.log_entries import LogEntry, TornLine, read_entries
from spec.logs.log_lines import Line, Vocabulary

TORN_END: Final = "the torn end of what a process wrote that was killed"


@dataclass(frozen=True)
class Log:
    """A log, which need not be there: which lines it may have, as which release prints them.

    Its clock is so many milliseconds `ahead` of ZooKeeper's, which is taken off; nothing from `until` on counts.
    """

    file: Path
    vocabulary: Vocabulary
    release: KafkaVersion = V0102
    ahead: int = 0
    until: float = inf

    @property
    def source(self) -> str:
        """The file, as a refusal names it."""
        return f"{self.file.parent.name}/{self.file.name}"

    def lines(self, having: str = "") -> Iterator[tuple[LogEntry, Line]]:
        """The entries with their lines, only those `having` a text, if one is given; without torn ends.

        MalformedInput names the line that is not of the release, or whose time is out of range.
        """
        for entry in self.entries():
            line = self._line(entry) if having in entry.message else None
            if line is not None:
                yield entry, line

    def unread(self, release: KafkaVersion) -> Iterator[LogEntry]:
        """The entries that are no lines of a release, except what is cut."""
        whole = (one for one in self.entries() if not one.is_cut)
        return (one for one in whole if not self.vocabulary.has(one.message, release))

    def end(self) -> int:
        """When the last entry was written, whatever it is about; 0 if there is none."""
        return max((_milliseconds(one.time) for one in self.entries()), default=0)

    def torn_ends(self, life: Callable[[int], int]) -> list[str]:
        """Where an end is torn, by file and line; `life` tells which process wrote at a time.

        MalformedInput names a line that is torn elsewhere.
        """
        places, before = [], 0
        for one, after in pairwise((*self._read, None)):
            time = self._time(one, before) if one is not None else before
            if one is not None and (isinstance(one, TornLine) or one.is_cut):
                if not (one.is_cut and (after is None or life(time) < life(self._time(after, time)))):
                    raise _torn(one)
                if isinstance(one, TornLine) or self._line(one) is None:
                    places.append(one.place)
            before = time
        return places

    def entries(self) -> Iterator[LogEntry]:
        """All entries, whatever they are about."""
        return (one for one in self._read if isinstance(one, LogEntry))

    @cached_property
    def _read(self) -> tuple[LogEntry | TornLine, ...]:
        """What stands in the file, which is looked through several times, and read once."""
        if not self.file.exists():
            return ()
        with self.file.open(encoding="utf-8", errors="backslashreplace") as lines:
            every = map(self._set_right, read_entries(lines, self.source))
            counts = takewhile(lambda one: isinstance(one, TornLine) or _milliseconds(one.time) < self.until, every)
            return tuple(counts)

    def _line(self, entry: LogEntry) -> Line | None:
        """The line that an entry is; none, if that is cut, and its last words are missing."""
        try:
            line = self.vocabulary.parse(entry.message, self.release, entry.place)
        except MalformedInput:
            if entry.is_cut:
                return None
            raise
        return None if entry.is_cut and line.logger != entry.logger else line

    def _time(self, one: LogEntry | TornLine, otherwise: int) -> int:
        """When a line was written, by a clock that is set right; if it does not tell, the time that is given."""
        if one.time is None:
            return otherwise
        return _milliseconds(one.time) - (0 if isinstance(one, LogEntry) else self.ahead)

    def _set_right(self, entry: LogEntry | TornLine) -> LogEntry | TornLine:
        """An entry at the time that a clock would have shown that was not ahead; a torn line as it is."""
        if isinstance(entry, TornLine) or not self.ahead:
            return entry
        try:
            return replace(entry, time=entry.time - timedelta(milliseconds=self.ahead))
        except OverflowError as error:
            off = f"{abs(self.ahead):,} ms {'ahead of' if self.ahead > 0 else 'behind'} ZooKeeper's"
            reason = f"is out of range once its clock is set right, which by other lines is {off}"
            raise MalformedInput(entry.place, "time", reason) from error


def head_of(entry: LogEntry) -> dict[str, Any]:
    """Where an observation is, when it was made, and how it reads."""
    return {"place": entry.place, "time": _milliseconds(entry.time), "text": entry.message}


def _torn(one: LogEntry | TornLine) -> MalformedInput:
    if isinstance(one, LogEntry):
        return MalformedInput(one.place, "", f"has the beginning of another entry in it: {one.message[:80]!r}")
    return MalformedInput(one.place, "", f"{one.reason}: {one.text[:80]!r}")


def _milliseconds(time: datetime) -> int:
    return int(time.replace(tzinfo=UTC).timestamp() * 1000)
