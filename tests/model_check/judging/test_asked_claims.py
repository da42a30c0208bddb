"""Claims that are asked again only where they are due are what they are of any state, asked as a whole."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest

from model_check.judging.asked_claims import AskedOfStates, AskedOfSteps
from model_check.judging.judge import Judgement
from model_check.judging.not_asked import why_not_asked
from model_check.stepping.open_system import NoRoom, OpenSystem, Taken
from model_check.stepping.plain_state import PlainState
from model_check.stepping.watched_state import Watched
from spec.language.rules import Claim
from spec.model import Model
from spec.properties import claims
from spec.scopes import scope, scopes
from spec.system import instances
from spec.variants import AS_CODED, FENCED, Switches
from tests.model_check.unpacking import judged

REFUSED = "28-D46-stale-epoch-answer"
"""It breaks claims of states and claims of steps."""


def model_of(found: Judgement) -> Model:
    """A model with room for all of its queues."""
    return found.system.model_for({}, *(one.state for one in found.path))


def plainly(system: OpenSystem, model: Model, asked: Sequence[Claim], *given: Any) -> frozenset[str]:
    """The claims that a state, or a step, breaks: each asked as a whole, of views of its own."""
    *states, action = given if isinstance(given[-1], Taken) else (*given, None)
    last = () if action is None else (action,)
    values = ((one.name, one.function(*map(system.view, states), model, *last)) for one in asked)
    return frozenset(name for name, value in values if value is not None and not value.raw)


def of_kind(found: Judgement, kind: str) -> list[Claim]:
    """The claims that are asked of a recording."""
    return [one for one in found.asked if one.kind == kind]


def tampered(states: Sequence[PlainState], dice: random.Random) -> Iterator[PlainState]:
    """States in which one record or number, at any depth, is that of another state."""
    while True:
        one, other = dice.sample(states, 2)
        yield _mixed(one, other, dice)


def _mixed(one: PlainState, other: PlainState, dice: random.Random) -> PlainState:
    keys = [key for key in {**one, **other} if one.get(key) != other.get(key)]
    if not keys:
        return one
    key = dice.choice(sorted(keys, key=str))
    old, new = one.get(key), other.get(key)
    if isinstance(old, dict) and isinstance(new, dict) and dice.random() < 0.8:
        new = _mixed(old, new, dice)
    kept = {name: value for name, value in one.items() if name != key}
    return {**kept, key: new} if new else kept


@pytest.mark.parametrize("kind", ["always", "eventually"])
def test_claims_of_states_are_asked_again_wherever_something_that_they_read_is_another(kind: str) -> None:
    found = judged(REFUSED)
    model, asked = model_of(found), of_kind(found, kind)
    fast, dice, broken = AskedOfStates(asked, found.system.layout, model), random.Random(kind), set[str]()
    path = [one.state for one in found.path]
    mixed = tampered(path, dice)
    for state in (*path, *(next(mixed) for _ in range(150)), *reversed(path)):
        names = fast.broken(state)
        assert names == plainly(found.system, model, asked, state)
        broken |= names
    assert len(broken) > 5


def test_claims_of_steps_are_asked_again_wherever_something_that_they_read_is_another() -> None:
    found = judged(REFUSED)
    model, asked = model_of(found), of_kind(found, "step")
    fast, dice, broken = AskedOfSteps(asked, found.system.layout, model), random.Random("steps"), set[str]()
    steps = [(one.before.state, one.state, Taken(one.step.rule, one.step.parameters)) for one in found.path
             if one.before is not None and one.step is not None and one.step.rule]  # fmt: skip
    mixed = tampered([one.state for one in found.path], dice)
    actions = [action for *_, action in steps]
    lies = [(next(mixed), next(mixed), dice.choice(actions)) for _ in range(200)]
    halves = [(before, next(mixed), action) for before, _, action in steps]
    for before, after, action in (*steps, *lies, *halves, *reversed(steps)):
        names = fast.broken(before, after, action)
        assert names == plainly(found.system, model, asked, before, after, action)
        broken |= names
    assert len(broken) > 10


OF_CLUSTERS = [name for name in scopes() if scope(name).purgatory is None]


@pytest.mark.parametrize(
    ("name", "switches", "steps"),
    [
        ("small", AS_CODED, 40), ("deletion_reassignment", FENCED, 10),
        *(pytest.param(one, AS_CODED, 20, marks=pytest.mark.slow) for one in OF_CLUSTERS),
        *(pytest.param(one, FENCED, 100, marks=pytest.mark.slow) for one in ("small", "shutdown", "rebalance")),
    ],
)  # fmt: skip
def test_along_random_runs_each_state_and_step_breaks_what_it_plainly_does(
    name: str, switches: Switches, steps: int
) -> None:
    """The runs take whatever is enabled, faults, too; each starts where the one before has left the views."""
    model, dice = Model(scope(name), switches), random.Random(f"claims of {name}")
    system = OpenSystem(model, draws_budgets=True)
    asked = {kind: [one for one in claims() if one.kind == kind and not why_not_asked(one, model.features)]
             for kind in ("always", "eventually", "step")}  # fmt: skip
    of_states = {kind: AskedOfStates(asked[kind], system.layout, model) for kind in ("always", "eventually")}
    of_steps = AskedOfSteps(asked["step"], system.layout, model)
    every = [(rule.name, one) for rule in system.rules.values() for one in instances(rule, model)]
    state = system.initial
    for _ in range(steps):
        rule, parameters, after = next(taken(system, state, dice.sample(every, len(every))), ("", {}, system.initial))
        if rule:
            action = Taken(rule, parameters)
            found = of_steps.broken(state, after, action)
            assert found == plainly(system, model, asked["step"], state, after, action)
        for kind, fast in of_states.items():
            assert fast.broken(after) == plainly(system, model, asked[kind], after)
        state = after
    assert all(asked.values())


def taken(
    system: OpenSystem, state: PlainState, actions: Sequence[tuple[str, Mapping[str, int]]]
) -> Iterator[tuple[str, Mapping[str, int], PlainState]]:
    """The actions that can be taken in a state, with the state after each."""
    for rule, parameters in actions:
        with suppress(NoRoom):
            step = system.step(state, rule, parameters)
            if step is not None:
                yield rule, parameters, step.after


def test_a_step_asks_little_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Along an explanation each step reads at most a fifth of what is read where all is asked."""
    found = judged(REFUSED)
    model, asked = model_of(found), of_kind(found, "always")
    reads, plain = [0], Watched.__getitem__

    def counted(view: Watched, key: Any) -> Any:
        reads[0] += 1
        return plain(view, key)

    monkeypatch.setattr(Watched, "__getitem__", counted)
    monkeypatch.setattr(Watched, "__getattr__", counted)
    AskedOfStates(asked, found.system.layout, model).broken(found.path[-1].state)
    at_once, reads[0] = reads[0], 0
    fast = AskedOfStates(asked, found.system.layout, model)
    for one in found.path:
        fast.broken(one.state)
    assert reads[0] < at_once * len(found.path) / 5
