"""What is made on demand is what the whole system has: the same actions, in its order, and the same claims."""

from dataclasses import replace

import pytest

from model_check.inventory.system_facts import system_fact
from spec.errors import UnknownName
from spec.scopes import Scope, scope
from spec.system import system
from spec.variants import AS_CODED, FENCED, Switches
from tests.spec.on_demand import OnDemand

SMALL_PROOF = replace(scope("proof"), name="small proof", brokers=2, assigned=((1, 2),))


@pytest.mark.parametrize(
    ("within", "switches", "proving"),
    [
        pytest.param(scope("cold"), FENCED, False, marks=pytest.mark.slow),
        (scope("addition"), AS_CODED, False),
        (scope("addition"), AS_CODED, True),
        pytest.param(SMALL_PROOF, FENCED, True, marks=pytest.mark.slow),
    ],
    ids=lambda one: one.name if isinstance(one, Scope) else "proving" * (one is True),
)
def test_it_is_the_system_piece_by_piece(within: Scope, switches: Switches, *, proving: bool) -> None:
    whole, made = system(within, switches, proving=proving), OnDemand(within, switches, proving=proving)
    actions = {step: made.action(step) for step in reversed(list(made.names))}
    steps = {step: {one.name: one for one in made.claims(step)} for step in made.names}
    claims = [
        replace(one, terms={step: said[one.name].terms[step] for step, said in steps.items() if said[one.name].terms})
        for one in made.claims()
    ]
    again = replace(whole, actions=tuple(actions[step] for step in made.names), properties=tuple(claims))
    assert system_fact(replace(again, variables=tuple(made.variables))) == system_fact(whole)


def test_only_what_is_asked_for_is_made() -> None:
    made = OnDemand(scope("tiny"))
    assert not made._made
    made.action("renew_session(b=1)")
    made.claim("epochs_never_go_back", "expire_session(b=1, lost=0)")
    assert set(made._made) == {"renew_session(b=1)", "expire_session(b=1, lost=0)"}


def test_a_claim_that_nobody_makes_is_refused() -> None:
    with pytest.raises(UnknownName, match="no property is called 'no_such_claim'"):
        OnDemand(scope("tiny")).claim("no_such_claim")
