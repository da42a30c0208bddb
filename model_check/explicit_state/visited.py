"""The set of states seen so far: complete packed states in order of discovery, and a hash table of their numbers.

A state's number is its row in one growing array. The table is made of *buckets* of 64 bytes, a cache line each: twelve
slots, of which the bucket has first all tags (eight bits of the hash, never zero) and then all numbers. A state belongs
in the bucket that its hash points at or, if that is full, in the next with an empty slot. All tags of a bucket are
compared at once, and a state is looked at only where one agrees; then it is compared whole: nothing is probabilistic.

Nearly all of a lookup is waiting, less for the memory than for where it is: each page that was not used lately costs a
walk through the page tables, far more of them in a virtual machine. So the table is small (7 bytes a state, half of one
with 8 bytes to each slot), and rows are looked up a tile at a time in short passes (find buckets and ask for them, look
at tags and ask for states, compare and insert): the shorter a pass, the more walks are under way at once.

Both arrays are reserved as address space, and the states' grows without being copied. The table grows by doubling: then
all states are hashed again and entered anew, in order, with no need to compare any.
"""

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from model_check.kernel.hashing import hash_row, hash_rows
from model_check.kernel.native import equal_bytes, inlined, lowest_bit, prefetch, share, tight_loop, tight_part
from model_check.kernel.packing import Words

Numbers = npt.NDArray[np.uint32]

Table = npt.NDArray[np.uint32]
"""Buckets (shape `[n, 16]`): the tags of the slots, four to an entry, twelve numbers, and one entry that stays 0."""

SLOTS, ENTRIES, BUCKET_BYTES = 12, 16, 64

SMALLEST_TABLE = 1 << 8
"""Buckets of a new table."""

FULLEST = 0.75
"""The table grows when more of its slots than this are taken: then a bucket in twelve is full."""

TILE = 128
"""Rows that are looked up together: what they touch stays in the first-level cache from pass to pass."""

MOST = (1 << 32) - 2
"""States that can be numbered."""

AHEAD = np.uint64(16)
"""New states are stored one after the other; the line so many states on is asked for beforehand."""

MAP_NORESERVE = 0x4000
"""Linux's flag for address space without a promise of memory; Python names it only from 3.13 on."""

