"""The inner loop of the search: expand a block, look its successors up, remember where new ones came from.

One numba function over plain arrays. It returns to Python when its share is done or some array might not hold what the
next block brings; Python makes room and calls again.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.explicit_state.visited import Table, insert
from model_check.kernel.expansion import Program, Scratch, Tally, expand_block
from model_check.kernel.native import inlined, tight_loop
from model_check.kernel.packing import Words
from model_check.kernel.slicing import BLOCK

Bytes = npt.NDArray[np.uint8]
Parents = npt.NDArray[np.uint32]
"""The number of the state from which each was first reached."""


class Marks(NamedTuple):
    """What the graph needs to know of states: by state, one bit for each predicate of a range (no bits: not wanted)."""

    bits: npt.NDArray[np.uint32]
    first_predicate: int
    last_predicate: int


class Edges(NamedTuple):
    """Steps of progress: the numbers of the states that they lead to, grouped by the state they start from.

    `degrees[s]` counts the steps of state s; the groups stand in order of s. `progress[a]` is 1 for the actions that
    count; `cursors` is room for a block. Empty arrays: edges are not wanted.
    """

    targets: npt.NDArray[np.uint32]
    degrees: npt.NDArray[np.uint16]
    progress: Bytes
    cursors: npt.NDArray[np.int64]


class Recording(NamedTuple):
    """What is kept for the graph besides the states."""

    marks: Marks
    edges: Edges


class Known(NamedTuple):
    """The states found, in order, the table of their numbers, and the parents of those from number `first` on."""

    table: Table
    states: Words
    first: int
    parents: Parents


class Work(NamedTuple):
    """Room for one block, for looking up a tile of its successors, for their numbers, and the answers counted."""

    scratch: Scratch
    tally: Tally
    places: Words
    numbers: npt.NDArray[np.uint32]


class Reach(NamedTuple):
    """How far a search is: states expanded, states found, edges recorded."""

    expanded: int
    found: int
    edges: int


@tight_loop
def search(
    program: Program, work: Work, known: Known, recording: Recording, reach: Reach, end: int, room: int
) -> Reach:
    """Expand states in order up to number `end`, as long as at most `room` states are known; gives the new reach."""
    scratch, edges = work.scratch, recording.edges
    # The array of edges is either empty or as large as the memory that edges may take.
    room_for_edges = edges.targets.shape[0] - scratch.parents.shape[0] if edges.targets.shape[0] else 0
    position, found, linked = reach
    while position < end and found <= room and linked <= room_for_edges:
        valid = min(BLOCK, end - position)
        made = expand_block(program, known.states, position, valid, scratch, work.tally)
        found = take_in(known, found, scratch, made, position, work)
        if recording.marks.bits.shape[0]:
            mark(scratch.masks, recording.marks, position, valid)
        if edges.targets.shape[0]:
            linked = _connect(scratch, edges, work.numbers, position, valid, linked)
        position += valid
    return Reach(position, found, linked)


@inlined
def take_in(known: Known, count: int, made: Scratch, rows: int, start: int, work: Work) -> int:
    """Look up the first `rows` successors of a block that begins at row `start`; gives how many states there are."""
    fresh = count
    count = insert(known.table, known.states, count, made.successors, made.hashes, rows, work.places, work.numbers)
    for row in range(rows):
        # Without a branch, which would be guessed wrong at every other new state: the last one written counts.
        known.parents[fresh - known.first] = start + made.parents[row]
        fresh += work.numbers[row] == fresh
    return count


@tight_loop
def mark(masks: Words, marks: Marks, position: int, valid: int) -> None:
    """Note for a block of states which predicates of the range hold."""
    for predicate in range(marks.first_predicate, marks.last_predicate):
        bit = np.uint32(1 << (predicate - marks.first_predicate))
        for row in range(valid):
            if masks[predicate, row >> 6] >> np.uint64(row & 63) & np.uint64(1):
                marks.bits[position + row] |= bit


@inlined
def _connect(scratch: Scratch, edges: Edges, numbers: Any, position: int, valid: int, used: int) -> int:
    """Append a block's steps of progress, which come action by action, state by state: a counting sort."""
    cursors, begin = edges.cursors, 0
    for action in range(scratch.ends.shape[0]):
        if edges.progress[action]:
            for row in range(begin, scratch.ends[action]):
                edges.degrees[position + scratch.parents[row]] += 1
        begin = scratch.ends[action]
    for row in range(valid):
        cursors[row] = used
        used += edges.degrees[position + row]
    begin = 0
    for action in range(scratch.ends.shape[0]):
        if edges.progress[action]:
            for row in range(begin, scratch.ends[action]):
                source = scratch.parents[row]
                edges.targets[cursors[source]] = numbers[row]
                cursors[source] += 1
        begin = scratch.ends[action]
    return used
