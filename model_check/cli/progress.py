"""Long work: an estimate before it, a bar during it, and Ctrl-C that ends it with what is known so far.

Bars go to standard error, and only to a terminal; in CI and in pipes there is silence. What cannot fit is refused
before it starts, where the manifest or the person says how large it will be.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from model_check.interrupts import Interrupt, the_verbs
from spec.errors import EnvironmentFailure

GIB = 1 << 30


class Explored(Protocol):
    """How far an exploration is; `explorer.Progress` is one."""

    @property
    def states(self) -> int:
        """States found."""

    @property
    def depth(self) -> int:
        """The level being expanded."""

    @property
    def memory_bytes(self) -> int:
        """Memory in use."""


def is_watched() -> bool:
    """Whether a person sits at a terminal and sees bars."""
    return sys.stderr.isatty() and "CI" not in os.environ


@contextmanager
def states_bar(title: str, expected: int | None) -> Iterator[Callable[[Explored], None]]:
    """A bar that an exploration reports to; `expected` states, if anybody knows."""
    if not is_watched():
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=expected)

        def report(explored: Explored) -> None:
            at = f"{title}: depth {explored.depth}, {explored.memory_bytes / GIB:.1f} GiB"
            bars.update(task, completed=explored.states, total=expected or explored.states, description=at)

        yield report


@contextmanager
def faults_bar(title: str, expected: int | None) -> Iterator[Callable[[int, str], None]]:
    """A bar that a live run reports to: how many faults are over, of how many, and which comes next."""
    if not is_watched():
        yield lambda _number, _what: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=expected)
        yield lambda number, what: bars.update(task, completed=number, description=f"{title}: {what}")


@contextmanager
def counting_bar(title: str, expected: int) -> Iterator[Callable[[int], None]]:
    """A bar for work that is told how much of it is done."""
    if not is_watched():
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(title, total=expected)
        yield lambda done: bars.update(task, completed=done)


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Inside, Ctrl-C asks the work to stop and to tell what it has; `SIGTERM` does the same.

    A second time it raises KeyboardInterrupt. The verb remembers that it was asked, and its next work is asked at once.
    """
    interrupt = the_verbs() or Interrupt(raises=False)
    signals = (signal.SIGINT, signal.SIGTERM)
    raises, interrupt.raises = interrupt.raises, False
    before = {one: signal.signal(one, interrupt.press) for one in signals}
    try:
        yield interrupt
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
        interrupt.raises = raises


def refuse_what_cannot_fit(what: str, needed: int, free: int, where: str = "memory") -> None:
    """EnvironmentFailure if so many bytes are needed and not free."""
    if needed > free:
        raise EnvironmentFailure(
            f"{what} needs about {_shown(needed)} of {where}, and {_shown(free)} are free",
            "take a smaller scope, or stop early with --limit",
        )


def _shown(size: int) -> str:
    """A number of bytes as one would say it."""
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / (1 << 20):.1f} MiB"
