"""Lemmas about who is in sync: true of all enumerated states, of use, and said where they are needed only."""

from dataclasses import replace
from functools import cache

import pytest

from spec.language.rules import claims_of
from spec.lemmas import in_sync, lemmas_of
from spec.model import Model
from spec.scopes import scope
from spec.variants import AS_CODED, FENCED
from tests.spec.inductive_steps import Proving, false_somewhere

LEADS, NEW = (one.name for one in claims_of(in_sync))


@cache
def proof() -> Proving:
    return Proving(scope("proof"), FENCED)


def test_they_are_said_where_they_are_needed() -> None:
    assert {LEADS, NEW} <= proof().everything().keys()
    said = {("proof", AS_CODED): set(), ("proof_creation", FENCED): set(), ("proof_shutdown", AS_CODED): {LEADS}}
    for (name, variant), wanted in said.items():
        assert {LEADS, NEW} & {one.name for one in lemmas_of(Model(scope(name), variant))} == wanted


@pytest.mark.slow
@pytest.mark.parametrize("scope_name", ["unclean", "small"])
def test_they_hold_in_every_reachable_state(scope_name: str) -> None:
    within = replace(scope(scope_name), unclean=True)
    stated = [one for one in lemmas_of(Model(within, FENCED)) if one.name in {LEADS, NEW}]
    assert len(stated) == 2
    assert false_somewhere(within, FENCED, stated) == set()


@pytest.mark.parametrize(
    ("lemma", "action", "saved"),
    [
        pytest.param(LEADS, "shrink_isr(b=1, p=0, r=2)", "isr_is_not_empty", marks=pytest.mark.slow),
        (NEW, "create_state(c=1, p=0)", "isr_is_not_empty"),
    ],
)
def test_without_a_lemma_some_step_could_leave_nobody_in_sync(lemma: str, action: str, saved: str) -> None:
    assert proof().needs(lemma, action, saved)


@pytest.mark.slow
def test_an_answer_to_a_broker_that_is_no_replica_rests_on_leaders_that_are_in_sync() -> None:
    shutdowns = Proving(scope("proof_shutdown"), FENCED)
    assert shutdowns.needs(LEADS, "answer_shutdown(c=1, b=3)", "brokers_shut_down_without_leadership")


@pytest.mark.slow
def test_reassignments_rest_on_leaders_that_are_in_sync() -> None:
    reassigning = Proving(scope("proof_reassignment"), FENCED)
    broken = {"isr_is_within_assigned", "leaders_are_assigned", "completed_means_done"}
    assert reassigning.needs(
        LEADS, "read_for_election(c=1, p=0)", "current_controllers_know_the_leader_epoch", without=broken
    )


@pytest.mark.parametrize(
    ("action", "forgets", "breaks"),
    [
        ("write_removal(c=1, p=0, r=2)", "zookeeper.state[0].leader", LEADS),
        pytest.param("on_broker_change(c=1)", "controllers[1].live", NEW, marks=pytest.mark.slow),
    ],
)
def test_an_action_that_forgets_a_write_is_found(action: str, forgets: str, breaks: str) -> None:
    assert proof().breaks_without_update(action, forgets, breaks)
