"""Claims that are asked of a step go by what that step is about, although queues are narrowed and models kept."""

from collections.abc import Iterator

import pytest

from model_check.judging.broken_claims import BrokenClaims
from model_check.judging.explaining import Explainer
from model_check.judging.positions import Position
from model_check.stepping.open_system import RECREATION, Taken
from model_check.stepping.plain_state import Draft
from spec.properties import claims
from spec.variants import AS_CODED
from tests.model_check.unpacking import NAMES, RECORDINGS, judged, recorded

pytestmark = RECORDINGS

CONFIG = "34-D55-config-lost"


def test_a_topic_that_comes_again_is_judged_by_its_new_assignment_and_the_others_by_the_old() -> None:
    system = Explainer(recorded(CONFIG), AS_CODED).system
    narrowed = [system.model_for(one, system.initial) for one in ({}, {RECREATION: 0}, {})]
    assert [one.scope.assigned for one in narrowed] == [((2, 3),), ((3, 2),), ((2, 3),)]
    assert narrowed[0] is narrowed[2]


def plainly_broken(explainer: Explainer, asked: BrokenClaims, at: Position) -> Iterator[str]:
    """The claims that a state, be it at rest or not, or the step to it breaks, each asked of views of its own."""
    system, step = explainer.system, at.step
    for one in claims():
        if one not in asked.asked or at.before is None or step is None:
            continue
        if one.kind == "eventually" or (one.kind == "always" and at.state is not at.before.state):
            value = one.function(system.view(at.state), system.model_for({}, at.state))
        elif one.kind == "step" and step.rule:
            model = system.model_for(step.parameters, at.before.state, at.state)
            states = system.view(at.before.state), system.view(at.state)
            value = one.function(*states, model, Taken(step.rule, step.parameters))
        else:
            continue
        if value is not None and not value.raw:
            yield one.name


@pytest.mark.takes("Every claim is asked of every state, by itself.")
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_claims_that_are_asked_again_where_they_are_due_say_what_they_say_of_views_of_their_own(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every step of whole recordings. Nor does leaving out the empty places of queues change anything."""
    path = judged(name).path
    explainer = Explainer(recorded(name), AS_CODED)
    asked = BrokenClaims(explainer)
    found = [asked._known_at(one) | asked._false_in("eventually", one.state) for one in path[1:]]
    monkeypatch.setattr(Draft, "is_blank", lambda _: False)
    assert found == [frozenset(plainly_broken(explainer, asked, one)) for one in path[1:]]
    assert frozenset.union(*found)
