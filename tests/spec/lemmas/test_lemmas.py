"""Lemmas: true of all enumerated states, each of use, and false where the fix is missing that they speak of."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import z3

from spec.language.rules import Property, View, claim, claims_of
from spec.language.terms import Value, both
from spec.lemmas import controller as controller_lemmas
from spec.lemmas import declared, lemmas_of
from spec.lemmas import in_sync as in_sync_lemmas
from spec.lemmas import leadership as leadership_lemmas
from spec.model import Model
from spec.properties import claims
from spec.scopes import scope
from spec.state.cluster import shape
from spec.variants import AS_CODED, FENCED, VARIANTS, Switches, switches_named
from tests.spec.inductive_steps import Proving, false_in_few, false_somewhere

FIXED = "AS_CODED+ATOMIC_ELECTION+RESIGN_CLEANS_UP"
"""The least that gives every term an epoch of its own: the fixes of D1, the first epoch included, and of D4."""

CONTROLLERS = [*claims_of(controller_lemmas), *claims_of(leadership_lemmas)]
"""The lemmas of every proof; the others have tests of their own."""
ALL = {one.name for one in CONTROLLERS}
ONLY_FIXED = {
    "a_failover_starts_from_nothing", "only_the_active_have_channels",
    "active_controllers_know_themselves_as_controller",
    "an_epoch_has_one_owner", "an_epoch_acted_in_is_its_owners", "an_election_unanswered_has_an_epoch_of_its_own",
}  # fmt: skip
ONLY_UNFIXED = {
    "no_epoch_version_is_ahead_of_zookeepers", "the_epoch_read_is_the_versions",
    "no_left_over_channel_is_a_present_one",
}  # fmt: skip
"""About the data version of /controller_epoch, which nobody reads where the election writes the epoch; and about
channels that a failed failover leaves behind.
"""


def lemmas(scope_name: str, switches: Switches, *, proving: bool = False) -> tuple[Property, ...]:
    return lemmas_of(Model(scope(scope_name), switches, proving))


# -------------------------------------------------------------------------------------------------------- what there is


def test_lemmas_have_names_of_their_own_and_a_sentence() -> None:
    names = [one.name for one in declared()]
    assert len(names) == len(set(names))
    assert ALL.isdisjoint(one.name for one in claims())
    assert all(one.kind == "always" and one.statement.endswith(".") for one in declared())


@pytest.mark.parametrize("variant", [*VARIANTS, FIXED])
def test_a_variant_has_the_lemmas_that_its_fixes_make_true(variant: str) -> None:
    found = {one.name for one in lemmas("proof_creation", switches_named(variant), proving=True)}
    assert found == ALL - (ONLY_UNFIXED if variant in {"FENCED", FIXED} else ONLY_FIXED)


def test_where_every_broker_is_a_replica_there_is_no_stranger() -> None:
    about_topics = {one.name for one in CONTROLLERS if "creation" in one.parts}
    found = {one.name for one in lemmas("proof", FENCED, proving=True)} - {
        one.name for one in claims_of(in_sync_lemmas)
    }
    assert found == ALL - about_topics - {"copies_of_the_isr_are_assigned"} - ONLY_UNFIXED


def test_without_partitions_there_are_only_the_lemmas_about_controllers() -> None:
    about_controllers = {one.name for one in declared() if not one.parts}
    assert {one.name for one in lemmas("election", FENCED)} == about_controllers - ONLY_UNFIXED
    assert ONLY_FIXED < about_controllers < ALL


# ------------------------------------------------------------------------------------------------ on enumerated states

DEFAULT = [("unclean", "FENCED")]
"""With few states; and among the lemmas that are true of it as coded, a false one is found."""
SMALL_SCOPES = (
    "tiny", "small", "left_overs", "early", "losses", "lost_creation", "partitions", "metadata", "notifications",
    "resends", "creation", "topics", "unclean", "bounce", "cold", "first_epoch", "lost_first_epoch", "half_active",
    "election", "epochs",
)  # fmt: skip
DEEP = [
    pytest.param(name, variant, marks=pytest.mark.slow)
    for name in SMALL_SCOPES
    for variant in (*VARIANTS, FIXED)
    if (name, variant) not in DEFAULT
]


@pytest.mark.parametrize(("scope_name", "variant"), [*DEFAULT, *DEEP])
def test_every_lemma_holds_in_every_reachable_state(scope_name: str, variant: str) -> None:
    switches = switches_named(variant)
    search = false_in_few if (scope_name, variant) in DEFAULT else false_somewhere
    assert search(scope(scope_name), switches, lemmas(scope_name, switches)) == set()


@claim("always", source="a mistake on purpose", parts=("partitions",))
def no_copy_is_behind_the_znode(s: Any, m: Model) -> Value:
    """Every controller's cache has the znode's version."""
    pairs = [(s.controllers[c].partitions[p], s.zookeeper.state[p]) for c in m.controllers for p in m.partitions]
    return both(*(cached.version == znode.version for cached, znode in pairs))


def test_a_false_lemma_is_found_among_true_ones() -> None:
    m = Model(scope("unclean"), AS_CODED)
    term = no_copy_is_behind_the_znode.function(View(shape(m), None), m)
    assert term is not None
    wrong = Property("wrong", "always", no_copy_is_behind_the_znode.statement, "", term=term.term)
    assert false_in_few(scope("unclean"), AS_CODED, [*lemmas("unclean", AS_CODED), wrong]) == {"wrong"}


@pytest.mark.slow
def test_what_a_fix_makes_true_is_false_without_it() -> None:
    # An exception leaves an active broker with channels that is not controller; a lost answer to the increment gives a
    # term the epoch of its predecessor, which has not noticed yet that its session is gone.
    faults = replace(scope("half_active"), budgets=(("expiries", 1), ("exceptions", 1), ("losses", 1)))
    fixed = [one for one in lemmas("half_active", FENCED) if one.name in ONLY_FIXED]
    assert false_somewhere(faults, AS_CODED, fixed) == ONLY_FIXED


# ------------------------------------------------------------------------------------------------------- what it is for


@cache
def proving(switches: Switches = FENCED) -> Proving:
    return Proving(scope("proof_creation"), switches)


NEEDED = [
    # Without the lemma, this action could break that.
    ("no_epoch_is_ahead_of_zookeepers", "elect_create(c=1)", "epochs_never_go_back"),
    ("no_epoch_version_is_ahead_of_zookeepers", "increment_epoch(c=1)", "the_epoch_read_is_the_versions"),
    ("the_epoch_read_is_the_versions", "increment_epoch(c=1)", "epochs_never_go_back"),
    ("a_process_that_is_not_running_remembers_nothing", "start_process(b=1)", "a_failover_starts_from_nothing"),
    ("only_active_controllers_change_states", "create_state(c=1, p=0)", "only_documented_transitions"),
    ("a_failover_starts_from_nothing", "elect_read(c=1)", "resigned_controllers_are_inactive"),
    ("only_the_active_have_channels", "read_topics(c=1)", "no_failover_fails_on_left_overs"),
    ("no_left_over_channel_is_a_present_one", "on_controller_change(c=1)", "requests_stay_until_they_are_answered"),
    ("active_controllers_know_themselves_as_controller", "finish_failover(c=1)", "resigned_controllers_are_inactive"),
    ("an_epoch_has_one_owner", "read_topics(c=1)", "one_controller_acts_in_an_epoch"),
    ("an_epoch_acted_in_is_its_owners", "read_topics(c=1)", "one_term_acts_in_an_epoch"),
    ("an_election_unanswered_has_an_epoch_of_its_own", "elect_create(c=1)", "an_epoch_has_one_owner"),
    ("no_copy_is_ahead_of_the_znode", "create_state(c=1, p=0)", "the_same_version_is_the_same_leader_epoch"),
    ("no_version_read_is_ahead_of_the_znode", "create_state(c=1, p=0)", "a_decision_stands_while_the_version_does"),
    ("leadership_has_a_version", "crash(b=1)", "a_leader_epoch_has_one_leader"),
    ("the_same_version_is_the_same_leader_epoch", "shrink_isr(b=1, p=0, r=2)", "leader_epoch_never_goes_back"),
    ("a_leader_epoch_has_one_leader", "deliver_request(c=1, b=1)", "one_leader_in_a_leader_epoch"),
    ("a_decision_stands_while_the_version_does", "write_elected_leader(c=1, p=0)", "clean_leaders_were_in_sync"),
    ("a_partition_without_a_znode_has_no_writer", "create_state(c=1, p=0)", "writers_epochs_never_go_back"),
    ("copies_of_the_isr_are_assigned", "shrink_isr(b=1, p=0, r=2)", "isr_is_within_assigned"),
    ("an_unknown_topic_is_in_no_state", "on_topic_change(c=1)", "only_documented_transitions"),
    ("a_replica_to_be_new_is_in_no_state_yet", "read_for_new_replica(c=1, p=0, r=1)", "only_documented_transitions"),
]


BROKEN = {"one_controller_acts_in_an_epoch", "resigned_controllers_are_inactive", "requests_are_of_the_present_term"}
"""Properties of states that do not hold as coded; no lemma of the fixed variants rests on them."""


def test_every_lemma_is_said_to_be_needed() -> None:
    assert {lemma for lemma, _, _ in NEEDED} == ALL


@pytest.mark.parametrize(
    ("lemma", "action", "saved"),
    [pytest.param(*one, id=one[0], marks=[pytest.mark.slow] * bool(place % 5)) for place, one in enumerate(NEEDED)],
)
def test_without_a_lemma_some_step_could_break_what_it_keeps_with_it(lemma: str, action: str, saved: str) -> None:
    """One in five every day: a lemma too many makes proofs slower, not wrong."""
    proof = proving(AS_CODED if lemma in ONLY_UNFIXED else FENCED)
    assert proof.needs(lemma, action, saved, without=BROKEN)


# ------------------------------------------------------------------------------------------------------- planted faults


FORGETTING = [
    ("write_elected_leader(c=1, p=0)", "zookeeper.state[0].leader_epoch", "a_leader_epoch_has_one_leader"),
    ("write_elected_leader(c=1, p=0)", "zookeeper.state[0].version", "the_same_version_is_the_same_leader_epoch"),
    ("elect_create(c=1)", "zookeeper.epoch", "no_epoch_is_ahead_of_zookeepers"),
    ("elect_create_unanswered(c=1)", "zookeeper.epoch", "an_election_unanswered_has_an_epoch_of_its_own"),
    ("elect_create(c=1)", "controllers[1].epoch", "an_epoch_has_one_owner"),
    ("on_new_session(c=1)", "controllers[1].active", "a_failover_starts_from_nothing"),
    ("crash(b=1)", "brokers[1].partitions[0].leader", "leadership_has_a_version"),
]


@pytest.mark.parametrize(
    ("action", "forgets", "breaks"),
    [pytest.param(*one, marks=[pytest.mark.slow] * bool(place % 3)) for place, one in enumerate(FORGETTING)],
)
def test_an_action_that_forgets_a_write_is_found(action: str, forgets: str, breaks: str) -> None:
    assert proving().breaks_without_update(action, forgets, breaks)


def test_a_write_that_does_not_look_at_the_version_is_found() -> None:
    action = proving().action("expand_isr_unanswered(b=1, p=0, r=2)")
    known = proving().everything(action.name)
    claimed = known.pop("no_copy_is_ahead_of_the_znode")
    looked = z3.Int("zookeeper.state[0].version") == z3.Int("brokers[1].partitions[0].version")
    blind = replace(action, guard=z3.substitute(action.guard, (looked, z3.BoolVal(True))))
    assert not blind.guard.eq(action.guard)
    always = [one for one in known.values() if one.kind == "always"]
    assert proving().keeps(action, claimed, always)
    assert not proving().keeps(blind, claimed, always)
