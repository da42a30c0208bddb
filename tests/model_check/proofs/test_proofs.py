"""The proofs that the manifest promises: made again, complete, and resting on nothing but what they say."""

import re
from dataclasses import replace
from functools import cache

import pytest

from model_check.proofs.induction import TACTICS, prove
from model_check.proofs.proof_report import ProofReport
from model_check.proofs.smtlib import decide
from model_check.verdicts.verdict import Verdict
from spec.expectations import plan
from spec.language.rules import Property, TransitionSystem
from spec.lemmas import lemmas_of
from spec.model import Model
from spec.scopes import APART, PARTS, scope
from spec.system import system
from spec.variants import switches_named

SCOPES = (
    "proof", "proof_three_eligible", "proof_creation", "proof_failed_removal", "proof_reassignment",
    "proof_preferred_election", "proof_shutdown", "proof_rebalance", "proof_metadata", "proof_addition",
    "proof_deletion", "proof_unfenced_deletion", "proof_dead_replicas", "proof_soft_failure",
)  # fmt: skip
EXPECTED = {(one.scope, one.variant): one for name in SCOPES for one in plan(name).proofs}
LEAST = "AS_CODED+ATOMIC_ELECTION+RESIGN_CLEANS_UP"
"""The least that gives every term an epoch of its own."""

SMALL = replace(
    scope("proof_creation"), name="two brokers, one of them eligible, and a creation", brokers=2, controllers=1,
    assigned=((1, 2),),
)  # fmt: skip
"""What is proved every day, once, for all tests that look at it; `kcheck verify` makes the proofs of the manifest."""
PROVED = {(SMALL.name, "FENCED"): EXPECTED["proof_creation", "FENCED"], **EXPECTED}


@cache
def unbounded(name: str, variant: str) -> tuple[TransitionSystem, tuple[Property, ...]]:
    """The system of a proof, and its lemmas."""
    within, switches = SMALL if name == SMALL.name else scope(name), switches_named(variant)
    return system(within, switches, proving=True), lemmas_of(Model(within, switches, proving=True))


def promised(name: str, variant: str) -> set[str]:
    """What is to be proved: all that is said of states and steps, but for what is known to be false."""
    provable = {one.name for one in unbounded(name, variant)[0].properties if one.kind in {"always", "step"}}
    return provable - PROVED[name, variant].violated - PROVED[name, variant].incomplete.keys()


@cache
def proof(name: str, variant: str) -> ProofReport:
    built, lemmas = unbounded(name, variant)
    return prove(built, [built.property_named(one) for one in sorted(promised(name, variant))], lemmas, explain=False)


# ---------------------------------------------------------------------------------------------------- what is promised


@pytest.mark.parametrize("name", SCOPES)
def test_the_bounds_are_as_promised(name: str) -> None:
    within = scope(name)
    brokers = 2 if name in {"proof_preferred_election", "proof_addition", "proof_unfenced_deletion"} else 3
    eligible = 3 if name == "proof_three_eligible" else 2
    partitions = 2 if name in {"proof_addition", "proof_deletion"} else 1
    assert (within.brokers, within.controllers, len(within.assigned)) == (brokers, eligible, partitions)
    assert within.cold
    assert (within.callback_capacity, within.connection_capacity) == (6, 2)


def test_no_part_of_the_protocol_and_no_variant_is_left_out() -> None:
    """But that notifications are read one by one, of which nothing is proved."""
    assert set().union(*(scope(name).parts for name in SCOPES)) == set(PARTS) - APART - {"notification_reads"}
    for name in ("proof", "proof_three_eligible"):
        assert {variant for one, variant in EXPECTED if one == name} == {"AS_CODED", "DOCUMENTED", "FENCED", LEAST}


def test_that_all_are_eligible_is_the_only_difference_to_the_first_proof() -> None:
    every, two = scope("proof_three_eligible"), scope("proof")
    assert replace(every, name=two.name, statement=two.statement, controllers=2) == two


@pytest.mark.parametrize("name", [SMALL.name, *(pytest.param(one, marks=pytest.mark.slow) for one in SCOPES)])
def test_no_variable_is_bounded_that_counts(name: str) -> None:
    built, _ = unbounded(name, "FENCED")
    counters = {one.name for one in built.variables if one.name.rpartition(".")[2] in {"epoch", "version", "watched"}}
    counters |= {
        one.name for one in built.variables if re.sub(r"\[\d+\]$", "", one.name).endswith(("_epoch", "_version"))
    }
    assert len(counters) > 40
    assert all(one.kind.unbounded == (one.name in counters) for one in built.variables)
    assert not any(one.name.startswith("budget") for one in built.variables)


def test_nothing_is_left_open_and_what_is_false_has_its_defect() -> None:
    assert not [key for key, one in EXPECTED.items() if one.incomplete]
    d1_and_d4 = {
        "one_term_acts_in_an_epoch", "one_controller_acts_in_an_epoch", "resigned_controllers_are_inactive",
        "no_failover_fails_on_left_overs", "requests_are_of_the_present_term",
    }  # fmt: skip
    unfenced = {"controller_znode_is_its_owners", "only_the_latest_term_writes"}
    false = {"AS_CODED": d1_and_d4 | unfenced, "DOCUMENTED": d1_and_d4 | unfenced, LEAST: unfenced, "FENCED": set()}
    unclean = {"leaders_were_in_sync", "isr_is_not_empty"}
    for variant, broken in false.items():
        for name in ("proof", "proof_three_eligible"):
            assert EXPECTED[name, variant].violated == (broken | unclean if broken else set())
    creation = {variant: one.violated for (name, variant), one in EXPECTED.items() if name == "proof_creation"}
    assert creation == {variant: false[variant] for variant in ("AS_CODED", "FENCED")}


