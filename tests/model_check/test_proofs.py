"""The proofs that the manifest promises: made again, complete, and resting on nothing but what they say."""

from __future__ import annotations

from functools import cache

import pytest

from model_check.induction import prove
from model_check.proof_report import ProofReport
from model_check.verdicts import Verdict
from spec.expectations import plan, switches_named
from spec.language import Property, TransitionSystem
from spec.lemmas import lemmas_of
from spec.model import Model
from spec.scopes import scope
from spec.system import system

EXPECTED = {one.variant: one for one in plan("proof").proofs}
LEAST = "AS_CODED+RESIGN_CLEANS_UP+RESIGN_ON_EPOCH_CONFLICT"


@cache
def unbounded(variant: str) -> tuple[TransitionSystem, tuple[Property, ...]]:
    """The system of the proofs, and its lemmas."""
    within, switches = scope("proof"), switches_named(variant)
    return system(within, switches, proving=True), lemmas_of(Model(within, switches, proving=True))


def provable(variant: str) -> set[str]:
    return {one.name for one in unbounded(variant)[0].properties if one.kind in {"always", "step"}}


@cache
def proof(variant: str) -> ProofReport:
    built, lemmas = unbounded(variant)
    wanted = provable(variant) - EXPECTED[variant].violated
    return prove(built, [one for one in built.properties if one.name in wanted], lemmas, explain=False)


def test_the_bounds_are_as_promised() -> None:
    within = scope("proof")
    assert (within.brokers, within.controllers, within.assigned) == (3, 2, ((1, 2, 3),))
    assert (within.callback_capacity, within.connection_capacity) == (4, 2)
    assert {"partitions", "connections"} <= within.parts
    assert set(EXPECTED) == {"AS_CODED", "DOCUMENTED", "FENCED", LEAST}


def test_no_variable_is_bounded_that_counts() -> None:
    built, _ = unbounded("FENCED")
    counters = {one.name for one in built.variables if one.name.rpartition(".")[2] in {"epoch", "version", "watched"}}
    counters |= {one.name for one in built.variables if one.name.endswith(("_epoch", "_version"))}
    assert len(counters) > 50
    assert all(one.kind.unbounded == (one.name in counters) for one in built.variables)
    assert not any(one.name.startswith("budget") for one in built.variables)


def test_what_is_not_proved_is_known_to_be_false() -> None:
    assert not EXPECTED["FENCED"].violated
    assert not any(one.incomplete for one in EXPECTED.values())
    d1_and_d4 = {
        "one_term_acts_in_an_epoch", "one_controller_acts_in_an_epoch", "who_gave_up_is_not_active",
        "no_failover_fails_on_left_overs",
    }  # fmt: skip
    unfenced = {"controller_znode_is_its_owners", "only_the_latest_term_writes"}
    assert EXPECTED["AS_CODED"].violated == EXPECTED["DOCUMENTED"].violated == d1_and_d4 | unfenced
    assert EXPECTED[LEAST].violated == unfenced


@pytest.mark.parametrize(
    "variant",
    ["FENCED", *(pytest.param(one, marks=pytest.mark.slow) for one in ("AS_CODED", "DOCUMENTED", LEAST))],
)
def test_every_other_property_is_proved(variant: str) -> None:
    report = proof(variant)
    assert {name for name, one in report.properties.items() if one.verdict is Verdict.HOLDS} == (
        provable(variant) - EXPECTED[variant].violated
    )
    assert all(one.verdict is Verdict.HOLDS for one in report.invariant.values())
    assert not report.failures
    built, _ = unbounded(variant)
    assert {one.action for one in report.obligations if one.action} == {one.name for one in built.actions}


def test_a_proof_says_what_it_assumes_and_for_which_epoch() -> None:
    report = proof("FENCED")
    assert report.arbitrary == ("history.watched",)
    built, _ = unbounded("FENCED")
    # What queues a callback or a batch may find no place; nothing else is bounded.
    silent = {"start_process", "elect_read", "read_brokers", "subscribe", "finish_failover", "shrink_isr", "expand_isr"}
    stopped = {name.partition("(")[0] for name in report.assumptions}
    assert {"renew_session", "register_broker", "write_elected_leader", "on_broker_change"} <= stopped
    assert silent <= {one.rule for one in built.actions} - stopped


@pytest.mark.slow
def test_what_is_false_is_not_proved() -> None:
    """With the lemmas of the mended variant put to the variant as coded, the engine keeps the true ones only."""
    built, own = unbounded("AS_CODED")
    false = [built.property_named(name) for name in sorted(EXPECTED["AS_CODED"].violated)]
    report = prove(built, false, unbounded(LEAST)[1], explain=False)
    assert not [name for name, one in report.properties.items() if one.verdict is Verdict.HOLDS]
    kept = {one.name for one in unbounded(LEAST)[1] if report.invariant[one.name].verdict is Verdict.HOLDS}
    assert kept == {one.name for one in own}
