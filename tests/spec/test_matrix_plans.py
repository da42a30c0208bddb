"""The handlers of the crash matrix: what the manifest says of each can be done, and a damaged table is refused."""

from collections.abc import Iterator
from typing import Any

import pytest

from model_check.explicit_state.interpreter import Machine
from model_check.matrix.fault_injection import PHASE, RUNNING, Injection, injected, triggered
from spec.errors import MalformedInput, Where
from spec.expectations import plans
from spec.matrix_plans import FAULTS, read_matrix
from spec.model import Model
from spec.scopes import scope
from spec.state import At
from spec.system import system
from spec.terms import enumeration
from spec.variants import AS_CODED

HANDLERS = {name: plan.matrix for name, plan in plans().items() if plan.matrix is not None}


def test_every_handler_of_the_controller_is_tried() -> None:
    assert {name.removeprefix("matrix_") for name in HANDLERS} >= {
        "failover", "new_session", "resignation", "broker_failure", "follower_failure", "broker_startup", "creation",
        "isr_change",
        "reassignment_start", "reassignment_end", "deletion_start", "deletion_end", "preferred_election", "rebalance",
        "addition", "shutdown", "first_controller", "target_startup", "resumed_reassignment", "refusal",
        "failed_reassignment", "deletion_retry", "halted_deletion", "resumed_deletion", "stray_request",
        "pending_election",
    }  # fmt: skip


BUILT = {"failover", "resignation", "first_controller", "isr_change"}
"""Handlers whose systems are built by default: that takes seconds each, and `kcheck matrix` builds them all."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.slow] * (one.removeprefix("matrix_") not in BUILT)) for one in HANDLERS],
)
def test_a_trigger_leads_to_where_its_handler_begins_and_leaves_budgets_for_the_faults(name: str) -> None:
    plan = HANDLERS[name]
    assert plan is not None
    last = triggered(system(scope(name), AS_CODED), plan.trigger).last
    assert last["budget.crashes"] == 1
    assert last["budget.expiries"] == 1
    assert plan.controller in range(1, scope(name).controllers + 1)


NOT_TRIED = {
    At.IDLE: "the lock is free: the place behind the last",
    At.ELECT_CREATE_AGAIN: "comes of an answer that is lost, and a matrix has one fault only",
    At.ELECT_SESSION_LOST: "likewise",
    At.READ_BROKER_DATA: "only before 0.10.0.0",
    At.DELETE_QUEUED: "comes between two topics in the queue, and no handler has more than one",
    At.DEADLOCKED: "is no effect: nothing is done from there",
}


def places(name: str) -> Iterator[At]:
    """Where the handler of a matrix may be as coded, if no fault comes: all states until its end, walked through."""
    plan, built = HANDLERS[name], system(scope(name), AS_CODED)
    assert plan is not None
    start = triggered(built, plan.trigger).last
    quiet = Injection("none", plan.controller, ("OVER",))
    machine = Machine(injected(built, Model(scope(name), AS_CODED), start, quiet))
    seen, waiting = {machine.initial}, [machine.initial]
    for raw in waiting:
        state = machine.unpack(raw)
        if state[PHASE] == RUNNING:
            yield At[enumeration(At).show(state[f"controllers[{plan.controller}].at"])]
        if state[PHASE] <= RUNNING:
            new = {after for _, step in machine.steps if (after := step(raw)) is not None} - seen
            seen |= new
            waiting += new


@pytest.mark.slow
def test_a_fault_comes_before_every_effect_that_any_handler_has() -> None:
    tried = {place for name in HANDLERS for place in places(name)}
    assert tried | NOT_TRIED.keys() == set(At)
    assert not tried & NOT_TRIED.keys()


@pytest.mark.parametrize("name", HANDLERS)
def test_what_is_expected_names_places_and_faults_that_there_are(name: str) -> None:
    plan = HANDLERS[name]
    assert plan is not None
    assert plan.expected, "some variant"
    assert plan.places.keys() == plan.expected.keys()
    for faults in plan.expected.values():
        assert faults.keys() <= set(FAULTS)
        for places in faults.values():
            assert places.keys() <= {*At.__members__, "OVER", "none"}


GIVEN: dict[str, Any] = {
    "controller": 1,
    "trigger": ["crash(b=2)"],
    "expect": {"AS_CODED": {"places": 2, "crash": {"OVER": "stuck x"}}},
}


def test_a_table_is_read() -> None:
    one = read_matrix(GIVEN, Where("manifest.toml"))
    assert (one.controller, one.trigger) == (1, ("crash(b=2)",))
    assert one.expected == {"AS_CODED": {"crash": {"OVER": "stuck x"}}}
    assert one.places == {"AS_CODED": 2}


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ({"controler": 1}, "controler: is not one of controller, trigger, expect"),
        ({"controller": True}, "controller: is missing, or not the number of a broker"),
        ({"trigger": "crash(b=2)"}, "trigger: is missing, or not a list of steps"),
        ({"expect": {"AS_CODED": {"places": 2, "fire": {}}}}, "expect.AS_CODED.fire: is not one of places, none"),
        ({"expect": {"AS_CODED": {"crash": {}}}}, "expect.AS_CODED.places: is missing, or no number"),
    ],
)
def test_a_damaged_table_is_refused(damage: dict[str, Any], complaint: str) -> None:
    with pytest.raises(MalformedInput, match=rf"^manifest\.toml:? {complaint}"):
        read_matrix(GIVEN | damage, Where("manifest.toml"))
