"""Mathematical integers as bit-vectors that are provably wide enough.

Epochs are integers in a proof, but a solver is far quicker with bits. Within a bounded number of steps nothing is lost:
the protocol only copies epochs, compares them and adds constants, so each step raises the largest of them by at most
the largest constant that is added, and bit-vectors which hold that bound never wrap. A term that does anything else
with an integer (a difference, a product, the sum of two epochs) is refused by name.
"""

from collections.abc import Iterable, Sequence

import z3

from model_check.terms.straight_line import CONSTANTS, IN_OTHER_WORDS, VARIABLE, Node, Program


class NotNarrowable(Exception):
    """A term does with an integer what a bound on its growth cannot be given for."""


def growth(terms: Iterable[z3.ExprRef]) -> int:
    """By how much a single term can exceed the largest integer variable (or zero) that it reads."""
    program = Program()
    for term in terms:
        program.place(term)
    found: list[int] = []
    for node in program.nodes:
        found.append(_growth(node, [found[at] for at in node.arguments], [program.nodes[at] for at in node.arguments]))
    return max(found, default=0)


def _growth(node: Node, inner: Sequence[int], arguments: Sequence[Node]) -> int:
    """The growth of one node; nodes of other sorts have none of their own."""
    if node.width != 0 or node.operator == VARIABLE:
        return 0
    if node.operator in CONSTANTS and node.value >= 0:
        return node.value
    if node.operator == z3.Z3_OP_ITE:
        return max(inner[1:])
    if node.operator == z3.Z3_OP_ADD and sum(one.operator not in CONSTANTS for one in arguments) <= 1:
        return sum(inner)
    raise NotNarrowable(f"integers are only copied, compared and raised by constants here, not by {node}")


class Narrowing:
    """A translation of terms in which every integer is a bit-vector of one width, in bits."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._known: dict[int, z3.ExprRef] = {}
        self._held: list[z3.ExprRef] = []

    def sort(self, sort: z3.SortRef) -> z3.SortRef:
        """The sort of a variable after the translation."""
        return z3.BitVecSort(self.width) if sort.kind() == z3.Z3_INT_SORT else sort

    def __call__(self, term: z3.ExprRef) -> z3.ExprRef:
        """The same term over bit-vectors; shared subterms stay shared."""
        pending = [term]
        while pending:
            current = pending[-1]
            missing = [child for child in current.children() if child.get_id() not in self._known]
            if missing:
                pending += missing
                continue
            pending.pop()
            if current.get_id() not in self._known:
                self._held.append(current)
                arguments = [self._known[child.get_id()] for child in current.children()]
                self._known[current.get_id()] = self._rebuilt(current, arguments)
        return self._known[term.get_id()]

    def _rebuilt(self, term: z3.ExprRef, arguments: list[z3.ExprRef]) -> z3.ExprRef:
        operator = term.decl().kind()
        if z3.is_int(term):
            return self._integer(term, operator, arguments)
        if not any(z3.is_int(child) for child in term.children()):
            return term.decl()(*arguments) if arguments else term
        if operator in IN_OTHER_WORDS:
            return self(IN_OTHER_WORDS[operator](*term.children()))
        return z3.ULT(*arguments) if operator == z3.Z3_OP_LT else arguments[0] == arguments[1]

    def _integer(self, term: z3.ExprRef, operator: int, arguments: list[z3.ExprRef]) -> z3.ExprRef:
        if z3.is_int_value(term):
            return z3.BitVecVal(term.as_long(), self.width)
        if operator == VARIABLE:
            return z3.BitVec(term.decl().name(), self.width)
        return z3.If(*arguments) if operator == z3.Z3_OP_ITE else z3.Sum(arguments)
