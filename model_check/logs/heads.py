"""The entries of a log file as they stream by: number, time, level, message and logger of each, and what is not one.

This is `spec/logs/log_entries.py` for files of any size: the same layout, by the same patterns, without the stack
traces, of which only the first line of an exception is kept. A line of more than `LONGEST` characters is cut there.
What two processes wrote into one line is taken apart where an entry begins.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from spec.logs.log_entries import EXCEPTION, FRAME, HEAD, SECOND_START, START

LONGEST: Final = 1 << 20
"""Characters of a line that are read; the controller prints the leaders of all partitions in one."""
SETTINGS: Final = re.compile(r"\[[-\d :,]{23}\] INFO \w+Config values: ?")
"""The first line of a broker's settings, which stand in lines of their own."""
TORN: Final = "torn"
FOREIGN: Final = "no log line"
TRACE: Final = "of stack traces and settings"
MOST_OF_CAUSE: Final = 1000
"""Characters of an exception that are kept."""
ALARMED: Final = frozenset({"WARN", "ERROR", "FATAL"})
"""The levels behind which there may be a stack trace."""


class Head(NamedTuple):
    """An entry: its line's number, the time as it is printed, and the first line of the exception below it, if any."""

    number: int
    time: str
    level: str
    message: str
    logger: str
    cause: str = ""


class Odd(NamedTuple):
    """A line that is no entry, and why."""

    number: int
    kind: str
    text: str


def read_heads(lines: Iterable[str], counts: Counter[str]) -> Iterator[Head | Odd]:
    """The entries of some lines, which begin at an entry; lines of stack traces are counted."""
    waits: Head | None = None
    is_traced = False
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r\n")
        head = _head(number, text)
        if head is None and (waits is not None or is_traced) and _continues(text, is_traced):
            counts[TRACE] += 1
            if waits is not None:
                yield waits._replace(cause=text[:MOST_OF_CAUSE])
            waits, is_traced = None, True
            continue
        if waits is not None:
            yield waits
        waits = head if head is not None and head.level in ALARMED else None
        is_traced = head is None and SETTINGS.fullmatch(text[:200]) is not None
        if is_traced:
            counts[TRACE] += 1
        elif head is None:
            yield from _in_parts(number, text)
        elif waits is None:
            yield head
    if waits is not None:
        yield waits


def _head(number: int, text: str) -> Head | None:
    """The entry that a line is, if it is one and nothing else."""
    found = HEAD.fullmatch(text)
    if found is None or SECOND_START.search(text, 1) is not None or not is_day(found[1][:10]):
        return None
    return Head(number, found[1], found[2], found[3], found[4])


@lru_cache(maxsize=1024)
def is_day(text: str) -> bool:
    """Whether the calendar has this day."""
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _continues(text: str, is_traced: bool) -> bool:
    """Whether a line belongs to an exception: it begins it, is a frame or a cause, or a further line of its message."""
    if is_traced:
        return START.match(text) is None or FRAME.fullmatch(text) is not None
    return EXCEPTION.fullmatch(text) is not None


def _in_parts(number: int, text: str) -> Iterator[Head | Odd]:
    """What one line has: entries, each by itself, and what is not one."""
    starts = [0, *(found.start() for found in SECOND_START.finditer(text) if found.start()), len(text)]
    for start, end in pairwise(starts):
        part = text[start:end]
        found = HEAD.fullmatch(part)
        if found and is_day(found[1][:10]):
            yield Head(number, *found.group(1, 2, 3, 4))
        elif START.match(part) or len(starts) > 2:
            yield Odd(number, TORN, part)
        elif part.strip():
            yield Odd(number, FOREIGN, part)
