"""What rules and claims said of one variant is given to another only where they say the same of that.

`kcheck verify` compares every system with its digest in the manifest, too, whatever was built before it.
"""

import pytest

from model_check.inventory.system_digests import digests
from spec.language.rules import TransitionSystem
from spec.model import Model
from spec.said_before import forget, said_before
from spec.scopes import scope
from spec.system import system
from spec.variants import AS_CODED, Switch, switches_named

VARIANTS = (
    "AS_CODED",
    "AS_CODED+CALLBACK_WITHOUT_LOCK",
    "AS_CODED+COMPLETION_FORGETS_MARK",
    "AS_CODED+BROKER_EPOCHS",
    "FENCED",
)
"""The first three have one state, and the same features."""


def built(scope_name: str, variant: str) -> TransitionSystem:
    return system(scope(scope_name), switches_named(variant))


@pytest.mark.takes("Each of five systems is built twice.")
@pytest.mark.parametrize(
    "scope_name",
    [pytest.param("deletion", marks=pytest.mark.slow), pytest.param("bounce", marks=pytest.mark.slow), "epochs"],
)
def test_a_variant_is_the_same_whatever_was_built_before(scope_name: str) -> None:
    forget()
    after_others = {variant: digests(built(scope_name, variant)) for variant in VARIANTS}
    for variant, found in after_others.items():
        forget()
        assert digests(built(scope_name, variant)) == found, variant


def test_what_asks_for_no_switch_that_differs_is_said_once() -> None:
    forget()
    one = {action.name: action for action in built("deletion", "AS_CODED").actions}
    other = {action.name: action for action in built("deletion", "AS_CODED+COMPLETION_FORGETS_MARK").actions}
    assert one.keys() == other.keys()
    shared = {name for name, action in one.items() if other[name] is action}
    assert {name.split("(")[0] for name in one.keys() - shared} == {"delete_queued_topic"}


def test_a_model_notes_what_it_is_asked_by_whom() -> None:
    m = Model(scope("deletion"), AS_CODED)
    asked: list[frozenset[Switch]] = []

    def outer() -> bool:
        found, within = m.noting(lambda: m.fixes(Switch.CLEAR_CONTEXT))
        asked.append(within)
        return found or m.reintroduces(Switch.TOPIC_IDS)

    assert m.noting(outer) == (False, frozenset({Switch.CLEAR_CONTEXT, Switch.TOPIC_IDS}))
    assert asked == [frozenset({Switch.CLEAR_CONTEXT})]


def test_models_of_different_scopes_share_nothing() -> None:
    forget()
    some = [said_before(Model(scope(name), AS_CODED)) for name in ("deletion", "bounce")]
    assert some[0] is not some[1]
    assert said_before(Model(scope("deletion"), AS_CODED)) is some[0]
    assert said_before(Model(scope("deletion"), AS_CODED, proving=True)) is not some[0]
