"""The gates against the table of meanings: each operator on all arguments, and random terms."""

from itertools import product

import pytest
import z3
from hypothesis import given

from model_check.kernel import gates, reading
from model_check.kernel.gates import FALSE, TRUE, Bits, Network, network_of
from model_check.kernel.gates import OPERATORS as HAVE_GATES
from model_check.terms.straight_line import MEANING, UnknownOperator, evaluate
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


def planes(name: str) -> range:
    """The inputs that a variable is."""
    return range(FIRST_BIT[name], FIRST_BIT[name] + WIDTHS[name])


def network(*terms: z3.ExprRef) -> tuple[Network, list[Bits]]:
    return network_of(terms, sum(WIDTHS.values()), planes)


def answers(found: Network, inputs: list[int]) -> list[int]:
    """The value of the constant, of every input and every gate, one after the other."""
    values = [0, *inputs]
    for gate in found.gates.tolist():
        a, b, c = (values[literal >> 1] ^ literal & 1 for literal in gate)
        values.append(a & b ^ c)
    return values


def by_gates(term: z3.BoolRef, state: dict[str, int]) -> int:
    found, [(literal,)] = network(term)
    inputs = [state.get(name, 0) >> position & 1 for name in WIDTHS for position in range(WIDTHS[name])]
    return answers(found, inputs)[literal >> 1] ^ literal & 1


def test_every_operator_on_bits_has_gates() -> None:
    assert MEANING.keys() - INTEGERS_ONLY == HAVE_GATES


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
    p, q, r = (*map(variable, FLAGS), variable("a") == 3)
    same = [
        (z3.And(p, q), z3.And(q, p)),
        (z3.Or(p, q), z3.Not(z3.And(z3.Not(p), z3.Not(q)))),
        (z3.If(p, z3.BoolVal(True), z3.BoolVal(False)), p),
        (z3.Not(p) == q, z3.Not(p == q)),
        (z3.If(z3.Not(p), q, r), z3.If(p, r, q)),
        (p == z3.BoolVal(False), z3.Not(p)),
    ]
    for one, other in same:
        found, [(left,), (right,)] = network(one, other)
        assert left == right
        assert len(found.gates) <= 4
    _, [(nothing,), (all_,), (never,)] = network(
        z3.And(p, z3.Not(p)), z3.Or(p, z3.Not(p)), z3.And(p, z3.BoolVal(False))
    )
    assert (nothing, all_, never) == (FALSE, TRUE, FALSE)
    # A comparison with a constant has no XOR left: 3 bits, at most two gates.
    found, _ = network(z3.BitVec("a", 3) == 5)
    assert len(found.gates) == 2


def test_more_gates_than_there_is_room_for_at_first_are_all_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the sums has gates of its own, and each is once more what it was at first."""
    sums = [variable("x") * number + variable("y") == number for number in range(1, 60)]
    at_once, _ = network(*sums)
    monkeypatch.setattr(gates, "FEW", 8)
    monkeypatch.setattr(reading, "FEW", 8)
    found, literals = network(*sums, *sums)
    assert (found.gates == at_once.gates).all()
    assert len(found.gates) > 1000
    assert literals[:59] == literals[59:]
    assert len({tuple(gate) for gate in found.gates.tolist()}) == len(found.gates)


def test_an_integer_has_no_gates() -> None:
    with pytest.raises(UnknownOperator, match="has no gates"):
        network(z3.IntVal(1) + 1 == 2)
