"""Claims that are asked again only where what they read has changed say what they say when asked of every state."""

from collections.abc import Iterator
from typing import Any

import pytest

from model_check.judging.asked_again import AskedAgain, Taken
from model_check.judging.broken_claims import BrokenClaims
from model_check.judging.explaining import Explainer
from model_check.judging.positions import Position
from model_check.recordings.reading import read
from model_check.stepping.plain_state import Draft, Layout
from spec.language.rules import Leaf, Shape, claim
from spec.language.terms import FLAG, Value, flag, number
from spec.model import Model
from spec.properties import claims
from spec.scopes import Scope
from spec.variants import AS_CODED
from tests.model_check.unpacking import judged, recording

REFUSED = "28-D46-stale-epoch-answer"
"""It breaks claims of states and claims of steps."""

SHAPE: Shape = {
    "left": {"count": Leaf(number(9), 0)},
    "queue": {k: {"stage": Leaf(number(9), 0), "flags": {p: Leaf(FLAG, False) for p in (0, 1)}} for k in (0, 1)},
}
LAYOUT = Layout(SHAPE)


def plainly_broken(explainer: Explainer, asked: BrokenClaims, at: Position) -> Iterator[str]:
    """The claims that a state or the step to it breaks, each asked of views of its own."""
    system, step = explainer.system, at.step
    for one in claims():
        if one not in asked.asked or at.before is None or step is None:
            continue
        if one.kind == "always" and at.state is not at.before.state:
            value = one.function(system.view(at.state), asked._narrowed(system.model, at.state))
        elif one.kind == "step" and step.rule:
            model = asked._narrowed(system.model_for(step.parameters), at.before.state, at.state)
            states = system.view(at.before.state), system.view(at.state)
            value = one.function(*states, model, Taken(step.rule, step.parameters))
        else:
            continue
        if value is not None and not value.raw:
            yield one.name


def test_asking_again_finds_what_asking_every_time_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """So does leaving out the empty places of queues."""
    path = judged(REFUSED).path
    explainer = Explainer(read(recording(REFUSED)), AS_CODED)
    asked = BrokenClaims(explainer)
    found = [asked._broken_at(one) for one in path[1:]]
    monkeypatch.setattr(Draft, "is_blank", lambda _: False)
    assert found == [frozenset(plainly_broken(explainer, asked, one)) for one in path[1:]]
    assert frozenset.union(*found)


def asked_of(*states: Any) -> tuple[list[bool], int]:
    """Verdicts of a claim about one place of a queue, in one state after another; and how often it was evaluated."""
    seen: list[Any] = []

    @claim("always", source="")
    def the_first_is_due(s: Any, m: Any) -> Value:
        seen.append(m)
        return flag(s.queue[0].stage == 1)

    asked, model = AskedAgain(lambda state: Draft(LAYOUT, state)), Model(Scope("none", "", 1, 1), AS_CODED)
    return [asked.holds(the_first_is_due, model, one) for one in states], len(seen)


def test_a_claim_is_asked_again_if_something_that_it_read_has_changed() -> None:
    first, second = {"stage": 1}, {"stage": 2}
    same = ({"queue": {0: first}}, {"queue": {0: first}, "left": {"count": 2}}, {"queue": {0: first, 1: second}})
    assert asked_of(*same) == ([True] * 3, 1)
    assert asked_of(same[0], {"queue": {0: second}}, {}, {"left": {}}) == ([True, False, False, False], 3)
    assert asked_of(same[0], {"queue": {0: {**first, "flags": {1: 1}}}}) == ([True, True], 2)


def test_a_claim_that_asks_for_the_action_is_asked_of_each_step() -> None:
    @claim("step", source="")
    def nothing_starts(_before: Any, _after: Any, _m: Any, action: Any) -> Value | None:
        return flag(action.rule != "start") if action.parameters else None

    asked, model = AskedAgain(lambda state: Draft(LAYOUT, state)), Model(Scope("none", "", 1, 1), AS_CODED)
    actions = [Taken(rule, parameters) for rule, parameters in (("stop", {"b": 1}), ("start", {"b": 1}), ("start", {}))]
    assert [asked.holds(nothing_starts, model, {}, {}, action=one) for one in actions] == [True, False, True]
