"""Conditions as a network of gates: every bit of every term becomes `(a AND b) XOR c` of state bits and other gates.

A search asks every state a thousand yes-or-no questions (is this action enabled, does it overflow, does that property
hold) and most answers are no. Asked one state at a time, each question costs a branch. Asked of hundreds of states at
once, with one state in each bit of a wide register, a question costs a handful of logic instructions for all of them
together. So the conditions are bit-blasted, as a SAT solver does with bit-vector terms: addition is a ripple of full
adders, comparison a borrow chain, a shift by a variable a barrel of multiplexers. Widths in a specification are small,
and constant inputs fold on the spot, so the network stays small, too.

Gates are hash-consed: equal gates are one gate, across all actions and properties, which is how common parts of guards
are computed once. A *literal* is twice the number of a gate, plus one if negated; literal 0 is false and 1 is true.

All gates have one form, so that a loop over them has no branch: an AND has false for c, an XOR true for b, and a choice
between two values is the XOR of both, taken or not, XORed with the second.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import z3

from model_check.kernel.hashing import GOLDEN_BITS
from model_check.kernel.native import fold, inlined, tight_loop
from model_check.kernel.packing import WORD
from model_check.kernel.reading import Numbers, read_terms
from model_check.terms.straight_line import CONSTANTS, VARIABLE, Node, UnknownOperator

FALSE, TRUE = 0, 1
NEVER, ALWAYS = np.int64(FALSE), np.int64(TRUE)
"""The same for loops, in the type of all literals: of another they would be compiled once more."""

Bits = tuple[int, ...]
"""The literals of a value, lowest bit first; a flag has one."""


class Network(NamedTuple):
    """Gates: number 0 is the constant false, the next are inputs, and from `first` on each is a row of `gates`.

    A row has the literals a, b and c of `(a AND b) XOR c`; c is never negated, for then the gate is.
    """

    first: int
    gates: Numbers


def network_of(
    terms: Sequence[z3.ExprRef], inputs: int, planes: Callable[[str], Sequence[int]]
) -> tuple[Network, list[Bits]]:
    """A network of so many inputs, and the literals of terms in it; `planes` says which inputs a variable is.

    UnknownOperator if there are no gates for an operator: those of mathematical integers.
    """
    read = read_terms(terms)
    said, wires = list[tuple[int, int, int]](), list[int]()
    for node in read.declared:
        operator = _operator(node)
        said.append((operator, node.width, len(wires) if operator == GIVEN else node.low))
        wires += _given(node, planes)
    kinds = np.array(said, np.int64).reshape(-1, 3)
    ends = np.concatenate(([0], np.cumsum(kinds[read.kinds, 1])))
    bits, room = np.empty(ends[-1], np.int64), np.empty(3 * WORD, np.int64)
    nodes = _Nodes(kinds, np.array(wires, np.int64), read.kinds, read.begins, read.arguments, ends, bits, room)
    gates = _with_room(1 + inputs, nodes)
    values = bits.tolist()
    found = [tuple(values[ends[place] : ends[place + 1]]) for place in read.places.tolist()]
    return Network(1 + inputs, gates.reshape(-1, 3)), found


FEW: Final = 1 << 10
"""Room for so many gates is made at first, a power of two."""
MOST: Final = 8
"""No bit of any result needs more gates than these: the one that most do, of a product, adds a row to a sum."""

GIVEN: Final = -1
"""In place of an operator: a constant or a variable, whose literals are given."""

AND, OR, NOT, EQ, ITE = z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_NOT, z3.Z3_OP_EQ, z3.Z3_OP_ITE
BADD, BMUL, ULT, BAND, BOR = z3.Z3_OP_BADD, z3.Z3_OP_BMUL, z3.Z3_OP_ULT, z3.Z3_OP_BAND, z3.Z3_OP_BOR
BNOT, BSHL, BLSHR, EXTRACT, ZERO_EXT = (
    z3.Z3_OP_BNOT, z3.Z3_OP_BSHL, z3.Z3_OP_BLSHR, z3.Z3_OP_EXTRACT, z3.Z3_OP_ZERO_EXT
)  # fmt: skip

OPERATORS: Final = frozenset({AND, OR, NOT, EQ, ITE, BADD, BMUL, ULT, BAND, BOR, BNOT, BSHL, BLSHR, EXTRACT, ZERO_EXT})
"""Those that there are gates for, as z3 numbers them."""


def _given(node: Node, planes: Callable[[str], Sequence[int]]) -> Bits:
    """The literals of a constant or a variable."""
    if node.operator == VARIABLE:
        return tuple(2 * (1 + plane) for plane in planes(node.name))
    return tuple(node.value >> bit & 1 for bit in range(node.width)) if node.operator in CONSTANTS else ()


def _operator(node: Node) -> int:
    if node.operator == VARIABLE or node.operator in CONSTANTS:
        return GIVEN
    if node.operator not in OPERATORS:
        raise UnknownOperator(f"z3's operator {node.operator} has no gates; add it to model_check/kernel/gates.py")
    return node.operator


# ------------------------------------------------------------------------------------------------------------- gates


class _Nodes(NamedTuple):
    """What is to be gates: nodes as `Terms` has them.

    `said` has by kind an operator, a width, and where something begins: a slice, or the literals that are given in
    `wires`. The literals found of a node are in `bits`, and end where `ends` says. `room` is for what is under way.
    """

    said: Numbers
    wires: Numbers
    kinds: Numbers
    begins: Numbers
    arguments: Numbers
    ends: Numbers
    bits: Numbers
    room: Numbers


@inlined
def _bits(nodes: _Nodes, node: int) -> Any:
    """The literals of a node."""
    return nodes.bits[nodes.ends[node] : nodes.ends[node + 1]]


class _Gates(NamedTuple):
    """The gates so far, three literals each; by their content, the number of each, plus one; and how many there are."""

    first: int
    literals: Numbers
    slots: Numbers
    size: Numbers


@inlined
def _slot(net: _Gates, a: int, b: int, c: int) -> Any:
    """Where the number of a gate is, plus one, or 0 if it is to be put there."""
    last = np.uint64(net.slots.shape[0] - 1)
    slot = fold(fold(np.uint64(a) + GOLDEN_BITS, np.uint64(b) + GOLDEN_BITS), np.uint64(c) + GOLDEN_BITS) & last
    while True:
        row = 3 * (net.slots[slot] - 1)
        if row < 0 or (net.literals[row] == a and net.literals[row + 1] == b and net.literals[row + 2] == c):
            return slot
        slot = slot + np.uint64(1) & last


@tight_loop
def _gate(net: _Gates, a: int, b: int, c: int) -> Any:
    """The literal of a gate; if c is negated, so is the result."""
    slot = _slot(net, a, b, c & ~1)
    if not net.slots[slot]:
        row = 3 * net.size[0]
        net.literals[row], net.literals[row + 1], net.literals[row + 2] = a, b, c & ~1
        net.size[0] += 1
        net.slots[slot] = net.size[0]
    return 2 * (net.first + net.slots[slot] - 1) ^ c & 1


@tight_loop
def _both(net: _Gates, left: int, right: int) -> Any:
    """Both literals."""
    if left > right:
        left, right = right, left
    if left == FALSE or left == right ^ 1:
        return NEVER
    return right if left in (TRUE, right) else _gate(net, left, right, NEVER)


@tight_loop
def _exclusive(net: _Gates, left: int, right: int) -> Any:
    """Exactly one of two literals; negations move to the output."""
    if left > right:
        left, right = right, left
    if left in (FALSE, TRUE):
        return right ^ left
    if left | 1 == right | 1:
        return left ^ right
    return _gate(net, left & ~1, ALWAYS, right & ~1) ^ (left ^ right) & 1


@tight_loop
def _choice(net: _Gates, test: int, then: int, otherwise: int) -> Any:
    """`then` if the test holds, else `otherwise`; where one of them is known, or the test again, it is an AND."""
    if test & 1:
        test, then, otherwise = test ^ 1, otherwise, then
    if test == FALSE or then == otherwise:
        return otherwise
    opposite = then == otherwise ^ 1
    if not opposite and then | 1 in (TRUE, test | 1):
        holds = np.int64(then in (TRUE, test))
        return _both(net, test ^ 1, otherwise ^ holds) ^ holds
    if not opposite and otherwise | 1 in (TRUE, test | 1):
        holds = np.int64(otherwise in (TRUE, test ^ 1))
        return _both(net, test, then ^ holds) ^ holds
    differ = _exclusive(net, test if opposite else then, otherwise)
    return differ if opposite else _gate(net, test, differ, otherwise)


# ---------------------------------------------------------------------------------------------- words made of bits


@inlined
def _equal(net: _Gates, left: Numbers, right: Numbers, out: Numbers, room: Numbers) -> None:
    """Whether two values have the same bits."""
    for bit in range(len(left)):
        room[bit] = _exclusive(net, left[bit], right[bit]) ^ 1
    out[0] = TRUE
    for bit in range(len(left)):
        out[0] = _both(net, out[0], room[bit])


@inlined
def _less(net: _Gates, left: Numbers, right: Numbers, out: Numbers) -> None:
    """Whether the first value, unsigned, is less than the second: the highest differing bit decides."""
    out[0] = FALSE
    for bit in range(len(left)):
        out[0] = _choice(net, _exclusive(net, left[bit], right[bit]), right[bit], out[0])


@tight_loop
def _add(net: _Gates, total: Numbers, more: Numbers) -> None:
    """The sum of two values, modulo their width, in place of the first."""
    carry = NEVER
    for bit in range(len(total)):
        half = _exclusive(net, total[bit], more[bit])
        before, total[bit] = total[bit], _exclusive(net, half, carry)
        carry = _choice(net, half, carry, before)


@inlined
def _multiply(net: _Gates, total: Numbers, factor: Numbers, room: Numbers) -> None:
    """The product, modulo the width, in place of the first; a row for each bit of one that is not constantly zero."""
    width, more = len(total), 0
    left, right, row = room[:width], room[width : 2 * width], room[2 * width : 3 * width]
    for bit in range(width):
        more += (factor[bit] != FALSE) - (total[bit] != FALSE)
    for bit in range(width):
        left[bit], right[bit] = (factor[bit], total[bit]) if more > 0 else (total[bit], factor[bit])
        total[bit] = FALSE
    for position in range(width):
        if right[position] != FALSE:
            for bit in range(width):
                row[bit] = FALSE if bit < position else _both(net, right[position], left[bit - position])
            _add(net, total, row)


@inlined
def _shift(net: _Gates, value: Numbers, amount: Numbers, right: bool, room: Numbers) -> None:
    """The value shifted by a variable amount, zeros moving in."""
    width = len(value)
    for position in range(len(amount)):
        if amount[position] == FALSE:
            continue
        distance = min(width, 1 << min(position, WORD - 2))
        for bit in range(width):
            room[bit] = value[bit]
        for bit in range(width):
            source = bit + distance if right else bit - distance
            moved = room[source] if 0 <= source < width else FALSE
            value[bit] = _choice(net, amount[position], moved, room[bit])


@inlined
def _combine(net: _Gates, operator: int, out: Numbers, value: Numbers, room: Numbers) -> None:
    """One more argument of an operator, in place of what the arguments before it gave."""
    if operator == BADD:
        _add(net, out, value)
    elif operator == BMUL:
        _multiply(net, out, value, room)
    elif operator in (BSHL, BLSHR):
        _shift(net, out, value, operator == BLSHR, room)
    else:
        either = np.int64(operator in (OR, BOR))
        for bit in range(len(out)):
            out[bit] = _both(net, out[bit] ^ either, value[bit] ^ either) ^ either


@inlined
def _compare(net: _Gates, operator: int, left: Numbers, right: Numbers, out: Numbers, room: Numbers) -> None:
    if operator == EQ:
        _equal(net, left, right, out, room)
    else:
        _less(net, left, right, out)


@inlined
def _operate(net: _Gates, operator: int, low: int, nodes: _Nodes, of: Numbers, out: Numbers) -> None:
    """The bits of a node, from those of its arguments; negation, slices and zeros in front need no gates."""
    first = _bits(nodes, of[0])
    if operator == ITE:
        then, otherwise = _bits(nodes, of[1]), _bits(nodes, of[2])
        for bit in range(len(out)):
            out[bit] = _choice(net, first[0], then[bit], otherwise[bit])
    elif operator == EQ:
        _equal(net, first, _bits(nodes, of[1]), out, nodes.room)
    elif operator == ULT:
        _less(net, first, _bits(nodes, of[1]), out)
    else:
        flip, skip = operator in (NOT, BNOT), low if operator == EXTRACT else 0
        for bit in range(len(out)):
            out[bit] = (first[skip + bit] if skip + bit < len(first) else FALSE) ^ flip
        for number in range(1, len(of)):
            _combine(net, operator, out, _bits(nodes, of[number]), nodes.room)


@tight_loop
def _blasted(net: _Gates, nodes: _Nodes) -> bool:
    """Put all gates that some nodes need into a network, and find the bits of each; false if there is not room."""
    most = min(len(net.literals) // 3, len(net.slots) // 2)
    for node in range(len(nodes.kinds)):
        kind, out = nodes.kinds[node], _bits(nodes, node)
        operator, begin, widest = nodes.said[kind, 0], nodes.said[kind, 2], len(out)
        if operator == GIVEN:
            for bit in range(len(out)):
                out[bit] = nodes.wires[begin + bit]
            continue
        of = nodes.arguments[nodes.begins[node] : nodes.begins[node + 1]]
        for argument in of:
            widest = max(widest, len(_bits(nodes, argument)))
        if net.size[0] + MOST * widest * (widest + len(of)) > most:
            return False
        _operate(net, operator, begin, nodes, of, out)
    return True


def _with_room(first: int, nodes: _Nodes) -> Numbers:
    """The literals of all gates, with more and more room until that is enough; the bits of the nodes are found."""
    most = FEW
    while True:
        size = np.zeros(1, np.int64)
        net = _Gates(first, np.empty(3 * most, np.int64), np.zeros(2 * most, np.int64), size)
        if _blasted(net, nodes):
            return net.literals[: 3 * size[0]].copy()
        most *= 4
