"""Along a walk each action stands in each state as it does there alone, and each reason is said once."""

import random
from dataclasses import replace

import pytest

from model_check.reasons.choices import choices
from model_check.reasons.possibilities import Reasons
from model_check.terms.straight_line import Valuation
from model_check.verdicts.choices_text import why_not
from model_check.verdicts.possibilities import Span
from tests.model_check.reasons.test_choices import made, taken
from tests.model_check.systems import odometer


@pytest.mark.slow
def test_along_a_walk_each_action_stands_as_in_each_of_its_states_alone() -> None:
    system, rules = made("tiny")
    reasons, dice = Reasons(system), random.Random("a walk")
    for first in (1, 7):  # the second walk is told by the words that are known from the first
        plain, states = rules.initial, list[dict[str, int]]()
        for _ in range(8):
            states.append(rules.layout.flatten(plain))
            plain = dice.choice([*taken(rules, plain)[0].values()])
        told = reasons.along(first, states)
        assert (told.first, told.last) == (first, first + 7)
        assert [one.action for one in told.actions] == [one.name for one in system.actions]
        assert len({*told.reasons}) == len(told.reasons)
        assert {number for one in told.actions for number in one.reasons} - {0} == {*range(1, len(told.reasons) + 1)}
        for step, state in enumerate(states, start=first):
            alone = choices(system, Valuation(state), step=step, taken="", wanted=lambda _: True)
            expected = {one.action: why_not(replace(one, more=0)) for one in alone.refused}
            at_step = {
                one.action: span.why_not
                for one in told.actions
                for span in told.spans(one)
                if span.first <= step <= span.last
            }
            assert {name: why for name, why in at_step.items() if why} == expected
            assert {one.action for one in told.others(step, "")} == {one.action for one in alone.possible}


def test_what_changes_is_told_where_it_changes_and_a_bound_is_said_to_be_one() -> None:
    """A wheel of two digits turns once, and stays there."""
    told = Reasons(odometer(1, 1)).along(5, [{"wheels[1]": digit} for digit in (0, 1, 1)])
    (wheel,) = told.actions
    assert (wheel.since, wheel.reasons) == ((5, 6), (0, 1))
    (why,) = told.reasons
    assert why.startswith("only a bound of the scope stops it")
    assert [*told.spans(wheel)] == [Span(5, 5, ""), Span(6, 7, why)]


def test_of_no_state_nothing_is_told() -> None:
    told = Reasons(odometer(1, 1)).along(4, [])
    assert (told.steps, told.actions, told.reasons, told.statements) == (0, (), (), {})
