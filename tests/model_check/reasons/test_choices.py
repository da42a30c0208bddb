"""What is possible in a state is what another engine takes, and of the rest the conjunct that is told is false."""

import random
import re
from collections.abc import Mapping
from functools import cache

import pytest
import z3

from model_check.reasons.choices import choices, conjuncts
from model_check.reasons.deciding import deciding
from model_check.reasons.names import Names
from model_check.reasons.phrases import Phrases
from model_check.stepping.open_system import NoRoom
from model_check.stepping.plain_state import PlainState
from model_check.terms.straight_line import Valuation
from spec.language.rules import Action, TransitionSystem
from spec.scopes import scope
from spec.tables.partition_states import PARTITION_TRANSITIONS
from spec.tables.replica_states import REPLICA_TRANSITIONS
from spec.tables.table import transitions
from spec.variants import AS_CODED
from tests.model_check.systems import odometer
from tests.spec.on_demand import OnDemand
from tests.spec.stepping import Played, played

ROWS = {str(row) for row in (*transitions(PARTITION_TRANSITIONS), *transitions(REPLICA_TRANSITIONS))}


@cache
def made(name: str) -> tuple[TransitionSystem, Played]:
    """All actions of a scope as terms, and its rules to be run on numbers."""
    return OnDemand(scope(name)).unclaimed(), played(scope(name), AS_CODED)


def taken(rules: Played, state: PlainState) -> tuple[Mapping[str, PlainState], set[str]]:
    """By running the rules: the actions that can be taken, with the state after each, and those that lack room."""
    after, bounded = dict[str, PlainState](), set[str]()
    for name, one in rules.named.items():
        try:
            step = rules.step(state, *one)
        except NoRoom:
            bounded.add(name)
            continue
        if step is not None:
            after[name] = step.after
    return after, bounded


def is_false(condition: z3.BoolRef, system: TransitionSystem, state: Mapping[str, int]) -> bool:
    """Whether a condition is false in a state, by z3's own simplifier."""
    known = [(one.kind.variable(one.name).term, one.kind.literal(state[one.name])) for one in system.variables]
    return bool(z3.is_false(z3.simplify(z3.substitute(condition, *known))))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny", "deletion_reassignment"])
def test_the_possible_are_those_that_the_rules_take_and_each_other_has_a_false_conjunct(name: str) -> None:
    system, rules = made(name)
    actions, dice = {one.name: one for one in system.actions}, random.Random(f"choices of {name}")
    state, moves = rules.initial, 0
    for number in range(12):
        flat = rules.layout.flatten(state)
        told = choices(system, Valuation(flat), step=1, taken="", wanted=lambda _: True)
        following, bounded = taken(rules, state)
        assert {one.action for one in told.possible} == following.keys()
        assert {one.action for one in told.refused} == actions.keys() - following.keys()
        assert {one.action for one in told.refused if one.bounded} == bounded
        for one in (*told.possible, *dice.sample(told.refused, 3)):
            require_the_first_false_conjunct(system, flat, actions[one.action], one.because, one.more)
            moves += bool(one.row)
            assert not one.row or one.row.partition(", not taken here")[0] in ROWS
            assert not {"If(", "Extract("} & {*re.findall(r"\w+\(", one.row)}, "terms are no words"
        state = dice.choice([*following.values()]) if following and number % 6 else rules.initial
    assert moves > 3


def require_the_first_false_conjunct(
    system: TransitionSystem, state: Mapping[str, int], one: Action, told: tuple[str, ...], more: int
) -> None:
    """What is told of an action is its first false conjunct, as z3 finds it; an action without one is possible."""
    false = [each for each in conjuncts(one.guard) if is_false(each, system, state)]
    assert bool(false) == bool(told), one.name
    if false:
        values = Valuation(state)
        assert told == tuple(map(Phrases(system, values, Names(system.model)).of, deciding(false[0], values)))
        assert more == len(false) - 1


def test_a_guard_is_the_conjunction_of_its_conjuncts() -> None:
    system, _ = made("tiny")
    for one in system.actions[::9]:
        solver = z3.Solver()
        solver.add(z3.And(*conjuncts(one.guard)) != one.guard)
        assert solver.check() == z3.unsat
    a, b, c = z3.Bools("a b c")
    assert [*conjuncts(z3.And(a, z3.Not(z3.Or(b, z3.Not(c)))))] == [a, z3.Not(b), c]


def test_what_only_a_bound_stops_is_not_possible_and_said_to_be_so() -> None:
    """A wheel that shows its last digit turns no further."""
    for digit, bounded in ((0, False), (1, True)):
        told = choices(odometer(1, 1), Valuation({"wheels[1]": digit}), step=1, taken="")
        assert [one.action for one in told.possible] == ["turn(w=1)"] * (not bounded)
        assert [(one.action, one.bounded) for one in told.refused] == [("turn(w=1)", True)] * bounded


@pytest.mark.takes("It makes all actions of a scope.")
def test_without_a_wish_only_rules_without_a_possible_action_are_told_each_by_the_nearest() -> None:
    system, rules = made("tiny")
    values = Valuation(rules.layout.flatten(rules.initial))
    some = choices(system, values, step=1, taken="")
    every = choices(system, values, step=1, taken="", wanted=lambda _: True)
    possible = {one.action.partition("(")[0] for one in some.possible}
    assert [one.action.partition("(")[0] for one in some.refused] == [
        rule for rule in dict.fromkeys(one.rule for one in system.actions) if rule not in possible
    ]
    for one in some.refused:
        rule = one.action.partition("(")[0]
        assert one.more == min(other.more for other in every.refused if other.action.startswith(f"{rule}("))
