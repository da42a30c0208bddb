"""The files that are judged: found, put in order, and cut into pieces that begin at an entry.

A folder is gone through to its ends; of what is in it those files count whose first lines are entries of the loggers
in question, and the others are named. A log that was rolled (state-change.log.2016-09-21-13, controller.log.1) is one
stream of files, in the order of their first lines. A copy of one of them, such as what `gzip --keep` leaves, is named
and not read, for all in it would be there twice.
"""

import mmap
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, NamedTuple

from model_check.logs import packed
from model_check.logs.heads import LONGEST, is_day
from model_check.logs.patterns import OURS
from model_check.logs.printing import printable
from spec.errors import BadInput, EnvironmentFailure
from spec.logs.log_entries import HEAD

PIECE: Final = 8 << 20
"""Bytes of a piece, or a little more."""
LOOKED_AT: Final = 256 << 10
"""Bytes at the beginning and at the end of a file that tell what it is, and of when."""
ENTRY: Final = re.compile(rb"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] ", re.MULTILINE)
ROLLED: Final = re.compile(r"\.log(?:[.-][\w.-]*)?$")
KNOWN_BY: Final = 1 << 10
"""Bytes at the beginning of a file by which a copy of it is known."""
JAR: Final = ".jar"
"""What holds classes is no log, however it is packed; a folder of Kafka's has many."""
CURRENT: Final = ("controller.log", "server.log", "state-change.log")
"""What Kafka's log4j.properties calls the files that are being written."""
STARTS: Final = (
    b"Controller starting up (",
    b"Controller startup complete (",
    b"[ControllerEventThread controllerId=",
    b"[KafkaServer id=",
    b"[Kafka Server ",
)
START: Final = re.compile(
    r"\[Controller (\d{1,10})\]: Controller start(?:ing up|up complete)"
    r"|\[ControllerEventThread controllerId=(\d{1,10})\] Starting"
    r"|\[KafkaServer id=(\d{1,10})\] start(?:ing|ed)|\[Kafka Server (\d{1,10})\], start(?:ing|ed)"
)
"""What a process says when it starts; more than once and in two logs, of which one may have lost a line."""


@dataclass(frozen=True)
class LogFile:
    """A file with its name as findings print it, its size, the times of its first and last entry, if it has any, and
    how it begins.
    """

    path: Path
    name: str
    size: int
    first: str = ""
    last: str = ""
    begin: bytes = b""

    @property
    def is_current(self) -> bool:
        """Whether it is what its broker writes to, and so tells all up to the end."""
        return self.path.name in CURRENT


@dataclass(frozen=True)
class FileStream:
    """The files of one log, in their order."""

    files: tuple[LogFile, ...]

    @property
    def name(self) -> str:
        """The last file's name, without what was added when it was rolled."""
        return ROLLED.sub(".log", self.files[-1].name)

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self.files[-1].path.parent

    @property
    def is_standard(self) -> bool:
        """Whether it has a name of log4j.properties, so that what stands beside it is the same broker's."""
        return Path(self.name).name in CURRENT


class LeftOut(NamedTuple):
    """A file that is not read, as findings name it, and why; nothing where it is no log in question."""

    name: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.why})" if self.why else self.name


class Cut(NamedTuple):
    """A piece of a file that is still to be read: of which stream and file, and its bytes."""

    stream: int
    file: int
    path: str
    start: int
    end: int


def streams_of(paths: Sequence[Path]) -> tuple[list[FileStream], list[LeftOut]]:
    """The logs at some paths, and other files that are there; BadInput where there is no log."""
    found, others = dict[Path, LogFile](), list[LeftOut]()
    for path in paths:
        for one, root in _below(path):
            file = _looked_at(one, root, is_named=one == path)
            if isinstance(file, LeftOut):
                others.append(file)
            else:
                found.setdefault(one.resolve(), file)
    if not found:
        unread = [str(one) for one in sorted(others) if one.why]
        raise BadInput(
            f"{', '.join(map(str, paths))}: no file in it is a log of Kafka's, with lines as"
            " '[2016-09-21 13:05:09,418] TRACE ... (state.change.logger)'; name state-change.log, controller.log or"
            " server.log, or a folder that has them"
            + (f"; not read: {', '.join(unread[:6])}{', ..' if len(unread) > 6 else ''}" if unread else "")
        )
    together: dict[tuple[Path, str], list[LogFile]] = {}
    for file in found.values():
        together.setdefault((file.path.parent, ROLLED.sub(".log", file.path.name)), []).append(file)
    streams = list[FileStream]()
    for some in together.values():
        kept, copies = _without_copies(some)
        streams.append(FileStream(tuple(sorted(kept, key=lambda one: (one.first, one.name)))))
        others += copies
    return sorted(streams, key=lambda one: one.name), sorted(others)


def _without_copies(files: Sequence[LogFile]) -> tuple[list[LogFile], list[LeftOut]]:
    """The files of a log, without those that are the beginning of another one, or all of it; and these."""
    kept, copies = list[LogFile](), list[LeftOut]()
    for one in sorted(files, key=lambda one: (-one.size, not one.is_current, one.name)):
        of = next((other for other in kept if one.begin and other.begin.startswith(one.begin)), None)
        if of is None:
            kept.append(one)
        else:
            copies.append(LeftOut(one.name, f"a copy of {of.name}"))
    return kept, copies


