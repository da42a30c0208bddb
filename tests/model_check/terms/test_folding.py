"""Rewriting under facts: never another value where the facts hold, and simpler where they say something."""

import pytest
import z3
from hypothesis import given

from model_check.terms.folding import Folding
from model_check.terms.straight_line import VARIABLE, Program, Valuation, evaluate
from tests.model_check.random_terms import BOOL, LARGE, OPERATORS, states, terms, variable


def value_at(program: Program, position: int, state: dict[str, int]) -> int:
    valuation = Valuation(state, program)
    for place in program.needed_by([position]):
        valuation._values[place] = valuation._value(program.nodes[place])
    return valuation._values[position]


@given(terms(BOOL, 4, integers=False), terms(LARGE, 5, integers=False), states(integers=False))
def test_a_rewritten_term_has_the_same_value_wherever_the_facts_hold(
    fact: z3.BoolRef, term: z3.ExprRef, state: dict[str, int]
) -> None:
    folding = Folding()
    holding = evaluate(fact, state)
    facts = folding.facts(folding.place(fact), holding)
    (new,) = folding.rewritten([folding.place(term)], facts)
    assert value_at(folding, new, state) == evaluate(term, state)


@given(terms(BOOL, 4, integers=False), states(integers=False))
def test_facts_are_true_where_they_come_from(fact: z3.BoolRef, state: dict[str, int]) -> None:
    folding = Folding()
    for position, value in folding.facts(folding.place(fact), evaluate(fact, state)).items():
        assert value_at(folding, position, state) == value


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("value", range(8))
def test_what_follows_from_a_comparison_is_true(value: int, negated: bool) -> None:
    comparison = z3.BitVecVal(3, 3) == variable("a")
    fact = z3.And(z3.Not(comparison) if negated else comparison, z3.Not(z3.Or(variable("p"), variable("q"))))
    for p in (0, 1):
        state = {"a": value, "p": p, "q": 0}
        folding = Folding()
        if evaluate(fact, state):
            for position, known in folding.facts(folding.place(fact), 1).items():
                assert value_at(folding, position, state) == known


def test_what_a_guard_says_answers_what_an_update_asks() -> None:
    folding = Folding()
    p, a, x, y = variable("p"), variable("a"), variable("x"), variable("y")
    guard = z3.And(a == 3, z3.Not(p))
    update = z3.If(z3.And(a == 3, p), x, z3.If(z3.ULT(a, z3.BitVecVal(4, 3)), y, x))
    facts = folding.facts(folding.place(guard), 1)
    (new,) = folding.rewritten([folding.place(update)], facts)
    assert folding.is_variable(new, "y")
    assert folding.nodes[new].operator == VARIABLE


def test_equal_nodes_are_one() -> None:
    folding = Folding()
    a, b = variable("a"), variable("b")
    chosen = folding.place(z3.If(variable("p"), a & b, a))
    direct = folding.place(a & b)
    facts = folding.facts(folding.place(variable("p")), 1)
    assert folding.rewritten([chosen], facts) == [direct]


def test_every_operator_can_be_rewritten() -> None:
    for sorts, _, apply in OPERATORS.values():
        if "integer" not in sorts:
            names = {"flag": "p", "narrow": "a", "wide": "x"}
            folding = Folding()
            place = folding.place(apply(*(variable(names[sort]) for sort in sorts)))
            facts = {folding.place(variable(name)): 1 for name in names.values()}
            (new,) = folding.rewritten([place], facts)
            assert folding.is_constant(new)
