"""What a z3 term means: straight-line programs over plain integers.

z3 keeps terms as a graph in which equal subterms are one node. Here that graph is read once, from the leaves up, into a
list of nodes in which a node comes after its arguments. Evaluating is then a single pass over the list with the table
`MEANING` below: one line for each operator of z3 that a specification uses, in the words of SMT-LIB; what else z3 has
is said in these (`IN_OTHER_WORDS`). There is no recursion, no cleverness and no other definition: generated code
(Python for the oracle, C for SPIN, LLVM for the kernel) is tested against this table, and the table against z3's own
simplifier.

A flag is 0 or 1, a bit-vector the unsigned number that its bits spell, an integer itself. Left out on purpose: signed
comparisons, division and quantifiers, which the protocol does not use; a term with one of them is refused by name.
"""

import ctypes
import operator
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import reduce
from io import StringIO
from itertools import combinations
from typing import NamedTuple

import z3
from z3.z3printer import PP, Formatter

from spec.language.z3_calls import ADDRESS, NUMBER, c_function, context_address, term_at


class UnknownOperator(Exception):
    """A term uses an operator that has no line in the table."""


class Node(NamedTuple):
    """One operation: its z3 operator, the width of its result and the positions of its arguments.

    `width` is in bits: 1 for a flag, 0 for an unbounded integer. `arguments` are positions in the program, each before
    the node's own. `value` belongs to constants, `name` to variables, `low` to extractions (their lowest bit).
    """

    operator: int
    width: int
    arguments: tuple[int, ...] = ()
    value: int = 0
    name: str = ""
    low: int = 0

    @property
    def mask(self) -> int:
        """All bits of the result; -1, which keeps every bit, for an integer."""
        return (1 << self.width) - 1

    def wrap(self, value: int) -> int:
        """The value modulo the width; an integer has no width."""
        return value & self.mask if self.width else value


CONSTANTS = frozenset({z3.Z3_OP_TRUE, z3.Z3_OP_FALSE, z3.Z3_OP_BNUM, z3.Z3_OP_ANUM})
VARIABLE = z3.Z3_OP_UNINTERPRETED
SORTS = frozenset({z3.Z3_BOOL_SORT, z3.Z3_BV_SORT, z3.Z3_INT_SORT})
"""The sorts of which an operator's result may be."""

MEANING: Mapping[int, Callable[[Node, Sequence[int]], int]] = {
    # Flags.
    z3.Z3_OP_AND: lambda _n, a: int(all(a)),
    z3.Z3_OP_OR: lambda _n, a: int(any(a)),
    z3.Z3_OP_NOT: lambda _n, a: 1 - a[0],
    # Any sort.
    z3.Z3_OP_EQ: lambda _n, a: int(a[0] == a[1]),
    z3.Z3_OP_ITE: lambda _n, a: a[1] if a[0] else a[2],
    # Numbers: bit-vectors wrap, integers do not; order is always unsigned.
    z3.Z3_OP_BADD: lambda n, a: n.wrap(sum(a)),
    z3.Z3_OP_BMUL: lambda n, a: n.wrap(reduce(operator.mul, a)),
    z3.Z3_OP_ADD: lambda _n, a: sum(a),
    z3.Z3_OP_MUL: lambda _n, a: reduce(operator.mul, a),
    z3.Z3_OP_ULT: lambda _n, a: int(a[0] < a[1]),
    z3.Z3_OP_LT: lambda _n, a: int(a[0] < a[1]),
    # Bits.
    z3.Z3_OP_BAND: lambda _n, a: reduce(operator.and_, a),
    z3.Z3_OP_BOR: lambda _n, a: reduce(operator.or_, a),
    z3.Z3_OP_BNOT: lambda n, a: n.wrap(~a[0]),
    z3.Z3_OP_BSHL: lambda n, a: n.wrap(a[0] << a[1]) if a[1] < n.width else 0,
    z3.Z3_OP_BLSHR: lambda n, a: a[0] >> a[1] if a[1] < n.width else 0,
    z3.Z3_OP_EXTRACT: lambda n, a: n.wrap(a[0] >> n.low),
    z3.Z3_OP_ZERO_EXT: lambda _n, a: a[0],
}
"""By operator: the node and the values of its arguments give the node's value."""