def test_what_unclean_election_costs_is_found_in_a_scope() -> None:
    found = plan("unclean").exploration("AS_CODED")
    assert found is not None
    assert {"leaders_were_in_sync", "isr_is_not_empty"} <= found.violated.keys()
    # Election and leadership are proved with unclean election, the other parts without.
    assert [name for name in SCOPES if scope(name).unclean] == ["proof", "proof_three_eligible"]


def test_what_is_false_of_preferred_elections_is_found_so_in_some_scope() -> None:
    first_slice = EXPECTED["proof", "AS_CODED"].violated
    own = EXPECTED["proof_preferred_election", "AS_CODED"].violated - first_slice
    found = [plan(name).exploration("AS_CODED") for name in ("preferred_election", "resumed_election")]
    assert own <= {name for one in found if one is not None for name in one.violated}
    assert not EXPECTED["proof_preferred_election", "FENCED"].violated


def test_one_claim_about_reassignments_is_false_with_all_fixes() -> None:
    expected = EXPECTED["proof_reassignment", "FENCED"]
    # The run is in tests/spec/lemmas/test_reassignment.py.
    assert expected.violated == expected.shown.keys() == {"old_replicas_leave_after_new_ones_are_in_sync"}


@pytest.mark.parametrize(("name", "variant"), [("proof_unfenced_deletion", "AS_CODED"), ("proof_deletion", "FENCED")])
def test_what_is_false_of_deletions_is_found_so_elsewhere(name: str, variant: str) -> None:
    expected = EXPECTED[name, variant]
    found = [plan(one).exploration(variant) for one in ("zombie_deletion", "doomed_reassignment")]
    broken = {name for one in found if one is not None for name in one.violated}
    broken |= EXPECTED["proof", variant].violated
    # For those that no scope breaks tests/spec has runs.
    assert expected.violated - broken == expected.shown.keys()


# ------------------------------------------------------------------------------------------------------ what is proved


@pytest.mark.parametrize(
    ("name", "variant"), [pytest.param(*key, marks=[pytest.mark.slow] * (key[0] != SMALL.name)) for key in PROVED]
)
@pytest.mark.takes("The solver answers what every action could break, once for the next tests, too.")
def test_every_property_that_is_not_known_to_be_false_is_proved(name: str, variant: str) -> None:
    report = proof(name, variant)
    assert {one for one, found in report.properties.items() if found.verdict is Verdict.HOLDS} == promised(
        name, variant
    )
    assert all(one.verdict is Verdict.HOLDS for one in report.invariant.values())
    assert not report.failures
    assert_the_rest_is_silent(report, *unbounded(name, variant))


def assert_the_rest_is_silent(report: ProofReport, built: TransitionSystem, lemmas: tuple[Property, ...]) -> None:
    """Of an action that is not asked about nothing is claimed, and it changes nothing that anything else speaks of."""
    claimed = [one for one in (*built.properties, *lemmas) if {*report.properties, *report.invariant} >= {one.name}]
    spoken_of = "\n".join(one.term.sexpr() for one in claimed if one.term is not None)
    asked = {one.action for one in report.obligations if one.action}
    assert asked <= {one.name for one in built.actions}
    for action in (one for one in built.actions if one.name not in asked):
        assert not [one.name for one in claimed if action.name in one.terms], action.name
        assert not [name for name in action.updates if f"|{name}|" in spoken_of], action.name


@pytest.mark.slow
def test_every_obligation_is_proved_again_by_its_text_alone() -> None:
    """The proof itself asks one solver that goes from step to step, and mostly of terms that are never written."""
    report = proof(SMALL.name, "FENCED")
    answers = {one.name: decide(one.problem.text, 60, tactics=TACTICS).result for one in report.obligations}
    assert set(answers.values()) == {"unsat"}
    assert len(answers) == len(report.obligations) > len(unbounded(SMALL.name, "FENCED")[0].actions)


def test_a_proof_says_what_it_assumes_and_for_which_epoch() -> None:
    report = proof(SMALL.name, "FENCED")
    assert report.arbitrary == ("history.watched",)
    built, _ = unbounded(SMALL.name, "FENCED")
    # What queues a callback or a batch may find no place; nothing else is bounded.
    silent = {"start_process", "elect_read", "read_brokers", "subscribe", "finish_failover", "shrink_isr", "expand_isr"}
    stopped = {name.partition("(")[0] for name in report.assumptions}
    assert {"renew_session", "register_broker", "write_elected_leader", "on_broker_change"} <= stopped
    assert silent <= {one.rule for one in built.actions} - stopped


@pytest.mark.slow
def test_what_is_false_is_not_proved_and_false_lemmas_are_dropped() -> None:
    # The lemmas of the fixed variant, put to the variant as coded beside its own.
    built, own = unbounded("proof_creation", "AS_CODED")
    true = {one.name for one in own}
    added = [one for one in unbounded("proof_creation", "FENCED")[1] if one.name not in true]
    false = [built.property_named(name) for name in sorted(EXPECTED["proof_creation", "AS_CODED"].violated)]
    report = prove(built, false, [*own, *added], explain=False)
    assert not [name for name, one in report.properties.items() if one.verdict is Verdict.HOLDS]
    assert added
    assert {one.name for one in [*own, *added] if report.invariant[one.name].verdict is Verdict.HOLDS} == true
