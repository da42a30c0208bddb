"""What cleans up after a run that cannot: a small process that outlives us, should we be killed, by a moment.

It is given the process groups and the folders that are there only for the run. As long as we live it does nothing. Once
its input ends, because we have ended in whatever way, it kills what is left of the groups, and whoever has our mark
(`marks.py`), and removes the folders.

    process = watched_process(["java", "-version"])
    ...
    process.end()                      # with all that it has started
"""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

from model_check.live import marks

_PROGRAM: Final = """
import shutil, sys, time
watched = {"group": set(), "folder": set()}
for line in sys.stdin.buffer:
    sign, kind, what = line[:-1].split(b" ", 2)
    (watched[kind.decode()].add if sign == b"+" else watched[kind.decode()].discard)(what)
for group in watched["group"]:
    try:
        os.killpg(int(group), signal.SIGKILL)
    except OSError:
        pass
if len(sys.argv) > 1:
    kill_marked(sys.argv[1])
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
        self.mark = secrets.token_hex(8)
        """That of all processes that are started to be watched; each has a number behind it."""
        program = Path(marks.__file__).read_text("utf-8") + _PROGRAM
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-E", "-c", program, self.mark],
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


_ONCE_WATCHED: Final = """
import os, signal, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)
except (ImportError, OSError, AttributeError):
    pass
if not os.read(0, 1):
    sys.exit("the process that started this one was gone before it could be watched")
try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as error:
    sys.exit(f"{sys.argv[1]}: {error.strerror}")
"""
"""Becomes the command once it is watched, which a byte on its input tells: what began before might outlive us all.

The kernel kills it when the process that started it is gone (only Linux can).
"""


class Watched(subprocess.Popen[Any]):
    """A process that leads a group of its own; what it starts has its mark."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self.mark = f"{janitor().mark}-{next(_NUMBERS)}."
        environment = {**(options.pop("env", None) or os.environ)}
        environment[marks.NAME] = f"{environment.get(marks.NAME, '')} {self.mark}".strip()
        super().__init__(
            [sys.executable, "-S", "-E", "-c", _ONCE_WATCHED, *command],
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for us, who then end the process in order
            env=environment,
            **options,
        )

    def end(self) -> None:
        """Kill it and all that it has started, and wait until it is gone."""
        for _ in range(2):  # whatever was started just then, too
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self.wait()
        marks.kill_marked(self.mark)
        janitor().forget(self.pid)


_NUMBERS: Final = count(1)


def watched_process(command: Sequence[str], **options: Any) -> Watched:
    """A process that leads a group of its own, and does not outlive us; `options` are those of `subprocess.Popen`."""
    process = Watched(command, **options)
    janitor().watch(process.pid)
    assert process.stdin is not None  # noqa: S101 - we gave it one
    with suppress(BrokenPipeError):
        os.write(process.stdin.fileno(), b"\n")
    return process


@contextmanager
def short_lived_process(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that ends with the block, with all that it has started, and with us; its output is one text."""
    with watched_process(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.end()


@contextmanager
def short_lived(what: int | Path) -> Iterator[None]:
    """A process group, or a folder, that goes with us while the block runs; what becomes of it then is the caller's."""
    janitor().watch(what)
    try:
        yield
    finally:
        janitor().forget(what)
