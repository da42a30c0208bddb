"""What follows what: the table is whole, and says of each junction who comes there."""

from __future__ import annotations

from pathlib import Path

import pytest

import spec
from spec.model import Model
from spec.protocol.handler_diagrams import dot_handlers, markdown_handlers, mermaid_handlers
from spec.protocol.handlers import HANDLERS, JUNCTIONS, NEVER, READS, column
from spec.protocol.junctions import Junction, proceed
from spec.scopes import scope
from spec.state.shape import Handler
from spec.variants import AS_CODED

COMES_TO = {
    Junction.VISITS_DONE: {
        Handler.FAILOVER, Handler.BROKER_STARTUP, Handler.BROKER_FAILURE, Handler.CREATION, Handler.PREFERRED_ELECTION,
        Handler.PENDING_ELECTION, Handler.REBALANCE, Handler.SHUTDOWN,
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


def test_no_part_asks_which_handler_runs_to_go_on_with_it() -> None:
    """But for the table: a comparison of the handler elsewhere is about what is done, not about what follows."""
    here = Path(spec.__file__).parent / "protocol"
    names = {path.stem for path in here.rglob("*.py") if "proceed(" in path.read_text(encoding="utf-8")}
    assert names == {
        "junctions", "threads", "preferred", "machine_startup", "partitions", "replicas", "requests", "thread",
    }  # fmt: skip


def test_who_has_nothing_to_go_on_with_is_named() -> None:
    with pytest.raises(LookupError, match="nothing follows VISITS_DONE of NONE"):
        proceed(Junction.VISITS_DONE, None, Model(scope("small"), AS_CODED), 1, handler=Handler.NONE)


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
