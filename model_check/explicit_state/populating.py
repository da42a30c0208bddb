"""Memory ahead of its use: a second thread has the operating system lay out the pages that a search will write next.

A page is made and cleared when it is first touched. Where the machine is virtual its host has to make it, too, and then
this takes as long as all of the search: some 4 seconds a gigabyte were measured, 300 ns a state. So it is done beside
the search, for a short stretch beyond what is in use; what the pages hold is not changed. Where no core is to spare, or
on a system without this call, the search touches its pages by itself.
"""

import ctypes
import multiprocessing
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy.typing as npt

AHEAD = 32 << 20
"""Bytes of an array that are laid out beyond those in use, at most; and never more than are in use."""

PAGE = 2 << 20
"""Bytes of a large page."""

MADV_POPULATE_WRITE = 23
"""Linux 5.14: make the pages of a range as if each was written to."""

Growing = tuple[npt.NDArray[Any], Callable[[], int]]
"""An array that is filled from its beginning, and how many of its entries (rows) are in use."""


class Populating:
    """Keeps the pages behind growing arrays, which stay in place, laid out; call `advance` when they have grown."""

    def __init__(self, arrays: Sequence[Growing]) -> None:
        wanted = arrays if has_a_core_to_spare() else ()
        self._arrays = [(array, used, [0]) for array, used in wanted if array.nbytes >= PAGE]
        self._grown, self._ended = threading.Event(), False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._grown.set()
        self._thread.join()

    def advance(self) -> None:
        """More is in use than before."""
        self._grown.set()

    def _run(self) -> None:
        while self._arrays and not self._ended:
            self._grown.wait()
            self._grown.clear()
            for array, used, populated in self._arrays:
                begin, end = stretch(array.nbytes, used() * array.strides[0], populated[0])
                if self._ended:
                    return
                if begin < end:
                    if not populate(array.ctypes.data, begin, end):
                        return
                    populated[0] = end


def has_a_core_to_spare() -> bool:
    """Whether there is more than one core, and no process of ours beside this one, which would want it."""
    return cores() > 1 and multiprocessing.parent_process() is None and not multiprocessing.active_children()


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def stretch(size: int, used: int, populated: int) -> tuple[int, int]:
    """From where to where to lay out an array of so many bytes: a small part at a time; may be nothing."""
    begin = max(used, populated)
    end = min(size, used + min(AHEAD, used), begin + AHEAD // 4)
    return begin, max(begin, end)


def populate(address: int, begin: int, end: int) -> bool:
    """Lay out the large pages that begin in a stretch behind an address; false if the system does not."""
    start, length = whole_pages(address + begin, address + end)
    return length == 0 or _madvise(start, length, MADV_POPULATE_WRITE) == 0


def whole_pages(start: int, end: int) -> tuple[int, int]:
    """The first large page that begins in a range of addresses, and the bytes to the last one's; none is left out."""
    first = -(-start // PAGE) * PAGE
    return first, max(0, -(-end // PAGE) * PAGE - first)


def _madvise(start: int, length: int, advice: int) -> int:
    """The C library's call, made without the interpreter's lock, unlike that of `mmap`; -1 where there is none."""
    call = getattr(ctypes.CDLL(None), "madvise", None)
    if call is None:
        return -1
    return int(call(ctypes.c_void_p(start), ctypes.c_size_t(length), ctypes.c_int(advice)))
