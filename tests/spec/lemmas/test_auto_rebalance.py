"""The lemma about the automatic rebalance: true of all enumerated states, of use, and kept by every resignation."""

from functools import cache

import pytest

from spec.expectations import plan
from spec.lemmas import lemmas_of
from spec.lemmas.elections import only_active_controllers_rebalance
from spec.model import Model
from spec.scopes import scope
from spec.variants import AS_CODED, switches_named
from tests.spec.inductive_steps import Proving, false_in_few, false_somewhere

LEMMA = only_active_controllers_rebalance.name
FALSE = next(one.violated for one in plan("proof_rebalance").proofs if one.variant == "AS_CODED")
"""What does not hold as coded."""


@cache
def proof() -> Proving:
    return Proving(scope("proof_rebalance"), AS_CODED)


def test_it_holds_where_few_states_are_reachable() -> None:
    within = scope("out_of_sync_rebalance")
    stated = [one for one in lemmas_of(Model(within, AS_CODED)) if one.name == LEMMA]
    assert len(stated) == 1
    assert false_in_few(within, AS_CODED, stated) == set()


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["AS_CODED", "FENCED"])
@pytest.mark.parametrize("scope_name", ["rebalance", "stuck_rebalance", "out_of_sync_rebalance"])
def test_it_holds_in_every_reachable_state(scope_name: str, variant: str) -> None:
    switches = switches_named(variant)
    stated = [one for one in lemmas_of(Model(scope(scope_name), switches)) if one.name == LEMMA]
    assert len(stated) == 1
    assert false_somewhere(scope(scope_name), switches, stated) == set()


def test_without_it_somebody_could_elect_who_is_not_active() -> None:
    assert proof().needs(LEMMA, "rebalance_partition(c=1, p=0)", "only_active_controllers_change_states", without=FALSE)


def test_a_resignation_that_forgets_to_stop_the_rebalance_is_found() -> None:
    action, forgotten = "on_controller_change(c=1)", "controllers[1].imbalanced[0]"
    assert proof().breaks_without_update(action, forgotten, LEMMA, without=FALSE)


def test_what_is_false_as_coded_is_found_so_in_some_scope() -> None:
    scopes = ("out_of_sync_rebalance", "left_overs", "outlived_term", "epochs", "small")
    found = [plan(name).exploration("AS_CODED") for name in scopes]
    assert set().union(*(one.violated for one in found if one is not None)) >= FALSE
