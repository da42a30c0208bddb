"""The handlers of the crash matrix: what the manifest says of each can be done, and a damaged table is refused."""

from typing import Any

import pytest

from model_check.matrix.fault_injection import triggered
from spec.errors import MalformedInput, Where
from spec.expectations import plans
from spec.matrix_plans import FAULTS, read_matrix
from spec.scopes import scope
from spec.state import At
from spec.system import system
from spec.variants import AS_CODED

HANDLERS = {name: plan.matrix for name, plan in plans().items() if plan.matrix is not None}


def test_every_handler_of_the_controller_is_tried() -> None:
    assert {name.removeprefix("matrix_") for name in HANDLERS} >= {
        "failover", "new_session", "resignation", "broker_failure", "broker_startup", "creation", "isr_change",
        "reassignment_start", "reassignment_end", "deletion_start", "deletion_end", "preferred_election", "rebalance",
        "addition", "shutdown",
    }  # fmt: skip


LARGE = ("reassignment_start", "reassignment_end", "deletion_start", "deletion_end", "addition", "shutdown")
"""Handlers whose systems take long to build."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.slow] * (one.removeprefix("matrix_") in LARGE)) for one in HANDLERS],
)
def test_a_trigger_leads_to_where_its_handler_begins_and_leaves_budgets_for_the_faults(name: str) -> None:
    plan = HANDLERS[name]
    assert plan is not None
    last = triggered(system(scope(name), AS_CODED), plan.trigger).last
    assert last["budget.crashes"] == 1
    assert last["budget.expiries"] == 1
    assert plan.controller in range(1, scope(name).controllers + 1)


@pytest.mark.parametrize("name", HANDLERS)
def test_what_is_expected_names_places_and_faults_that_there_are(name: str) -> None:
    plan = HANDLERS[name]
    assert plan is not None
    assert plan.expected, "some variant"
    for faults in plan.expected.values():
        assert faults.keys() <= set(FAULTS)
        for places in faults.values():
            assert places.keys() <= {*At.__members__, "OVER", "none"}


GIVEN: dict[str, Any] = {
    "controller": 1,
    "trigger": ["crash(b=2)"],
    "expect": {"AS_CODED": {"crash": {"OVER": "stuck x"}}},
}


def test_a_table_is_read() -> None:
    one = read_matrix(GIVEN, Where("manifest.toml"))
    assert (one.controller, one.trigger) == (1, ("crash(b=2)",))
    assert one.expected == {"AS_CODED": {"crash": {"OVER": "stuck x"}}}


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        ({"controler": 1}, "controler: is not one of controller, trigger, expect"),
        ({"controller": True}, "controller: is missing, or not the number of a broker"),
        ({"trigger": "crash(b=2)"}, "trigger: is missing, or not a list of steps"),
        ({"expect": {"AS_CODED": {"fire": {}}}}, "expect.AS_CODED.fire: is not one of none, crash"),
    ],
)
def test_a_damaged_table_is_refused(damage: dict[str, Any], complaint: str) -> None:
    with pytest.raises(MalformedInput, match=rf"^manifest\.toml:? {complaint}"):
        read_matrix(GIVEN | damage, Where("manifest.toml"))
