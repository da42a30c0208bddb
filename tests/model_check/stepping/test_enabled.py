"""The steps that a controller may take are those that all rules would give: places and memory leave none out."""

import random
from collections.abc import Mapping

import pytest

from model_check.stepping.enabled import ControllerSteps
from model_check.stepping.open_system import NoRoom, OpenSystem
from model_check.stepping.plain_state import PlainState
from spec.model import Model
from spec.scopes import scope
from spec.state.enumerations import At
from spec.system import instances
from spec.variants import AS_CODED


def at(system: OpenSystem, place: At) -> PlainState:
    """The settled state, but for where controller 1 is."""
    controllers = system.initial["controllers"]
    return {**system.initial, "controllers": {**controllers, 1: {**controllers[1], "at": list(At).index(place)}}}


def _is_enabled(system: OpenSystem, state: PlainState, rule: str, parameters: Mapping[str, int]) -> bool:
    try:
        return system.step(state, rule, parameters) is not None
    except NoRoom:
        return True


@pytest.mark.parametrize(
    "name",
    [
        "rebalance",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("small", "deletion_reassignment", "shutdown")),
    ],
)
def test_no_step_of_a_controller_is_left_out(name: str) -> None:
    """On random walks, whatever rule of a controller is enabled is among the steps of its place.

    So are all steps of progress among those, in the order of their rules. Every day in one scope: were a step left
    out, `kcheck verify` would find recordings that are not explained.
    """
    model = Model(scope(name), AS_CODED)
    system = OpenSystem(model, draws_budgets=True)
    every = [(rule.name, one) for rule in system.rules.values() for one in instances(rule, model)]
    places = {rule.name: rule.places for rule in system.rules.values()}
    steps = ControllerSteps(system)
    dice = random.Random(f"steps of {name}")
    compared = 0
    for _ in range(4):
        state = system.initial
        for _ in range(60):
            enabled = [one for one in every if _is_enabled(system, state, *one)]
            for c in model.controllers:
                its_own = {(rule, *one.items()) for rule, one in enabled if places[rule] and one["c"] == c}
                told = {(rule, *one.items()) for rule, one in (*steps.enabled(state, c), *steps.faults(state, c))}
                assert its_own <= told
                compared += len(its_own)
            progress = [one for one in steps.progress(state) if _is_enabled(system, state, *one)]
            assert progress == [one for one in enabled if system.rules[one[0]].budget is None]
            following = [after for one in enabled if (after := _stepped(system, state, *one)) is not None]
            if not following:
                break
            state = dice.choice(following)
    assert compared > 100


def _stepped(system: OpenSystem, state: PlainState, rule: str, parameters: Mapping[str, int]) -> PlainState | None:
    try:
        step = system.step(state, rule, parameters)
    except NoRoom:
        return None
    return None if step is None else step.after


def test_a_controller_that_comes_back_from_where_it_has_no_step_is_asked_again() -> None:
    """A deadlock (D50) has no step; the search goes back from it to states that have."""
    system = OpenSystem(Model(scope("tiny"), AS_CODED))
    steps = ControllerSteps(system)
    assert [rule for rule, _ in steps.enabled(at(system, At.ELECT_READ), 1)] == ["elect_read"]
    assert steps.enabled(at(system, At.DEADLOCKED), 1) == ()
    assert [rule for rule, _ in steps.enabled(at(system, At.ELECT_READ), 1)] == ["elect_read"]


def test_every_rule_of_a_controller_has_a_place() -> None:
    """Otherwise the judge would not look for it."""
    system = OpenSystem(Model(scope("small"), AS_CODED))
    assert all(rule.places for rule in system.rules.values() if rule.actor.startswith("controller"))
