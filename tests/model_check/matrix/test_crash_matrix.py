"""The crash matrix of small handlers: known defects show where they should, and are gone with their fixes."""

from dataclasses import replace
from functools import cache

import pytest

from model_check.explicit_state.findings import broken_along
from model_check.explicit_state.interpreter import Machine
from model_check.matrix.cells import Matrix
from model_check.matrix.crash_matrix import matrix
from model_check.matrix.fault_injection import (
    OVER,
    PAST,
    PHASE,
    RUNNING,
    TURNS,
    WAITING,
    Injection,
    injected,
    triggered,
)
from model_check.matrix.matrix_report import legend, printed_expectation, run_of_matrix, table
from model_check.traces.replay import replay
from model_check.verdicts.verdict import Verdict
from spec.errors import BadInput
from spec.language.rules import TransitionSystem
from spec.matrix_plans import FAULTS, MatrixPlan
from spec.model import Model
from spec.scopes import Scope, scope
from spec.system import system
from spec.variants import AS_CODED, Switch, Switches
from tests.model_check.plain_exploration import Exploration, explore_plainly

ELECTION = Scope(
    "duel", "Two eligible brokers and nothing else.", 2, 2, callback_capacity=12,
    budgets=(("crashes", 2), ("expiries", 1), ("exceptions", 1)),
)  # fmt: skip
FAILOVER = MatrixPlan(2, ("crash(b=1)", "end_orphaned_session(b=1)"), {})
RESIGNATION = MatrixPlan(
    2,
    (*FAILOVER.trigger, "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)", "fail_failover(c=2)"),
    {},
)
LEAVING = Scope(
    "leaving", "A broker that is told to stop leads a partition, and follows in another.", 2, 2,
    assigned=((2, 1), (1, 2)), parts=frozenset({"partitions", "shutdown"}), callback_capacity=12, versions=15,
    budgets=(("crashes", 1), ("expiries", 1), ("shutdowns", 1)),
)  # fmt: skip
SHUTDOWN = MatrixPlan(1, ("stop_broker(b=2)", "request_shutdown(b=2, c=1)"), {})
PLACES = (
    "ELECT_READ", "ELECT_CREATE", "READ_EPOCH", "INCREMENT_EPOCH", "SUBSCRIBE", "ELECT_REREAD", "READ_BROKERS",
    "READ_TOPICS", "READ_STATES", "FINISH",
)  # fmt: skip


@cache
def tried(plan_of: str, switches: Switches = AS_CODED, faults: tuple[str, ...] = FAULTS) -> Matrix:
    """A handler's matrix."""
    return matrix(ELECTION, {"failover": FAILOVER, "resignation": RESIGNATION}[plan_of], switches, faults)


PAUSE = ("pause",)


def unclaimed(machine: Machine) -> Exploration:
    """What is reachable, without a look at what is claimed of it."""
    return explore_plainly(replace(machine.system, properties=()))


def test_a_handler_has_a_cell_for_each_place_and_fault() -> None:
    found = tried("failover")
    assert set(found.places) <= {*PLACES, "OVER"}
    assert found.places[0] == "ELECT_READ"
    assert found.places[-1] == "OVER"
    cells = [(cell.place, cell.fault) for cell in found.cells]
    assert cells == [("none", "none"), *((place, fault) for fault in FAULTS[1:] for place in found.places)]
    assert all(cell.states for cell in found.cells)


@cache
def left() -> Matrix:
    """What comes of crashes of who handles a shutdown."""
    return matrix(LEAVING, SHUTDOWN, AS_CODED, ("none", "crash"))