_less = z3.ArithRef.__lt__  # of a term and a constant, Python would turn `<` around


def _behind(high: z3.BitVecRef, low: z3.BitVecRef) -> z3.BitVecRef:
    return z3.ZeroExt(low.size(), high) << low.size() | z3.ZeroExt(high.size(), low)


IN_OTHER_WORDS: Mapping[int, Callable[..., z3.ExprRef]] = {
    z3.Z3_OP_XOR: lambda *a: reduce(lambda left, right: z3.Not(left == right), a),
    z3.Z3_OP_IMPLIES: lambda a, b: z3.Or(z3.Not(a), b),
    z3.Z3_OP_DISTINCT: lambda *a: z3.And([z3.Not(one == other) for one, other in combinations(a, 2)]),
    z3.Z3_OP_BSUB: lambda *a: reduce(lambda left, right: left + ~right + 1, a),
    z3.Z3_OP_BNEG: lambda a: ~a + 1,
    z3.Z3_OP_SUB: lambda *a: reduce(lambda left, right: left + -1 * right, a),
    z3.Z3_OP_UMINUS: lambda a: -1 * a,
    z3.Z3_OP_ULEQ: lambda a, b: z3.Not(z3.ULT(b, a)),
    z3.Z3_OP_UGEQ: lambda a, b: z3.Not(z3.ULT(a, b)),
    z3.Z3_OP_UGT: lambda a, b: z3.ULT(b, a),
    z3.Z3_OP_LE: lambda a, b: z3.Not(_less(b, a)),
    z3.Z3_OP_GE: lambda a, b: z3.Not(_less(a, b)),
    z3.Z3_OP_GT: lambda a, b: _less(b, a),
    z3.Z3_OP_BXOR: lambda *a: reduce(lambda left, right: (left | right) & ~(left & right), a),
    z3.Z3_OP_CONCAT: lambda *a: reduce(_behind, a),
}
"""Operators that say what others of the table say, too: a term with one of them is read as the other term."""


_declaration = c_function("Z3_get_app_decl", ADDRESS, ADDRESS)
_is_application = c_function("Z3_is_app", ctypes.c_bool, ADDRESS)
_count = c_function("Z3_get_app_num_args", NUMBER, ADDRESS)
_argument = c_function("Z3_get_app_arg", ADDRESS, ADDRESS, NUMBER)


