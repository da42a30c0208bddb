"""The standard streams as a shell may leave them: closed (`>&-`), full, or read by nobody any more (`| head -1`).

What is closed is opened on /dev/null: else the first file that is opened would get its number, and be written to by
whoever prints. Only the exit code then gives the verdict.

What is printed may come from a file that somebody else wrote. A terminal must not obey it (`harmless`), and a stream
whose encoding lacks a character must not fail over it.
"""

import os
import re
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import Final

from model_check.reports.characters import DIRECTIONS

STREAMS: Final = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
"""By their numbers, 0 to 2, with how each is opened."""


COMMANDS: Final = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{DIRECTIONS}]")
"""What a terminal may obey: controls except tabs and line ends, what turns the direction; and halves of characters."""


def harmless(text: str) -> str:
    r"""A text in which whatever a terminal would obey is written as Python writes it, such as `\x1b`."""
    return COMMANDS.sub(lambda one: repr(one[0])[1:-1], text)


def spell_out_what_has_no_code() -> None:
    """From now on a character that the encoding of standard output lacks is written as Python writes it."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def open_what_is_closed() -> None:
    """From now on each of the three can be read or written, and children inherit it."""
    for number, (name, mode) in enumerate(STREAMS):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)  # which children inherit
            if null != number:
                os.close(null)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - until we end


def give_up_what_is_broken() -> None:
    """What nobody reads goes nowhere from now on, so that Python does not complain once more when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
