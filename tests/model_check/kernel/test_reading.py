"""Terms as arrays are the nodes that a program has, in its order."""

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from model_check.kernel.predicates import predicates
from model_check.kernel.reading import Terms, read_terms
from model_check.terms.straight_line import Node, Program, UnknownOperator
from tests.model_check.random_terms import BOOL, terms
from tests.model_check.systems import EXPECTED

DEEP = settings.get_profile("deep").max_examples
FEW = settings(max_examples=DEEP if settings().max_examples == DEEP else 5)
"""Each example is many terms."""


def nodes(read: Terms) -> list[Node]:
    """The nodes with their arguments."""
    begins, arguments = read.begins.tolist(), read.arguments.tolist()
    return [
        read.declared[kind]._replace(arguments=tuple(arguments[begins[number] : begins[number + 1]]))
        for number, kind in enumerate(read.kinds.tolist())
    ]


@given(st.lists(terms(BOOL, 5), max_size=9))
@FEW
def test_random_terms_are_read_as_a_program_has_them(some: list[z3.BoolRef]) -> None:
    """Also those with operators that are said in other words, and one that is there twice."""
    read, program = read_terms([*some, *some]), Program()
    places = [program.place(one) for one in [*some, *some]]
    found = nodes(read)
    assert [_spelled(found, place) for place in read.places.tolist()] == [
        _spelled(program.nodes, place) for place in places
    ]
    assert len(found) <= len(program.nodes)
    assert all(argument < number for number, node in enumerate(found) for argument in node.arguments)


@pytest.mark.parametrize("name", EXPECTED)
def test_whole_systems_are_read_node_by_node(name: str) -> None:
    system = EXPECTED[name][0]
    some = [one.term for one in predicates(system)]
    read, program = read_terms(some), Program()
    places = [program.place(one) for one in some]
    found = nodes(read)
    assert len(found) <= len(program.nodes)
    assert [_spelled(found, place) for place in read.places.tolist()] == [
        _spelled(program.nodes, place) for place in places
    ]


def test_nothing_is_read_of_nothing() -> None:
    assert nodes(read_terms([])) == []


def test_a_quantifier_is_refused_and_the_term_named() -> None:
    x, y = z3.Bool("x"), z3.Int("y")
    with pytest.raises(UnknownOperator, match=r"quantifier.*ForAll"):
        read_terms([x, z3.And(x, z3.ForAll([y], y > 0))])


def test_an_operator_without_a_meaning_is_refused() -> None:
    with pytest.raises(UnknownOperator, match="bvsdiv"):
        read_terms([z3.BitVec("x", 3) / 2 == 1])


def _spelled(program: list[Node], place: int) -> str:
    """A node with all that is below it."""
    node = program[place]
    below = ",".join(_spelled(program, argument) for argument in node.arguments)
    return f"{node._replace(arguments=())}({below})"
