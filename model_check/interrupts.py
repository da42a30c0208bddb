"""Ctrl-C as it arrives: while the program loads, while a verb runs, or in the middle of a call of z3.

While it loads, nothing is at stake, and an exception in the middle of an import would come out as a traceback, or not
at all: the program ends at once. A verb has things to put away, and gets KeyboardInterrupt. In the middle of a call of
z3, ctypes makes an error of its own out of that.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from model_check.verdicts import EXIT_CODES, Verdict

NOTHING_MORE = "interrupted; nothing more was checked"
"""What is said where nothing else is left to say."""

STDERR = 2


def end_at_once() -> None:
    """From now on Ctrl-C ends the program with a line and INCOMPLETE; where it is ignored, it stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def _end(_signal: int, _frame: FrameType | None) -> None:
    with suppress(OSError):
        os.write(STDERR, f"kcheck: {NOTHING_MORE}\n".encode())
    os._exit(EXIT_CODES[Verdict.INCOMPLETE])


@contextmanager
def raising() -> Iterator[None]:
    """Inside, Ctrl-C raises KeyboardInterrupt, and does not end the program at once."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


def is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error; while it converts an argument, ctypes keeps only its name."""
    return isinstance(error, KeyboardInterrupt) or (
        isinstance(error, ctypes.ArgumentError) and KeyboardInterrupt.__name__ in str(error)
    )
