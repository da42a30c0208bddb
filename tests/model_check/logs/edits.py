"""Logs that lost lines, or whose clocks were set, as it happens to real ones: nothing in them is wrong that was not.

Each edit takes lines out of a log, or changes when they say that they were written; never what they say.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path, PurePath
from random import Random
from typing import Final

Logs = dict[str, list[bytes]]
"""The lines of some logs, by their names, with the folders that they stand in."""
TIME: Final = re.compile(rb"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\]")
SECONDS: Final = (0.01, 0.6, 5, 60, 3600, 86_400)


def lines_in(folder: Path) -> Logs:
    """The logs in a folder."""
    return {str(one.relative_to(folder)): one.read_bytes().splitlines(True) for one in sorted(folder.rglob("*.log"))}


def written(logs: Mapping[str, list[bytes]], folder: Path) -> Path:
    """A folder that has these logs and no others."""
    for one in folder.rglob("*.log"):
        one.unlink()
    for name, lines in logs.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"".join(lines))
    return folder


def edited(logs: Mapping[str, list[bytes]], random: Random) -> Logs:
    """Some logs with one to four things done to them."""
    logs = {name: list(lines) for name, lines in logs.items()}
    for _ in range(random.choice((1, 1, 2, 3, 4))):
        if whole := [name for name, lines in logs.items() if lines]:
            random.choice(EDITS)(logs, random.choice(whole), random)
    return logs


Edit = Callable[[Logs, str, Random], None]


def _some_are_lost(logs: Logs, name: str, random: Random) -> None:
    start, end = _part(logs[name], random)
    del logs[name][start:end]


def _the_end_is_lost(logs: Logs, name: str, random: Random) -> None:
    del logs[name][random.randrange(len(logs[name])) :]


def _the_beginning_is_lost(logs: Logs, name: str, random: Random) -> None:
    del logs[name][: random.randrange(len(logs[name]))]


def _many_are_lost(logs: Logs, name: str, random: Random) -> None:
    share = random.choice((0.02, 0.1, 0.5))
    logs[name] = [one for one in logs[name] if random.random() >= share]


def _starts_are_lost(logs: Logs, name: str, random: Random) -> None:
    logs[name] = [one for one in logs[name] if b"start" not in one or random.random() < 0.3]


def _a_file_is_lost(logs: Logs, name: str, _random: Random) -> None:
    if len(logs) > 1:
        del logs[name]


def _a_time_is_lost(logs: Logs, name: str, random: Random) -> None:
    """All that a broker wrote then, into any of its logs."""
    start, end = _part(logs[name], random)
    times = [*_times(logs[name])]
    for beside in _beside(logs, name):
        told = zip(logs[beside], _times(logs[beside]), strict=True)
        logs[beside] = [line for line, time in told if not times[start] <= time <= times[end - 1]]


def _some_are_of_another_time(logs: Logs, name: str, random: Random) -> None:
    start, end = _part(logs[name], random)
    by = _seconds(random)
    logs[name][start:end] = [_moved(one, by) for one in logs[name][start:end]]


def _all_since_are_of_another_time(logs: Logs, name: str, random: Random) -> None:
    start, by = random.randrange(len(logs[name])), _seconds(random)
    logs[name][start:] = [_moved(one, by) for one in logs[name][start:]]


def _a_clock_is_set(logs: Logs, name: str, random: Random) -> None:
    """That of a broker, and so of all its logs."""
    since, by = random.choice([*_times(logs[name])]), _seconds(random)
    for beside in _beside(logs, name):
        told = zip(logs[beside], _times(logs[beside]), strict=True)
        logs[beside] = [_moved(line, by) if time >= since else line for line, time in told]


EDITS: Final[tuple[Edit, ...]] = (
    _some_are_lost, _some_are_lost, _the_end_is_lost, _the_beginning_is_lost, _many_are_lost, _starts_are_lost,
    _a_file_is_lost, _a_time_is_lost, _some_are_of_another_time, _all_since_are_of_another_time, _a_clock_is_set,
)  # fmt: skip


def _part(lines: list[bytes], random: Random) -> tuple[int, int]:
    """Where some lines begin and end, often few."""
    start = random.randrange(len(lines))
    most = random.choice((12, len(lines)))
    return start, min(len(lines), start + random.randint(1, most))


def _beside(logs: Logs, name: str) -> list[str]:
    """The logs of the same broker."""
    return [one for one in logs if PurePath(one).parent == PurePath(name).parent]


def _times(lines: list[bytes]) -> Iterator[bytes]:
    """When each line was written; of one that has no time of its own, as the one above it."""
    found = (found[0] if (found := TIME.match(one)) else b"" for one in lines)
    return accumulate(found, lambda before, time: time or before)


def _seconds(random: Random) -> float:
    return random.choice((-1, 1)) * random.choice(SECONDS)


def _moved(line: bytes, seconds: float) -> bytes:
    """A line as it is when its clock is so many seconds further."""
    found = TIME.match(line)
    if found is None:
        return line
    told = datetime.strptime(found[1].decode(), "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    time = told + timedelta(milliseconds=int(found[2]), seconds=seconds)
    return f"[{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03}]".encode() + line[found.end() :]
