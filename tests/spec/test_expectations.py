"""Expectations: the manifest's own are sound, and a damaged one is refused at its place."""

from typing import Any

import pytest

from spec.errors import BadInput, UnknownName
from spec.expectations import known_to_break, plan, plans
from spec.formats.kafka_types import V0101, V0102, V082, KafkaVersion
from spec.properties import claims
from spec.variants import AS_CODED, FENCED


def manifest(**tables: Any) -> dict[str, Any]:
    """A manifest of one scope."""
    return {"scope": {"tiny": {"bounds": {}, **tables}}}


def expectation(**changes: Any) -> dict[str, Any]:
    """A manifest with one expectation, a key changed, or taken out where None."""
    entry = {
        "states": 3, "transitions": 4, "depth": 1, "digest": "3-0", "violated": {"one_term_acts_in_an_epoch": 12},
        "incomplete": {"leader_epoch_never_goes_back": "why"}, "unwitnessed": ["two_controllers_act"],
        "never_fired": ["crash"], "bounds_hit": ["elect_create"], **changes,
    }  # fmt: skip
    return manifest(expect={"AS_CODED": {key: value for key, value in entry.items() if value is not None}})


def test_the_manifest_can_be_read() -> None:
    assert {"tiny", "election"} <= plans().keys()


def test_every_key_of_an_expectation_is_read() -> None:
    one = plans(expectation())["tiny"].exploration("AS_CODED")
    assert one is not None
    assert (one.states, one.transitions, one.depth, one.digest) == (3, 4, 1, "3-0")
    assert one.violated == {"one_term_acts_in_an_epoch": 12}
    assert one.incomplete == {"leader_epoch_never_goes_back": "why"}
    assert one.unwitnessed == {"two_controllers_act"}
    assert one.never_fired == {"crash"}
    assert one.bounds_hit == {"elect_create"}
    assert one.switches == AS_CODED


def test_a_proof_is_read() -> None:
    name = "leader_epoch_never_goes_back"
    entry = {"violated": ["one_term_acts_in_an_epoch"], "incomplete": {name: "why"}, "bounded": {name: 25}}
    (proof,) = plans(manifest(prove={"FENCED": entry}))["tiny"].proofs
    assert proof.violated == {"one_term_acts_in_an_epoch"}
    assert proof.incomplete == {name: "why"}
    assert proof.bounded == {name: 25}
    assert proof.switches == FENCED


@pytest.mark.parametrize(
    ("verify", "deep", "goals"), [({}, False, True), ({"deep": True}, True, True), ({"goals": False}, False, False)]
)
def test_a_scope_is_verified_always_and_with_goals_unless_it_says_otherwise(
    verify: dict[str, bool], deep: bool, goals: bool
) -> None:
    one = plans(manifest(verify=verify))["tiny"]
    assert (one.deep, one.goals) == (deep, goals)


ONLY_ONE = "manifest.toml: scope.tiny.prove.FENCED: leader_epoch_never_goes_back is in only one of"


