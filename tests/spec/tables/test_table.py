"""What makes a table well formed, each rule seen to refuse."""

import dataclasses

import pytest

from spec.tables.partition_states import PARTITION_TRANSITIONS, PartitionState
from spec.tables.table import Row, TableError, Transition, table_from

NEW, ONLINE, OFFLINE, NON_EXISTENT = PartitionState
EMPTY: dict[PartitionState, dict[PartitionState, Row]] = {state: {} for state in PartitionState}
BIRTH = PARTITION_TRANSITIONS[NON_EXISTENT][NEW]


def test_a_table_of_empty_rows_is_well_formed() -> None:
    assert [*table_from("P", PartitionState, EMPTY)] == [*PartitionState]


def test_a_state_without_a_row_is_refused() -> None:
    with pytest.raises(TableError, match=r"PartitionState has no row for OfflinePartition; write an empty one out"):
        table_from("P", PartitionState, {state: {} for state in PartitionState if state is not OFFLINE})


def test_a_row_is_named_by_its_place() -> None:
    row = table_from("P", PartitionState, EMPTY | {NON_EXISTENT: {NEW: Row("Nothing.", "nowhere")}})[NON_EXISTENT][NEW]
    assert row == Transition("P-NONEXISTENT-NEW", NON_EXISTENT, NEW, "Nothing.", "nowhere")


def test_a_table_and_its_rows_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PARTITION_TRANSITIONS[NEW] = {}  # type: ignore[index]
    with pytest.raises(TypeError):
        PARTITION_TRANSITIONS[NEW][NEW] = BIRTH  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        BIRTH.source = NEW  # type: ignore[misc]
