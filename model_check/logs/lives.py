"""How long processes lived: whether it was one and the same that wrote, or obeyed, at two times.

What a broker has stored is gone when it starts again, so a lower epoch than before is wrong in one life only.
controller.log or server.log shows a start. Where a broker has neither, or only an older part, that is unknown; then
nobody is accused.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Final

from model_check.logs.files import FileStream, starts_in

FOREVER: Final = 1 << 62
TOO_FAST: Final = 500
"""Milliseconds in which nobody stops, starts again, and has been sent anything."""


@lru_cache(maxsize=4096)
def _day(day: str) -> int:
    return date.fromisoformat(day).toordinal() * 86_400_000


def ms(time: str) -> int:
    """A time as log4j prints it, in milliseconds, by the clock of whoever wrote it."""
    hours, minutes, seconds = int(time[11:13]), int(time[14:16]), int(time[17:19])
    return _day(time[:10]) + hours * 3_600_000 + minutes * 60_000 + seconds * 1000 + int(time[20:])


@dataclass
class Lives:
    """The starts of each broker that some logs tell, and the times that those logs are about."""

    starts: dict[int, list[int]] = field(default_factory=dict)
    spans: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    @classmethod
    def told_by(cls, streams: Iterable[FileStream]) -> "Lives":
        """What some logs tell."""
        lives = cls()
        for stream in streams:
            last = stream.files[-1]
            found: dict[int, list[int]] = {}
            for broker, time in starts_in(stream):
                found.setdefault(broker, []).append(ms(time))
            for broker, starts in found.items():
                until = FOREVER if last.is_current else ms(last.last) if last.last else max(starts)
                lives.starts[broker] = sorted({*lives.starts.get(broker, []), *starts})
                lives.spans.setdefault(broker, []).append((min(starts), until))
        return lives

    def is_one(self, broker: int, before: int, after: int) -> bool | None:
        """Whether one process of a broker lived at both times; None if no log tells."""
        starts = self.starts.get(broker, [])
        early, late = min(before, after), max(before, after)
        if bisect_right(starts, late) > bisect_right(starts, early):
            return False
        if late - early <= TOO_FAST:
            return True
        if before > after:  # a clock was set back, and starts of before and after cannot be told apart
            return None
        covered = any(begin <= early and late <= end for begin, end in self.spans.get(broker, []))
        return True if covered else None
