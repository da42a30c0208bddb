"""Values: on plain numbers, on terms that z3 keeps, and on both mixed, every operation says what Python would say."""

import enum
import operator
from collections.abc import Callable
from itertools import product

import pytest
import z3

from model_check.terms.straight_line import evaluate
from spec.language.terms import (
    FLAG,
    NO,
    SOME,
    TRUE,
    YES,
    Kind,
    Value,
    bits_for,
    both,
    choose,
    either,
    enumeration,
    epoch,
    flag,
    is_false,
    is_true,
    number,
    same,
)  # fmt: skip
from spec.language.z3_calls import EQUAL, Flag, made
from tests.compiled_terms import function_of

NUMBERS = number(12)
INTEGERS = epoch(12, unbounded=True)


class Colour(enum.Enum):
    """Something to enumerate."""

    RED = "r"
    GREEN = "g"
    BLUE = "b"


COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


@pytest.mark.parametrize("kind", [NUMBERS, INTEGERS], ids=["bit-vector", "integer"])
@pytest.mark.parametrize("compare", COMPARISONS)
def test_comparisons_are_those_of_numbers(kind: Kind, compare: Callable[..., Value]) -> None:
    of_terms = function_of({"a": kind, "b": kind}, lambda a, b: [compare(a, b)])
    for left, right in product(range(13), repeat=2):
        half_known = compare(kind.variable("a"), right).term
        expected = int(bool(compare(left, right)))
        assert of_terms(left, right) == (expected,)
        assert evaluate(half_known, {"a": left}) == expected
        assert compare(kind.constant(left), right).raw == expected


FLAGS = {"a": FLAG, "b": FLAG, "c": FLAG}


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (both, lambda a, b, c: a and b and c),
        (either, lambda a, b, c: a or b or c),
        (lambda a, b, c: a & b | c, lambda a, b, c: (a and b) or c),
        (lambda a, b, c: (~a).implies(b == c), lambda a, b, c: a or b == c),
        (choose, lambda a, b, c: b if a else c),
        (lambda a, b, _: choose(a, b, True), lambda a, b, _: b if a else True),
        (lambda a, _, c: choose(a, False, ~c), lambda a, _, c: False if a else not c),
    ],
)
def test_flags_are_those_of_python(build: Callable[..., Value], expected: Callable[..., bool]) -> None:
    of_terms = function_of(FLAGS, lambda a, b, c: [build(a, b, c)])
    for a, b, c in product((False, True), repeat=3):
        answer = int(expected(a, b, c))
        assert of_terms(a, b, c) == (answer,)
        assert build(flag(a), flag(b), flag(c)).raw == answer
        mixed = build(FLAG.variable("a"), flag(b), FLAG.variable("c")).term
        assert evaluate(mixed, {"a": a, "c": c}) == answer


def test_nothing_to_ask_is_true_of_all_and_false_of_any() -> None:
    assert both().raw == 1
    assert either().raw == 0


def test_what_is_known_never_becomes_a_term() -> None:
    unknown = FLAG.variable("a")
    assert both(unknown, False).is_known
    assert either(unknown, True).is_known
    assert choose(True, NUMBERS.constant(3), NUMBERS.variable("x")).raw == 3
    assert (NUMBERS.constant(3).plus(2) == 5).raw == 1
    assert NUMBERS.constant(12).plus(1).raw == 13, "a known number does not wrap where a bit-vector would"


def test_trivial_terms_fold() -> None:
    a, x = FLAG.variable("a"), NUMBERS.variable("x")
    assert is_true((x == x).term)  # noqa: PLR0124 - this is the question
    assert is_false((~(x == x)).term)  # noqa: PLR0124 - as above
    assert same((~~a).term, a.term)
    assert same((a == True).term, a.term)  # noqa: E712 - a flag is compared, nothing is asked of Python
    assert same((a == False).term, (~a).term)  # noqa: E712 - as above
    assert same(choose(a, x, x).term, x.term)
    assert same(both(a).term, a.term)
    assert (x < x).raw == 0  # noqa: PLR0124 - as above
    assert (x <= x).raw == 1  # noqa: PLR0124 - as above


def test_of_a_flag_and_its_negation_one_holds_and_not_both() -> None:
    a, b, x = FLAG.variable("a"), FLAG.variable("b"), NUMBERS.variable("x")
    smaller = x < 3
    for one in (a, smaller, both(a, b)):
        assert (both(one, b, ~one).raw, either(~one, b, one).raw) == (0, 1)
    assert not both(a, ~b).is_known


def test_a_bounded_number_wraps_in_z3_which_is_why_successor_asks_for_room() -> None:
    of_terms = function_of({"x": NUMBERS}, lambda x: [x.plus(1), x.plus(-1)])
    assert of_terms(15) == (0, 14)
    assert of_terms(0) == (1, 15)


@pytest.mark.parametrize(("maximum", "bits"), [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (255, 8), (256, 9)])
def test_a_kind_is_as_wide_as_its_maximum(maximum: int, bits: int) -> None:
    assert bits_for(maximum) == number(maximum).width == bits


