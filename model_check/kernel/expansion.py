"""Expanding a block: all successors of up to 512 states, and the answers to every question about them.

The block's states are turned into planes, the kernel fills one mask for each predicate, and then each action that is
enabled somewhere in the block writes its successors, action after action. The numba functions here know nothing of a
particular system: its code comes in as addresses, its size as the shape of arrays.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.kernel.native import call2, call6, count_bits, loop, lowest_bit, tight_loop
from model_check.kernel.packing import WORD, Words
from model_check.kernel.slicing import BLOCK, GROUPS

Counts = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]


class Scratch(NamedTuple):
    """Room for one block: planes, masks by predicate, successors with their parents (row numbers within the block) and
    hashes, and for each action where its successors end. One thread uses it at a time.
    """

    planes: npt.NDArray[np.uint64]
    masks: npt.NDArray[np.uint64]
    successors: npt.NDArray[np.uint64]
    parents: npt.NDArray[np.uint32]
    ends: Counts
    hashes: npt.NDArray[np.uint64]


class Tally(NamedTuple):
    """By predicate, in how many states it held, and the index of the first of them (-1 for none)."""

    counts: Counts
    first: Counts


def make_scratch(words: int, planes: int, predicates: int, actions: int) -> Scratch:
    """Room for the largest block there can be; the operating system gives only what is touched."""
    most = BLOCK * max(1, actions)
    return Scratch(
        planes=np.zeros((planes, GROUPS), dtype=np.uint64),
        masks=np.zeros((predicates, GROUPS), dtype=np.uint64),
        successors=np.empty((most, words), dtype=np.uint64),
        parents=np.empty(most, dtype=np.uint32),
        ends=np.zeros(actions, dtype=np.int64),
        hashes=np.empty(most, dtype=np.uint64),
    )


def make_tally(predicates: int) -> Tally:
    """Nothing counted yet."""
    return Tally(np.zeros(predicates, dtype=np.int64), np.full(predicates, -1, dtype=np.int64))


@tight_loop
def ask(addresses: Words, rows: int, valid: int, scratch: Scratch, tally: Tally, base: int) -> None:
    """Fill the masks for the `valid` states at the address `rows` (a whole block is readable there), and count.

    `base` is the index of the first of them in the caller's numbering.
    """
    call2(addresses[0], np.uint64(rows), np.uint64(scratch.planes.ctypes.data))
    call2(addresses[1], np.uint64(scratch.planes.ctypes.data), np.uint64(scratch.masks.ctypes.data))
    if valid < BLOCK:
        _clear_beyond(scratch.masks, valid)
    for predicate in range(scratch.masks.shape[0]):
        total = 0
        for group in range(GROUPS):
            total += count_bits(scratch.masks[predicate, group])
        if total:
            tally.counts[predicate] += total
            if tally.first[predicate] < 0:
                tally.first[predicate] = base + _first_row(scratch.masks[predicate])


@tight_loop
def _clear_beyond(masks: npt.NDArray[np.uint64], valid: int) -> None:
    for group in range(GROUPS):
        rows = min(max(valid - group * WORD, 0), WORD)
        keep = ~np.uint64(0) if rows == WORD else (np.uint64(1) << np.uint64(rows)) - np.uint64(1)
        for predicate in range(masks.shape[0]):
            masks[predicate, group] &= keep


@tight_loop
def _first_row(mask: npt.NDArray[np.uint64]) -> Any:
    for group in range(GROUPS):
        if mask[group]:
            return group * WORD + lowest_bit(mask[group])
    return -1


@tight_loop
def expand_block(addresses: Words, rows: int, valid: int, scratch: Scratch, tally: Tally, base: int) -> int:
    """Ask everything about a block of states and write their successors into the scratch; gives how many.

    Successors equal to their own parent are left out (but counted, as answers of the action's guard).
    """
    ask(addresses, rows, valid, scratch, tally, base)
    row_bytes = scratch.successors.shape[1] * 8
    # Signed, since numba makes a float of the sum of a signed and an unsigned integer.
    masks, parents = np.int64(scratch.masks.ctypes.data), np.int64(scratch.parents.ctypes.data)
    out, hashes = np.int64(scratch.successors.ctypes.data), np.int64(scratch.hashes.ctypes.data)
    written = 0
    for action in range(scratch.ends.shape[0]):
        enabled = np.uint64(0)
        for group in range(GROUPS):
            enabled |= scratch.masks[action, group]
        if enabled:
            written += call6(
                addresses[2 + action],
                np.uint64(rows),
                np.uint64(masks + action * GROUPS * 8),
                np.uint64(out + written * row_bytes),
                np.uint64(parents + written * 4),
                np.uint64(hashes + written * 8),
                np.uint64(scratch.planes.ctypes.data),
            )
        scratch.ends[action] = written
    return written


@loop
def expand_rows(
    addresses: Words,
    rows: Words,
    start: int,
    scratch: Scratch,
    tally: Tally,
    out: Words,
    parents: Numbers,
    actions: Numbers,
) -> tuple[int, int]:
    """Expand rows from `start` on until they or the room in `out` end; gives the next row and how much is written."""
    written, count = 0, rows.shape[0]
    block = np.zeros((BLOCK, rows.shape[1]), dtype=np.uint64)
    while start < count and written + scratch.parents.shape[0] <= out.shape[0]:
        valid = min(BLOCK, count - start)
        block[:valid] = rows[start : start + valid]
        made = expand_block(addresses, block.ctypes.data, valid, scratch, tally, start)
        out[written : written + made] = scratch.successors[:made]
        begin = 0
        for action in range(scratch.ends.shape[0]):
            actions[written + begin : written + scratch.ends[action]] = action
            begin = scratch.ends[action]
        for row in range(made):
            parents[written + row] = start + scratch.parents[row]
        written += made
        start += valid
    return start, written


@dataclass(frozen=True)
class Expansion:
    """The successors of a batch of states.

    `successors` is `uint64[m, words]`; `parents` (`uint32[m]`) are row numbers of the batch, `actions` (`uint16[m]`)
    numbers in the system's order. Successors equal to their parent are left out. `tally` has, by predicate of the
    kernel, in how many states it held and the first row where it did (-1 for none).
    """

    successors: Words
    parents: npt.NDArray[np.uint32]
    actions: npt.NDArray[np.uint16]
    tally: Tally


def expand(addresses: Words, rows: Words, scratch: Scratch) -> Expansion:
    """All successors of all rows, block by block."""
    tally, start = make_tally(len(scratch.masks)), 0
    parts: list[tuple[Words, Numbers, Numbers]] = []
    room = scratch.parents.shape[0] + 4 * len(rows)
    while start < len(rows) or not parts:
        out = np.empty((room, rows.shape[1]), dtype=np.uint64)
        parents, actions = np.empty(room, dtype=np.uint32), np.empty(room, dtype=np.uint16)
        start, written = expand_rows(addresses, rows, start, scratch, tally, out, parents, actions)
        parts.append((out[:written], parents[:written], actions[:written]))
    successors, parents, actions = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Expansion(successors, parents, actions, tally)
