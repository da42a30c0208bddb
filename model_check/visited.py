"""The set of states seen so far: complete packed states in order of discovery, and a hash table of their numbers.

A state's number is its row in one growing array. The table is open-addressed with linear probing; a slot holds the
state's number plus one and 32 bits of its hash, so that a state is looked at only where those 32 bits agree, and then
it is compared whole: nothing here is probabilistic. Nearly all of a search's time would be spent waiting for memory,
so a batch is looked up in three passes that run a few entries apart: hash and prefetch the slot, read the slot and
prefetch the state that it may name, compare and insert.

The arrays are reserved once as address space and filled from the start, so they grow without being copied. The table
grows by doubling. A slot's place and its bits of the hash tell between them where it belongs in the larger table, so
that takes a single run through memory and no look at any state.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from model_check.native import fold, inlined, loop, prefetch
from model_check.packing import Words

Numbers = npt.NDArray[np.uint32]

SMALLEST_TABLE = 1 << 12
"""Slots of a new table, a power of two."""

FULLEST = 0.8
"""The table grows when more of it than this is taken."""

AHEAD = 16
"""How many entries lie between the passes of a lookup."""

MAP_NORESERVE = 0x4000
"""Linux's flag for address space without a promise of memory; Python names it only from 3.13 on."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FINAL = np.uint64(0xD6E8FEB86659FD93)
_ONE, _HALF, _LOW = np.uint64(1), np.uint64(32), np.uint64(0xFFFFFFFF)

TAG = 24
"""The lowest bit of the tag within the hash; the tag is 32 bits wide.

The highest bits of the hash are the slot where a state belongs, so the tag repeats all but the first eight bits of that
and goes on with bits that the slot does not tell: 13 of them in a table of 128 million slots.
"""


