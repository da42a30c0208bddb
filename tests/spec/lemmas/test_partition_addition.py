"""Lemmas about partitions that are added: true of all enumerated states, each of use, and kept by every step."""

from dataclasses import replace
from functools import cache

import pytest
import z3

from model_check.explicit_state.explorer import explore
from spec.expectations import plan
from spec.language.rules import Property, claims_of
from spec.lemmas import lemmas_of, partition_addition
from spec.model import Model
from spec.scopes import scope
from spec.system import system
from spec.variants import AS_CODED, switches_named
from tests.spec.inductive_steps import Proving

ALL = {one.name for one in claims_of(partition_addition)}
FALSE = next(one.violated for one in plan("proof_addition").proofs if one.variant == "AS_CODED")
"""What does not hold as coded."""


def lemmas(scope_name: str, variant: str) -> list[Property]:
    return [one for one in lemmas_of(Model(scope(scope_name), switches_named(variant))) if one.name in ALL]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["AS_CODED", "FENCED"])
@pytest.mark.parametrize("scope_name", ["addition", "matrix_addition"])
def test_every_lemma_holds_in_every_reachable_state(scope_name: str, variant: str) -> None:
    stated = lemmas(scope_name, variant)
    assert {one.name for one in stated} == ALL
    found = explore(
        replace(system(scope(scope_name), switches_named(variant)), properties=tuple(stated)), expected=100_000
    )
    assert found.exhausted
    assert found.fired["on_partition_modifications(c=1, t=0)"]
    assert found.violated == {}


@pytest.mark.parametrize("scope_name", ["addition_deletion", "addition_reassignment"])
def test_where_partitions_move_or_go_they_say_nothing(scope_name: str) -> None:
    assert lemmas(scope_name, "AS_CODED") == []


# ------------------------------------------------------------------------------------------------------- what it is for


@cache
def proof() -> Proving:
    return Proving(scope("proof_addition"), AS_CODED)


NEEDED = [
    # Without the lemma, this action could break that.
    ("an_assignment_is_whole_or_absent", "write_addition(t=0)", "known_assignments_are_zookeepers"),
    ("partition_additions_keep_the_other_partitions", "write_addition(t=0)", "partitions_stay"),
    ("known_assignments_are_zookeepers", "create_state(c=1, p=1)", "isr_is_within_assigned"),
    (
        "an_unknown_partition_is_in_no_state",
        "on_partition_modifications(c=1, t=0)",
        "a_replica_to_be_new_is_in_no_state_yet",
    ),
    ("topics_listened_to_are_known", "on_partition_modifications(c=1, t=0)", "an_unknown_topic_is_in_no_state"),
    (
        "replicas_wait_for_their_handler_only",
        "on_partition_modifications(c=1, t=0)",
        "a_replica_to_be_new_is_in_no_state_yet",
    ),
]


def test_every_lemma_is_said_to_be_needed() -> None:
    assert {lemma for lemma, _, _ in NEEDED} == ALL


@pytest.mark.slow
@pytest.mark.parametrize(("lemma", "action", "saved"), NEEDED, ids=[one[0] for one in NEEDED])
def test_without_a_lemma_some_step_could_break_what_it_keeps_with_it(lemma: str, action: str, saved: str) -> None:
    assert proof().needs(lemma, action, saved, without=FALSE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "forgets", "breaks"),
    [
        ("create_topic(t=0)", "zookeeper.assigned[0]", "an_assignment_is_whole_or_absent"),
        ("read_for_addition(t=0)", "tool.assigned[0]", "partition_additions_keep_the_other_partitions"),
        (
            "on_partition_modifications(c=1, t=0)",
            "controllers[1].partitions[1].assigned",
            "an_unknown_partition_is_in_no_state",
        ),
        ("read_topics(c=1)", "controllers[1].topics[0]", "topics_listened_to_are_known"),
        (
            "read_for_new_replica(c=1, p=1, r=1)",
            "controllers[1].partitions[1].visiting",
            "replicas_wait_for_their_handler_only",
        ),
    ],
)
def test_an_action_that_forgets_a_write_is_found(action: str, forgets: str, breaks: str) -> None:
    assert proof().breaks_without_update(action, forgets, breaks, without=FALSE)


@pytest.mark.slow
def test_a_tool_that_writes_what_it_read_of_the_new_partition_is_found() -> None:
    action = proof().action("write_addition(t=0)")
    known = proof().everything(action.name)
    claimed = known.pop("known_assignments_are_zookeepers")
    as_read = z3.Const("tool.assigned[1]", action.updates["zookeeper.assigned[1]"].sort())
    faulty = replace(action, updates={**action.updates, "zookeeper.assigned[1]": as_read})
    always = [one for name, one in known.items() if name not in FALSE and one.kind == "always"]
    assert proof().keeps(action, claimed, always)
    assert not proof().keeps(faulty, claimed, always)
