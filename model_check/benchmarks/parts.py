"""Where the time of an exploration goes: its parts, one after the other, over states that it really reaches.

Each part is timed together with those that it needs, and the difference is printed: turning a block on its side, asking
all questions, writing successors, looking them up (all are known by then, which is the case for most successors).
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.explicit_state.explorer import explore
from model_check.explicit_state.visited import Visited, insert, tile
from model_check.kernel.expansion import Program, Scratch, Tally, ask, expand_block, make_tally
from model_check.kernel.native import loop
from model_check.kernel.packing import Words
from model_check.kernel.slicing import BLOCK, turn
from spec.language.rules import TransitionSystem

SAMPLE = 1_000_000
"""States to explore for the measurement."""


class Room(NamedTuple):
    """What a lookup writes on."""

    places: Words
    numbers: npt.NDArray[np.uint32]


def parts(system: TransitionSystem, sample: int = SAMPLE) -> Iterator[tuple[str, float]]:
    """Names of parts with their nanoseconds for a state expanded."""
    found = explore(system, limit=sample)
    kernel = found.retracer.kernel
    count = max(BLOCK, found.expanded // BLOCK * BLOCK)
    scratch, tally = kernel.make_scratch(), make_tally(len(kernel.predicates))
    visited = Visited(kernel.words, 2 * found.states + len(scratch.parents))
    for part in np.array_split(found.visited, 1 + found.states // 4096):
        visited.add(part)
    room = Room(tile(), np.empty(len(scratch.parents), dtype=np.uint32))
    common = (kernel.program, visited.rows, count, scratch)
    runs: list[tuple[str, Callable[[], object]]] = [
        ("turning blocks on their side", lambda: _turned(*common[1:])),
        ("guards, overflows and properties", lambda: _asked(*common, tally)),
        ("successors", lambda: _expanded(*common, tally)),
        ("looking successors up", lambda: _looked_up(*common, tally, (visited.table, visited.count), room)),
    ]
    before = 0.0
    for name, run in runs:
        run()
        spent = min(_timed(run) for _ in range(3)) * 1e9 / count
        yield name, spent - before
        before = spent


def _timed(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


@loop
def _turned(rows: Words, count: int, scratch: Scratch) -> None:
    for start in range(0, count, BLOCK):
        turn(rows, start, scratch.planes)


@loop
def _asked(program: Program, rows: Words, count: int, scratch: Scratch, tally: Tally) -> None:
    for start in range(0, count, BLOCK):
        ask(program, rows, start, BLOCK, scratch, tally)


@loop
def _expanded(program: Program, rows: Words, count: int, scratch: Scratch, tally: Tally) -> None:
    for start in range(0, count, BLOCK):
        expand_block(program, rows, start, BLOCK, scratch, tally)


@loop
def _looked_up(
    program: Program, rows: Words, count: int, scratch: Scratch, tally: Tally, visited: tuple[Words, int], room: Room
) -> int:
    slots, used = visited
    for start in range(0, count, BLOCK):
        made = expand_block(program, rows, start, BLOCK, scratch, tally)
        used = insert(slots, rows, used, scratch.successors, scratch.hashes, made, room.places, room.numbers)
    return used
