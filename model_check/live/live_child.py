"""A broker process as its parent has it: started, ordered about, ended; and why, where it ends by itself."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from reference.broker_process import STARTED, Exit
from spec.errors import EnvironmentFailure

BROKER_MODULE: Final = "reference.broker_process"


class Child:
    """A broker process: a module that is run with these options; what it complains of goes to a file."""

    def __init__(self, module: str, options: Mapping[str, object], errors: Path) -> None:
        with errors.open("wb") as words:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, *(f"--{name}={value}" for name, value in options.items())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=words,
                start_new_session=True,  # Ctrl-C is for us, who then end the brokers in order
            )
        self._errors = errors
        self._said = b""

    @property
    def has_started(self) -> bool:
        """Whether it has said that it is registered."""
        assert self.process.stdout is not None  # noqa: S101 - we gave it one
        while STARTED.encode() not in self._said and select.select([self.process.stdout], [], [], 0)[0]:
            part = os.read(self.process.stdout.fileno(), 1024)
            if not part:
                break
            self._said += part
        return STARTED.encode() in self._said

    def has_started_or_ended(self) -> bool:
        """Whether there is nothing to wait for any more."""
        return self.has_started or self.process.poll() is not None

    @property
    def has_failed(self) -> bool:
        """Whether it ended by itself, and neither because its id was taken nor because it was told to."""
        return self.process.poll() not in (None, Exit.REGISTERED, Exit.TOLD_TO_STOP)

    def failure(self) -> Exception:
        """Why it did."""
        words = self._errors.read_text(encoding="utf-8", errors="replace").strip()
        last = words.splitlines()[-1] if words else f"a broker ended with {self.process.returncode} and said nothing"
        if self.process.returncode == Exit.ENVIRONMENT:
            return EnvironmentFailure(last, "the recording ends there")
        return RuntimeError(f"a broker of the reference failed: {words or last}")

    def order(self, line: str) -> None:
        """Write a line to its standard input."""
        assert self.process.stdin is not None  # noqa: S101 - we gave it one
        with suppress(BrokenPipeError):
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()

    def end(self) -> None:
        """Kill it, and wait until it is gone."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
