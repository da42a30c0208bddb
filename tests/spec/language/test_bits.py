"""Sets and tables: on numbers and on terms, each operation says what Python says of sets and lists."""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import z3

from spec.language.bits import has_bit, lookup, shared, united, without
from spec.language.terms import Value, number
from tests.compiled_terms import function_of

NUMBERS = number(12)

Operation = Callable[[Any, Any], Any]


def difference(left: Any, right: Any) -> Any:
    """The bits of the one that the other has not."""
    return left & ~right


@pytest.mark.parametrize(
    ("operation", "of_bits"), [(united, operator.or_), (shared, operator.and_), (without, difference)]
)
def test_an_operation_on_sets_is_that_on_their_bits(operation: Operation, of_bits: Operation) -> None:
    """Where both are known, where one is, and as the very term that z3's own Python makes."""
    x, y = (NUMBERS.variable(name) for name in "xy")
    of_terms = function_of({"x": NUMBERS, "y": NUMBERS}, lambda x, y: [operation(x, y)])
    for left in range(16):
        of_one = function_of({"y": NUMBERS}, partial(half_known, operation, left))
        for right in range(16):
            expected = of_bits(left, right)
            assert operation(Value(NUMBERS, left), Value(NUMBERS, right)).raw == expected
            assert of_terms(left, right) == of_one(right) == (expected,)
    assert z3.eq(operation(x, y).term, of_bits(x.term, y.term))


def half_known(operation: Operation, left: int, y: Value) -> list[Value]:
    """What an operation gives for a number and a term."""
    return [operation(Value(NUMBERS, left), y)]


@pytest.mark.parametrize("members", [2, 3, 5, 16, 17, 65, 100])
@pytest.mark.parametrize("maximum", [1, 2, 9, 300])
def test_a_lookup_is_its_table(members: int, maximum: int) -> None:
    table = [(7 * place * place + 3) % (maximum + 1) for place in range(members)]
    index, entry = number(members - 1), number(maximum)
    of_terms = function_of({"i": index}, lambda i: [lookup(i, table, entry)])
    assert [of_terms(place) for place in range(members)] == [(one,) for one in table]
    assert [lookup(index.constant(place), table, entry).raw for place in range(members)] == table


def test_bits_are_counted_from_the_lowest() -> None:
    of_terms = function_of({"x": NUMBERS}, lambda x: [has_bit(x, place) for place in range(4)])
    for raw in range(16):
        bits = tuple(int(digit) for digit in reversed(f"{raw:04b}"))
        assert of_terms(raw) == bits
        assert tuple(has_bit(Value(NUMBERS, raw), place).raw for place in range(4)) == bits


def test_a_bit_or_an_entry_of_a_table_is_made_once() -> None:
    x, table = NUMBERS.variable("x"), (5, 4, 3, 2, 1, 0)
    assert has_bit(x, 1) is has_bit(NUMBERS.variable("x"), 1)
    assert lookup(x, table, NUMBERS) is lookup(NUMBERS.variable("x"), table, NUMBERS)


def test_terms_are_those_that_z3s_own_python_makes() -> None:
    """Also of their class, for what takes terms apart asks for it."""
    x, table = NUMBERS.variable("x"), [5, 4, 3]
    shift = z3.ZeroExt(60, x.term) * 4
    pairs = [
        (has_bit(x, 2), z3.BitVecVal(1, 1) == z3.Extract(2, 2, x.term)),
        (lookup(x, table, NUMBERS), z3.Extract(3, 0, z3.LShR(z3.BitVecVal(0x345, 64), shift))),
    ]
    for ours, theirs in pairs:
        assert z3.eq(ours.term, theirs)
        assert isinstance(ours.term, type(theirs))
