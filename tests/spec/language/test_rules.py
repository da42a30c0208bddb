"""The modelling layer: what a rule says becomes one guard, one simultaneous update and its observations in order."""

from collections.abc import Callable, Mapping
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from model_check.terms.straight_line import evaluate
from spec.language.rules import (
    FLAG,
    Action,
    Facts,
    Leaf,
    Shape,
    action,
    claim,
    constant,
    fits,
    flag,
    instantiate,
    observe,
    only_said,
    parameter_names,
    require,
    reset,
    successor,
    when,
    where_possible,
)  # fmt: skip
from spec.language.terms import Value, epoch, number
from spec.language.views import leaves

SMALL = number(3)
SHAPE: Shape = {
    "x": Leaf(SMALL, 1),
    "y": Leaf(SMALL, 2),
    "on": Leaf(FLAG, False),
    "cells": {1: {"full": Leaf(FLAG, False), "n": Leaf(SMALL, 0)}, 2: {"full": Leaf(FLAG, True), "n": Leaf(SMALL, 3)}},
}
INITIAL = {one.name: one.initial for one in leaves(SHAPE)}


def built(body: Callable[[Any], None], **parameters: int) -> Action:
    """The action of a rule that does no more than this."""

    def rule(s: Any, _m: object, **_parameters: int) -> None:
        """Something happens."""
        body(s)

    return instantiate(action(actor="somebody", source="nowhere")(rule), SHAPE, None, parameters)[0]


def holds(one: Action, **state: int) -> bool:
    """Whether an action is enabled in the initial state with some variables changed."""
    return bool(evaluate(one.guard, INITIAL | state))


def after(one: Action, **state: int) -> Mapping[str, int]:
    """The updates of an action in the initial state with some variables changed."""
    return {name: evaluate(term, INITIAL | state) for name, term in one.updates.items()}


def test_the_guard_is_all_that_is_required() -> None:
    def body(s: Any) -> None:
        require(s.x == 1, s.y > 0)
        require(~s.on)

    one = built(body)
    assert [holds(one, x=x, y=y, on=on) for x, y, on in product((0, 1), (0, 1), (0, 1))] == [
        x == 1 and y > 0 and not on for x, y, on in product((0, 1), (0, 1), (0, 1))
    ]


def test_a_rule_that_requires_nothing_is_always_enabled_and_changes_nothing() -> None:
    one = built(lambda _: None)
    assert holds(one)
    assert (one.updates, one.events, evaluate(one.overflow, INITIAL)) == ({}, (), 0)


def test_updates_are_simultaneous_though_a_rule_reads_what_it_wrote() -> None:
    def swap(s: Any) -> None:
        s.x, s.y = s.y, s.x

    def chain(s: Any) -> None:
        s.x = s.y
        s.cells[1].n = s.x

    assert after(built(swap), x=1, y=2) == {"x": 2, "y": 1}
    assert after(built(chain), x=1, y=2) == {"x": 2, "cells[1].n": 2}


def test_what_is_assigned_its_own_value_is_no_update() -> None:
    def body(s: Any) -> None:
        s.x = s.x
        with when(s.on):
            s.y = s.y

    assert built(body).updates == {}


@pytest.mark.parametrize(("on", "x"), list(product((0, 1), range(4))))
def test_nested_conditions_are_a_conjunction(on: int, x: int) -> None:
    def body(s: Any) -> None:
        with when(s.on):
            s.y = 3
            with when(s.x > 1):
                s.y = 0
                require(s.x != 3)
            observe("somebody", "is on")

    one = built(body)
    assert after(one, on=on, x=x)["y"] == (2 if not on else 0 if x > 1 else 3)
    assert holds(one, on=on, x=x) == (not (on and x == 3)), "a requirement counts only where its conditions hold"
    assert evaluate(one.events[0].condition, INITIAL | {"on": on, "x": x}) == on


def test_a_condition_is_taken_where_it_stands_not_where_it_is_left() -> None:
    def body(s: Any) -> None:
        with when(s.x == 1):
            s.x = 0
            s.y = s.x

    assert after(built(body), x=1) == {"x": 0, "y": 0}
    assert after(built(body), x=2) == {"x": 2, "y": 2}


def test_a_part_that_takes_no_effect_is_left_out() -> None:
    run = list[int]()

    @where_possible
    def part(s: Any, x: int) -> None:
        run.append(x)
        s.x = x

    def body(s: Any) -> None:
        with when(s.on):
            part(s, 3)
        with when(flag(False)):
            part(s, 2)

    one = built(body)
    assert run == [3]
    assert after(one, on=1) == {"x": 3}