def test_kinds_have_the_sort_that_they_promise() -> None:
    assert FLAG.sort == z3.BoolSort()
    assert NUMBERS.sort == z3.BitVecSort(4)
    assert INTEGERS.sort == z3.IntSort()
    for kind in (FLAG, NUMBERS, INTEGERS):
        assert kind.variable("v").term.sort() == kind.literal(1).sort() == kind.sort


@pytest.mark.parametrize("build", [operator.eq, operator.lt, both, either])
def test_what_is_made_again_is_the_same_term(build: Callable[..., Value]) -> None:
    kind = FLAG if build in (both, either) else NUMBERS
    a, b = kind.variable("a"), kind.variable("b")
    assert same(build(a, b).term, build(kind.variable("a"), kind.variable("b")).term)
    assert not same(build(a, b).term, build(b, a).term)


def test_terms_are_those_that_z3s_own_python_makes() -> None:
    """Also of their class, for what takes terms apart asks for it."""
    (a, b), (x, y), (n, m) = [[kind.variable(name) for name in "ab"] for kind in (FLAG, NUMBERS, INTEGERS)]
    pairs = [
        (both(a, b), z3.And(a.term, b.term)),
        (either(a, b), z3.Or(a.term, b.term)),
        (~a, z3.Not(a.term)),
        (a == b, a.term == b.term),
        (x == y, x.term == y.term),
        (x < y, z3.ULT(x.term, y.term)),
        (n < m, n.term < m.term),
        (choose(a, x, y), z3.If(a.term, x.term, y.term)),
        (choose(a, n, m), z3.If(a.term, n.term, m.term)),
        (choose(a, a == b, b), z3.If(a.term, a.term == b.term, b.term)),
    ]
    for ours, theirs in pairs:
        assert z3.eq(ours.term, theirs)
        assert isinstance(ours.term, type(theirs))


def test_what_cannot_be_a_term_is_refused_as_z3_refuses_it() -> None:
    with pytest.raises(z3.Z3Exception, match=r"[Ss]ort"):
        made(Flag, EQUAL, FLAG.variable("a").term.ast, NUMBERS.variable("x").term.ast)


def test_no_term_is_taken_for_another_that_had_its_address() -> None:
    """More terms than are remembered come and go, each of operands that nobody keeps."""
    x = NUMBERS.variable("x")
    for number_of_terms in range(SOME + SOME // 2):
        left = x.plus(number_of_terms % 13)
        assert same((left == x.plus(1)).term, (x.plus(number_of_terms % 13) == x.plus(1)).term)
        assert z3.eq((~(left == 3)).term, z3.Not(left.term == 3))


def test_a_flag_that_was_made_elsewhere_is_known_if_it_is_a_constant() -> None:
    assert FLAG.of(z3.BoolVal(True)).raw == 1
    assert FLAG.of(z3.simplify(z3.And(False, z3.Bool("a")))).raw == 0
    assert not FLAG.of(z3.Bool("a")).is_known
    assert same(NUMBERS.of(NUMBERS.literal(3)).term, NUMBERS.literal(3))


def test_an_epoch_shows_and_takes_kafkas_numbers() -> None:
    versions = epoch(7, offset=-1)
    assert versions.constant(-1).raw == 0
    assert versions.constant(6).raw == 7
    assert [versions.show(raw) for raw in (0, 1, 7)] == ["-1", "0", "6"]


def test_an_enumeration_is_numbered_as_it_is_written() -> None:
    colours = enumeration(Colour)
    assert [colours.constant(one).raw for one in Colour] == [0, 1, 2]
    assert [colours.show(raw) for raw in range(3)] == ["RED", "GREEN", "BLUE"]
    assert colours.width == 2


def test_an_enumeration_may_end_early() -> None:
    some = enumeration(Colour, list(Colour)[1])
    assert (some.width, some.maximum) == (1, 1)
    with pytest.raises(ValueError, match="at most 1 fits"):
        some.constant(list(Colour)[2])


@pytest.mark.parametrize("beyond", [-1, 13])
def test_a_constant_beyond_its_kind_is_refused(beyond: int) -> None:
    with pytest.raises(ValueError, match=rf"{beyond} is not a number: at most 12 fits"):
        NUMBERS.constant(beyond)


def test_an_integer_has_no_maximum() -> None:
    assert INTEGERS.constant(10**30).raw == 10**30


def test_a_value_has_no_truth_and_no_hash() -> None:
    with pytest.raises(TypeError, match="has no truth"):
        bool(FLAG.variable("a"))
    with pytest.raises(TypeError, match="unhashable"):
        hash(YES)


def test_only_a_flag_is_negated() -> None:
    with pytest.raises(TypeError, match="a number is not a flag"):
        _ = ~NUMBERS.variable("x")


def test_a_term_is_no_number() -> None:
    with pytest.raises(TypeError, match="only a state of numbers"):
        _ = NUMBERS.variable("x").raw
    assert same(YES.term, TRUE)
    assert same((~NO).term, TRUE)
