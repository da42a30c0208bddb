"""The table of meanings against z3's own simplifier, and the generated Python against the table."""

import gc
from itertools import product

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from model_check.terms.generated_code import Writer
from model_check.terms.python_code import PYTHON, compiled, condition_source, reads
from model_check.terms.straight_line import IN_OTHER_WORDS, MEANING, Program, UnknownOperator, Valuation, evaluate
from tests.model_check.random_terms import BOOL, INT, LARGE, NAMES, OPERATORS, SMALL, states, terms, variable, z3_value

VALUES = {BOOL: (0, 1), SMALL: range(8), LARGE: (0, 1, 4, 21, 63, 64, 77, 127), INT: (-2, -1, 0, 1, 3)}
FREE = {BOOL: ("p", "q", "p"), SMALL: ("a", "b", "a"), LARGE: ("x", "y", "x"), INT: ("i", "j", "i")}


def in_python(term: z3.ExprRef, state: dict[str, int]) -> int:
    program = Program()
    place = program.place(term)
    writer = Writer(program, PYTHON, reads(NAMES), [place])
    text = writer.expression(place)
    source = "def function(s):\n" + "".join(f"    {line}\n" for line in [*writer.lines, f"return int({text})"])
    return int(compiled(source)(tuple(state.get(name, 0) for name in NAMES)))


def test_every_operator_of_the_table_is_tried() -> None:
    assert OPERATORS.keys() == MEANING.keys() | IN_OTHER_WORDS.keys()
    assert not MEANING.keys() & IN_OTHER_WORDS.keys()


@pytest.mark.parametrize("kind", OPERATORS, ids=lambda kind: OPERATORS[kind][2](
    *[variable(FREE[sort][position]) for position, sort in enumerate(OPERATORS[kind][0])]).decl().name())  # fmt: skip
def test_an_operator_means_what_z3_says_for_all_arguments(kind: int) -> None:
    sorts, _, apply = OPERATORS[kind]
    names = [FREE[sort][position] for position, sort in enumerate(sorts)]
    term = apply(*map(variable, names))
    assert term.decl().kind() == kind
    for values in product(*[VALUES[sort] for sort in sorts]):
        state = dict(zip(names, values, strict=True))
        assert evaluate(term, state) == z3_value(term, state) == in_python(term, state), state


@given(st.sampled_from([BOOL, SMALL, LARGE, INT]).flatmap(terms), states())
def test_nested_terms_mean_what_z3_says(term: z3.ExprRef, state: dict[str, int]) -> None:
    assert evaluate(term, state) == z3_value(term, state) == in_python(term, state)


def said(term: z3.ExprRef) -> z3.ExprRef:
    """A term in the operators of the table, as far as its root goes."""
    words = IN_OTHER_WORDS.get(term.decl().kind())
    return term if words is None else words(*term.children())


def below(term: z3.ExprRef) -> dict[int, z3.ExprRef]:
    """A term and all that it is made of, by id, as z3's own Python objects walk it, in the operators of the table."""
    term = said(term)
    return {term.get_id(): term} | {number: one for child in term.children() for number, one in below(child).items()}


@given(terms(BOOL, 4))
def test_a_program_has_every_subterm_once_and_after_its_arguments(term: z3.BoolRef) -> None:
    program = Program()
    assert program.place(term) == len(program.nodes) - 1
    subterms = below(term)
    for one in subterms.values():
        place = program.place(one)
        node = program.nodes[place]
        assert node.operator == one.decl().kind()
        assert node.width == (1 if z3.is_bool(one) else one.size() if z3.is_bv(one) else 0)
        assert node.arguments == tuple(program.place(said(child)) for child in one.children())
        assert all(argument < place for argument in node.arguments)
    assert len(program.nodes) == len(subterms)


@given(terms(BOOL), states())
def test_a_condition_is_a_truth_value(term: z3.BoolRef, state: dict[str, int]) -> None:
    holds = compiled(condition_source(Program(), NAMES, term))
    assert holds(tuple(state[name] for name in NAMES)) is bool(evaluate(term, state))


def test_a_chain_of_a_thousand_operators_needs_neither_recursion_nor_deep_parentheses() -> None:
    chain = z3.BitVec("a", 3)
    for _ in range(1000):
        chain = z3.If(z3.Bool("p"), chain + 1, z3.BitVec("b", 3))
    state = {"p": 1, "a": 3, "b": 5}
    assert evaluate(chain, state) == in_python(chain, state) == (3 + 1000) % 8
    assert evaluate(chain, {**state, "p": 0}) == in_python(chain, {**state, "p": 0}) == 5


def test_a_shared_term_is_computed_once() -> None:
    before, term = z3.BitVec("a", 7), z3.BitVec("b", 7)
    for _ in range(60):
        before, term = term, before + term  # as many additions as rabbits, unless sharing is kept
    program = Program()
    # From (0, 1), sixty additions give the 61st Fibonacci number, which is 2504730781961.
    assert Valuation({"a": 0, "b": 1}, program)(term) == 2504730781961 % 128
    assert len(program.nodes) == 2 + 60
    assert in_python(term, {"a": 0, "b": 1}) == 2504730781961 % 128


@pytest.mark.parametrize("distance", [63, 64, 65, 2**63])
def test_a_shift_beyond_the_width_leaves_nothing(distance: int) -> None:
    value, by = z3.ZeroExt(61, z3.BitVec("a", 3)), z3.BitVecVal(distance, 64)
    for term, expected in (
        (value << by, 2**63 if distance == 63 else 0),
        (z3.LShR(value << 61, by), int(distance == 63)),
    ):
        assert evaluate(term, {"a": 5}) == in_python(term, {"a": 5}) == expected


def test_terms_that_were_thrown_away_do_not_lend_their_values_to_new_ones() -> None:
    valuation = Valuation({"a": 5})
    for raw in range(200):  # z3 gives the id of a collected term to the next one
        assert valuation(z3.BitVec("a", 8) + z3.BitVecVal(raw, 8)) == 5 + raw
        gc.collect(0)


def test_an_operator_without_a_meaning_is_named() -> None:
    with pytest.raises(UnknownOperator, match=r"bvslt.*signed < 3"):
        evaluate(z3.BitVec("signed", 4) < 3, {"signed": 1})


def test_a_quantifier_is_refused() -> None:
    x = z3.Int("x")
    with pytest.raises(UnknownOperator, match=r"quantifier.*x > 0"):
        evaluate(z3.Or(z3.Bool("p"), z3.ForAll(x, x > 0)), {"p": 0})


def test_a_variable_that_the_state_lacks_is_named() -> None:
    with pytest.raises(KeyError, match="no variable epoch"):
        evaluate(z3.BitVec("epoch", 4) == 3, {"owner": 1})
