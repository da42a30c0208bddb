"""Source code from terms: what the Python and the C that we generate have in common.

A program (see `straight_line`) is printed as expressions. A node that is used once is written where it is used, so that
`and`, `or` and the conditional expression skip what they need not compute; a node that is used more often, or that
would nest too deep for a parser, is given a local name on a line before. How each operator is spelled is a table of
the language's own.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import z3

from model_check.terms.straight_line import CONSTANTS, VARIABLE, Node, Program

DEEPEST = 24
"""How deep expressions nest; Python's parser gives up at about a hundred parentheses."""

Spelling = Callable[[Node, Sequence[str]], str]
"""How an operator is written: the node and the texts of its arguments give the node's text."""


@dataclass(frozen=True)
class Language:
    """A language's spelling of every operator, of a constant, and of naming an intermediate result."""

    spelling: Mapping[int, Spelling]
    constant: Callable[[Node], str]
    assign: Callable[[Node, str, str], str]


@dataclass
class Writer:
    """Writes some positions of a program in a language; `lines` holds the local names that they need.

    `variables` gives the text that reads a variable; `roots` are all the positions that will be asked for, so that
    what two of them share is computed once.
    """

    program: Program
    language: Language
    variables: Mapping[str, str]
    roots: Sequence[int]
    lines: list[str] = field(default_factory=list)
    _texts: dict[int, str] = field(default_factory=dict)
    _depths: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes = self.program.nodes
        self._uses = Counter(self.roots)
        for position in self.program.needed_by(self.roots):
            self._uses.update(nodes[position].arguments)

    def expression(self, place: int) -> str:
        """The text of a position; the local names that it uses are added to `lines` first."""
        for position in self.program.needed_by([place], self._texts):
            self._write(position)
        return self._texts[place]

    def _write(self, position: int) -> None:
        node = self.program.nodes[position]
        depth = 1 + max((self._depths[argument] for argument in node.arguments), default=-1)
        text = self._spelled(node)
        if node.arguments and (self._uses[position] > 1 or depth > DEEPEST):
            name = f"t{position}"
            self.lines.append(self.language.assign(node, name, text))
            text, depth = name, 0
        self._texts[position], self._depths[position] = text, depth

    def _spelled(self, node: Node) -> str:
        if node.operator in CONSTANTS:
            return self.language.constant(node)
        if node.operator == VARIABLE:
            return self.variables[node.name]
        return self.language.spelling[node.operator](node, [self._texts[argument] for argument in node.arguments])


def conjuncts(program: Program, place: int) -> Iterator[int]:
    """The positions whose conjunction a position is, in the order in which they were required."""
    node = program.nodes[place]
    if node.operator != z3.Z3_OP_AND:
        yield place
        return
    for argument in node.arguments:
        yield from conjuncts(program, argument)


def joined(symbol: str) -> Spelling:
    """An operator between its arguments, in parentheses."""
    return lambda _node, texts: f"({f' {symbol} '.join(texts)})"


def common(suffix: str = "") -> Mapping[int, Spelling]:
    """The operators that Python and C spell alike, except for the suffix of C's numbers."""

    def wrapped(symbol: str) -> Spelling:
        """An operator between its arguments, modulo the width of the result."""
        return lambda n, t: f"(({f' {symbol} '.join(t)}) & {n.mask}{suffix})"

    return {
        z3.Z3_OP_EQ: joined("=="),
        z3.Z3_OP_BADD: wrapped("+"),
        z3.Z3_OP_BMUL: wrapped("*"),
        z3.Z3_OP_ULT: joined("<"),
        z3.Z3_OP_BAND: joined("&"),
        z3.Z3_OP_BOR: joined("|"),
        z3.Z3_OP_BNOT: lambda n, t: f"({t[0]} ^ {n.mask}{suffix})",
        z3.Z3_OP_EXTRACT: lambda n, t: f"(({t[0]} >> {n.low}) & {n.mask}{suffix})",
        z3.Z3_OP_ZERO_EXT: lambda _n, t: t[0],
    }
