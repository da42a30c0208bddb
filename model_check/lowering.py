"""Updates as machine words: LLVM IR that makes the successors of one action.

A condition is asked of every state, an update is computed only where its action is enabled, so updates stay ordinary
scalar code: `BitVec(n)` is LLVM's `iN`, a flag is `i1`, `If` is `select`. For every action there is one function; it
walks the states whose bit is set in the action's mask, reads the words of each, computes the new values from the old
ones, all at once, and writes the successor. A successor equal to its own state is not written: it leads nowhere new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

import z3

from model_check.packing import WORD, Packing
from model_check.slicing import GROUPS
from model_check.straight_line import CONSTANTS, VARIABLE, Node, Program
from spec.language import Action


class Scalars:
    """Instructions for the nodes of a program, each once, in one function; `%w<i>` hold the words of the state."""

    def __init__(self, program: Program, packing: Packing) -> None:
        self._program = program
        self._packing = packing
        self._names: dict[int, str] = {}
        self.text: list[str] = []

    def new(self, instruction: str) -> str:
        """Append an instruction; give the name of its result."""
        name = f"%t{len(self.text)}"
        self.text.append(f"  {name} = {instruction}")
        return name

    def value(self, term: z3.ExprRef) -> str:
        """The name (or the literal) of a term's value."""
        place = self._program.place(term)
        for position in self._program.needed_by([place]):
            if position not in self._names:
                self._names[position] = self._lower(self._program.nodes[position])
        return self._names[place]

    def _lower(self, node: Node) -> str:
        if node.operator in CONSTANTS:
            return str(node.value - (node.value >> node.width - 1 << node.width))  # LLVM reads literals as signed
        if node.operator == VARIABLE:
            return self._read(node.name)
        names = [self._names[place] for place in node.arguments]
        nodes = [self._program.nodes[place] for place in node.arguments]
        return INSTRUCTIONS[node.operator](self, node, names, nodes)

    def _read(self, variable: str) -> str:
        place = self._packing.places[variable]
        moved = self.new(f"lshr i64 %w{place.word}, {place.shift}")
        return self.resized(moved, WORD, place.width)

    def resized(self, name: str, width: int, to: int) -> str:
        """The value cut, or extended by zeros, to a width."""
        if width == to:
            return name
        return self.new(f"{'zext' if width < to else 'trunc'} i{width} {name} to i{to}")

    def chain(self, operation: str, names: Sequence[str], width: int) -> str:
        """An operation over any number of values, from the left."""
        result = names[0]
        for name in names[1:]:
            result = self.new(f"{operation} i{width} {result}, {name}")
        return result

    def shifted(self, operation: str, node: Node, names: Sequence[str]) -> str:
        """A shift that gives 0 where LLVM's is undefined: from the width up."""
        width = node.width
        fits = self.new(f"icmp ult i{width} {names[1]}, {width}")
        amount = self.new(f"select i1 {fits}, i{width} {names[1]}, i{width} 0")
        moved = self.new(f"{operation} i{width} {names[0]}, {amount}")
        return self.new(f"select i1 {fits}, i{width} {moved}, i{width} 0")

    def joined(self, node: Node, names: Sequence[str], nodes: Sequence[Node]) -> str:
        """A concatenation, the first part highest."""
        result = self.resized(names[0], nodes[0].width, node.width)
        for name, part in zip(names[1:], nodes[1:], strict=True):
            moved = self.new(f"shl i{node.width} {result}, {part.width}")
            result = self.new(f"or i{node.width} {moved}, {self.resized(name, part.width, node.width)}")
        return result

    def distinct(self, names: Sequence[str], width: int) -> str:
        """Whether no two values are equal."""
        pairs = [(a, b) for index, a in enumerate(names) for b in names[:index]]
        return self.chain("and", [self.new(f"icmp ne i{width} {a}, {b}") for a, b in pairs], 1)


Instruction = Callable[[Scalars, Node, Sequence[str], Sequence[Node]], str]


def _chain(operation: str) -> Instruction:
    return lambda s, node, names, _: s.chain(operation, names, node.width)


def _compare(condition: str) -> Instruction:
    return lambda s, _, names, nodes: s.new(f"icmp {condition} i{nodes[0].width} {names[0]}, {names[1]}")


def _shift(operation: str) -> Instruction:
    return lambda s, node, names, _: s.shifted(operation, node, names)


