"""Expanding a block: all successors of up to 512 states, and the answers to every question about them.

The block's states are turned into planes, the kernel fills one mask for each predicate, and then each action that is
enabled somewhere in the block writes its successors, action after action. The numba functions here know nothing of a
particular system: its code comes in as addresses, its size as the shape of arrays.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.kernel.hashing import hash_row
from model_check.kernel.native import call2, call5, count_bits, inlined, lowest_bit, tight_loop
from model_check.kernel.packing import WORD, Words
from model_check.kernel.slicing import BLOCK, GROUPS, turn
from model_check.kernel.table_loops import answer, changed, compute
from model_check.kernel.tables import TableArrays

Counts = npt.NDArray[np.int64]


class Program(NamedTuple):
    """A kernel's code: the addresses of its functions, or, where there are none, its tables."""

    addresses: Words
    tables: TableArrays


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


@inlined
def ask(program: Program, rows: Words, start: int, valid: int, scratch: Scratch, tally: Tally) -> None:
    """Fill the masks for the `valid` rows from `start` on (a whole block is readable there), and count."""
    turn(rows, start, scratch.planes)
    if program.addresses.shape[0]:
        call2(program.addresses[0], np.uint64(scratch.planes.ctypes.data), np.uint64(scratch.masks.ctypes.data))
    else:
        compute(program.tables, np.int64(0), scratch.planes, rows.shape[1] * WORD + 1)
        answer(program.tables, scratch.planes, scratch.masks)
    if valid < BLOCK:
        _clear_beyond(scratch.masks, valid)
    for predicate in range(scratch.masks.shape[0]):
        total = 0
        for group in range(GROUPS):
            total += count_bits(scratch.masks[predicate, group])
        if total:
            tally.counts[predicate] += total
            if tally.first[predicate] < 0:
                tally.first[predicate] = start + _first_row(scratch.masks[predicate])


@inlined
def _address(rows: Words, start: int) -> Any:
    """Where a row begins; added up as signed, since numba makes a float of a signed and an unsigned integer."""
    return np.uint64(np.int64(rows.ctypes.data) + start * rows.shape[1] * 8)


@inlined
def _clear_beyond(masks: npt.NDArray[np.uint64], valid: int) -> None:
    for group in range(GROUPS):
        rows = min(max(valid - group * WORD, 0), WORD)
        keep = ~np.uint64(0) if rows == WORD else (np.uint64(1) << np.uint64(rows)) - np.uint64(1)
        for predicate in range(masks.shape[0]):
            masks[predicate, group] &= keep


@inlined
def _first_row(mask: npt.NDArray[np.uint64]) -> Any:
    for group in range(GROUPS):
        if mask[group]:
            return group * WORD + lowest_bit(mask[group])
    return -1


@tight_loop
def expand_block(program: Program, rows: Words, start: int, valid: int, scratch: Scratch, tally: Tally) -> int:
    """Ask everything about a block of states and write their successors into the scratch; gives how many.

    Successors equal to their own parent are left out (but counted, as answers of the action's guard).
    """
    ask(program, rows, start, valid, scratch, tally)
    written: int = np.int64(0)  # type: ignore[assignment]  # what is called with a literal is compiled twice
    for action in range(scratch.ends.shape[0]):
        enabled = np.uint64(0)
        for group in range(GROUPS):
            enabled |= scratch.masks[action, group]
        if enabled and program.addresses.shape[0]:
            written += call5(
                program.addresses[1 + action],
                _address(rows, start),
                np.uint64(scratch.masks.ctypes.data + action * GROUPS * 8),
                _address(scratch.successors, written),
                np.uint64(np.int64(scratch.parents.ctypes.data) + written * 4),
                np.uint64(np.int64(scratch.hashes.ctypes.data) + written * 8),
            )
        elif enabled:
            written = _by_tables(program.tables, action, rows, start, scratch, written)
        scratch.ends[action] = written
    return written


@inlined
def _by_tables(tables: TableArrays, action: int, rows: Words, start: int, scratch: Scratch, written: int) -> int:
    """Write an action's successors behind the others; gives how many there are then."""
    words = rows.shape[1]
    compute(tables, 1 + action, scratch.planes, words * WORD + 1 + np.int64(tables.spans[0, 1]))
    for group in range(GROUPS):
        left = scratch.masks[action, group]
        while left:
            bit = lowest_bit(left)
            left &= left - np.uint64(1)
            row, moved = group * WORD + bit, False
            for word in range(words):
                before = rows[start + row, word]
                after = changed(tables, action * words + word, before, scratch.planes, group, bit)
                scratch.successors[written, word] = after
                moved |= after != before
            scratch.parents[written], scratch.hashes[written] = row, hash_row(scratch.successors, written)
            written += moved
    return written