@pytest.mark.slow
@pytest.mark.takes("A system is made, compiled and explored, once for the next test, too.")
def test_a_handler_that_gives_the_lock_back_has_places_between_its_turns() -> None:
    """A shutdown takes it for each of two partitions, in either order, and for its answer."""
    found = left()
    assert found.places[0] == "BETWEEN_3", "accepted, and none of the partitions treated"
    between = {f"BETWEEN_{left}" for left in (1, 2, 3)}
    assert {*found.places} - between == {"ONLINE_WRITE", "REMOVE_READ", "REMOVE_WRITE", "OVER"}
    assert between <= {*found.places}
    assert found.places[-2:] == ("BETWEEN_1", "OVER"), "both treated, then answered"
    assert all(cell.states for cell in found.cells)
    told = {row[0]: row[-1] for row in table(found)}
    assert told["BETWEEN_2"] == "take the lock again, which is free: 2 turns are left"
    assert told["BETWEEN_1"] == "take the lock again, which is free: 1 turn is left"
    comparisons = run_of_matrix(found, replace(SHUTDOWN, expected={"AS_CODED": {}}), "AS_CODED").comparisons
    assert {"crash at BETWEEN_3", "crash before REMOVE_WRITE", "crash behind the last"} <= {
        one.about for one in comparisons
    }


@pytest.mark.slow
def test_a_crash_between_two_turns_is_one_with_the_lock_free_and_so_much_left_to_do() -> None:
    found, own = left(), "controllers[1]."
    for turns in (1, 2, 3):
        trace = found.cell(f"BETWEEN_{turns}", "crash").stuck["running_brokers_are_not_counted_as_shutting_down"]
        assert not {PHASE, TURNS} & trace.last.keys()
        place = trace.actions.index("crash(b=1)")
        before = trace.steps[place][1]
        assert (before[f"{own}at"], before[f"{own}shutdown_of"]) == (0, 2)
        assert sum(before[f"{own}to_move[{p}]"] for p in range(2)) == turns - 1


@pytest.mark.slow
def test_turns_are_counted_only_while_the_handler_runs_and_the_lock_is_free() -> None:
    one = Injection("none", 1, ("OVER",))
    built = left().system
    start = triggered(built, SHUTDOWN.trigger).last
    machine = Machine(injected(built, Model(LEAVING, AS_CODED), start, one))
    seen = set()
    for raw in unclaimed(machine).reached:
        state = machine.unpack(raw)
        seen.add((state[PHASE], state[TURNS]))
        assert state[TURNS] == 0 or (state[PHASE], state["controllers[1].at"]) == (RUNNING, 0)
    assert seen == {(WAITING, 0), *((RUNNING, turns) for turns in range(4)), (OVER, 0), (PAST, 0)}


def test_a_controller_that_dies_in_a_failover_is_replaced_wherever_it_was() -> None:
    """A crash takes all memory with it, so nothing can be done with an epoch that was read before it."""
    found = tried("failover")
    assert {found.cell(place, "crash").outcome for place in found.places} == {"recovers"}
    assert found.cell("none", "none").outcome == "recovers"


def test_who_pauses_before_the_increment_comes_back_to_act_in_an_epoch_that_is_taken() -> None:
    """D1: the successor has the epoch read plus one by then; the increment fails, and nothing comes of that."""
    assert tried("failover").cell("INCREMENT_EPOCH", "pause").outcome == "violates one_term_acts_in_an_epoch"
    both = frozenset({Switch.RESIGN_ON_EPOCH_CONFLICT, Switch.FENCED_RESIGN})
    assert tried("failover", both, PAUSE).cell("INCREMENT_EPOCH", "pause").outcome == "recovers"


@pytest.mark.slow
def test_who_then_resigns_deletes_its_successors_znode_unless_that_is_fixed_too() -> None:
    resigns = tried("failover", frozenset({Switch.RESIGN_ON_EPOCH_CONFLICT}), PAUSE)
    assert resigns.cell("INCREMENT_EPOCH", "pause").outcome == "violates controller_znode_is_its_owners", "D3 is next"


