"""Ctrl-C as it arrives: in the middle of a call of z3, ctypes makes an error of its own out of it."""

from __future__ import annotations

import ctypes


def is_interrupt(error: BaseException) -> bool:
    """Whether Ctrl-C is behind an error; while it converts an argument, ctypes keeps only its name."""
    return isinstance(error, KeyboardInterrupt) or (
        isinstance(error, ctypes.ArgumentError) and KeyboardInterrupt.__name__ in str(error)
    )
