"""Ctrl-C as it arrives: while the program loads, while a verb runs, or in the middle of a call of z3.

SIGTERM, which a CI sends where a person presses Ctrl-C, does the same.

While it loads, nothing is at stake, and an exception in the middle of an import would come out as a traceback, or not
at all: the program ends at once. A verb has things to put away, and gets KeyboardInterrupt. In the middle of a call of
z3, ctypes makes an error of its own out of that; and while Python throws an object of z3's away, it would drop it. So a
verb has one `Interrupt`, which remembers: whoever asks it later stops then.
"""

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

from model_check.verdicts.verdict import EXIT_CODES, INTERRUPTED, Verdict

NOTHING_MORE = f"{INTERRUPTED}; nothing more was checked"
"""What is said where nothing else is left to say."""

STDERR = 2


SIGNALS: Final = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
"""The two, with what each does in a Python by default."""


def end_at_once() -> None:
    """From now on Ctrl-C ends the program with a line and INCOMPLETE; where it is ignored, it stays so."""
    for number, default in SIGNALS.items():
        if signal.getsignal(number) is default:
            signal.signal(number, _end)


def _end(_signal: int, _frame: FrameType | None) -> None:
    with suppress(OSError):
        os.write(STDERR, f"kcheck: {NOTHING_MORE}\n".encode())
    os._exit(EXIT_CODES[Verdict.INCOMPLETE])


class Interrupt:
    """Whether Ctrl-C was pressed since a verb began; it raises KeyboardInterrupt the first time, too, if `raises`."""

    def __init__(self, *, raises: bool) -> None:
        self.pressed, self.raises = False, raises

    def __call__(self) -> bool:
        """Whether to stop now."""
        return self.pressed

    def press(self, _signal: int, frame: FrameType | None) -> None:
        """What the signal does."""
        raises, self.pressed = self.raises or self.pressed, True
        if raises and not _is_thrown_away(frame):
            raise KeyboardInterrupt


def _is_thrown_away(frame: FrameType | None) -> bool:
    """Whether an exception in a frame goes nowhere: Python only prints what a `__del__` raises."""
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


def the_verbs() -> Interrupt | None:
    """The interrupt of the verb that runs, if one listens."""
    listen = (getattr(signal.getsignal(number), "__self__", None) for number in SIGNALS)
    return next((one for one in listen if isinstance(one, Interrupt)), None)


@contextmanager
def raising() -> Iterator[Interrupt]:
    """Inside, Ctrl-C raises KeyboardInterrupt, and does not end the program at once; a verb's own hears of it.

    SIGTERM does so where it would end the program with a line. A helper's ends it: that is how it is told to end.
    """
    interrupt = the_verbs() or Interrupt(raises=True)
    before = {number: signal.getsignal(number) for number in SIGNALS}
    taken = [number for number, does in before.items() if does in (_end, signal.default_int_handler)]
    for number in taken:
        signal.signal(number, interrupt.press)
    try:
        yield interrupt
    finally:
        for number in taken:
            signal.signal(number, before[number])


def is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error; while it converts an argument, ctypes keeps only its name."""
    return isinstance(error, KeyboardInterrupt) or (
        isinstance(error, ctypes.ArgumentError) and KeyboardInterrupt.__name__ in str(error)
    )
