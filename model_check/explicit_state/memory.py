"""How much memory there is: what the machine has free, and what the control groups of this process leave of that.

A container is a control group with a limit: whoever takes more is killed without a word, however much the machine has.
Of version 1 as of version 2 each group on the way up counts, since a limit holds for all that is below.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

PROCESS: Final = Path("/proc/self")
"""Where Linux tells of this process: its control groups, and where those are mounted."""


class _Files(NamedTuple):
    """The files of a group that have its limit and its usage, in bytes, and what of the latter are idle file caches."""

    limit: str
    used: str
    caches: str


VERSION_1: Final = _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
VERSION_2: Final = _Files("memory.max", "memory.current", "inactive_file")


def free_memory() -> int:
    """Bytes that this process may take. File caches count as free where the system tells, of a group the idle ones."""
    return min([_of_machine(), *_of_groups(PROCESS)])


def _of_machine() -> int:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123 - a kernel file, not a path of ours
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _of_groups(process: Path) -> Iterator[int]:
    """What each control group of a process leaves that has a limit."""
    for mount, group, files in _hierarchies(process):
        inside = mount / group.strip("/")  # in a container without a namespace of its own that is not there
        for folder in (inside, *inside.parents):
            if folder.is_relative_to(mount):
                yield from _left(folder, files)


def _hierarchies(process: Path) -> Iterator[tuple[Path, str, _Files]]:
    """Where groups with limits of memory are mounted, and which of them is the process's."""
    try:
        groups = [line.split(":", 2)[1:] for line in (process / "cgroup").read_text().splitlines()]
        mounts = [line.split() for line in (process / "mounts").read_text(errors="surrogateescape").splitlines()]
    except OSError:
        return
    for _, folder, kind, options, *_ in mounts:
        if kind == "cgroup2":
            yield from ((Path(folder), group, VERSION_2) for controllers, group in groups if not controllers)
        elif kind == "cgroup" and "memory" in options.split(","):
            of_memory = (group for controllers, group in groups if "memory" in controllers.split(","))
            yield from ((Path(folder), group, VERSION_1) for group in of_memory)


def _left(folder: Path, files: _Files) -> Iterator[int]:
    """What a group leaves, if it has a limit."""
    try:
        limit, used = (int((folder / name).read_text()) for name in (files.limit, files.used))
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):  # no such file, or "max"
        return
    yield max(0, limit - used + int(stat.get(files.caches, 0)))
