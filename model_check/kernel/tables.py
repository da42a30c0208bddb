"""A kernel as tables: the same network of gates, walked by a loop instead of compiled.

To compile a kernel takes LLVM seconds, which a search of few states does not earn back. Here the gates are data; the
loops over them are in `table_loops`.

Updates are gates as conditions are: where an action is enabled somewhere in a block, all bits that it may change are
computed for the whole block, and each successor takes its own from there. That computes more than is wanted, and still
costs less than to compile until a search has some million states.
"""

import io
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from model_check.kernel.gates import FALSE, Bits, Network, network_of
from model_check.kernel.packing import WORD, Packing, Words
from model_check.kernel.predicates import predicates
from model_check.kernel.slicing import needed
from spec.collector import without_collector
from spec.language.rules import Action, TransitionSystem

Numbers = npt.NDArray[np.uint32]
Literals = npt.NDArray[np.int64]


class TableArrays(NamedTuple):
    """What the loops walk; of a compiled kernel there is nothing.

    Plane `64 * word + bit` of a block is that bit of its states, the next one is zeros, the others are gates: those of
    the conditions, and behind them an action's. A literal is twice a plane's number, plus one if negated. `gates` has
    the literals a, b and c of each gate, `spans` where those of all conditions, and then those of each action, begin
    and end. `asked` has each condition's literal, `words` four numbers for each action and word: what is kept, what is
    flipped then, and where the pairs (plane, position) of the bits that are flipped if they are set in a plane begin
    and end in `bits`.
    """

    gates: Numbers = np.empty((0, 3), dtype=np.uint32)
    spans: Numbers = np.empty((0, 2), dtype=np.uint32)
    asked: Numbers = np.empty((0, 1), dtype=np.uint32)
    words: Words = np.empty((0, 4), dtype=np.uint64)
    bits: Numbers = np.empty((0, 2), dtype=np.uint32)


def saved(tables: TableArrays) -> bytes:
    """Tables as a file has them."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **tables._asdict())
    return file.getvalue()


def loaded(content: bytes) -> TableArrays:
    """The tables that a file has."""
    return TableArrays(**np.load(io.BytesIO(content)))


def planes_of(tables: TableArrays, words: int) -> int:
    """How many planes a block needs: the bits of states, zeros, the gates of conditions, and those of one action."""
    sizes = tables.spans[:, 1] - tables.spans[:, 0]
    return int(words * WORD + 1 + sizes[0] + max(sizes[1:], default=0))


@without_collector()
def tables_of(system: TransitionSystem) -> TableArrays:
    """The tables of a system."""
    packing, conditions = Packing(system), [one.term for one in predicates(system)]
    updates = [term for action in system.actions for term in action.updates.values()]
    network, literals = network_of([*conditions, *updates], packing.words * WORD, packing.planes)
    asked, values = [condition for (condition,) in literals[: len(conditions)]], iter(literals[len(conditions) :])
    changed = [_changed(action, packing, values) for action in system.actions]
    return _Layout(network, packing.words, asked).tables(changed)


def _changed(action: Action, packing: Packing, values: Iterator[Bits]) -> dict[int, int]:
    """By their planes, the literals of all bits that an action may change."""
    found: dict[int, int] = {}
    for name in action.updates:
        pairs = zip(packing.planes(name), next(values), strict=True)
        found |= {plane: literal for plane, literal in pairs if literal != 2 * (1 + plane)}
    return found


class _Layout:
    """Where the gates of a network are in a block: the conditions' in planes of their own, an action's behind them."""

    def __init__(self, network: Network, words: int, asked: list[int]) -> None:
        self._words, self._zeros = words, words * WORD
        self._first = network.first
        self._gates = network.gates
        self._planes = np.arange(network.first + len(network.gates), dtype=np.int64) - 1
        self._planes[FALSE >> 1] = self._zeros
        self._done = np.zeros(len(self._planes), dtype=np.bool_)
        self._asked = np.array(asked, dtype=np.int64)
        self._conditions = self._placed(self._asked, self._zeros + 1)
        self._behind = self._zeros + 1 + len(self._conditions)
        self._done[: self._first] = True

    def _placed(self, literals: Literals, begin: int) -> Literals:
        """The gates that literals need and that have no planes yet; they are given those from a number on."""
        gates: Literals = needed(self._gates, self._first, literals, self._done)
        self._planes[gates] = np.arange(begin, begin + len(gates))
        return gates

    def _rows(self, gates: Literals) -> Literals:
        return self._in_planes(self._gates[gates - self._first])

    def _in_planes(self, literals: Literals) -> Literals:
        """The same literals of planes."""
        found: Literals = self._planes[literals >> 1] << 1 | literals & 1
        return found

    def tables(self, updates: list[dict[int, int]]) -> TableArrays:
        """The tables of the conditions and of the updates of all actions."""
        self._done[self._conditions] = True
        rows, words, bits = [self._rows(self._conditions)], list[npt.NDArray[np.uint64]](), list[Literals]()
        begin = 0
        for update in updates:
            planes = np.array(sorted(update), dtype=np.int64)
            literals = np.array([update[plane] for plane in planes.tolist()], dtype=np.int64)
            rows.append(self._rows(self._placed(literals, self._behind)))
            kept, pairs = self._successors(planes, self._in_planes(literals), begin)
            words.append(kept)
            bits.append(pairs)
            begin += len(pairs)
        ends = np.cumsum([len(one) for one in rows])
        return TableArrays(
            gates=np.concatenate(rows).astype(np.uint32),
            spans=np.stack((np.concatenate(([0], ends[:-1])), ends), axis=1).astype(np.uint32),
            asked=self._in_planes(self._asked).astype(np.uint32).reshape(-1, 1),
            words=np.concatenate([*words, TableArrays().words]),
            bits=np.concatenate([*bits, TableArrays().bits]).astype(np.uint32),
        )

    def _successors(self, planes: Literals, literals: Literals, begin: int) -> tuple[npt.NDArray[np.uint64], Literals]:
        """An action's part of `words`, and of `bits`, in which it begins at a number."""
        word, position = planes // WORD, planes % WORD
        bit = np.uint64(1) << position.astype(np.uint64)
        keep, flip = np.full(self._words, ~np.uint64(0)), np.zeros(self._words, dtype=np.uint64)
        np.bitwise_and.at(keep, word, ~bit)
        np.bitwise_or.at(flip, word, bit * (literals & 1).astype(np.uint64))
        varies = literals >> 1 != self._zeros
        ends = begin + np.searchsorted(word[varies], np.arange(self._words + 1))
        columns = (keep, flip, ends[:-1].astype(np.uint64), ends[1:].astype(np.uint64))
        return np.stack(columns, axis=1), np.stack((literals[varies] >> 1, position[varies]), axis=1)
