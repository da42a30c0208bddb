"""What the modules of the specification become that are read once more, piece by piece."""

import ast
from typing import Any

import pytest

from model_check.stepping import plain_modules
from model_check.stepping.late_values import with_late_values
from spec.language.rules import claim
from spec.language.terms import FLAG, NO, YES, Value, both, either, flag, number

NUMBER = number(7)


def changed(text: str, *, late: bool = False) -> str:
    """A module's text after the change."""
    tree = ast.parse(text)
    made = plain_modules._Branches().visit(with_late_values(tree) if late else tree)
    return ast.unparse(ast.fix_missing_locations(made))


class Reader:
    """Values by name, of which is noted which were read."""

    def __init__(self, **values: Value) -> None:
        self._values = values
        self.read: list[str] = []

    def __getattr__(self, name: str) -> Value:
        self.read.append(name)
        return self._values[name]


def evaluated(text: str, s: Any) -> Value:
    """What an expression gives as it is changed, of an `s`."""
    tree = ast.fix_missing_locations(plain_modules._Branches().visit(ast.parse(text, mode="eval")))
    found: Value = eval(  # noqa: S307 - the text of this test
        compile(tree, "test", "eval"), {**plain_modules.GIVEN, "s": s, "both": both, "either": either, "flag": flag}
    )
    return found


JOINED = {
    "both(s.no, s.a)": "no",
    "both(s.yes, s.no, s.a)": "yes no",
    "either(s.yes, s.a)": "yes",
    "either(*(one for one in (s.no, s.yes, s.a)))": "no yes a",
    "either(s.no, *[getattr(s, one) for one in ('no', 'yes', 'a')])": "no no yes",
    "both(*map(s.__getattr__, ['no', 'a']))": "no",
    "s.no.implies(s.a)": "no",
    "~both(s.no, s.a)": "no",
    "~both(s.yes, ~s.no) | s.no": "yes no no",
    "both(s.three == 4, s.a)": "three",
    "either(s.three != 4, s.a)": "three",
    "both(s.three == s.three, 4 == s.three, s.a)": "three three three",
    "both(s.yes, True, flag(False), s.a)": "yes",
    "both(s.no & s.a, s.a)": "no",
    "both(s.yes | s.a, s.no, s.a)": "yes no",
}


@pytest.mark.parametrize("text", JOINED)
def test_what_is_joined_is_what_it_plainly_is_and_nothing_behind_what_decides_is_read(text: str) -> None:
    values = {"yes": FLAG.constant(1), "no": FLAG.constant(0), "a": YES, "three": NUMBER.constant(3)}
    s = Reader(**values)
    found = evaluated(text, s)
    assert s.read == JOINED[text].split()
    plainly = eval(text, {"s": Reader(**values), "both": both, "either": either, "flag": flag})  # noqa: S307
    assert found is (YES if plainly.raw else NO)


def test_a_variable_among_conditions_is_refused() -> None:
    with pytest.raises(TypeError, match="only a state of numbers tells"):
        evaluated("both(s.x)", Reader(x=FLAG.variable("x")))
    with pytest.raises(TypeError, match="only a state of numbers tells"):
        evaluated("both(s.x == 3)", Reader(x=NUMBER.variable("x")))


@pytest.mark.parametrize("text", ["a & b", "{1} | {2}", "x if y else z", "f(both)", "s.both(x)", "both()", "not x"])
def test_what_may_be_no_condition_stays(text: str) -> None:
    assert changed(text) == ast.unparse(ast.parse(text))


LATE = {
    "a value that is used once": ("x = s.a\n    return f(x)", "return f(s.a)"),
    "one after the other": ("x = s.a\n    y = f(x)\n    return g(y)", "return g(f(s.a))"),
    "in a branch": (
        "x = s.a\n    if s.b:\n        return x\n    return 0",
        "if s.b:\n        return s.a\n    return 0",
    ),
    "with a comprehension of its own": ("x = [k for k in s.a]\n    return f(x)", "return f([k for k in s.a])"),
    "what is gone through once": ("x = s.a\n    return [k for k in x]", "return [k for k in s.a]"),
}
EARLY = {
    "used twice": "x = s.a\n    return f(x, x)",
    "used again and again": "x = s.a\n    return [x for k in s.b]",
    "used in a loop": "x = s.a\n    for k in s.b:\n        f(x)",
    "assigned twice": "x = s.a\n    x = s.b\n    return x",
    "made of what changes": "n = 0\n    n += 1\n    x = f(n)\n    n += 1\n    return x",
    "added to": "x = []\n    x.append(s.a)\n    y = len(x)\n    x.append(s.b)\n    return y",
    "an item assigned": "x = {1: s.a}\n    y = len(x)\n    x[2] = s.b\n    return y",
    "two at once": "x, y = s.a\n    return f(x)",
    "used nowhere": "x = s.a\n    return 0",
    "made of a parameter that is assigned": "x = f(s)\n    s = g(s)\n    return h(x, s)",
    "made of a parameter that is added to": "x = len(s)\n    s += [1]\n    return f(x, s)",
    "made of a parameter that a loop assigns": "x = f(s)\n    for s in [1]:\n        pass\n    return x",
    "made of another name of what changes": "y = s.a\n    n = len(y)\n    s.append(2)\n    return f(n)",
    "taken one after the other": "x = next(s)\n    y = next(s)\n    return f(y, x)",
    "taken out": "x = len(s)\n    s.a.pop()\n    return x",
}


@pytest.mark.parametrize("how", LATE)
def test_a_value_is_computed_where_it_is_used(how: str) -> None:
    before, after = LATE[how]
    assert changed(f"def claimed(s):\n    {before}", late=True) == f"def claimed(s):\n    {after}"


@pytest.mark.parametrize("how", EARLY)
def test_a_value_stays_where_it_is_computed(how: str) -> None:
    text = f"def claimed(s):\n    {EARLY[how]}"
    assert changed(text, late=True) == text


def test_whether_a_claim_tells_rules_apart_its_text_says() -> None:
    def tells(_before: Any, _after: Any, _m: Any, action: Any) -> Value:
        """It does."""
        return flag(action.rule == "one")

    def does_not(_before: Any, _after: Any, _m: Any, action: Any) -> Value:
        """It does not."""
        return flag("c" in action.parameters)

    made = [claim("step", source="here")(one).function for one in (tells, does_not)]
    assert [one.tells_rules_apart for one in made] == [True, False]