def reserved(count: int, columns: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A zeroed array of shape `[count, columns]` (or `[count]` for 0 columns) that takes memory only where touched."""
    item = np.dtype(dtype).itemsize * max(1, columns)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
    memory = mmap.mmap(-1, max(1, count) * item, flags=flags)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    flat = np.frombuffer(memory, dtype=dtype, count=max(1, count) * max(1, columns))
    return flat.reshape(-1, columns) if columns else flat


@inlined
def hash_row(rows: Words, row: int) -> Any:
    """64 bits that depend on every bit of a packed state, the same on every machine."""
    result, secret, words = np.uint64(0), _GOLDEN, rows.shape[1]
    for pair in range(words >> 1):
        result ^= fold(rows[row, 2 * pair] ^ secret, rows[row, 2 * pair + 1] ^ ~secret)
        secret += _GOLDEN + _GOLDEN
    if words & 1:
        result ^= fold(rows[row, words - 1] ^ secret, _FINAL)
    return fold(result ^ _GOLDEN, _FINAL)


@loop
def hash_rows(rows: Words) -> npt.NDArray[np.uint64]:
    """The hash of each packed state."""
    hashes = np.empty(rows.shape[0], dtype=np.uint64)
    for row in range(rows.shape[0]):
        hashes[row] = hash_row(rows, row)
    return hashes


@loop
def _bits(slots: Words) -> int:
    """The logarithm of a table's size."""
    bits, size = 0, slots.shape[0]
    while size > 1:
        bits, size = bits + 1, size >> 1
    return bits


@inlined
def _stop(slots: Words, slot: Any, tag: Any) -> Any:
    """The first slot, from one on, that is empty or has the tag."""
    last, content = np.uint64(slots.shape[0] - 1), slots[slot]
    while content and content >> _HALF != tag:
        slot = (slot + _ONE) & last
        content = slots[slot]
    return slot


@inlined
def _hint(content: Any, states: Any, row_bytes: Any) -> None:
    """Prefetch the state that a slot names, if it names one; a state may lie across two cache lines."""
    if content:
        address = states + ((content & _LOW) - _ONE) * row_bytes
        prefetch(address)
        prefetch(address + row_bytes - _ONE)


@inlined
def _same(states: Words, number: Any, rows: Words, row: Any) -> Any:
    """Whether a state is the one in a row; branches would guess wrong as often as right."""
    difference = np.uint64(0)
    for word in range(rows.shape[1]):
        difference |= states[number, word] ^ rows[row, word]
    return difference == 0


@inlined
def _store(states: Words, number: Any, rows: Words, row: Any) -> None:
    for word in range(rows.shape[1]):
        states[number, word] = rows[row, word]


@loop
def insert(slots: Words, states: Words, used: int, rows: Words, count: int, places: Words, numbers: Numbers) -> int:
    """Look up the first `count` rows, append those not seen before to the states; gives how many states there are then.

    `numbers[i]` becomes the number of row i's state. New states are numbered in order of rows, from `used` on. There
    must be room for all rows, in the table and among the states. `places` is `uint64[2, n]` for scratch: where to look
    for a row, and its tag. Slots fill up but never change, so a row is looked for on from where a hint was found.
    """
    shift, last = np.uint64(64 - _bits(slots)), np.uint64(slots.shape[0] - 1)
    table, stored, row_bytes = slots.ctypes.data, np.uint64(states.ctypes.data), np.uint64(rows.shape[1] * 8)
    for step in range(count + 2 * AHEAD):
        if step < count:
            hashed = hash_row(rows, step)
            places[0, step], places[1, step] = hashed >> shift, hashed >> np.uint64(TAG) & _LOW
            prefetch(np.uint64(table) + (hashed >> shift) * np.uint64(8))
        hinted, row = step - AHEAD, step - 2 * AHEAD
        if 0 <= hinted < count:
            places[0, hinted] = _stop(slots, places[0, hinted], places[1, hinted])
            _hint(slots[places[0, hinted]], stored, row_bytes)
        if row < 0:
            continue
        slot, tag = places[0, row], places[1, row]
        while True:
            content = slots[slot]
            if content == 0:
                _store(states, used, rows, row)
                numbers[row] = used
                used += 1
                slots[slot] = tag << _HALF | np.uint64(used)
                break
            number = np.int64(content & _LOW) - 1
            if content >> _HALF == tag and _same(states, number, rows, row):
                numbers[row] = number
                break
            slot = (slot + _ONE) & last
    return used


@loop
def spread(old: Words, new: Words, states: Words) -> None:
    """Enter everything of a table into a larger, empty one.

    A slot's tag has the low bits of where its state belongs; the high bits are those of the slot itself, unless the
    run of taken slots before it is so long that they might differ. Then the state is hashed again.
    """
    bits, size = _bits(old), old.shape[0]
    more, span = _bits(new) - bits, 1 << (bits - 64 + 32 + TAG)
    start = 0
    while old[start]:
        start += 1
    run = 0
    for step in range(size):
        slot = (start + step) & (size - 1)
        content = old[slot]
        if content == 0:
            run = 0
            continue
        if run < span:
            tag = np.int64(content >> _HALF)
            home = slot - ((slot - (tag >> (64 - TAG - bits))) & (span - 1))
            home = (home & (size - 1)) << more | (tag >> (64 - TAG - bits - more)) & ((1 << more) - 1)
        else:
            home = np.int64(hash_row(states, np.int64(content & _LOW) - 1) >> np.uint64(64 - bits - more))
        run += 1
        while new[home]:
            home = (home + 1) & (new.shape[0] - 1)
        new[home] = content


class Visited:
    """States by number, numbers by state.

    `rows` is `uint64[capacity, words]`, the first `count` of them are states in order of discovery. The capacity is a
    promise of address space, not of memory.
    """

    def __init__(self, words: int, capacity: int) -> None:
        self.words = words
        self.capacity = min(capacity, (1 << 32) - 2)
        self.count = 0
        self.rows: Words = reserved(self.capacity, words, np.uint64)
        self.slots: Words = reserved(SMALLEST_TABLE, 0, np.uint64)

    @property
    def room(self) -> int:
        """How many states may be known before the table wants to grow, or the address space ends."""
        return min(self.capacity, int(self.slots.shape[0] * FULLEST))

    def make_room(self, more: int, budget: int | None = None) -> None:
        """Let the table grow by doubling until so many further states fit.

        It grows by no more than `budget` bytes, if that is given; whether it was enough, `room` tells.
        """
        size = self.slots.shape[0]
        wanted = size
        while self.count + more > wanted * FULLEST:
            wanted *= 2
        if wanted == size or (budget is not None and (wanted - size) * 8 > budget):
            return
        larger = reserved(wanted, 0, np.uint64)
        spread(self.slots, larger, self.rows)
        self.slots = larger

    def add(self, rows: Words) -> Numbers:
        """The number of each of some states (`uint64[n, words]`); those not seen before get the next numbers.

        MemoryError if they would not all fit, were they all new.
        """
        self.make_room(len(rows))
        if self.count + len(rows) > self.room:
            raise MemoryError(f"{len(rows)} states do not fit: {self.count} of at most {self.capacity} are known")
        places, numbers = np.empty((2, len(rows)), dtype=np.uint64), np.empty(len(rows), dtype=np.uint32)
        self.count = int(insert(self.slots, self.rows, self.count, rows, len(rows), places, numbers))
        return numbers

    @property
    def memory_bytes(self) -> int:
        """Memory in use: the states and the table."""
        return self.count * self.words * 8 + int(self.slots.nbytes)