def test_what_is_only_said_is_left_out_while_terms_are_built() -> None:
    said = list[str]()
    built(lambda _: only_said(said.append)("a line"))
    assert not said


def test_conditions_end_with_their_block_even_after_an_exception() -> None:
    def body(s: Any) -> None:
        with pytest.raises(RuntimeError, match="on purpose"), when(s.on):
            raise RuntimeError("on purpose")
        s.x = 3

    assert after(built(body), on=0) == {"x": 3}


@pytest.mark.parametrize("x", range(4))
def test_a_bound_stops_an_action_and_says_so(x: int) -> None:
    def body(s: Any) -> None:
        require(s.y == 2)
        s.x = successor(s.x)

    one = built(body)
    assert holds(one, x=x) == (x < 3)
    assert bool(evaluate(one.overflow, INITIAL | {"x": x})) == (x == 3)
    assert not evaluate(one.overflow, INITIAL | {"x": x, "y": 0}), "what is not enabled does not hit the bound"


@pytest.mark.parametrize(("on", "x"), list(product((0, 1), (0, 3))))
def test_a_bound_counts_only_under_its_condition(on: int, x: int) -> None:
    def body(s: Any) -> None:
        with when(s.on):
            fits(s.x != 3)

    one = built(body)
    stopped = bool(on and x == 3)
    assert holds(one, on=on, x=x) == (not stopped)
    assert bool(evaluate(one.overflow, INITIAL | {"on": on, "x": x})) == stopped


def test_an_unbounded_counter_has_no_bound() -> None:
    shape: Shape = {"e": Leaf(epoch(1, unbounded=True), 0)}

    def grow(s: Any, _m: object) -> None:
        """It grows."""
        s.e = successor(s.e)

    one, _ = instantiate(action(actor="a", source="b")(grow), shape, None, {})
    assert evaluate(one.updates["e"], {"e": 10**12}) == 10**12 + 1
    assert evaluate(one.overflow, {"e": 10**12}) == 0


def test_observations_keep_their_order_and_the_values_of_their_moment() -> None:
    def body(s: Any) -> None:
        observe("somebody", "before", x=s.x, seven=7)
        s.x = 3
        observe("somebody", "after", x=s.x)

    first, second = built(body).events
    assert (first.kind, second.kind) == ("before", "after")
    assert evaluate(first.fields["x"].term, INITIAL) == 1
    assert evaluate(second.fields["x"].term, INITIAL) == 3
    assert first.fields["seven"].raw == 7


@pytest.mark.parametrize("value", [0, 1, 2, 255])
def test_a_constant_shows_itself(value: int) -> None:
    one = constant(value)
    assert (one.raw, one.kind.show(one.raw)) == (value, str(value))


def test_reset_returns_a_record_or_some_of_its_fields_to_the_start() -> None:
    cells = {"cells[1].n": 3, "cells[2].full": 0, "cells[2].n": 1}
    whole = built(lambda s: reset(s.cells))
    assert after(whole, **cells) == {name: INITIAL[name] for name in INITIAL if name.startswith("cells")}
    some = built(lambda s: reset(s.cells[2], "n"))
    assert after(some, **cells) == {"cells[2].n": 3}


def test_a_budget_is_required_and_drawn_on() -> None:
    shape: Shape = {"budget": {"crashes": Leaf(number(2), 2)}, "x": Leaf(SMALL, 0)}

    def fall(s: Any, _m: object) -> None:
        """It falls."""
        s.x = 1

    rule = action(actor="a", source="b", budget="crashes")(fall)
    one, _ = instantiate(rule, shape, None, {})
    for left in range(3):
        state = {"budget.crashes": left, "x": 0}
        assert bool(evaluate(one.guard, state)) == (left > 0)
        if left:
            assert evaluate(one.updates["budget.crashes"], state) == left - 1
    unlimited, _ = instantiate(rule, {"x": Leaf(SMALL, 0)}, None, {})
    assert set(unlimited.updates) == {"x"}
    assert unlimited.budget == one.budget == "crashes"


