"""Taken rows: each takes the rows that Kafka takes, and every state of the two machines is set by one."""

import ast
from pathlib import Path
from typing import Any

import pytest

import spec
from model_check.terms.straight_line import evaluate
from spec.language.rules import Action, Leaf, Shape, action, instantiate, when
from spec.language.terms import FLAG, enumeration
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.tables.table import KafkaState
from spec.tables.taken_rows import ROWS, move, rows_by

SHAPE: Shape = {
    "on": Leaf(FLAG, initial=True),
    "state": Leaf(enumeration(PartitionState), PartitionState.OFFLINE),
    "replicas": {1: Leaf(enumeration(ReplicaState), ReplicaState.OFFLINE)},
}


def built(body: Any) -> Action:
    """An action that does this."""

    def act(s: Any, _m: object) -> None:
        """It acts."""
        body(s)

    return instantiate(action(actor="somebody", source="nowhere")(act), SHAPE, None, {})[0]


def taken(one: Action, state: KafkaState, *, on: bool = True) -> set[str]:
    """The rows that an action takes where the partition, or the replica, is in a state."""
    raw = {"on": int(on), "state": 2, "replicas[1]": 2}
    name = "state" if isinstance(state, PartitionState) else "replicas[1]"
    raw[name] = list(type(state)).index(state)
    return {row for row, where in one.taken.items() if evaluate(where, raw)}


def test_there_are_eight_rows_of_partitions_and_thirteen_of_replicas() -> None:
    assert [sum(row.startswith(table) for row in ROWS) for table in ("P-", "R-")] == [8, 13]


@pytest.mark.parametrize(
    ("state", "row"),
    [("NEW", "P-NEW-ONLINE"), ("ONLINE", "P-ONLINE-ONLINE"), ("OFFLINE", "P-OFFLINE-ONLINE"), ("NON_EXISTENT", None)],
)
def test_a_move_takes_the_row_from_the_state_that_it_finds(state: str, row: str | None) -> None:
    one = built(lambda s: move(s, "state", PartitionState.ONLINE))
    assert taken(one, PartitionState[state]) == ({row} if row else set())


def test_a_move_that_changes_nothing_takes_its_row() -> None:
    def stays(s: Any) -> None:
        with when(s.state == PartitionState.OFFLINE):
            move(s, "state", PartitionState.OFFLINE)

    one = built(stays)
    assert taken(one, PartitionState.OFFLINE) == {"P-OFFLINE-OFFLINE"}
    assert taken(one, PartitionState.ONLINE) == set()


def test_one_call_may_take_a_row_after_the_other_and_passes_over_what_the_table_refuses() -> None:
    started, successful, gone = (
        ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL, ReplicaState.NON_EXISTENT,
    )  # fmt: skip
    one = built(lambda s: move(s.replicas, 1, started, successful, gone))
    last = "R-DELETIONSUCCESSFUL-NONEXISTENT"
    after = {"R-DELETIONSTARTED-DELETIONSUCCESSFUL", last}
    assert taken(one, ReplicaState.OFFLINE) == {"R-OFFLINE-DELETIONSTARTED", *after}
    assert taken(one, started) == after
    assert taken(one, successful) == {last}
    assert taken(one, ReplicaState.ONLINE) == set()
    assert evaluate(one.updates["replicas[1]"], {}) == list(ReplicaState).index(gone)


def test_a_row_is_taken_only_where_the_conditions_around_it_hold_and_by_two_moves_in_turn() -> None:
    def twice(s: Any) -> None:
        move(s, "state", PartitionState.OFFLINE)
        with when(s.on):
            move(s, "state", PartitionState.ONLINE)

    one = built(twice)
    assert taken(one, PartitionState.NEW) == {"P-NEW-OFFLINE", "P-OFFLINE-ONLINE"}
    assert taken(one, PartitionState.NEW, on=False) == {"P-NEW-OFFLINE"}


def test_every_row_is_asked_of_the_table_of_its_target() -> None:
    assert set(rows_by((ReplicaState.NEW,))) == {"R-NONEXISTENT-NEW"}
    assert set(rows_by((PartitionState.OFFLINE, PartitionState.NON_EXISTENT))) == {
        "P-NEW-OFFLINE", "P-ONLINE-OFFLINE", "P-OFFLINE-OFFLINE", "P-OFFLINE-NONEXISTENT",
    }  # fmt: skip


def test_states_are_set_by_moves_everywhere_but_where_a_failover_begins() -> None:
    here = Path(spec.__file__).parent
    actions = (path for folder in ("protocol", "tables") for path in (here / folder).rglob("*.py"))
    setters = {path.relative_to(here).as_posix() for path in actions if any(map(_sets_state, _nodes(path)))}
    assert setters == {"tables/taken_rows.py", "protocol/failover/machine_startup.py"}


def _nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def _sets_state(node: ast.AST) -> bool:
    """Whether this assigns to a partition's state, or a replica's."""
    if not isinstance(node, ast.Assign):
        return False
    match node.targets[0]:
        case ast.Attribute(attr="state") | ast.Subscript(value=ast.Attribute(attr="replicas")):
            return True
        case ast.Subscript(value=ast.Name(id="replicas" | "states")):
            return True
    return False