class Program:
    """Terms as one list of nodes, shared subterms once, arguments before their uses."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        # z3 gives the address of a term to another once nobody holds it, so terms are held while theirs are known.
        # Whatever is below a term that is held is held with it, and keeps its address.
        self._places: dict[int, int] = {}
        self._held: list[z3.ExprRef] = []
        self._read: dict[int, Node] = {}

    def place(self, term: z3.ExprRef) -> int:
        """The position of a term, which is added first if it is new."""
        places, root = self._places, term.as_ast().value
        if root in places:
            return places[root]
        self._held.append(term)
        context = context_address(term.ctx)
        pending: list[tuple[int, list[int] | None]] = [(root, None)]
        while pending:
            current, arguments = pending.pop()
            if current in places:
                continue
            if arguments is None:
                if not _is_application(context, current):
                    raise UnknownOperator(f"a quantifier has no meaning here: {shortened(term)}")
                arguments = [_argument(context, current, n) for n in range(_count(context, current))]
                missing = [one for one in arguments if one not in places]
                if missing:
                    pending.append((current, arguments))
                    pending += [(one, None) for one in missing]
                    continue
            # A declaration says all else: the operator and the sort, and what number or which variable it is.
            declaration = _declaration(context, current)
            operator, width, _, value, name, low = self._read.get(declaration) or self._new(declaration, current, term)
            if operator in IN_OTHER_WORDS:
                places[current] = self.place(IN_OTHER_WORDS[operator](*term_at(current, term.ctx).children()))
                continue
            places[current] = len(self.nodes)
            self.nodes.append(Node(operator, width, tuple([places[one] for one in arguments]), value, name, low))
        return places[root]

    def _new(self, declaration: int, address: int, root: z3.ExprRef) -> Node:
        """What a declaration says that is met for the first time, at an address below a term."""
        node = self._read[declaration] = node_of(term_at(address, root.ctx))
        return node

    def needed_by(self, places: Iterable[int], known: Container[int] = ()) -> list[int]:
        """The positions that some positions depend on, themselves included, in order of evaluation.

        Left out are those that are known, and what only they depend on.
        """
        found = {place for place in places if place not in known}
        pending = list(found)
        while pending:
            fresh = {one for one in self.nodes[pending.pop()].arguments if one not in found and one not in known}
            found |= fresh
            pending += fresh
        return sorted(found)


def node_of(term: z3.ExprRef) -> Node:
    """A single z3 term as a node, without its arguments; UnknownOperator if there is no line for it."""
    context, declaration, sort = term.ctx_ref(), term.decl(), term.sort()
    kind, sort_kind = declaration.kind(), sort.kind()
    width = sort.size() if sort_kind == z3.Z3_BV_SORT else int(sort_kind == z3.Z3_BOOL_SORT)
    if kind in CONSTANTS:
        is_flag = sort_kind == z3.Z3_BOOL_SORT
        value = kind == z3.Z3_OP_TRUE if is_flag else z3.Z3_get_numeral_string(context, term.as_ast())
        return Node(kind, width, value=int(value))
    if kind == VARIABLE and not declaration.arity():
        return Node(kind, width, name=declaration.name())
    if kind in IN_OTHER_WORDS:
        return Node(kind, width)
    if kind not in MEANING or sort_kind not in SORTS:
        raise UnknownOperator(
            f"the operator {declaration.name()} of sort {sort} has no meaning here; "
            f"add a line for it to model_check/terms/straight_line.py or write the term without it: {shortened(term)}"
        )
    return Node(kind, width, low=declaration.params()[1] if kind == z3.Z3_OP_EXTRACT else 0)


def shortened(term: z3.ExprRef) -> str:
    """A term on one line, for messages; of a large one only as much is formatted as will be there."""
    formatter, text = Formatter(), StringIO()
    formatter.max_visited = 100
    PP()(text, formatter(term))
    line = " ".join(text.getvalue().split())
    return line if len(line) <= 200 else line[:200] + " ..."


class Valuation:
    """The values of terms in one state; what was computed for one term is kept for the next."""

    def __init__(self, state: Mapping[str, int], program: Program | None = None) -> None:
        self.state = state
        self.program = program or Program()
        self._values: dict[int, int] = {}

    def __call__(self, term: z3.ExprRef) -> int:
        """The raw value of a term: 0 or 1, an unsigned number, or an integer."""
        place = self.program.place(term)
        for position in self.program.needed_by([place], self._values):
            self._values[position] = self._value(self.program.nodes[position])
        return self._values[place]

    def after(self, updates: Mapping[str, z3.ExprRef]) -> dict[str, int]:
        """The state behind this one, where an action makes these updates."""
        return {**self.state, **{name: self(term) for name, term in updates.items()}}

    def _value(self, node: Node) -> int:
        if node.operator in CONSTANTS:
            return node.value
        if node.operator == VARIABLE:
            return self._read(node.name)
        return MEANING[node.operator](node, [self._values[argument] for argument in node.arguments])

    def _read(self, name: str) -> int:
        if name not in self.state:
            raise KeyError(
                f"the state has no variable {name}; it has {len(self.state)}: {', '.join(sorted(self.state)[:5])} ..."
            )
        return self.state[name]


def evaluate(term: z3.ExprRef, state: Mapping[str, int]) -> int:
    """The raw value of one term in one state, by a walk over its graph."""
    return Valuation(state)(term)
