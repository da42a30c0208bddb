"""Expanding a level of a shard: what is found of its own is taken in, what belongs to others goes into an outbox.

A state's owner is chosen by its hash. The outbox is a set like the visited one, so that nothing is sent twice as far as
its room goes, and its memory is used again and again.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.explicit_state.search import Known, Parents, Work, take_in
from model_check.explicit_state.visited import Visited, buckets_for
from model_check.kernel.expansion import Program, Scratch, expand_block
from model_check.kernel.hashing import hash_row
from model_check.kernel.native import inlined, loop, tight_loop
from model_check.kernel.packing import Words
from model_check.kernel.slicing import BLOCK

OWNER_BITS = 24
"""How many of a hash's lowest bits choose the owner."""

_OWNER = np.uint64((1 << OWNER_BITS) - 1)


@inlined
def owner_of(hashed: Any, shards: int) -> Any:
    """The shard that owns a state by its hash's lowest bits; a table finds its buckets by the highest."""
    return (hashed & _OWNER) * np.uint64(shards) >> np.uint64(OWNER_BITS)


@loop
def owners(rows: Words, shards: int) -> npt.NDArray[np.uint16]:
    """The shard that owns each packed state."""
    result = np.empty(rows.shape[0], dtype=np.uint16)
    for row in range(rows.shape[0]):
        result[row] = owner_of(hash_row(rows, row), shards)
    return result


def by_owner(rows: Words, shards: int) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Each shard that owns some of the states, and which of them, in their order."""
    owner = owners(rows, shards)
    order = np.argsort(owner, kind="stable")
    ends = np.searchsorted(owner[order], np.arange(shards + 1)).tolist()
    return ((target, order[begin:end]) for target, (begin, end) in enumerate(pairwise(ends)) if begin < end)


class Share(NamedTuple):
    """How many rows a level has, the number of this shard, and how many shards there are."""

    rows: int
    number: int
    shards: int


class Rooms(NamedTuple):
    """What this shard knows, what it sends to others, and how many states there may be in each before a block."""

    known: Known
    most_known: int
    outbox: Known
    most_sent: int


@tight_loop
def expand_into(
    program: Program, work: Work, aside: Scratch, rooms: Rooms, rows: Words, reach: tuple[int, int, int], share: Share
) -> tuple[int, int, int]:
    """Expand a level's rows; the new reach. Ends when they do, or when there is no room for what a block may bring.

    The reach: the next row, how many states are known, how many are in the outbox. A whole block is readable at the
    last row. `aside` is room for those successors of a block that are not the shard's own.
    """
    scratch = work.scratch
    start, known, sent = reach
    while start < share.rows and known <= rooms.most_known and sent <= rooms.most_sent:
        valid = min(BLOCK, share.rows - start)
        made = expand_block(program, rows, start, valid, scratch, work.tally)
        own = put_aside(scratch, aside, made, share)
        known = take_in(rooms.known, known, scratch, own, start, work)
        sent = take_in(rooms.outbox, sent, aside, made - own, start, work)
        start += valid
    return start, known, sent


@tight_loop
def put_aside(scratch: Scratch, aside: Scratch, made: int, share: Share) -> int:
    """Part successors into the shard's own, which stay, and others'; gives how many stay.

    Without a branch, which would be guessed wrong every other time: each goes to both ends, and one end moves on.
    """
    own = 0
    for row in range(made):
        other = row - own
        for word in range(scratch.successors.shape[1]):
            value = scratch.successors[row, word]
            aside.successors[other, word] = value
            scratch.successors[own, word] = value
        aside.hashes[other], aside.parents[other] = scratch.hashes[row], scratch.parents[row]
        scratch.hashes[own], scratch.parents[own] = scratch.hashes[row], scratch.parents[row]
        own += owner_of(aside.hashes[other], share.shards) == np.uint64(share.number)
    return own


def first_of_each(numbers: Parents, known: int) -> npt.NDArray[np.int64]:
    """Of some looked-up rows, those that made a new state: the first with number `known`, with the next, and so on."""
    highest = np.maximum.accumulate(np.append(np.int64(known - 1), numbers))
    return np.flatnonzero(np.diff(highest))


class Outbox:
    """Room for states of other shards, used again and again: `most` of them, and what one more block may bring."""

    def __init__(self, words: int, room: int, worst: int) -> None:
        self._room, self._worst = room, worst
        self._states = Visited(words, room + worst + 1)
        self._states.make_room(room + worst)
        self._parents = np.empty(room + worst + 1, dtype=np.uint32)
        self.empty(1)

    def empty(self, expected: int) -> None:
        """Have nothing in it, and room for so many states, but no more than there is."""
        self.most = min(self._room, expected)
        table = self._states.table[: buckets_for(self.most + self._worst)]
        table[:] = 0
        self.found = Known(table, self._states.rows, 0, self._parents)