_ONE, _BYTES, _NUMBERS = np.uint64(1), np.uint64(BUCKET_BYTES), np.uint64(SLOTS // 4)
_ALL, _BEYOND, _EMPTY = np.uint64((1 << SLOTS) - 1), np.uint64(1 << SLOTS), np.uint64(0)


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
def _tag(hashed: Any) -> Any:
    """The lowest eight bits of a hash, 1 for 0."""
    tag = hashed & np.uint64(255)
    return tag or _ONE


@inlined
def _slots(table: Table, bucket: Any, tag: Any) -> Any:
    """The slots of a bucket that have a tag, or that are empty, one bit each."""
    return equal_bytes(np.uint64(table.ctypes.data) + bucket * _BYTES, tag) & _ALL


@inlined
def _after(table: Table, bucket: Any) -> Any:
    """The next bucket; the first comes after the last."""
    following = bucket + _ONE
    return following if following != np.uint64(table.shape[0]) else np.uint64(0)


@inlined
def _fill(table: Table, bucket: Any, slot: Any, tag: Any, number: Any) -> None:
    """Put a number and its tag into an empty slot."""
    table[bucket, slot >> np.uint64(2)] |= np.uint32(tag << ((slot & np.uint64(3)) << np.uint64(3)))
    table[bucket, _NUMBERS + slot] = number


@inlined
def _same(states: Words, number: Any, rows: Words, row: Any) -> Any:
    """Whether a state is the one in a row; branches would guess wrong as often as right."""
    difference = np.uint64(0)
    for word in range(rows.shape[1]):
        difference |= states[number, word] ^ rows[row, word]
    return difference == 0


@tight_loop
def insert(
    table: Table, states: Words, used: int, rows: Words, hashes: Words, count: int, places: Words, numbers: Numbers
) -> int:
    """Look up the first `count` rows, append those not seen before to the states; gives how many states there are then.

    `hashes` are those of the rows. `numbers[i]` becomes the number of row i's state. New states are numbered in order
    of rows, from `used` on. There must be room for all rows, in the table and among the states. `places` is scratch for
    the buckets of a tile.
    """
    stored, row_bytes = np.uint64(states.ctypes.data), np.uint64(rows.shape[1] * 8)
    base, buckets = np.uint64(table.ctypes.data), np.uint64(table.shape[0])
    for start in range(0, count, TILE):
        size = min(TILE, count - start)
        for row in range(size):
            places[row] = share(hashes[start + row], buckets)
            prefetch(base + places[row] * _BYTES)
        for row in range(size):
            # Where no tag agrees this is state 0, which is as good as any and spares a branch that is guessed wrong.
            slots = _slots(table, places[row], _tag(hashes[start + row])) | _BEYOND
            number = table[places[row], _NUMBERS + np.uint64(lowest_bit(slots))]
            address = stored + np.uint64(number) * row_bytes
            prefetch(address)
            prefetch(address + row_bytes - _ONE)
            numbers[start + row] = number
        for row in range(start, start + size):
            if used and _same(states, numbers[row], rows, row):
                continue
            numbers[row] = _find(table, states, used, rows, row, hashes[row])
            if numbers[row] == used:
                for word in range(rows.shape[1]):
                    states[used, word] = rows[row, word]
                used += 1
                prefetch(stored + (np.uint64(used) + AHEAD) * row_bytes)
    return used


@tight_part
def _find(table: Table, states: Words, used: int, rows: Words, row: int, hashed: Any) -> Any:
    """The number of a row's state; if the state is not known, that is `used`, and entered into the table."""
    tag, bucket = _tag(hashed), share(hashed, np.uint64(table.shape[0]))
    while True:
        slots = _slots(table, bucket, tag)
        while slots:
            number = np.int64(table[bucket, _NUMBERS + np.uint64(lowest_bit(slots))])
            if _same(states, number, rows, row):
                return number
            slots &= slots - _ONE
        empty = _slots(table, bucket, _EMPTY)
        if empty:
            _fill(table, bucket, np.uint64(lowest_bit(empty)), tag, used)
            return used
        bucket = _after(table, bucket)


@tight_loop
def enter_all(table: Table, states: Words, count: int, hashes: Words) -> None:
    """Enter the first `count` states, no two of them equal, into an empty table; `hashes` is scratch for a tile."""
    base, buckets = np.uint64(table.ctypes.data), np.uint64(table.shape[0])
    for start in range(0, count, TILE):
        size = min(TILE, count - start)
        for row in range(size):
            hashes[row] = hash_row(states, start + row)
        for row in range(size):
            prefetch(base + share(hashes[row], buckets) * _BYTES)
        for row in range(size):
            bucket = share(hashes[row], buckets)
            empty = _slots(table, bucket, _EMPTY)
            while not empty:
                bucket = _after(table, bucket)
                empty = _slots(table, bucket, _EMPTY)
            _fill(table, bucket, np.uint64(lowest_bit(empty)), _tag(hashes[row]), start + row)


def buckets_for(count: int) -> int:
    """How many buckets a table for so many states has."""
    return int(count / (SLOTS * FULLEST)) + 1


def tile() -> Words:
    """Scratch for a tile."""
    return np.empty(TILE, dtype=np.uint64)


class Visited:
    """States by number, numbers by state.

    `rows` is `uint64[capacity, words]`, the first `count` of them are states in order of discovery. The capacity is a
    promise of address space, not of memory.
    """

    def __init__(self, words: int, capacity: int) -> None:
        self.words = words
        self.capacity = min(capacity, MOST)
        self.count = 0
        self.rows: Words = reserved(self.capacity, words, np.uint64)
        self.table: Table = reserved(SMALLEST_TABLE, ENTRIES, np.uint32)

    @property
    def room(self) -> int:
        """How many states may be known before the table wants to grow, or the address space ends."""
        return min(self.capacity, int(self.table.shape[0] * SLOTS * FULLEST))

    def make_room(self, more: int, budget: int | None = None) -> None:
        """Grow the table, at least twofold and by at most `budget` bytes, for more states; `room` tells how far."""
        size, wanted = self.table.shape[0], buckets_for(self.count + more)
        if wanted <= size:
            return
        wanted = max(wanted, 2 * size)
        if budget is not None and (wanted - size) * BUCKET_BYTES > budget:
            return
        # The old table is not needed for the new one, and so is given back first.
        self.table = reserved(0, ENTRIES, np.uint32)
        self.table = reserved(wanted, ENTRIES, np.uint32)
        enter_all(self.table, self.rows, self.count, tile())

    def add(self, rows: Words) -> Numbers:
        """The numbers of states (`uint64[n, words]`), new ones the next; MemoryError if all, as new, would not fit."""
        self.make_room(len(rows))
        if self.count + len(rows) > self.room:
            raise MemoryError(f"{len(rows)} states do not fit: {self.count} of at most {self.capacity} are known")
        hashes, numbers = hash_rows(rows), np.empty(len(rows), dtype=np.uint32)
        self.count = int(insert(self.table, self.rows, self.count, rows, hashes, len(rows), tile(), numbers))
        return numbers

    @property
    def memory_bytes(self) -> int:
        """Memory in use: the states and the table."""
        return self.count * self.words * 8 + int(self.table.nbytes)
