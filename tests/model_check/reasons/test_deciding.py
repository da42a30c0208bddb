"""The deciding parts of a condition decide: z3 proves it, of random conditions and of the protocol's own."""

import random

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from model_check.reasons.deciding import Deciding, deciding
from model_check.terms.straight_line import Program, Valuation
from spec.scopes import scope
from spec.variants import AS_CODED
from tests.spec.on_demand import OnDemand
from tests.spec.stepping import played

FLAGS = [z3.Bool(name) for name in "abc"]
NUMBERS = [z3.BitVec(name, 3) for name in "xy"]


def literal(part: Deciding) -> z3.BoolRef:
    return part.term if part.holds else z3.Not(part.term)


def is_implied(parts: tuple[Deciding, ...], condition: z3.BoolRef, *, holds: bool) -> bool:
    solver = z3.Solver()
    solver.add(*map(literal, parts), condition != z3.BoolVal(holds))
    return bool(solver.check() == z3.unsat)


comparisons = st.one_of(
    st.sampled_from([*FLAGS, z3.BoolVal(True), z3.BoolVal(False)]),
    st.builds(
        lambda how, one, other: how(one, other),
        st.sampled_from([z3.ULT, lambda one, other: one == other]),
        st.sampled_from(NUMBERS),
        st.sampled_from([*NUMBERS, *(z3.BitVecVal(number, 3) for number in range(4))]),
    ),
)
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds(z3.And, st.lists(inner, min_size=2, max_size=4)),
        st.builds(z3.Or, st.lists(inner, min_size=2, max_size=4)),
        st.builds(z3.Not, inner),
        st.builds(z3.Implies, inner, inner),
        st.builds(z3.If, inner, inner, inner),
        st.builds(lambda one, other: one == other, inner, inner),
    ),
    max_leaves=12,
)
states = st.fixed_dictionaries({**dict.fromkeys("abc", st.integers(0, 1)), **dict.fromkeys("xy", st.integers(0, 7))})


@given(conditions, states)
def test_the_parts_are_so_and_with_them_the_condition_is_what_it_is(
    condition: z3.BoolRef, state: dict[str, int]
) -> None:
    values = Valuation(state)
    parts = deciding(condition, values)
    assert [bool(values(one.term)) for one in parts] == [one.holds for one in parts]
    assert is_implied(parts, condition, holds=bool(values(condition)))
    assert len(set(parts)) == len(parts)


def test_of_a_conjunction_the_first_false_one_is_enough_and_no_other_is_told() -> None:
    a, b, c = FLAGS
    values = Valuation({"a": 1, "b": 0, "c": 0})
    assert deciding(z3.And(a, b, c), values) == (Deciding(b, holds=False),)
    assert deciding(z3.Not(z3.Or(c, a)), values) == (Deciding(a, holds=True),)
    assert deciding(z3.Or(c, b), values) == (Deciding(c, holds=False), Deciding(b, holds=False))
    assert deciding(z3.And(a, z3.Not(c)), values) == (Deciding(a, holds=True), Deciding(c, holds=False))


def test_what_is_neither_this_nor_that_is_said_to_be_what_it_is() -> None:
    x = NUMBERS[0]
    (part,) = deciding(z3.Or(x == 1, x == 2), Valuation({"x": 5}))
    assert (str(part.term), part.holds) == ("5 == x", True), "z3 puts the number first"
    (part,) = deciding(z3.Or(x == 1, FLAGS[0]), Valuation({"x": 5, "a": 0}))[:1]
    assert (str(part.term), part.holds) == ("x == 1", False), "one number alone is told as it is asked"
    (part,) = deciding(z3.And(z3.Not(x == 1), x == 5), Valuation({"x": 5}))
    assert (str(part.term), part.holds) == ("x == 5", True), "what it is says that it is no other"


@pytest.mark.takes("It makes the claims of a scope, and asks z3 of each in some states.")
def test_each_guard_and_claim_is_what_its_parts_say() -> None:
    """On a random walk through a scope, all claims about states, and the guards of some actions."""
    made, program, rules = OnDemand(scope("tiny")), Program(), played(scope("tiny"), AS_CODED)
    dice = random.Random("why")
    terms = [one.term for one in made.claims() if one.term is not None]
    terms += [made.action(name).guard for name in dice.sample([*made.names], 30)]
    state, seen = rules.initial, list[bool]()
    for _ in range(25):
        values = Valuation(rules.layout.flatten(state), program)
        for term in dice.sample(terms, 8):
            parts = deciding(term, values)
            assert [bool(values(one.term)) for one in parts] == [one.holds for one in parts]
            assert is_implied(parts, term, holds=bool(values(term)))
            seen.append(bool(values(term)))
        state = dice.choice([step.after for one in rules.named.values() if (step := rules.step(state, *one))])
    assert {*seen} == {True, False}
