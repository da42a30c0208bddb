"""What several checks are doing: for a person at a terminal a picture that moves, for a file a line for each that ends.

On a terminal there is a bar for all checks, with about how long the rest will take, and a row for each process: which
check it makes, and how far that is, as the check itself says or as its expected time does. Elsewhere, in CI or a pipe,
a line says how a check ended, after how many seconds, and how many are left.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from model_check.waiting.progress import is_watched, note, reported_to


class Board(Protocol):
    """Told what begins, and what ends; by any thread."""

    def begun(self, process: int, title: str, seconds: float) -> None:
        """A process begins with something that should take so many seconds; the first process is 0."""

    def ended(self, title: str, said: str, seconds: float, *, is_news: bool) -> None:
        """Something ended, with what is said of it, after so many seconds; news is printed in any case."""


@contextmanager
def board(title: str, number: int, expected: float, processes: int) -> Iterator[Board]:
    """Whatever suits standard error: a picture, or lines; `expected` seconds of work for all processes together."""
    if not is_watched():
        yield Lines(number)
        return
    from model_check.waiting.picture import drawn

    with drawn(title, number, expected, processes) as picture, reported_to(picture.far):
        yield picture


@dataclass
class Lines:
    """A line for each check that ends."""

    number: int
    done: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begun(self, process: int, title: str, seconds: float) -> None:
        """Nothing: what begins is printed when it ends."""

    def ended(self, title: str, said: str, seconds: float, *, is_news: bool) -> None:  # noqa: ARG002 - all are told
        """The line."""
        with self.lock:
            self.done += 1
            left = f"{self.number - self.done} left" if self.done < self.number else "the last"
            note(f"{seconds:7.1f} s  {title}: {said}  [{left}]")
