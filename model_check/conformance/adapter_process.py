"""An adapter's process: asked a line, it answers a line, or something is wrong with it.

It may hang, flood, print garbage or die: then the question that was asked ends as an error, and it is killed with all
that it has started. Its standard error is its own. The janitor ends it if we are killed.
"""

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from model_check.conformance.protocol import shown
from model_check.live.janitor import watched_process
from spec.errors import BadInput, SpecError

LOOK: Final = 0.2
"""So many seconds pass at most until it is seen that we are to stop."""
MOST: Final = 16 << 20
"""Bytes of one answer, at most."""


class AdapterFailed(SpecError):
    """The adapter gave no answer; the message says what happened."""


class AdapterProcess:
    """The process, as a context manager; BadInput where the command cannot be run."""

    def __init__(self, command: Sequence[str], seconds: float, stop: Callable[[], bool] = lambda: False) -> None:
        if shutil.which(command[0]) is None:
            raise BadInput(f"{command[0]!r} is no program that can be run; name the adapter behind --")
        self._seconds, self._stop = seconds, stop
        self._process = watched_process(command, stdout=subprocess.PIPE, stderr=None)
        self._left = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()

    def ask(self, line: str) -> str:
        """The line that it answers; AdapterFailed where none comes in time, or one has come unasked.

        KeyboardInterrupt is raised once `stop` says so.
        """
        if self._left or self._has_more():
            raise AdapterFailed(f"it printed something before it was asked: {_shown(self._left + self._read(0))}")
        self.tell(line)
        until = time.monotonic() + self._seconds
        while b"\n" not in self._left:
            self._left += self._read(until - time.monotonic())
            if len(self._left) > MOST:
                raise AdapterFailed(f"it printed more than {MOST >> 20} MiB before the end of a line")
        answer, _, self._left = self._left.partition(b"\n")
        if self._left.strip():
            raise AdapterFailed(f"it printed more than one line: {_shown(self._left)}")
        return answer.decode("utf-8", errors="replace")

    def tell(self, line: str) -> None:
        """Write a line to it."""
        assert self._process.stdin is not None  # noqa: S101 - we gave it one
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise AdapterFailed(self._how_it_ended()) from error

    def _has_more(self) -> bool:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        return bool(select.select([self._process.stdout], [], [], 0)[0]) and self._process.poll() is None

    def _read(self, seconds: float) -> bytes:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        until = time.monotonic() + max(0.0, seconds)
        while not select.select([self._process.stdout], [], [], min(LOOK, max(0.0, until - time.monotonic())))[0]:
            if self._stop():
                raise KeyboardInterrupt
            if time.monotonic() < until:
                continue
            printed = f", and printed {_shown(self._left)}" if self._left else ""
            raise AdapterFailed(f"it gave no answer within {self._seconds:g} s{printed}")
        data = os.read(self._process.stdout.fileno(), 1 << 16)
        if not data:
            raise AdapterFailed(self._how_it_ended())
        return data

    def _how_it_ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(0.2)
            return f"it ended with exit code {code}" if code >= 0 else f"it was ended by {signal.Signals(-code).name}"
        return "it has closed its output"

    def end(self) -> None:
        """End it and whatever it has started."""
        self._process.end()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


def _shown(data: bytes) -> str:
    return shown(data.decode("utf-8", errors="replace").strip())
