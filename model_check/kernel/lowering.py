"""Terms as LLVM instructions on single values: `BitVec(n)` is `iN`, a flag is `i1`, `If` is `select`.

A value of a state is a shift and a mask away from one of its words. Whatever LLVM leaves undefined and z3 defines, a
shift by more than the width, is spelled out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce

import z3

from model_check.kernel.packing import WORD, Packing, signed
from model_check.terms.folding import Folding
from model_check.terms.straight_line import CONSTANTS, VARIABLE, Node


class Scalars:
    """Instructions for the nodes of a program, each once; `%w<i>` hold the words of the state before."""

    def __init__(self, program: Folding, packing: Packing) -> None:
        self.program = program
        self.packing = packing
        self.text: list[str] = []
        self.label = "step"
        self._names: dict[int, str] = {}
        self._count = 0

    def new(self, instruction: str) -> str:
        """Append an instruction; give the name of its result."""
        name = self.fresh()
        self.text.append(f"  %{name} = {instruction}")
        return f"%{name}"

    def fresh(self) -> str:
        """A name that is not taken."""
        self._count += 1
        return f"t{self._count}"

    @contextmanager
    def branch(self, label: str, join: str) -> Iterator[None]:
        """Instructions under a label of their own; what is computed there is not known elsewhere."""
        names = self._names.copy()
        self.text.append(f"{label}:")
        self.label = label
        yield
        self.text.append(f"  br label %{join}")
        self._names = names

    def value(self, place: int) -> str:
        """The name (or the literal) of a node's value."""
        for position in self.program.needed_by([place], self._names):
            self._names[position] = self._lower(self.program.nodes[position])
        return self._names[place]

    def _lower(self, node: Node) -> str:
        if node.operator in CONSTANTS:
            return str(signed(node.value, node.width))
        if node.operator == VARIABLE:
            return self._read(node.name)
        names = [self._names[place] for place in node.arguments]
        nodes = [self.program.nodes[place] for place in node.arguments]
        return INSTRUCTIONS[node.operator](self, node, names, nodes)

    def _read(self, variable: str) -> str:
        place = self.packing.places[variable]
        moved = self.new(f"lshr i64 %w{place.word}, {place.shift}")
        return self.resized(moved, WORD, place.width)

    def resized(self, name: str, width: int, to: int) -> str:
        """The value cut, or extended by zeros, to a width."""
        if width == to:
            return name
        return self.new(f"{'zext' if width < to else 'trunc'} i{width} {name} to i{to}")

    def shifted(self, operation: str, node: Node, names: Sequence[str]) -> str:
        """A shift that gives 0 where LLVM's is undefined: from the width up."""
        width = node.width
        fits = self.new(f"icmp ult i{width} {names[1]}, {width}")
        amount = self.new(f"select i1 {fits}, i{width} {names[1]}, i{width} 0")
        moved = self.new(f"{operation} i{width} {names[0]}, {amount}")
        return self.new(f"select i1 {fits}, i{width} {moved}, i{width} 0")


Instruction = Callable[[Scalars, Node, Sequence[str], Sequence[Node]], str]


def _chain(operation: str) -> Instruction:
    return lambda s, n, names, _: reduce(lambda a, b: s.new(f"{operation} i{n.width} {a}, {b}"), names)


def _compare(condition: str) -> Instruction:
    return lambda s, _, names, nodes: s.new(f"icmp {condition} i{nodes[0].width} {names[0]}, {names[1]}")


def _shift(operation: str) -> Instruction:
    return lambda s, node, names, _: s.shifted(operation, node, names)


INSTRUCTIONS: Mapping[int, Instruction] = {
    z3.Z3_OP_AND: _chain("and"),
    z3.Z3_OP_OR: _chain("or"),
    z3.Z3_OP_NOT: lambda s, _, a, _k: s.new(f"xor i1 {a[0]}, 1"),
    z3.Z3_OP_EQ: _compare("eq"),
    z3.Z3_OP_ITE: lambda s, n, a, _: s.new(f"select i1 {a[0]}, i{n.width} {a[1]}, i{n.width} {a[2]}"),
    z3.Z3_OP_BADD: _chain("add"),
    z3.Z3_OP_BMUL: _chain("mul"),
    z3.Z3_OP_ULT: _compare("ult"),
    z3.Z3_OP_BAND: _chain("and"),
    z3.Z3_OP_BOR: _chain("or"),
    z3.Z3_OP_BNOT: lambda s, n, a, _: s.new(f"xor i{n.width} {a[0]}, -1"),
    z3.Z3_OP_BSHL: _shift("shl"),
    z3.Z3_OP_BLSHR: _shift("lshr"),
    z3.Z3_OP_EXTRACT: lambda s, n, a, k: s.resized(s.new(f"lshr i{k[0].width} {a[0]}, {n.low}"), k[0].width, n.width),
    z3.Z3_OP_ZERO_EXT: lambda s, n, a, k: s.resized(a[0], k[0].width, n.width),
}
"""By z3 operator: how its value is computed from the names and the nodes of its arguments."""
