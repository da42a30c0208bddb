"""How a question about a mutant is answered: a command runs in a copy of the checkout, for so long at most.

A mutant is caught by a command that fails, or hangs, if the same command passes on the copy as it was. That is asked
once for each command; of tests only the one that failed. So nothing that fails anyway, or takes too long anyway, passes
for a catch: then the baseline is broken, which is said, and nothing more is asked.
"""

import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model_check.live.janitor import watched_process
from model_check.mutation.questions import PYTEST, Question
from spec.errors import EnvironmentFailure

BYTES: Final = 6 << 30
"""What a process may have of memory: a mutant may never stop to fill a list."""
PAGE: Final = resource.getpagesize()
LAST: Final = 400
"""So much of what a command says last is printed where the baseline fails."""


class Stopped(Exception):
    """Somebody pressed Ctrl-C."""


@dataclass(frozen=True)
class Answer:
    """How a command ended: its exit code, None if its time or its memory was over; and what it said."""

    code: int | None
    said: str = ""

    @property
    def passes(self) -> bool:
        """Whether it noticed nothing."""
        return self.code == 0


def answered(command: Sequence[str], folder: Path, seconds: float, stop: Callable[[], bool]) -> Answer:
    """Run a command in a copy until it ends, or its time is over; Stopped once `stop` says so."""
    with tempfile.TemporaryFile() as said:
        options = {"stdout": said, "stderr": subprocess.STDOUT, "cwd": folder, "env": _environment(folder)}
        with watched_process(command, **options) as process:
            try:
                code = _ended(process, time.monotonic() + seconds, stop)
            finally:
                process.end()
        said.seek(0)
        return Answer(code, said.read().decode(errors="replace"))


def _ended(process: subprocess.Popen[Any], end: float, stop: Callable[[], bool]) -> int | None:
    """The exit code of a process; None once its time or its memory is over."""
    while not stop():
        try:
            return process.wait(0.1)
        except subprocess.TimeoutExpired:
            if time.monotonic() > end or _bytes_of(process.pid) > BYTES:
                return None
    raise Stopped


def _environment(folder: Path) -> dict[str, str]:
    """Its modules are the copy's, its results stay there, and Hypothesis tries the same examples each time."""
    own = {"PYTHONPATH": str(folder), "KCHECK_CACHE": str(folder / ".kcheck"), "CI": "true", "PYTHONHASHSEED": "0"}
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | own


def _bytes_of(pid: int) -> int:
    """What a process has of memory, where the system says."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * PAGE
    return 0


class Baseline:
    """What passes on a copy as it was."""

    def __init__(self, seconds: float, stop: Callable[[], bool]) -> None:
        self.seconds, self.stop = seconds, stop
        self._passes: dict[tuple[str, ...], bool] = {}

    def is_caught(self, question: Question, failed: Answer, folder: Path) -> bool:
        """Whether a failure is the mutant's, which is out of the folder by now; false if it takes too long anyway.

        EnvironmentFailure if the command fails without any change.
        """
        command = self._narrowed(question, failed, folder)
        if command not in self._passes:
            answer = answered(command, folder, self.seconds, self.stop)
            if answer.code not in {0, None}:
                shown = " ".join(command[1:])
                raise EnvironmentFailure(
                    f"without any change, `python {shown}` fails: {' '.join(answer.said[-LAST:].split())}",
                    "make that pass first: what fails anyway cannot notice a mutant",
                )
            self._passes[command] = answer.passes
        return self._passes[command]

    @staticmethod
    def _narrowed(question: Question, failed: Answer, folder: Path) -> tuple[str, ...]:
        """Of tests, those that failed; of what hangs, all of them."""
        if not question.tests or failed.code is None:
            return question.command
        return (*PYTEST, *(failed_tests(folder) or question.tests))


FAILED: Final = Path(".pytest_cache", "v", "cache", "lastfailed")


def failed_tests(folder: Path) -> tuple[str, ...]:
    """The tests that failed last, as pytest keeps them; files, where they could not even be loaded."""
    try:
        return tuple(json.loads((folder / FAILED).read_bytes()))
    except (OSError, ValueError):
        return ()


def forget_failed_tests(folder: Path) -> None:
    """Before tests run: what failed for the last mutant does not concern this one."""
    (folder / FAILED).unlink(missing_ok=True)
