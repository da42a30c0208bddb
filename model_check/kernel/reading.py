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

from model_check.kernel.native import ask, ask_at, fold, holding_loop, tight_loop
from model_check.kernel.packing import Words
from model_check.terms.straight_line import IN_OTHER_WORDS, Node, UnknownOperator, node_of, shortened
from spec.language.z3_calls import address_of, context_address, term_at

Numbers = npt.NDArray[np.int64]

FUNCTIONS: Final = np.array(
    [address_of(name) for name in ("Z3_get_app_decl", "Z3_get_app_num_args", "Z3_get_app_arg")], dtype=np.uint64
)
"""Of a term its declaration; how many arguments it has; and each of them."""
SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""An odd number with bits all over; addresses are multiples of eight."""


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
    context = context_address(z3.main_ctx())
    roots = np.array([one.ast.value for one in terms], dtype=np.uint64)
    others: dict[int, z3.ExprRef] = {}
    while True:
        pairs = np.array([(one, other.ast.value) for one, other in others.items()], dtype=np.uint64).reshape(-1, 2)
        places, addresses, declarations, begins, arguments = _read(np.uint64(context), FUNCTIONS, roots, pairs)
        if len(places) < len(roots):
            raise UnknownOperator(f"a quantifier has no meaning here: {shortened(terms[len(places)])}")
        _, examples, kinds = np.unique(declarations, return_index=True, return_inverse=True)
        declared = [node_of(term_at(int(addresses[one]), z3.main_ctx())) for one in examples]
        said = dict(_in_other_words(declared, kinds, addresses))
        if not said:
            return Terms(places, declared, kinds, begins, arguments)
        others |= said


def _in_other_words(declared: Sequence[Node], kinds: Numbers, addresses: Words) -> Iterator[tuple[int, z3.ExprRef]]:
    for number in [number for number, node in enumerate(declared) if node.operator in IN_OTHER_WORDS]:
        for address in addresses[kinds == number].tolist():
            yield address, IN_OTHER_WORDS[declared[number].operator](*term_at(address, z3.main_ctx()).children())


@tight_loop
def _slot(slots: Numbers, addresses: Words, address: Any) -> Any:
    """Where a table of open addressing has the number of a node, plus one, or 0 if it is to be put there."""
    last = np.uint64(slots.shape[0] - 1)
    slot = fold(address, SPREAD) & last
    while slots[slot] and addresses[slots[slot] - 1] != address:
        slot = slot + np.uint64(1) & last
    return slot


@tight_loop
def _meant(others: Words, address: Any) -> Any:
    """The term that is read in place of one."""
    for row in range(others.shape[0]):
        if others[row, 0] == address:
            return others[row, 1]
    return address


@holding_loop
def longer(array: Any, length: int) -> Any:
    """An array with room for so many, and as many again."""
    if length <= len(array):
        return array
    found = np.zeros(2 * length, array.dtype)
    found[: len(array)] = array
    return found


@holding_loop
def _read(
    context: Any, functions: Words, roots: Words, others: Words
) -> tuple[Numbers, Words, Words, Numbers, Numbers]:
    """The places of the roots; of each node its address, its declaration, where its arguments begin; and arguments.

    What `others` has in its first column is read as what it has beside it. At a quantifier it ends: places are missing.
    """
    addresses, declarations, begins = np.zeros(64, np.uint64), np.zeros(64, np.uint64), np.zeros(65, np.int64)
    arguments, stack, slots = np.zeros(64, np.int64), np.zeros(64, np.uint64), np.zeros(256, np.int64)
    places, nodes, end = np.zeros(len(roots), np.int64), 0, 0
    for number in range(len(roots)):
        depth, stack[0] = 1, _meant(others, roots[number])
        while depth:
            current = stack[depth - 1]
            slot = _slot(slots, addresses, current)
            if slots[slot]:
                depth -= 1
                continue
            declaration = ask(functions[0], context, current)
            if not declaration:
                return places[:number], addresses, declarations, begins, arguments
            count = np.int64(ask(functions[1], context, current) & np.uint64(0xFFFFFFFF))
            stack, arguments, waiting = longer(stack, depth + count), longer(arguments, end + count), depth
            for position in range(count):
                argument = _meant(others, ask_at(functions[2], context, current, np.uint64(position)))
                place = slots[_slot(slots, addresses, argument)]
                if place:
                    arguments[end + position] = place - 1
                else:
                    stack[depth] = argument
                    depth += 1
            if depth > waiting:
                continue
            addresses, declarations = longer(addresses, nodes + 1), longer(declarations, nodes + 1)
            begins = longer(begins, nodes + 2)
            addresses[nodes], declarations[nodes] = current, declaration
            nodes, end, depth = nodes + 1, int(end + count), depth - 1
            slots[slot], begins[nodes] = nodes, end
            if 2 * nodes > len(slots):
                slots = np.zeros(2 * len(slots), np.int64)
                for node in range(nodes):
                    slots[_slot(slots, addresses, addresses[node])] = node + 1
        places[number] = slots[_slot(slots, addresses, _meant(others, roots[number]))] - 1
    return places, addresses[:nodes], declarations[:nodes], begins[: nodes + 1], arguments[:end]
