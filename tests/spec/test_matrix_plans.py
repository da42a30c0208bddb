"""The handlers of the crash matrix: what the manifest says of each can be done, and a damaged table is refused."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import pytest

from model_check.explicit_state.explorer import explore
from model_check.matrix.fault_injection import PHASE, RUNNING, Injection, injected, triggered, turns_left_at
from model_check.traces.trace import State
from spec.errors import MalformedInput, Where
from spec.expectations import plans
from spec.language.rules import TransitionSystem
from spec.language.terms import enumeration
from spec.matrix_plans import FAULTS, read_matrix
from spec.model import Model
from spec.scopes import scope
from spec.state.enumerations import At, Handler
from spec.system import system
from spec.variants import AS_CODED
from tests.spec.on_demand import OnDemand

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


BUILT = {"failover"}
"""Handlers whose systems are built by default: that takes seconds each, and `kcheck verify` builds them all."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.slow] * (one.removeprefix("matrix_") not in BUILT)) for one in HANDLERS],
)
def test_a_trigger_leads_to_where_its_handler_begins_and_leaves_budgets_for_the_faults(name: str) -> None:
    plan = HANDLERS[name]
    assert plan is not None
    last = triggered(OnDemand(scope(name)).unclaimed(), plan.trigger).last
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
NOT_TRIED_NAMES = {at.name for at in NOT_TRIED}


Doing: TypeAlias = tuple[Handler, str]
"""For what the controller's lock is held, and what is done next; or whose turns are left while it is free."""
AT, HANDLER = enumeration(At), enumeration(Handler)
BETWEEN_TURNS = "between turns"


def doing(state: State, c: int) -> Iterator[Doing]:
    """What a controller is about in a state; nothing if its lock is free and no turn is left."""
    own = f"controllers[{c}]."
    at = AT.show(state[f"{own}at"])
    if at != At.IDLE.name:
        yield Handler[HANDLER.show(state.get(f"{own}handler", 0))], at
        return
    if state.get(f"{own}shutdown_of"):
        yield Handler.SHUTDOWN, BETWEEN_TURNS
    if any(imbalanced for name, imbalanced in state.items() if name.startswith(f"{own}imbalanced")):
        yield Handler.REBALANCE, BETWEEN_TURNS


def states(built: TransitionSystem) -> Iterator[State]:
    """All reachable states."""
    found = explore(built)
    assert found.exhausted
    for packed in found.visited:
        yield found.retracer.kernel.packing.unpack(packed)


@cache
def tried(name: str, assigned: tuple[tuple[int, ...], ...] = ()) -> frozenset[Doing]:
    """Where a fault comes to the handler of a matrix as coded; perhaps with other partitions than the scope's."""
    plan, bounds = HANDLERS[name], scope(name)
    assert plan is not None
    if assigned:
        bounds = replace(bounds, assigned=assigned)
    built, quiet = system(bounds, AS_CODED), Injection("none", plan.controller, ("OVER",))
    start = triggered(built, plan.trigger).last
    whole = injected(built, Model(bounds, AS_CODED), start, quiet)
    return frozenset(one for state in states(whole) if state[PHASE] == RUNNING for one in doing(state, plan.controller))


@pytest.mark.slow
def test_a_fault_comes_before_every_effect_that_any_handler_has() -> None:
    places = {At[place] for name in HANDLERS for _, place in tried(name) if place != BETWEEN_TURNS}
    assert places | NOT_TRIED.keys() == set(At)
    assert not places & NOT_TRIED.keys()


OTHERS = {
    "partitions", "unclean", "creation", "addition", "notifications", "removal", "move_crash", "preferred_election",
    "rebalance", "shutdown", "resigned_deletion", "stray_deletion",
}  # fmt: skip
"""Scopes that are no handler's, one small one at least for each part that has handlers: all that may happen there."""

SECOND_HALF = {
    "MOVE_READ", "MOVE_WRITE", "REMOVE_READ", "REMOVE_WRITE", "WRITE_TARGET", "COMPLETE_READ", "COMPLETE_WRITE",
}  # fmt: skip
RUN_IT_TOO = (Handler.REASSIGNMENT, Handler.FAILOVER, Handler.BROKER_STARTUP)
TRIED_ELSEWHERE = {
    # A reassignment's second half is one code, whoever runs it: it is tried where the ISR's change begins it.
    *((handler, at) for handler in RUN_IT_TOO for at in SECOND_HALF),
    # A failover drops what the request names and is done, as a refusal does.
    (Handler.NONE, "REASSIGN_NEXT"), (Handler.NONE, "REFUSE_WRITE"),
}  # fmt: skip
"""What a handler of other scopes does, and no matrix tries under that handler, but under another."""


@pytest.mark.slow
def test_a_fault_comes_to_each_handler_wherever_it_is_in_other_scopes() -> None:
    """A place of one handler does not count for another: what is behind it, and what the fault leaves, differs."""
    of_handlers = {one for name in HANDLERS for one in tried(name)}
    elsewhere = set()
    for name in OTHERS:
        for state in states(system(scope(name), AS_CODED)):
            elsewhere |= {one for c in range(1, scope(name).controllers + 1) for one in doing(state, c)}
    untried = {(handler, place) for handler, place in elsewhere - of_handlers if place not in NOT_TRIED_NAMES}
    assert untried == TRIED_ELSEWHERE


@pytest.mark.slow
def test_a_shutdown_that_moves_one_partition_would_leave_places_untried() -> None:
    """So it was once, and the removal, tried under other handlers, counted for this one, too.

    Who leads the one partition is only voted out: nothing is read or written to take it out of the ISR.
    """
    whole, less = tried("matrix_shutdown"), tried("matrix_shutdown", assigned=((2, 1),))
    assert whole - less == {(Handler.SHUTDOWN, "REMOVE_READ"), (Handler.SHUTDOWN, "REMOVE_WRITE")}
    assert all(handler == Handler.SHUTDOWN for handler, _ in whole)


@pytest.mark.parametrize("name", HANDLERS)
def test_what_is_expected_names_places_and_faults_that_there_are(name: str) -> None:
    plan = HANDLERS[name]
    assert plan is not None
    assert plan.expected, "some variant"
    assert plan.places.keys() == plan.expected.keys()
    for faults in plan.expected.values():
        assert faults.keys() <= set(FAULTS)
        for places in faults.values():
            named = {place for place in places if not turns_left_at(place)}
            assert named <= {*At.__members__, "OVER", "none"}


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