@pytest.mark.parametrize(
    ("damaged", "complaint"),
    [
        (expectation(states=None), "manifest.toml: scope.tiny.expect.AS_CODED.states: is missing"),
        (expectation(digest=None), "manifest.toml: scope.tiny.expect.AS_CODED.digest: is missing"),
        (expectation(states="3"), "manifest.toml: scope.tiny.expect.AS_CODED.states: is not of type int"),
        (expectation(depth=True), "manifest.toml: scope.tiny.expect.AS_CODED.depth: is not of type int"),
        (expectation(stats=3), "manifest.toml: scope.tiny.expect.AS_CODED.stats: is not one of states, transitions"),
        (expectation(violated={"no_such": 1}), "manifest.toml: scope.tiny.expect.AS_CODED.violated: no property is"),
        (
            expectation(violated={"one_term_acts_in_an_epoch": "long"}),
            "manifest.toml: scope.tiny.expect.AS_CODED.violated.one_term_acts_in_an_epoch: is not of type int",
        ),
        (expectation(unwitnessed=["no_such"]), "manifest.toml: scope.tiny.expect.AS_CODED.unwitnessed: no property"),
        (expectation(unwitnessed="two"), "manifest.toml: scope.tiny.expect.AS_CODED.unwitnessed: is not a list"),
        (expectation(never_fired=["chrash"]), "manifest.toml: scope.tiny.expect.AS_CODED.never_fired: no rule is"),
        (
            manifest(prove={"FENCED+TOPIC_IDS": {}}),
            "manifest.toml: scope.tiny.prove.FENCED+TOPIC_IDS: is written FENCED",
        ),
        (manifest(expect={"AS_CODED+NOPE": {}}), "manifest.toml: scope.tiny.expect.AS_CODED+NOPE: no switch is called"),
        (manifest(prove={"NOPE": {}}), "manifest.toml: scope.tiny.prove.NOPE: no variant is called"),
        (manifest(prove={"FENCED": {"incomplete": {"leader_epoch_never_goes_back": "why"}}}), ONLY_ONE),
        (manifest(prove={"FENCED": {"bounded": {"leader_epoch_never_goes_back": 25}}}), ONLY_ONE),
        (manifest(verify={"deep": "yes"}), "manifest.toml: scope.tiny.verify.deep: is not of type bool"),
        (manifest(verify={"depth": 3}), "manifest.toml: scope.tiny.verify.depth: is not one of deep, goals"),
        (manifest(expected={}), "manifest.toml: scope.tiny.expected: is not one of bounds, verify, expect, prove"),
        (manifest(expect=3), "manifest.toml: scope.tiny.expect: is not a table"),
        (manifest(prove=[1]), "manifest.toml: scope.tiny.prove: is not a table"),
        (expectation(violated=["a"]), "manifest.toml: scope.tiny.expect.AS_CODED.violated: is not a table"),
        (expectation(never_fired=[1]), "manifest.toml: scope.tiny.expect.AS_CODED.never_fired: is not a list of names"),
        (manifest(matrix=3), "manifest.toml: scope.tiny.matrix: is not a table"),
        (manifest(verify=3), "manifest.toml: scope.tiny.verify: is not a table"),
    ],
)
def test_a_damaged_manifest_is_refused_at_its_place(damaged: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput) as caught:
        plans(damaged)
    assert str(caught.value).startswith(complaint)


def test_the_plan_of_an_unknown_scope_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"\(`kcheck show scopes` lists all \d+\)$"):
        plan("huge")


NOTIFICATIONS, METADATA = "only_the_active_handle_notifications", "metadata_goes_to_all_registered_brokers"  # D8, D60
TERMS, UNTOLD = "one_term_acts_in_an_epoch", "metadata_reports_partitions_being_deleted"  # D1, D53-untold
ANNOUNCED = "eventually_isr_changes_are_known"  # D65
HALFWAY = "eventually_no_assignment_is_left_halfway"  # D59-halfway, which the context that is not cleared (D13) hides
STRAYS = "eventually_only_assigned_replicas_lead"  # D38, D47
LOOKED_AT = {NOTIFICATIONS, METADATA, TERMS, UNTOLD, ANNOUNCED, HALFWAY}


@pytest.mark.parametrize(
    ("variant", "release", "known"),
    [
        ("AS_CODED", V082, LOOKED_AT),
        ("AS_CODED", V0101, {NOTIFICATIONS, TERMS, UNTOLD, ANNOUNCED, HALFWAY}),
        ("AS_CODED", V0102, {TERMS, UNTOLD, ANNOUNCED, HALFWAY}),
        ("AS_CODED", None, {TERMS, UNTOLD, ANNOUNCED, HALFWAY}),  # several releases are asked what 0.10.2 is
        ("FENCED", V082, {NOTIFICATIONS, METADATA, ANNOUNCED, HALFWAY}),
        ("FENCED", V0102, {HALFWAY}),
    ],
)
def test_a_release_is_known_to_break_what_its_defects_break(
    variant: str, release: KafkaVersion | None, known: set[str]
) -> None:
    assert known_to_break(variant, release) & LOOKED_AT == known


def test_a_fix_that_is_on_hides_no_other_defect() -> None:
    """What a scope shows only with a fix, for its shorter trace, is no excuse, but for goals that are lost."""
    explored = [one for each in plans().values() for one in each.explorations if one.variant == "DOCUMENTED"]
    known = known_to_break("DOCUMENTED", V0102)
    assert known - {name for one in explored for name in one.violated} == {HALFWAY, STRAYS, UNTOLD}


def test_no_property_without_a_name_is_known_to_break() -> None:
    assert known_to_break("AS_CODED", V082) <= {one.name for one in claims()}
