"""Lemmas about who may be in the ISR of what is reassigned: true of all enumerated states, and each of use."""

from dataclasses import replace

import pytest

from spec.expectations import plan
from spec.language.rules import Property, claims_of
from spec.lemmas import assigned_in_sync, lemmas_of
from spec.lemmas.assigned_in_sync import NEEDED as MENDS
from spec.model import Model
from spec.scopes import scope
from spec.variants import FENCED, Switch
from tests.spec.inductive_steps import Proving, false_in_few, false_somewhere, proof_of

pytestmark = pytest.mark.xdist_group("lemmas about reassignments")

ALL = {one.name for one in claims_of(assigned_in_sync)}
BROKEN = next(one for one in plan("proof_reassignment").proofs if one.variant == "FENCED").violated
FEW = ("move", "move_crash")
"""Scopes with few states."""


def lemmas(scope_name: str) -> list[Property]:
    return [one for one in lemmas_of(Model(scope(scope_name), FENCED)) if one.name in ALL]


@pytest.mark.parametrize("one", MENDS, ids=lambda one: one.name)
def test_without_the_fixes_that_they_rest_on_they_say_nothing(one: Switch) -> None:
    bounds = scope("proof_reassignment")
    assert not ALL & {lemma.name for lemma in lemmas_of(Model(bounds, FENCED - {one}))}


def test_where_removals_may_fail_to_write_they_rest_on_caching_what_is_written() -> None:
    bounds, unfixed = scope("proof_reassignment"), FENCED - {Switch.CACHE_WHAT_IS_WRITTEN}
    failing = replace(bounds, parts=bounds.parts | {"failed_removals"})
    assert {lemma.name for lemma in lemmas_of(Model(bounds, unfixed))} >= ALL
    assert not ALL & {lemma.name for lemma in lemmas_of(Model(failing, unfixed))}


@pytest.mark.slow
@pytest.mark.parametrize(
    "scope_name",
    [
        "move",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("move_crash", "reassignment", "reassignment_zombie")),
        pytest.param("unborn_reassignment", marks=pytest.mark.slow),
    ],
)
def test_every_lemma_holds_in_every_reachable_state(scope_name: str) -> None:
    stated = lemmas(scope_name)
    assert {one.name for one in stated} == ALL
    search = false_in_few if scope_name in FEW else false_somewhere
    assert search(scope(scope_name), FENCED, stated) == set()


# ------------------------------------------------------------------------------------------------------- what it is for


def proof() -> Proving:
    return proof_of("proof_reassignment", FENCED)


NEEDED = [
    # Without the lemma, this action could break that.
    ("the_same_version_is_the_same_isr", "expand_isr(b=1, p=0, r=3)", "isr_is_within_assigned"),
    ("step_7_wrote_the_state_last", "write_move(c=1, p=0)", "leaders_have_no_larger_assignment_than_zookeeper"),
    ("leaders_have_no_larger_assignment_than_zookeeper", "expand_isr(b=1, p=0, r=3)", "isr_is_within_assigned"),
    ("leaving_replicas_leave_the_isr", "write_target(c=1, p=0)", "isr_is_within_assigned"),
    ("assigned_replicas_are_in_a_state", "write_remaining(c=1, p=0)", "completed_means_done"),
    ("in_phase_b_the_target_is_assigned", "write_move(c=1, p=0)", "leaders_have_no_larger_assignment_than_zookeeper"),
]


def test_every_lemma_is_said_to_be_needed() -> None:
    assert {lemma for lemma, _, _ in NEEDED} == ALL


@pytest.mark.slow
@pytest.mark.parametrize(("lemma", "action", "saved"), NEEDED, ids=[one[0] for one in NEEDED])
def test_without_a_lemma_some_step_could_break_what_it_keeps_with_it(lemma: str, action: str, saved: str) -> None:
    assert proof().needs(lemma, action, saved, without=BROKEN)


@pytest.mark.parametrize(
    ("action", "forgets", "breaks"),
    [
        (
            "write_move(c=1, p=0)",
            "controllers[1].partitions[0].assigned",
            "leaders_have_no_larger_assignment_than_zookeeper",
        ),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in (
                ("expand_isr(b=1, p=0, r=3)", "brokers[1].partitions[0].isr", "the_same_version_is_the_same_isr"),
                ("write_move(c=1, p=0)", "zookeeper.state[0].controller_epoch", "step_7_wrote_the_state_last"),
                (
                    "write_move(c=1, p=0)",
                    "zookeeper.state[0].leader_epoch",
                    "leaders_have_no_larger_assignment_than_zookeeper",
                ),
                ("write_removal(c=1, p=0, r=1)", "zookeeper.state[0].isr", "leaving_replicas_leave_the_isr"),
                (
                    "start_new_replica(c=1, p=0, r=3)",
                    "controllers[1].partitions[0].replicas[3]",
                    "assigned_replicas_are_in_a_state",
                ),
            )
        ),
    ],
)
def test_an_action_that_forgets_a_write_is_found(action: str, forgets: str, breaks: str) -> None:
    assert proof().breaks_without_update(action, forgets, breaks, without=BROKEN)
