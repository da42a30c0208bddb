"""The gates against the table of meanings: each operator on all arguments, and random terms."""

from itertools import product

import pytest
import z3
from hypothesis import given

from model_check.kernel.gates import FALSE, OPERATIONS, TRUE, Blaster, Network
from model_check.terms.straight_line import MEANING, Program, evaluate
from tests.model_check.random_terms import (
    BIT_VECTORS,
    BOOL,
    FLAGS,
    INT,
    LARGE,
    OPERATORS,
    SMALL,
    states,
    terms,
    variable,
)

INTEGERS_ONLY = {kind for kind, (sorts, _, _) in OPERATORS.items() if INT in sorts}
WIDTHS = dict.fromkeys(FLAGS, 1) | BIT_VECTORS
FIRST_BIT = {name: sum(list(WIDTHS.values())[:place]) for place, name in enumerate(WIDTHS)}


def answers(network: Network, inputs: list[int]) -> list[int]:
    """The value of the constant, of every input and every gate, one after the other."""
    values = [0, *inputs]
    for gate in network.gates:
        a, b, c = (values[literal >> 1] ^ literal & 1 for literal in gate)
        values.append(a & b ^ c)
    return values


def by_gates(term: z3.BoolRef, state: dict[str, int]) -> int:
    network = Network(sum(WIDTHS.values()))
    blaster = Blaster(
        Program(),
        network,
        lambda name: tuple(network.input(FIRST_BIT[name] + position) for position in range(WIDTHS[name])),
    )
    literal = blaster.literal(term)
    inputs = [state.get(name, 0) >> position & 1 for name in WIDTHS for position in range(WIDTHS[name])]
    return answers(network, inputs)[literal >> 1] ^ literal & 1


def test_every_operator_on_bits_has_gates() -> None:
    assert OPERATIONS.keys() == MEANING.keys() - INTEGERS_ONLY


@pytest.mark.parametrize("kind", sorted(OPERATORS.keys() - INTEGERS_ONLY), ids=str)
def test_an_operator_means_what_the_table_says_for_all_arguments(kind: int) -> None:
    values = {BOOL: (0, 1), SMALL: range(8), LARGE: (0, 1, 21, 64, 77, 127)}
    free = {BOOL: ("p", "q", "p"), SMALL: ("a", "b", "a"), LARGE: ("x", "y", "x")}
    sorts, _, apply = OPERATORS[kind]
    names = [free[sort][position] for position, sort in enumerate(sorts)]
    term = apply(*map(variable, names))
    for raws in product(*(values[sort] for sort in sorts)):
        state = dict(zip(names, raws, strict=True))
        expected = evaluate(term, state)
        wanted = term if z3.is_bool(term) else term == z3.BitVecVal(expected, term.size())
        assert by_gates(wanted, state) == (expected if z3.is_bool(term) else 1)


@given(terms(BOOL, 5, integers=False), states(integers=False))
def test_random_terms_mean_the_same(term: z3.BoolRef, state: dict[str, int]) -> None:
    assert by_gates(term, state) == evaluate(term, state)


def test_equal_gates_are_one_and_constants_fold() -> None:
    network = Network(3)
    a, b = network.input(0), network.input(1)
    assert network.conjunction(a, b) == network.conjunction(b, a)
    assert network.disjunction(a, b) == network.conjunction(a ^ 1, b ^ 1) ^ 1
    assert network.conjunction(a, a ^ 1) == network.exclusive(a, a) == FALSE
    assert network.choice(a, TRUE, FALSE) == a
    assert network.exclusive(a ^ 1, b) == network.exclusive(a, b ^ 1) == network.exclusive(b, a) ^ 1
    assert network.exclusive(a, TRUE) == network.exclusive(TRUE, a) == a ^ 1
    assert network.choice(a ^ 1, b, network.input(2)) == network.choice(a, network.input(2), b)
    # A comparison with a constant has no XOR left: 3 bits, at most two gates.
    before = len(network.gates)
    network.equal((a, b, network.input(2)), (TRUE, FALSE, TRUE))
    assert len(network.gates) - before == 2
