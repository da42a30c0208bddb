"""The processes that were started for a run, whatever group, session or parent they have by now.

What we start has a mark in its environment, and so has all that it starts; Linux lets us read that. It is not found
where it clears its environment, as `env -i` does, or runs as another user; elsewhere than on Linux nobody is. Then only
the process group is ended.
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

NAME = "KCHECK_STARTED"
"""The variable; it has a mark for each kcheck that is around, the outermost first."""
ROUNDS = 50
"""A process that is being killed may start another meanwhile, so often at most."""


def marked(mark: str) -> list[int]:
    """The processes that live and have a mark, or one that begins with it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            variables = (process / "environ").read_bytes().split(b"\0")
            marks = b"".join(one for one in variables if one.startswith(f"{NAME}=".encode())).partition(b"=")[2]
            if any(one.startswith(mark.encode()) for one in marks.split()):
                found.append(int(process.name))
    return found


def kill_marked(mark: str) -> None:
    """Kill them all, until none is left."""
    for _ in range(ROUNDS):
        left = marked(mark)
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not left:
            return