INSTRUCTIONS: Mapping[int, Instruction] = {
    z3.Z3_OP_AND: _chain("and"),
    z3.Z3_OP_OR: _chain("or"),
    z3.Z3_OP_NOT: lambda s, _, a, _k: s.new(f"xor i1 {a[0]}, 1"),
    z3.Z3_OP_XOR: _chain("xor"),
    z3.Z3_OP_IMPLIES: lambda s, _, a, _k: s.new(f"icmp ule i1 {a[0]}, {a[1]}"),
    z3.Z3_OP_EQ: _compare("eq"),
    z3.Z3_OP_DISTINCT: lambda s, _, a, k: s.distinct(a, k[0].width),
    z3.Z3_OP_ITE: lambda s, n, a, _: s.new(f"select i1 {a[0]}, i{n.width} {a[1]}, i{n.width} {a[2]}"),
    z3.Z3_OP_BADD: _chain("add"),
    z3.Z3_OP_BSUB: _chain("sub"),
    z3.Z3_OP_BMUL: _chain("mul"),
    z3.Z3_OP_BNEG: lambda s, n, a, _: s.new(f"sub i{n.width} 0, {a[0]}"),
    z3.Z3_OP_ULT: _compare("ult"),
    z3.Z3_OP_UGT: _compare("ugt"),
    z3.Z3_OP_ULEQ: _compare("ule"),
    z3.Z3_OP_UGEQ: _compare("uge"),
    z3.Z3_OP_BAND: _chain("and"),
    z3.Z3_OP_BOR: _chain("or"),
    z3.Z3_OP_BXOR: _chain("xor"),
    z3.Z3_OP_BNOT: lambda s, n, a, _: s.new(f"xor i{n.width} {a[0]}, -1"),
    z3.Z3_OP_BSHL: _shift("shl"),
    z3.Z3_OP_BLSHR: _shift("lshr"),
    z3.Z3_OP_EXTRACT: lambda s, n, a, k: s.resized(s.new(f"lshr i{k[0].width} {a[0]}, {n.low}"), k[0].width, n.width),
    z3.Z3_OP_ZERO_EXT: lambda s, n, a, k: s.resized(a[0], k[0].width, n.width),
    z3.Z3_OP_CONCAT: lambda s, n, a, k: s.joined(n, a, k),
}
"""By z3 operator: how its value is computed from the names and the nodes of its arguments."""


def action_ir(number: int, action: Action, program: Program, packing: Packing) -> Iterator[str]:
    """`@action<number>(rows, mask, successors, parents) -> how many`: for each row whose bit is set in the mask, the
    successor and the row's number within the block, appended in order of rows; rows that do not change are left out.
    """
    scalars = Scalars(program, packing)
    changed = _updated_words(scalars, action)
    words = range(packing.words)
    row_bytes = packing.words * 8
    pointers = ", ".join(f"ptr noalias %{name}" for name in ("rows", "mask", "out", "from"))
    yield f"define internal i64 @action{number}({pointers}) {{"
    yield from _NEXT_ROW
    yield f"  %offset = mul i64 %row, {row_bytes}\n  %base = getelementptr i8, ptr %rows, i64 %offset"
    for word in words:
        yield f"  %p{word} = getelementptr i8, ptr %base, i64 {word * 8}"
        yield f"  %w{word} = load i64, ptr %p{word}, align 8"
    yield from scalars.text
    yield f"  %start = mul i64 %n, {row_bytes}\n  %new = getelementptr i8, ptr %out, i64 %start"
    for word in words:
        yield f"  %q{word} = getelementptr i8, ptr %new, i64 {word * 8}"
        yield f"  store i64 {changed.get(word, f'%w{word}')}, ptr %q{word}, align 8"
    yield from _differences(changed)
    yield "  %n1 = add i64 %n, %moved\n  br label %next\nend:\n  ret i64 %n\n}"


_NEXT_ROW = (
    "entry:\n  %m0 = load i64, ptr %mask, align 8\n  br label %next",
    "next:",
    "  %g = phi i64 [ 0, %entry ], [ %g1, %group ], [ %g, %step ]",
    "  %n = phi i64 [ 0, %entry ], [ %n, %group ], [ %n1, %step ]",
    "  %m = phi i64 [ %m0, %entry ], [ %m2, %group ], [ %m1, %step ]",
    "  %none = icmp eq i64 %m, 0\n  br i1 %none, label %over, label %step",
    "over:\n  %g1 = add i64 %g, 1",
    f"  %last = icmp eq i64 %g1, {GROUPS}\n  br i1 %last, label %end, label %group",
    "group:\n  %pm = getelementptr i64, ptr %mask, i64 %g1\n  %m2 = load i64, ptr %pm, align 8\n  br label %next",
    "step:\n  %bit = call i64 @llvm.cttz.i64(i64 %m, i1 true)",
    "  %less = sub i64 %m, 1\n  %m1 = and i64 %m, %less",
    f"  %first = mul i64 %g, {WORD}\n  %row = add i64 %first, %bit",
    "  %row32 = trunc i64 %row to i32\n  %pf = getelementptr i32, ptr %from, i64 %n",
    "  store i32 %row32, ptr %pf, align 4",
)
"""The loop over the set bits of a mask of several words: `%row` is the row, `%n` counts the successors written."""


def _updated_words(scalars: Scalars, action: Action) -> dict[int, str]:
    """The new value of every word in which the action may change a variable."""
    packing = scalars._packing  # noqa: SLF001 - one idea in two parts
    values = {name: scalars.value(term) for name, term in action.updates.items()}
    words: dict[int, str] = {}
    for name, value in values.items():
        place = packing.places[name]
        old = words.get(place.word, f"%w{place.word}")
        kept = scalars.new(f"and i64 {old}, {~place.mask}")
        moved = scalars.new(f"shl i64 {scalars.resized(value, place.width, WORD)}, {place.shift}")
        words[place.word] = scalars.new(f"or i64 {kept}, {moved}")
    return words


def _differences(changed: Mapping[int, str]) -> Iterator[str]:
    """`%moved` is 1 if some word differs from what it was, else 0."""
    if not changed:
        yield "  %moved = add i64 0, 0"
        return
    yield "  %any = or i64 0, 0"
    names = ["%any", *(f"%any{word}" for word in changed)]
    for (before, after), (word, value) in zip(pairwise(names), changed.items(), strict=True):
        yield f"  %diff{word} = xor i64 {value}, %w{word}"
        yield f"  {after} = or i64 {before}, %diff{word}"
    yield f"  %differs = icmp ne i64 {names[-1]}, 0\n  %moved = zext i1 %differs to i64"
