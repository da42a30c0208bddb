"""What follows what: the table is whole, and says of each junction who comes there."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import z3

import spec
from model_check.explicit_state.explorer import explore
from spec.language.rules import Property
from spec.language.terms import both, either, enumeration
from spec.model import Model
from spec.protocol.handler_diagrams import dot_handlers, markdown_handlers, mermaid_handlers
from spec.protocol.handlers import HANDLERS, JUNCTIONS, NEVER, READS, ROWS, column
from spec.protocol.junctions import Junction, proceed
from spec.scopes import scope
from spec.state.cluster import State
from spec.state.enumerations import At, Handler
from spec.variants import AS_CODED, FENCED, Switches
from tests.spec.on_demand import OnDemand

COMES_TO = {
    Junction.VISITS_DONE: {
        Handler.FAILOVER, Handler.BROKER_STARTUP, Handler.BROKER_FAILURE, Handler.CREATION, Handler.REQUESTED_ELECTION,
        Handler.PENDING_ELECTION, Handler.REBALANCE, Handler.SHUTDOWN, Handler.NONE,
    },
    Junction.REMOVALS_DONE: {
        Handler.NONE, Handler.STARTUP, Handler.FAILOVER, Handler.BROKER_STARTUP, Handler.REASSIGNMENT,
        Handler.ISR_CHANGE, Handler.DELETION_RETRY, Handler.DELETION_START, Handler.SHUTDOWN,
    },
    Junction.REASSIGNMENTS_DONE: {
        Handler.NONE, Handler.FAILOVER, Handler.BROKER_STARTUP, Handler.REASSIGNMENT, Handler.ISR_CHANGE,
    },
    Junction.ELECTION_REQUEST_READ: {Handler.NONE},
    Junction.DELETIONS_READ: {Handler.NONE},
    Junction.EXCEPTION: set(Handler),
}  # fmt: skip
"""By PROTOCOL.md sections 6 to 8: who brings partitions online, takes replicas Offline, and runs reassignments."""


def test_every_handler_has_a_row_and_every_junction_a_column() -> None:
    assert set(HANDLERS) == set(Handler)
    assert {len(row) for row in HANDLERS.values()} == {len(JUNCTIONS)}
    assert {*JUNCTIONS, *READS} == set(Junction)


@pytest.mark.parametrize("junction", Junction, ids=lambda one: one.name)
def test_who_comes_to_a_junction(junction: Junction) -> None:
    assert {one for one, thens in column(junction).items() if thens != NEVER} == COMES_TO[junction]


def test_each_place_where_a_handler_comes_is_a_row_by_its_own_id() -> None:
    assert {*ROWS.values()} == {(handler, junction) for junction, comes in COMES_TO.items() for handler in comes}
    assert ROWS["H-BROKER-FAILURE-VISITS-DONE"] == (Handler.BROKER_FAILURE, Junction.VISITS_DONE)


def test_handlers_are_told_apart_in_few_places_besides() -> None:
    """Each of these asks what is done, or who has the lock; what follows is asked of the table."""
    here = Path(spec.__file__).parent / "protocol"
    found = set()
    for path in here.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef) and any(map(_asks_for_the_handler, ast.walk(function))):
                found.add(f"{path.relative_to(here).as_posix()}: {function.name}")
    assert found == {
        "controller/early_reads.py: _its_thread_is_free",
        "controller/resignation.py: _goes_on_with_shutdown",
        "controller/early_reads.py: stop_deletions",
        "controller/resignation.py: _take_down_caches",
        "controller/places.py: lock_is_free",
        "deletion/requests.py: _end_dropping",
        "deletion/requests.py: drop_request",
        "leadership/partitions.py: elect_from_znode",
        "leadership/partitions.py: election_of",
        "leadership/partitions.py: elects_preferred",
        "reassignment/requests.py: _begins",
        "reassignment/requests.py: _is_acceptable",
        "reassignment/requests.py: end_run",
        "reassignment/requests.py: read_remaining",
        "reassignment/requests.py: write_remaining",
        "reassignment/phase_b.py: delete_old_replicas",
        "reassignment/steps.py: read_whether_caught_up",
    }


def _asks_for_the_handler(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "handler"


BEFORE = {
    Junction.VISITS_DONE: (At.ONLINE_READ, At.ONLINE_WRITE),
    Junction.REMOVALS_DONE: (At.REMOVE_READ, At.REMOVE_WRITE),
    Junction.REASSIGNMENTS_DONE: (
        At.REASSIGN_NEXT, At.REASSIGN_READ, At.WRITE_UNION, At.BUMP_READ, At.BUMP_WRITE, At.START_READ, At.MOVE_READ,
        At.MOVE_WRITE, At.WRITE_TARGET, At.COMPLETE_READ, At.COMPLETE_WRITE, At.REFUSE_READ, At.REFUSE_WRITE,
    ),
}  # fmt: skip
"""Where a controller is on its way to a junction."""


def on_its_way(m: Model) -> Iterator[Property]:
    """Whoever is on his way to a junction is a handler that has something to go on with, in this model."""
    for c in m.controllers:
        at, handler = (
            enumeration(kind).variable(f"controllers[{c}].{name}") for kind, name in ((At, "at"), (Handler, "handler"))
        )
        for junction, places in BEFORE.items():
            comes = [one for one, thens in column(junction).items() if any(then.is_in(m) for then in thens)]
            holds = either(~either(*(at == one for one in places)), *(handler == one for one in comes))
            yield Property(f"{junction.name} {c}", "always", "", "", term=holds.term)


EXPLORED = (
    "unclean", "creation", "move_crash", "rebalance", "preferred_election", "stray_deletion", "addition_deletion",
    "addition_reassignment", "joint_moves", "move_shutdown", "deletion_shutdown", "creation_shutdown", "shutdown",
    "allowed_unclean",
)  # fmt: skip
"""Between them they have every handler."""
SMALL = ("unclean", "creation_shutdown", "allowed_unclean")
"""Of fewer than 1,500 states as coded."""


@pytest.mark.parametrize(
    ("name", "switches"),
    [
        pytest.param(
            name, switches, id=f"{variant}-{name}", marks=[pytest.mark.slow] * (name not in SMALL or switches == FENCED)
        )
        for variant, switches in {"AS_CODED": AS_CODED, "FENCED": FENCED}.items()
        for name in EXPLORED
    ],
)
def test_who_comes_to_a_junction_has_something_to_go_on_with(name: str, switches: Switches) -> None:
    claims = tuple(on_its_way(Model(scope(name), switches)))
    found = explore(
        replace(OnDemand(scope(name), switches).unclaimed(), properties=claims), limit=60_000, expected=60_000
    )
    assert found.states > 1
    assert not found.violated


@pytest.mark.takes("It makes all actions of a scope.")
def test_a_step_takes_the_row_of_the_handler_that_runs_when_it_comes_to_the_junction() -> None:
    """But where a handler begins and comes there in one step.

    A failover that reads of no partition, when it starts its machines; a shutdown that takes the lock to move a leader.
    """
    system, others, asked = OnDemand(scope("creation_shutdown"), AS_CODED).unclaimed(), set(), set()
    for one in system.actions:
        for row, where in one.taken.items():
            if row not in ROWS or ROWS[row][1] not in BEFORE:
                continue
            handler, junction = ROWS[row]
            c = one.parameters["c"]
            at, running = (
                enumeration(kind).variable(f"controllers[{c}].{name}")
                for kind, name in ((At, "at"), (Handler, "handler"))
            )
            comes = both(running == handler, either(*(at == place for place in BEFORE[junction])))
            solver = z3.Solver()
            solver.add(one.guard, where, (~comes).term)
            asked.add(row)
            if solver.check() != z3.unsat:
                others.add((one.rule, row))
    assert asked >= {"H-SHUTDOWN-VISITS-DONE", "H-SHUTDOWN-REMOVALS-DONE", "H-CREATION-VISITS-DONE"}
    assert others == {
        ("read_topics", "H-FAILOVER-VISITS-DONE"),
        ("read_state", "H-FAILOVER-VISITS-DONE"),
        ("move_partition", "H-SHUTDOWN-VISITS-DONE"),
    }


def test_who_has_nothing_to_go_on_with_is_named() -> None:
    with pytest.raises(LookupError, match="nothing follows VISITS_DONE of NONE"):
        proceed(Junction.VISITS_DONE, State(), Model(scope("small"), AS_CODED), 1, handler=Handler.NONE)


def test_the_table_is_shown_with_every_place() -> None:
    lines = [line.split(" | ") for line in markdown_handlers().splitlines()]
    of = {line[0].removeprefix("| "): [cell.removesuffix(" |") for cell in line[1:]] for line in lines if len(line) > 1}
    assert of["SHUTDOWN"] == [
        "shutdownBroker", "end_turn", "end_of_removal", "-", "fail_shutdown, else leave_broker_change",
    ]  # fmt: skip
    assert of["DELETIONS_READ"] == ["start_state_machines"]
    assert set(of) >= {one.name for one in Handler}


def test_every_continuation_is_drawn() -> None:
    shown = {then.run.__name__ for junction in Junction for thens in column(junction).values() for then in thens}
    for drawn in (mermaid_handlers(), dot_handlers()):
        assert {name for name in shown if name not in drawn} == set()
        assert sum("VISITS_DONE" in line for line in drawn.splitlines()) == len(COMES_TO[Junction.VISITS_DONE])