def test_an_action_carries_what_its_rule_says() -> None:
    @action(actor="controller {c}", source="Some.scala", parts=("partitions",))
    def do_it(s: Any, _m: object, c: int, p: int) -> None:
        """A controller does it."""
        require(p == 0)
        s.x = c

    one, view = instantiate(do_it, SHAPE, None, {"c": 2, "p": 0})
    assert (one.name, one.rule, one.actor) == ("do_it(c=2, p=0)", "do_it", "controller 2")
    assert (one.statement, one.source) == ("A controller does it.", "Some.scala")
    assert one.parameters == {"c": 2, "p": 0}
    assert do_it.parts == {"partitions"}
    assert parameter_names(do_it) == ("c", "p")
    assert view["x"].raw == 2, "the view that is handed back shows the state after the step"


def test_a_claim_carries_what_it_says() -> None:
    @claim("always", source="a book", witness="it_happens", parts=("connections",))
    def it_is_so(s: Any, _m: object) -> None:
        """It is so."""

    assert (it_is_so.name, it_is_so.kind, it_is_so.statement) == ("it_is_so", "always", "It is so.")
    assert it_is_so.witness == "it_happens"
    assert it_is_so.parts == {"connections"}


@pytest.mark.parametrize(
    "say", [lambda: require(True), lambda: fits(True), lambda: observe("a", "b"), lambda: when(True).__enter__()]
)
def test_outside_of_a_rule_nothing_can_be_said(say: Callable[[], object]) -> None:
    with pytest.raises(RuntimeError, match="work only while an action is built"):
        say()


def test_a_rule_that_raises_leaves_the_layer_usable() -> None:
    def body(_: Any) -> None:
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        built(body)
    with pytest.raises(RuntimeError, match="only while an action is built"):
        require(True)


def test_the_repr_of_an_action_has_no_terms() -> None:
    """Pytest shows it where an assertion fails, and z3 would print what terms share again and again."""
    one = built(lambda s: require(s.x == 1))
    assert str(one.guard) == "x == 1"
    assert str(one.guard) not in repr(one)


class Two:
    """A model with two things of every name, which has one fix."""

    def choices(self, names: tuple[str, ...]) -> list[dict[str, int]]:
        """Every choice of 1 and 2."""
        return [dict(zip(names, numbers, strict=True)) for numbers in product((1, 2), repeat=len(names))]

    def fixes(self, one: object) -> bool:
        """Whether it has a fix."""
        return one is TEA


TEA, COFFEE = "tea", "coffee"


def asked(kind: str, function: Callable[..., Any], *given: Any, **declared: Any) -> str:
    """What a claim says, as a term."""
    value = claim(kind, source="a book", **declared)(function).function(*given)
    return "None" if value is None else " ".join(str(value.term).split())


def full(_s: object, _m: object, c: int, p: int) -> Value:
    """A cell is full."""
    return FLAG.variable(f"{c}{p}")


def test_a_claim_is_asked_of_every_choice_of_its_parameters_in_their_order() -> None:
    assert asked("always", full, None, Two()) == "And(11, 12, 21, 22)"
    assert asked("sometimes", full, None, Two()) == "Or(11, 12, 21, 22)"


def test_a_step_claim_takes_the_actions_own_parameters_and_asks_those_behind_the_star() -> None:
    def step(_before: object, _after: object, _m: object, action: Any, c: int, *, p: int) -> Value:
        """A step."""
        return FLAG.variable(f"{action.rule}{c}{p}")

    taken = SimpleNamespace(rule="go", parameters={"c": 2, "p": 1})
    assert asked("step", step, None, None, Two(), taken, of={"go"}) == "And(go21, go22)"
    assert asked("step", step, None, None, Two(), taken, of={"stay"}) == "None"
    assert asked("step", step, None, None, Two(), SimpleNamespace(rule="go", parameters={"p": 1})) == "None"


def test_a_claim_speaks_only_of_models_that_it_is_about() -> None:
    assert asked("always", full, None, Two(), where=lambda m: isinstance(m, Two), fixed=(TEA,)) != "None"
    assert asked("always", full, None, Two(), fixed=(TEA, COFFEE)) == "None"
    assert asked("always", full, None, Two(), where=lambda m: not isinstance(m, Two)) == "None"


def test_a_claim_of_many_facts_is_one_of_all_and_one_without_a_fact_is_about_nothing() -> None:
    def some(_s: object, _m: object, c: int) -> Facts:
        """Facts of the second only."""
        if c == 2:
            yield from (FLAG.variable("a"), FLAG.variable("b"))

    def none(_s: object, _m: object, c: int) -> None:
        """No fact."""
        del c

    assert asked("always", some, None, Two()) == "And(a, b)"
    assert asked("always", none, None, Two()) == "None"