@pytest.mark.slow
def test_who_pauses_before_it_resigns_deletes_its_successors_znode() -> None:
    """D3: the delete does not ask whose the znode is."""
    outcome = tried("resignation", AS_CODED, PAUSE).cell("RESIGN_DELETE", "pause").outcome
    assert "violates controller_znode_is_its_owners" in outcome
    fixed = tried("resignation", frozenset({Switch.FENCED_RESIGN}), PAUSE).cell("RESIGN_DELETE", "pause")
    assert "controller_znode_is_its_owners" not in fixed.outcome


def test_a_trace_is_one_of_the_scope_itself_and_breaks_what_it_says() -> None:
    found = tried("failover")
    trace = found.cell("INCREMENT_EPOCH", "pause").violated["one_term_acts_in_an_epoch"]
    assert trace.actions[:2] == FAILOVER.trigger
    assert PHASE not in trace.last
    replay(found.system, trace)
    assert "one_term_acts_in_an_epoch" in {one.property for one in broken_along(found.system, trace)}
    # The fault comes while the controller is about to increment, and nothing of its own until another has.
    place = next(n for n, (name, _) in enumerate(trace.steps) if (name or "").startswith("expire_session(b=2"))
    at = next(v for v in found.system.variables if v.name == "controllers[2].at")
    assert at.show(trace.steps[place - 1][1]["controllers[2].at"]) == "INCREMENT_EPOCH"
    own = next(n for n, (name, _) in enumerate(trace.steps) if n > place and "=2" in (name or ""))
    assert trace.steps[own - 1][1]["zookeeper.controller"] == 1
    assert trace.steps[own - 1][1]["zookeeper.epoch"] == 2


# ------------------------------------------------------------------------------------------------------- the monitor


@cache
def duel() -> TransitionSystem:
    return system(ELECTION, AS_CODED)


@cache
def injection(fault: str) -> tuple[Machine, Injection, Exploration]:
    """A fault in a failover, and all that is reachable with it."""
    one = Injection(fault, 2, ("ELECT_READ", "OVER"))
    start = triggered(duel(), FAILOVER.trigger).last
    machine = Machine(injected(duel(), Model(ELECTION, AS_CODED), start, one))
    return machine, one, unclaimed(machine)


@pytest.mark.parametrize("fault", [pytest.param(one, marks=[pytest.mark.slow] * (one != "crash")) for one in FAULTS])
def test_there_is_one_fault_and_no_other(fault: str) -> None:
    machine, _, explored = injection(fault)
    budgeted = {action.name.partition(", lost")[0].rstrip(")") for action, _ in machine.steps if action.budget}
    assert budgeted == {"none": set(), "crash": {"crash(b=2"}}.get(fault, {"expire_session(b=2"})
    place = machine.names.index(PHASE)
    phases = {raw[place] for raw in explored.reached}
    assert phases >= {WAITING, RUNNING, OVER}
    crashes, expiries = (machine.names.index(f"budget.{name}") for name in ("crashes", "expiries"))
    for raw in explored.reached:
        spent = (raw[crashes], raw[expiries]) != (1, 1)
        assert spent == (raw[place] > PAST)


def test_a_session_is_renewed_before_anything_else_happens() -> None:
    machine, one, explored = injection("session_loss")
    pending = {one.phase(place, done=False) for place in range(2)}
    for raw in explored.reached:
        if raw[machine.names.index(PHASE)] in pending:
            assert [action.name for action, step in machine.steps if step(raw)] == ["renew_session(b=2)"]


def test_who_pauses_does_nothing_until_another_works() -> None:
    machine, one, explored = injection("pause")
    pending = {one.phase(place, done=False) for place in range(2)}
    for raw in explored.reached:
        state = machine.unpack(raw)
        own = [a.name for a, step in machine.steps if step(raw) and 2 in (a.parameters.get("c"), a.parameters.get("b"))]
        if state[PHASE] in pending and own:
            assert (state["zookeeper.controller"], state["controllers[1].active"]) == (1, 1)


