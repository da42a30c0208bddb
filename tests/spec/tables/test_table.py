"""What makes a table well formed, each rule seen to refuse."""

from __future__ import annotations

import dataclasses

import pytest

from spec.tables.partition_states import PARTITION_TRANSITIONS, PartitionState
from spec.tables.table import TableError, Transition, well_formed

NEW, ONLINE, OFFLINE, NON_EXISTENT = PartitionState
EMPTY: dict[PartitionState, dict[PartitionState, Transition[PartitionState]]] = {state: {} for state in PartitionState}
BIRTH = PARTITION_TRANSITIONS[NON_EXISTENT][NEW]


def test_a_table_of_empty_rows_is_well_formed() -> None:
    assert dict(well_formed(PartitionState, EMPTY)) == EMPTY


def test_a_state_without_a_row_is_refused() -> None:
    with pytest.raises(TableError, match=r"PartitionState has no row for OfflinePartition; write an empty one out"):
        well_formed(PartitionState, {state: {} for state in PartitionState if state is not OFFLINE})


def test_a_row_in_the_wrong_place_is_refused() -> None:
    with pytest.raises(TableError, match=r"P-NONEXISTENT-NEW: .* stands in the place of NewPartition -> OnlinePart"):
        well_formed(PartitionState, EMPTY | {NEW: {ONLINE: BIRTH}})


def test_a_repeated_id_is_refused() -> None:
    twin = dataclasses.replace(BIRTH, source=NEW, target=ONLINE)
    with pytest.raises(TableError, match=r"P-NONEXISTENT-NEW: NonExistentPartition -> NewPartition repeats an id"):
        well_formed(PartitionState, EMPTY | {NON_EXISTENT: {NEW: BIRTH}, NEW: {ONLINE: twin}})


def test_a_table_and_its_rows_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PARTITION_TRANSITIONS[NEW] = {}  # type: ignore[index]
    with pytest.raises(TypeError):
        PARTITION_TRANSITIONS[NEW][NEW] = BIRTH  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        BIRTH.source = NEW  # type: ignore[misc]
