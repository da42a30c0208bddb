"""Terms read as arrays, for what walks them in machine code.

It is what `Program` is, made in a fifth of the time: the same nodes in the same order, shared subterms once, arguments
before their uses. z3 is asked by the addresses of its C functions, from a compiled loop; what a declaration says, of
which there are a few hundred, is read in Python.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import z3

from model_check.kernel.hashing import GOLDEN_BITS
from model_check.kernel.native import ask, ask_at, fold, holding_loop, inlined
from model_check.kernel.packing import Words
from model_check.terms.straight_line import IN_OTHER_WORDS, Node, UnknownOperator, node_of, shortened
from spec.language.z3_calls import address_of, context_address, term_at

Numbers = npt.NDArray[np.int64]

FUNCTIONS: Final = np.array(
    [address_of(name) for name in ("Z3_get_app_decl", "Z3_get_app_num_args", "Z3_get_app_arg")], dtype=np.uint64
)
"""Of a term its declaration; how many arguments it has; and each of them."""
FEW: Final = 1 << 14
"""Room for so many nodes, or arguments, is made at first, a power of two."""


class Terms(NamedTuple):
    """Some terms: `places` has the node that each is.

    A node has a number in `kinds`, that of what its declaration says, and arguments in `arguments`, which begin where
    `begins` says and end where those of the next node begin.
    """

    places: Numbers
    declared: list[Node]
    kinds: Numbers
    begins: Numbers
    arguments: Numbers


def read_terms(terms: Sequence[z3.ExprRef]) -> Terms:
    """Terms as arrays; UnknownOperator if one has an operator that has no meaning here, or is a quantifier.

    A term that says in other words what the table of meanings says is read as the other term.
    """
    roots = np.array([one.ast.value for one in terms], dtype=np.uint64)
    others: dict[int, z3.ExprRef] = {}
    while True:
        pairs = np.array([(one, other.ast.value) for one, other in others.items()], dtype=np.uint64).reshape(-1, 2)
        found = _with_room(roots, pairs)
        if len(found.places) < len(roots):
            raise UnknownOperator(f"a quantifier has no meaning here: {shortened(terms[len(found.places)])}")
        declarations, examples, kinds = np.unique(found.declarations, return_index=True, return_inverse=True)
        declared = [*map(_said, declarations.tolist(), found.addresses[examples].tolist())]
        said = dict(_in_other_words(declared, kinds, found.addresses))
        if not said:
            return Terms(found.places, declared, kinds, found.begins, found.arguments)
        others |= said


def terms_as_bytes(terms: Sequence[z3.ExprRef]) -> bytes:
    """Terms as bytes, in which a common subterm is written once; every process writes the same terms alike."""
    read = read_terms(terms)
    _, firsts = np.unique(read.kinds, return_index=True)
    order = np.argsort(firsts)  # kinds have their numbers by addresses; here, by where they come first
    said = "\n".join(str(tuple(read.declared[kind])) for kind in order.tolist())
    arrays = (np.argsort(order)[read.kinds], read.begins, read.arguments, read.places)
    sizes = " ".join(str(len(one)) for one in (said, *arrays))
    return b"".join((sizes.encode(), said.encode(), *(one.astype("<i8").tobytes() for one in arrays)))


_known: dict[int, tuple[Node, z3.FuncDeclRef]] = {}
"""What declarations say, with each of them, lest z3 give its address to another."""


def _said(declaration: int, address: int) -> Node:
    """What a declaration says, of which the term at an address is an example."""
    found = _known.get(declaration)
    if found is None:
        term = term_at(address, z3.main_ctx())
        found = _known[declaration] = node_of(term), term.decl()
    return found[0]


class _Found(NamedTuple):
    """The places of the roots; of each node its address, its declaration, and where its arguments begin; and these."""

    places: Numbers
    addresses: Words
    declarations: Words
    begins: Numbers
    arguments: Numbers


def _with_room(roots: Words, others: Words) -> _Found:
    """What is read of the roots, with more and more room until that is enough."""
    context, room = np.uint64(context_address(z3.main_ctx())), FEW
    while True:
        addresses, declarations, stack = (np.empty(room, np.uint64) for _ in range(3))
        begins, arguments, slots = np.zeros(room + 1, np.int64), np.empty(room, np.int64), np.zeros(4 * room, np.int64)
        found = _Found(np.empty(len(roots), np.int64), addresses, declarations, begins, arguments)
        read, nodes = _read(context, FUNCTIONS, roots, others, found, stack, slots)
        if read >= 0:
            begins = begins[: nodes + 1]
            return _Found(found.places[:read], addresses[:nodes], declarations[:nodes], begins, arguments[: begins[-1]])
        room *= 4


def _in_other_words(declared: Sequence[Node], kinds: Numbers, addresses: Words) -> Iterator[tuple[int, z3.ExprRef]]:
    for number in [number for number, node in enumerate(declared) if node.operator in IN_OTHER_WORDS]:
        for address in addresses[kinds == number].tolist():
            yield address, IN_OTHER_WORDS[declared[number].operator](*term_at(address, z3.main_ctx()).children())


@inlined
def _slot(slots: Numbers, addresses: Words, address: Any) -> Any:
    """Where a table of open addressing has the number of a node, plus one, or 0 if it is to be put there."""
    last = np.uint64(slots.shape[0] - 1)
    slot = fold(address, GOLDEN_BITS) & last
    while slots[slot] and addresses[slots[slot] - 1] != address:
        slot = slot + np.uint64(1) & last
    return slot


@inlined
def _meant(others: Words, address: Any) -> Any:
    """The term that is read in place of one."""
    for row in range(others.shape[0]):
        if others[row, 0] == address:
            return others[row, 1]
    return address


@holding_loop
def _read(
    context: Any, functions: Words, roots: Words, others: Words, found: _Found, stack: Words, slots: Numbers
) -> tuple[int, int]:
    """How many roots were read, and how many nodes there are; -1 roots if there was not room for them.

    What `others` has in its first column is read as what it has beside it. A quantifier is not read, nor is any root
    behind it.
    """
    nodes, end, room = 0, 0, len(found.addresses)
    for number in range(len(roots)):
        depth, stack[0] = 1, _meant(others, roots[number])
        while depth:
            current = stack[depth - 1]
            slot = _slot(slots, found.addresses, current)
            if slots[slot]:
                depth -= 1
                continue
            declaration = ask(functions[0], context, current)
            if not declaration:
                return number, nodes
            count = np.int64(ask(functions[1], context, current) & np.uint64(0xFFFFFFFF))
            if nodes == room or depth + count > room or end + count > room:
                return -1, nodes
            waiting = depth
            for position in range(count):
                argument = _meant(others, ask_at(functions[2], context, current, np.uint64(position)))
                place = slots[_slot(slots, found.addresses, argument)]
                if place:
                    found.arguments[end + position] = place - 1
                else:
                    stack[depth] = argument
                    depth += 1
            if depth == waiting:
                found.addresses[nodes], found.declarations[nodes] = current, declaration
                nodes, end, depth = nodes + 1, int(end + count), depth - 1
                slots[slot], found.begins[nodes] = nodes, end
        found.places[number] = slots[_slot(slots, found.addresses, _meant(others, roots[number]))] - 1
    return len(roots), nodes