def test_a_trigger_that_cannot_be_taken_is_refused() -> None:
    with pytest.raises(BadInput, match=r"elect_create\(c=2\) of the trigger cannot be taken after 1 steps"):
        triggered(duel(), ("crash(b=1)", "elect_create(c=2)"))


def test_settling_takes_progress_until_there_is_none_but_starts_no_process() -> None:
    way = triggered(duel(), ("crash(b=1)", "settle"))
    assert way.last["zookeeper.controller"] == 2
    assert not any(name.startswith("start_process") for name in way.actions)


# -------------------------------------------------------------------------------------------------------- the report


def test_a_report_compares_with_what_is_expected() -> None:
    found = replace(tried("failover"), cells=tuple(c for c in tried("failover").cells if c.fault != "session_loss"))
    broken = {cell.place: cell.outcome for cell in found.cells if cell.outcome != "recovers"}
    met = run_of_matrix(found, replace(FAILOVER, expected={"AS_CODED": {"pause": broken}}), "AS_CODED")
    assert met.verdict is Verdict.HOLDS
    assert len(met.comparisons) == len(found.cells)
    for expected in ({}, {"pause": broken | {"READ_EPOCH": "violates x"}}, {"crash": {"NOWHERE": "recovers"}}):
        run = run_of_matrix(found, replace(FAILOVER, expected={"AS_CODED": expected}), "AS_CODED")
        assert run.verdict is Verdict.VIOLATED
    assert run_of_matrix(found, FAILOVER, "AS_CODED").verdict is Verdict.VIOLATED, "something is broken, unexpectedly"


def test_a_place_that_vanishes_does_not_go_unnoticed() -> None:
    """What is not named recovers, so a table that loses a row would say no worse than before."""
    whole = tried("resignation", frozenset({Switch.FENCED_RESIGN}), PAUSE)
    plan = replace(RESIGNATION, expected={"AS_CODED": {}}, places={"AS_CODED": len(whole.places)})
    shorter = replace(whole, places=whole.places[1:], cells=(whole.cells[0], *whole.cells[2:]))
    wholly, less = (run_of_matrix(found, plan, "AS_CODED") for found in (whole, shorter))
    assert (wholly.comparisons[0].is_met, less.comparisons[0].is_met) == (True, False)
    assert less.verdict is Verdict.VIOLATED


def test_a_place_to_which_the_fault_never_came_is_no_recovery() -> None:
    crashes = tried("failover", faults=("none", "crash"))
    cells = tuple(replace(cell, states=0) if cell.place == "READ_EPOCH" else cell for cell in crashes.cells)
    found = replace(crashes, cells=cells)
    assert run_of_matrix(found, FAILOVER, "AS_CODED").verdict is Verdict.INCOMPLETE
    assert run_of_matrix(found, replace(FAILOVER, expected={"AS_CODED": {}}), "AS_CODED").verdict is Verdict.VIOLATED
    assert {row[0]: row[1] for row in list(table(found))[1:]}["READ_EPOCH"] == "never tried"


def test_a_table_has_a_row_for_each_place_and_a_legend() -> None:
    found = tried("failover")
    head, *rows = table(found)
    assert head == ("fault before", *FAULTS[1:], "what the handler is about to do")
    assert [row[0] for row in rows] == [*found.places, "no fault"]
    assert {len(row) for row in rows} == {5}
    spelled = dict(line.split(": ", 1) for line in legend(found))
    paused = {row[0]: row[3] for row in rows}["INCREMENT_EPOCH"]
    assert spelled[paused.removeprefix("violates ")].startswith("one_term_acts_in_an_epoch, first after ")


def test_what_was_found_can_be_printed_for_the_manifest() -> None:
    assert "[scope.duel.matrix.expect.AS_CODED.pause]" in printed_expectation(tried("failover"), "AS_CODED")


def test_the_scopes_of_handlers_are_settled_clusters() -> None:
    assert not scope("matrix_failover").cold
