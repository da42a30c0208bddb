"""What becomes of terms, of tables, and of what functions answer."""

import pytest

from model_check.mutation.mutants import Maker
from model_check.mutation.operators import OPERATORS
from model_check.mutation.term_operators import ALL, SWAPPED, TERM_OPERATORS

MADE = {
    "term turned": ("f(~a)", {"~a -> a"}),
    "guard turned": ("when(a)", {"when(a) -> when(~a)"}),
    "both for either": ("both(a, b)", {"both(a, b) -> either(a, b)"}),
    "term dropped": ("either(a, b)", {"either(a, b) -> either(b)", "either(a, b) -> either(a)"}),
    "choice swapped": ("choose(a, b, c)", {"choose(a, b, c) -> choose(a, c, b)"}),
    "element dropped": ("f({a: b, c: d})", {"{a: b, c: d} -> {c: d}", "{a: b, c: d} -> {a: b}"}),
    "one less": ("f(0)", {"0 -> -1"}),
}
"""By operator, an expression and what becomes of it."""


def test_every_operator_of_terms_has_an_example() -> None:
    assert MADE.keys() == TERM_OPERATORS.keys()
    assert set(ALL) == (set(OPERATORS) | set(TERM_OPERATORS)) - {SWAPPED}


@pytest.mark.parametrize("name", MADE)
def test_an_operator_makes_these_and_no_others(name: str) -> None:
    text, changes = MADE[name]
    mutants = Maker({name: TERM_OPERATORS[name]}).mutants_of("a.py", f"{text}\n".encode())
    assert {one.change for one in mutants} == changes


@pytest.mark.parametrize(
    "text", ["when(~a)", "when(a < b)", "f(*some)", "(a,) = f", "f(True)", "f('a')", "dict[int, str]()", "[one]"]
)
def test_what_others_change_or_nothing_can_is_left_alone(text: str) -> None:
    names = TERM_OPERATORS.keys() - {"term turned"}
    assert Maker({one: TERM_OPERATORS[one] for one in names}).mutants_of("a.py", f"{text}\n".encode()) == []


def test_an_answer_is_negated_as_its_type_says_it() -> None:
    text = (
        "def f() -> bool:\n    return g()\n\n\ndef h() -> Value:\n    return g()\n\n\ndef i() -> int:\n    return g()\n"
    )
    assert {one.change for one in Maker({}).mutants_of("a.py", text.encode())} == {"g() -> not g()", "g() -> ~g()"}