def _below(path: Path) -> Iterator[tuple[Path, Path]]:
    """The files at a path, each with the folder from which it is named."""
    if path.is_dir():
        for one in sorted(path.rglob("*")):
            if one.is_file():
                yield one, path
    elif path.is_file():
        yield path, path
    else:
        reason = "is no file and no folder" if path.exists() else "does not exist"
        raise BadInput(f"{path} {reason}; name a log of Kafka's, or a folder that has some")


def _looked_at(path: Path, root: Path, *, is_named: bool) -> LogFile | LeftOut:
    """A file with what its ends tell; or that it is not read, and why if that is not plain."""
    name = str(path.relative_to(root.parent)) if path != root else str(Path(path.parent.name) / path.name)
    name = printable(name.encode("utf-8", "backslashreplace").decode())
    try:
        with packed.opened(path) as opened:
            begin = opened.read(LOOKED_AT)
        times, is_ours = _times(begin)
        if (how := packed.still_packed(begin)) and (is_named or path.suffix != JAR):
            return _left_out(path, name, f"{how}; unpack it first", is_named=is_named)
        if not is_ours and not is_named:
            return LeftOut(name)
        end, size = packed.end_of(path, LOOKED_AT)
    except packed.DAMAGE as error:
        reason = f"damaged ({error}); unpack what is left of it first"
        return _left_out(path, name, reason, is_named=is_named)
    except OSError as error:
        raise EnvironmentFailure(f"{path} cannot be read: {error.strerror}", "see to its permissions") from error
    last, _ = _times(end)
    return LogFile(path, name, size, times[0] if times else "", last[-1] if last else "", begin[:KNOWN_BY])


def _left_out(path: Path, name: str, reason: str, *, is_named: bool) -> LeftOut:
    if is_named:
        raise BadInput(f"{path} is {reason}")
    return LeftOut(name, reason.partition(";")[0])


def _times(data: bytes) -> tuple[list[str], bool]:
    """When entries were written, and whether one is of a logger in question."""
    heads = [HEAD.fullmatch(one[:4096].rstrip("\r")) for one in data.decode("utf-8", "replace").splitlines()]
    found = [one for one in heads if one and is_day(one[1][:10])]
    return [one[1] for one in found], any(one[4].startswith(OURS) for one in found)


def cuts_of(streams: Sequence[FileStream], size: int = PIECE) -> Iterator[Cut]:
    """The pieces of all files, in order; each begins at an entry, except a file's first."""
    for number, stream in enumerate(streams):
        for index, file in enumerate(stream.files):
            start = 0
            with packed.opened(file.path) as opened:
                while start < file.size:
                    end = _next_entry(opened, start + size, file.size)
                    yield Cut(number, index, str(file.path), start, end)
                    start = end


def _next_entry(opened: IO[bytes], at: int, size: int) -> int:
    """Where the first entry begins at or after a byte, or the file ends."""
    overlap = 64
    while at < size:
        opened.seek(at - 1)
        block = opened.read(LOOKED_AT + overlap)
        for found in ENTRY.finditer(block):
            if found.start() and block[found.start() - 1 : found.start()] == b"\n":
                return at - 1 + found.start()
        at += LOOKED_AT
    return size


def lines_of(cut: Cut) -> Iterator[str]:
    """The lines of a piece; of one that is longer than anything Kafka writes, the beginning."""
    with packed.opened(Path(cut.path)) as opened:
        opened.seek(cut.start)
        left = cut.end - cut.start
        while left > 0 and (line := opened.readline(min(left, LONGEST))):
            left -= len(line)
            rest = line
            while not rest.endswith(b"\n") and left > 0 and (rest := opened.readline(min(left, LONGEST))):
                left -= len(rest)
            yield line.decode("utf-8", "backslashreplace")


def starts_in(stream: FileStream) -> Iterator[tuple[int, str]]:
    """Each start of a process that a log tells, with its broker and time; found without reading all else."""
    for file in stream.files:
        if not file.size:
            continue
        if packed.is_gzip(file.path):
            with packed.opened(file.path) as unpacked:
                for line in iter(lambda: unpacked.readline(LONGEST), b""):
                    yield from _start(line.rstrip(b"\n")) if any(mark in line for mark in STARTS) else ()
            continue
        with file.path.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for mark in STARTS:
                at = data.find(mark)
                while at >= 0:
                    begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
                    yield from _start(data[max(begin, at - 4096) : end if end >= 0 else at + 4096])
                    at = data.find(mark, at + 1)


def _start(line: bytes) -> Iterable[tuple[int, str]]:
    found = HEAD.fullmatch(line[:8192].decode("utf-8", "replace").rstrip("\r"))
    told = START.fullmatch(found[3]) if found else None
    return [(int(next(filter(None, told.groups()))), found[1])] if found and told and is_day(found[1][:10]) else []
