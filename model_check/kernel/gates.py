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

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import z3

from model_check.terms.straight_line import VARIABLE, Node, Program

FALSE, TRUE = 0, 1

Bits = tuple[int, ...]
"""The literals of a value, lowest bit first; a flag has one."""

Gate = tuple[int, int, int]
"""The literals a, b and c of `(a AND b) XOR c`; c is never negated, for then the gate is."""


class Network:
    """Hash-consed gates: 0 is the constant false, the next are inputs, and from `first` on they are in `gates`."""

    def __init__(self, inputs: int) -> None:
        self.first = 1 + inputs
        self.gates: list[Gate] = []
        self._known: dict[Gate, int] = {}

    def _gate(self, a: int, b: int, c: int) -> int:
        """The literal of a gate; if c is negated, so is the result."""
        gate = a, b, c & ~1
        literal = self._known.get(gate)
        if literal is None:
            literal = self._known[gate] = 2 * (self.first + len(self.gates))
            self.gates.append(gate)
        return literal ^ c & 1

    def input(self, number: int) -> int:
        """The literal of an input bit."""
        return 2 * (1 + number)

    def conjunction(self, left: int, right: int) -> int:
        """Both literals."""
        if left > right:
            left, right = right, left
        if left == FALSE or left == right ^ 1:
            return FALSE
        return right if left in (TRUE, right) else self._gate(left, right, FALSE)

    def disjunction(self, left: int, right: int) -> int:
        """At least one of two literals."""
        return self.conjunction(left ^ 1, right ^ 1) ^ 1

    def exclusive(self, left: int, right: int) -> int:
        """Exactly one of two literals; negations move to the output."""
        if left > right:
            left, right = right, left
        if left in (FALSE, TRUE):
            return right ^ left
        if left | 1 == right | 1:
            return left ^ right
        return self._gate(left & ~1, TRUE, right & ~1) ^ (left ^ right) & 1

    def choice(self, test: int, then: int, otherwise: int) -> int:
        """`then` if the test holds, else `otherwise`."""
        if test & 1:
            test, then, otherwise = test ^ 1, otherwise, then
        if test == FALSE or then == otherwise:
            return otherwise
        if then == otherwise ^ 1:
            return self.exclusive(test, otherwise)
        if then in (FALSE, TRUE, test, test ^ 1):
            then_holds = then in (TRUE, test)
            return self.disjunction(test, otherwise) if then_holds else self.conjunction(test ^ 1, otherwise)
        if otherwise in (FALSE, TRUE, test, test ^ 1):
            else_holds = otherwise in (TRUE, test ^ 1)
            return self.disjunction(test ^ 1, then) if else_holds else self.conjunction(test, then)
        return self._gate(test, self.exclusive(then, otherwise), otherwise)

    # -------------------------------------------------------------------------------------------- words made of bits

    def all(self, literals: Sequence[int]) -> int:
        """Every one of the literals."""
        return reduce(self.conjunction, literals, TRUE)

    def any(self, literals: Sequence[int]) -> int:
        """At least one of the literals."""
        return reduce(self.disjunction, literals, FALSE)

    def equal(self, left: Bits, right: Bits) -> int:
        """Whether two values have the same bits."""
        return self.all([self.exclusive(a, b) ^ 1 for a, b in zip(left, right, strict=True)])

    def less(self, left: Bits, right: Bits) -> int:
        """Whether the first value, unsigned, is less than the second: the highest differing bit decides."""
        result = FALSE
        for a, b in zip(left, right, strict=True):
            result = self.choice(self.exclusive(a, b), b, result)
        return result

    def add(self, left: Bits, right: Bits) -> Bits:
        """The sum of two values, modulo their width."""
        total, carry = [], FALSE
        for a, b in zip(left, right, strict=True):
            half = self.exclusive(a, b)
            total.append(self.exclusive(half, carry))
            carry = self.choice(half, carry, a)
        return tuple(total)

    def multiply(self, left: Bits, right: Bits) -> Bits:
        """The product, modulo the width; a row for each bit of one factor that is not constantly zero."""
        if sum(map(bool, left)) < sum(map(bool, right)):
            left, right = right, left
        total: Bits = (FALSE,) * len(left)
        for position, bit in enumerate(right):
            if bit != FALSE:
                row = (FALSE,) * position + tuple(self.conjunction(bit, a) for a in left)
                total = self.add(total, row[: len(left)])
        return total

    def shift(self, value: Bits, amount: Bits, *, right: bool) -> Bits:
        """The value shifted by a variable amount, zeros moving in."""
        width = len(value)
        for position, bit in enumerate(amount):
            if bit == FALSE:
                continue
            distance = min(width, 1 << position)
            zeros = (FALSE,) * distance
            moved = value[distance:] + zeros if right else zeros + value[: width - distance]
            value = tuple(self.choice(bit, a, b) for a, b in zip(moved, value, strict=True))
        return value


