"""Who cleans up after a run that cannot: a small process that outlives us, should we be killed, by a moment.

It is told which process groups and which folders are there only for the run. As long as we live it does nothing. Once
its input ends, because we have ended in whatever way, it kills what is left of the groups and removes the folders.

    janitor().watch(process.pid)
    ...
    janitor().forget(process.pid)      # it has been ended, and its number may be another's soon
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

_PROGRAM: Final = """
import os, shutil, signal, sys, time
watched = {"group": set(), "folder": set()}
for line in sys.stdin.buffer:
    sign, kind, what = line[:-1].split(b" ", 2)
    (watched[kind.decode()].add if sign == b"+" else watched[kind.decode()].discard)(what)
for group in watched["group"]:
    try:
        os.killpg(int(group), signal.SIGKILL)
    except OSError:
        pass
for _ in range(50):  # who is being killed may write until it is dead
    for folder in watched["folder"]:
        shutil.rmtree(folder, ignore_errors=True)
    if not any(map(os.path.exists, watched["folder"])):
        break
    time.sleep(0.1)
"""


class Janitor:
    """The process, and the words that it understands."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # it stays when a terminal goes, or Ctrl-C comes
        )

    def watch(self, what: int | Path) -> None:
        """A process group, or a folder, that is not to outlive us."""
        self._say("+", what)

    def forget(self, what: int | Path) -> None:
        """A group that has ended; a folder that is gone, or to be kept after all."""
        self._say("-", what)

    def _say(self, sign: str, what: int | Path) -> None:
        assert self._process.stdin is not None  # noqa: S101 - we gave it one
        told = f"folder {what.resolve()}" if isinstance(what, Path) else f"group {what}"
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{sign} {told}\n".encode())
            self._process.stdin.flush()


@cache
def janitor() -> Janitor:
    """The one of this process, from its first use to our end."""
    return Janitor()


@contextmanager
def short_lived_process(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that ends with the block, with all that it has started, and with us; its output is one text."""
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        ) as process,
        short_lived(process.pid),
    ):
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def short_lived(what: int | Path) -> Iterator[None]:
    """A process group, or a folder, that goes with us while the block runs; what becomes of it then is the caller's."""
    janitor().watch(what)
    try:
        yield
    finally:
        janitor().forget(what)
