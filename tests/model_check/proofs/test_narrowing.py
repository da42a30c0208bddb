"""Integers as bit-vectors: the same values, as long as the bound on growth is kept to."""

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from model_check.proofs.narrowing import Narrowing, NotNarrowable, growth
from model_check.terms.straight_line import evaluate
from spec.language.terms import bits_for

INTEGERS = z3.Ints("i j k")
FLAGS = z3.Bools("p q")
LARGEST = 6


def integers(depth: int) -> st.SearchStrategy[z3.ExprRef]:
    leaf = st.one_of(st.sampled_from(INTEGERS), st.integers(0, 9).map(z3.IntVal))
    if depth == 0:
        return leaf
    inner = integers(depth - 1)
    raised = st.tuples(inner, st.integers(0, 3)).map(lambda pair: pair[0] + pair[1])
    chosen = st.tuples(flags(depth - 1), inner, inner).map(lambda three: z3.If(*three))
    return st.one_of(leaf, raised, chosen)


def flags(depth: int) -> st.SearchStrategy[z3.ExprRef]:
    if depth == 0:
        return st.sampled_from(FLAGS)
    pair = st.tuples(integers(depth - 1), integers(depth - 1))
    comparisons = [
        lambda a, b: a <= b,
        lambda a, b: a < b,
        lambda a, b: a >= b,
        lambda a, b: a > b,
        lambda a, b: a == b,
    ]
    compared = st.tuples(st.sampled_from([*comparisons, z3.Distinct]), pair).map(lambda two: two[0](*two[1]))
    several = st.lists(flags(depth - 1), min_size=2, max_size=3)
    return st.one_of(compared, several.map(lambda parts: z3.And(*parts)), flags(depth - 1).map(z3.Not))


@given(
    term=st.one_of(integers(3), flags(3)),
    numbers=st.lists(st.integers(0, LARGEST), min_size=3, max_size=3),
    truths=st.lists(st.integers(0, 1), min_size=2, max_size=2),
)
def test_a_term_means_the_same_when_narrowed(term: z3.ExprRef, numbers: list[int], truths: list[int]) -> None:
    state = dict(zip("ijkpq", numbers + truths, strict=True))
    width = bits_for(LARGEST + growth([term]))
    assert evaluate(Narrowing(width)(term), state) == evaluate(term, state)


def test_growth_is_what_constants_add() -> None:
    i, j, _ = INTEGERS
    p, _ = FLAGS
    assert growth([i, j <= i]) == 0
    assert growth([z3.If(p, i + 1, j) + 2]) == growth([z3.If(p, i, j + 1) + 2]) == 3
    assert growth([i == 7]) == 7


def test_other_arithmetic_is_refused() -> None:
    i, j, _ = INTEGERS
    for term in (i - j, i + j, i * 2, z3.IntVal(-1), -i):
        with pytest.raises(NotNarrowable, match="only copied, compared and raised by constants"):
            growth([term])
