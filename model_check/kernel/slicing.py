"""Bit-sliced conditions: LLVM IR that answers every question about 512 states at once.

A block of states is turned on its side first: *plane* `i` holds bit `i` of every state of the block, one state to each
bit of a wide vector. Then the gates of the network run in order, each a single vector instruction for the whole block,
and every condition leaves a *mask* with one bit a state. Portable: LLVM splits the vectors into whatever the machine
has. The network is cut into functions of a few hundred gates, since the code generator is slow on very long ones; a
gate used by a later function is kept in a plane of its own. A function works on as many lanes as this machine's vector
registers have, and is called for one part of the block after the other: wider vectors would only be split, at a price.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_check.kernel.gates import FALSE, TRUE, Network
from model_check.kernel.native import exchange, loop, tight_loop
from model_check.kernel.packing import WORD, Words

Numbers = npt.NDArray[np.int64]

GROUPS = 8
"""Words in a plane or a mask: a vector register of 512 bits, where there is one."""

BLOCK = GROUPS * WORD
"""States that are looked at together."""

LONGEST = 200
"""Gates to a function."""

ROW_BYTES = GROUPS * 8


def lanes_of(features: Mapping[str, bool]) -> int:
    """Words to a vector register of a machine with these features, as LLVM calls them; at most `GROUPS`."""
    return next((lanes for name, lanes in (("avx512f", 8), ("avx2", 4)) if features.get(name)), 2)


@dataclass(frozen=True)
class Piece:
    """One function: the gates that it computes, in order, and the (output number, literal) pairs that it stores."""

    gates: tuple[int, ...]
    outputs: tuple[tuple[int, int], ...]


def cut(network: Network, literals: Sequence[int]) -> list[Piece]:
    """The gates that the outputs need, cut into functions of about `LONGEST` gates."""
    pieces, done = [], set[int]()
    gates: list[int] = []
    outputs: list[tuple[int, int]] = []
    for number, literal in enumerate(literals):
        gates += _needed_by(network, literal >> 1, done)
        while len(gates) > 2 * LONGEST:
            pieces.append(Piece(tuple(gates[:LONGEST]), tuple(outputs)))
            gates, outputs = gates[LONGEST:], []
        outputs.append((number, literal))
        if len(gates) > LONGEST:
            pieces.append(Piece(tuple(gates), tuple(outputs)))
            gates, outputs = [], []
    return [*pieces, Piece(tuple(gates), tuple(outputs))]


def _needed_by(network: Network, gate: int, done: set[int]) -> list[int]:
    """The gates below one that are not done yet, inputs aside, in order of evaluation; they count as done now."""
    found, pending = [], [gate]
    while pending:
        current = pending.pop()
        if current in done or current < network.first:
            continue
        done.add(current)
        found.append(current)
        pending += inputs_of(network, current)
    return sorted(found)


def inputs_of(network: Network, gate: int) -> list[int]:
    """The gates and inputs that a gate reads."""
    return [literal >> 1 for literal in network.gates[gate - network.first] if literal > TRUE]


@loop
def needed(gates: Numbers, first: int, literals: Numbers, done: npt.NDArray[np.bool_]) -> Numbers:
    """The gates that literals need, in order of evaluation, without those that are done and what only these need.

    `gates` has the literals that each gate reads; the first of them has the number `first`.
    """
    wanted = np.zeros(done.shape[0], dtype=np.bool_)
    count, last = 0, 0
    for literal in literals:
        wanted[literal >> 1] = True
        last = max(last, literal >> 1)
    for gate in range(last, first - 1, -1):
        if wanted[gate] and done[gate]:
            wanted[gate] = False
        elif wanted[gate]:
            count += 1
            for place in range(gates.shape[1]):
                wanted[gates[gate - first, place] >> 1] = True
    found = np.empty(count, dtype=np.int64)
    for gate in range(last, first - 1, -1):
        if wanted[gate]:
            count -= 1
            found[count] = gate
    return found


class Slices:
    """The IR of the network for a list of output literals; `planes` counts the planes that it wants.

    `lanes` is how many words a vector has: a divisor of `GROUPS`.
    """

    def __init__(self, network: Network, literals: Sequence[int], state_planes: int, lanes: int) -> None:
        self._network = network
        self._lanes = lanes
        self._pieces = cut(network, literals)
        home = {gate: number for number, piece in enumerate(self._pieces) for gate in piece.gates}
        shared = {
            source
            for number, piece in enumerate(self._pieces)
            for source in self._sources(piece)
            if source in home and home[source] != number
        }
        self._plane = {gate: state_planes + position for position, gate in enumerate(sorted(shared))}
        self.planes = state_planes + len(shared)

    def _sources(self, piece: Piece) -> Iterator[int]:
        for gate in piece.gates:
            yield from inputs_of(self._network, gate)
        yield from (literal >> 1 for _, literal in piece.outputs)

    def ir(self) -> Iterator[str]:
        """Lines of IR; `@predicates(planes, masks)` runs all pieces."""
        pointers = "ptr noalias %planes, ptr noalias %kept, ptr noalias %masks"
        for number, piece in enumerate(self._pieces):
            yield f"define internal void @piece{number}({pointers}) noinline {{"
            yield from _Body(self._network, piece, self._plane, f"<{self._lanes} x i64>").lines()
            yield "  ret void\n}"
        yield "define void @predicates(ptr noalias %planes, ptr noalias %masks) {"
        for lane in range(0, GROUPS, self._lanes):
            yield f"  %planes{lane} = getelementptr i64, ptr %planes, i64 {lane}"
            yield f"  %masks{lane} = getelementptr i64, ptr %masks, i64 {lane}"
            for number in range(len(self._pieces)):
                yield f"  call void @piece{number}(ptr %planes{lane}, ptr %planes{lane}, ptr %masks{lane})"
        yield "  ret void\n}"


class _Body:
    """The instructions of one piece."""

    def __init__(self, network: Network, piece: Piece, planes: dict[int, int], vector: str) -> None:
        self._network = network
        self._vector = vector
        self._piece = piece
        self._planes = planes
        self._own = set(piece.gates)
        self._defined: set[str] = set()
        self._text: list[str] = []

    def lines(self) -> Iterable[str]:
        for gate in self._piece.gates:
            self._compute(gate)
            if gate in self._planes:
                self._store(f"%g{gate}", "%kept", self._planes[gate])
        for number, literal in self._piece.outputs:
            self._store(self._value(literal), "%masks", number)
        return self._text

    def _compute(self, gate: int) -> None:
        a, b, c = self._network.gates[gate - self._network.first]
        left, result = self._value(a), f"%g{gate}"
        if b != TRUE:
            right, result = self._value(b), result if c == FALSE else f"%a{gate}"
            self._text.append(f"  {result} = and {self._vector} {left}, {right}")
            left = result
        if c != FALSE:
            self._text.append(f"  %g{gate} = xor {self._vector} {left}, {self._value(c)}")

    def _value(self, literal: int) -> str:
        """The name of a literal's vector; planes are loaded and negations computed where first wanted."""
        if literal in (FALSE, TRUE):
            return "splat (i64 -1)" if literal else "zeroinitializer"
        gate = literal >> 1
        if gate not in self._own and f"%g{gate}" not in self._defined:
            self._load(gate)
        if not literal & 1:
            return f"%g{gate}"
        if f"%n{gate}" not in self._defined:
            self._defined.add(f"%n{gate}")
            self._text.append(f"  %n{gate} = xor {self._vector} %g{gate}, splat (i64 -1)")
        return f"%n{gate}"

    def _load(self, gate: int) -> None:
        plane = gate - 1 if gate < self._network.first else self._planes[gate]
        self._defined.add(f"%g{gate}")
        self._text += [
            f"  %p{gate} = getelementptr i8, ptr %planes, i64 {plane * ROW_BYTES}",
            f"  %g{gate} = load {self._vector}, ptr %p{gate}, align 8",
        ]

    def _store(self, value: str, base: str, number: int) -> None:
        name = f"%s{len(self._text)}"
        self._text += [
            f"  {name} = getelementptr i8, ptr {base}, i64 {number * ROW_BYTES}",
            f"  store {self._vector} {value}, ptr {name}, align 8",
        ]


@tight_loop
def turn(rows: Words, start: int, planes: Words) -> None:
    """Plane `64 * word + bit` gets that bit of each of a block's rows, and the plane behind them zeros.

    Each word of the rows is eight squares of 64 by 64 bits, which lie side by side in 64 planes and are turned at once:
    squares of half the size change places, then those in each of them, down to single bits.
    """
    base = np.uint64(planes.ctypes.data)
    for word in range(rows.shape[1]):
        square = word * WORD
        for group in range(GROUPS):
            for row in range(WORD):
                planes[square + row, group] = rows[start + group * WORD + row, word]
        distance, low = 32, np.uint64(0xFFFFFFFF)
        while distance:
            for first in range(0, WORD, 2 * distance):
                for plane in range(square + first, square + first + distance):
                    exchange(base, np.uint64(plane), np.uint64(plane + distance), np.uint64(distance), low)
            distance >>= 1
            low ^= low << np.uint64(distance)
    for group in range(GROUPS):
        planes[rows.shape[1] * WORD, group] = 0