def inverted(value: Bits) -> Bits:
    """Every bit negated."""
    return tuple(bit ^ 1 for bit in value)


def spelled(value: int, width: int) -> Bits:
    """The bits of a constant."""
    return tuple(value >> position & 1 for position in range(width))


Operation = Callable[[Network, Node, Sequence[Bits]], Bits]

OPERATIONS: Mapping[int, Operation] = {
    z3.Z3_OP_AND: lambda n, _, a: (n.all([bits[0] for bits in a]),),
    z3.Z3_OP_OR: lambda n, _, a: (n.any([bits[0] for bits in a]),),
    z3.Z3_OP_NOT: lambda _n, _, a: inverted(a[0]),
    z3.Z3_OP_EQ: lambda n, _, a: (n.equal(a[0], a[1]),),
    z3.Z3_OP_ITE: lambda n, _, a: tuple(n.choice(a[0][0], x, y) for x, y in zip(a[1], a[2], strict=True)),
    z3.Z3_OP_BADD: lambda n, _, a: reduce(n.add, a),
    z3.Z3_OP_BMUL: lambda n, _, a: reduce(n.multiply, a),
    z3.Z3_OP_ULT: lambda n, _, a: (n.less(a[0], a[1]),),
    z3.Z3_OP_BAND: lambda n, _, a: _bitwise(n.conjunction, a),
    z3.Z3_OP_BOR: lambda n, _, a: _bitwise(n.disjunction, a),
    z3.Z3_OP_BNOT: lambda _n, _, a: inverted(a[0]),
    z3.Z3_OP_BSHL: lambda n, _, a: n.shift(a[0], a[1], right=False),
    z3.Z3_OP_BLSHR: lambda n, _, a: n.shift(a[0], a[1], right=True),
    z3.Z3_OP_EXTRACT: lambda _n, node, a: a[0][node.low : node.low + node.width],
    z3.Z3_OP_ZERO_EXT: lambda _n, node, a: a[0] + (FALSE,) * (node.width - len(a[0])),
}
"""By z3 operator: the network, the node and the bits of its arguments give the bits of its value."""


def _bitwise(operation: Callable[[int, int], int], values: Sequence[Bits]) -> Bits:
    return tuple(reduce(operation, column) for column in zip(*values, strict=True))


class Blaster:
    """Turns the nodes of a straight-line program into bits, each once; `inputs` gives a variable's bits by its name.

    Nobody else adds nodes to the program as long as there is anything to be turned into bits.
    """

    def __init__(self, program: Program, network: Network, inputs: Callable[[str], Bits]) -> None:
        self._program = program
        self._network = network
        self._inputs = inputs
        self._bits: list[Bits] = []

    def literal(self, condition: z3.BoolRef) -> int:
        """The literal of a condition."""
        return self.bits(condition)[0]

    def bits(self, term: z3.ExprRef) -> Bits:
        """The literals of a value."""
        place = self._program.place(term)
        for node in self._program.nodes[len(self._bits) :]:
            self._bits.append(self._blast(node))
        return self._bits[place]

    def _blast(self, node: Node) -> Bits:
        operation = OPERATIONS.get(node.operator)
        if operation is not None:
            return operation(self._network, node, [self._bits[place] for place in node.arguments])
        return self._inputs(node.name) if node.operator == VARIABLE else spelled(node.value, node.width)
