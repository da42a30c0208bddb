"""The lemmas about what a new controller has read: true in every state, of use, and broken by a read that is lost."""

import pytest

from spec.language.rules import claims_of
from spec.lemmas import lemmas_of, soft_failure
from spec.model import Model
from spec.scopes import scope
from spec.variants import AS_CODED, FENCED
from tests.spec.inductive_steps import Proving, false_somewhere

NAMES = {one.name for one in claims_of(soft_failure)}
CLAIM = "new_terms_send_the_latest_leadership"


@pytest.mark.slow
def test_the_lemmas_hold_in_every_reachable_state_where_writes_are_fenced() -> None:
    stated = [one for one in lemmas_of(Model(scope("small"), FENCED)) if one.name in NAMES]
    assert {one.name for one in stated} == NAMES
    assert false_somewhere(scope("small"), FENCED, stated) == set()
    assert not NAMES & {one.name for one in lemmas_of(Model(scope("small"), AS_CODED))}


@pytest.mark.slow
def test_what_is_told_rests_on_what_is_queued_and_that_on_what_is_known() -> None:
    proof = Proving(scope("proof_soft_failure"), FENCED)
    queued, known = (
        "current_controllers_send_what_earlier_ones_wrote",
        "current_controllers_know_what_earlier_ones_wrote",
    )
    assert proof.needs(queued, "deliver_request(c=1, b=1)", CLAIM)
    assert proof.needs(known, "on_broker_change(c=1)", queued)


@pytest.mark.slow
def test_a_failover_that_forgets_to_cache_the_leader_epoch_it_reads_is_found() -> None:
    proof = Proving(scope("proof_soft_failure"), FENCED)
    known = "current_controllers_know_what_earlier_ones_wrote"
    assert proof.breaks_without_update("read_state(c=1, p=0)", "controllers[1].partitions[0].leader_epoch", known)
