"""Long work: an estimate before it, a bar during it, and Ctrl-C that ends it with what is known so far.

Bars go to standard error, and only to a terminal; in CI and in pipes there is silence. What cannot fit is refused
before it starts, where the manifest or the person says how large it will be.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from model_check.verdicts.interrupts import Interrupt, the_verbs
from spec.errors import EnvironmentFailure, LacksMemory

GIB = 1 << 30


def is_alone() -> bool:
    """Whether work is shown by itself: a person watches, and it is no part of something larger that is shown."""
    return is_watched() and not _hosts


def is_watched() -> bool:
    """Whether a person sits at a terminal and sees bars."""
    return sys.stderr.isatty() and "CI" not in os.environ


def note(message: str) -> None:
    """Print a line for the person who waits, to standard error, where no reader of results looks."""
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()


class Report(Protocol):
    """What work calls to tell how far it is: how much is done, of how much if that has changed, and what it does."""

    def __call__(self, done: int, what: str = "", of: int | None = None) -> None:
        """Tell it."""


_hosts: list[Report] = []


@contextmanager
def reported_to(host: Report) -> Iterator[None]:
    """Inside, work is part of something larger that is shown as a whole: its bars report there, and are not drawn."""
    _hosts.append(host)
    try:
        yield
    finally:
        _hosts.pop()


@contextmanager
def bar(title: str, expected: int | None = None) -> Iterator[Report]:
    """A bar that work reports to; `expected` is how much there is to do, if anybody knows."""
    if _hosts:
        host = _hosts[-1]
        yield lambda done, what="", of=None: host(done, what, of or expected)
        return
    if not is_watched():
        yield _tell_nobody
        return
    from model_check.waiting.drawn_bars import drawn_bar

    with drawn_bar(title, expected) as report:
        yield report


def _tell_nobody(done: int, what: str = "", of: int | None = None) -> None:
    """What work calls where nobody watches."""


class Explored(Protocol):
    """How far an exploration is."""

    @property
    def states(self) -> int:
        """How many states are known."""

    @property
    def depth(self) -> int:
        """How many steps the farthest is away."""

    @property
    def memory_bytes(self) -> int:
        """What they take."""


@contextmanager
def states_bar(title: str, expected: int | None) -> Iterator[Callable[[Explored], None]]:
    """A bar that an exploration reports to; `expected` states, if anybody knows."""
    with bar(title, expected) as report:

        def told(explored: Explored) -> None:
            memory = f"{explored.memory_bytes / GIB:.1f} GiB"
            report(explored.states, f"depth {explored.depth}, {memory}", expected or explored.states)

        yield told


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
    """EnvironmentFailure if so many bytes are needed and not free; of memory, LacksMemory."""
    if needed > free:
        raise (LacksMemory if where == "memory" else EnvironmentFailure)(
            f"{what} needs about {_shown(needed)} of {where}, and {_shown(free)} are free",
            "take a smaller scope, or stop early with --limit",
        )


def _shown(size: int) -> str:
    """A number of bytes as one would say it."""
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / (1 << 20):.1f} MiB"
