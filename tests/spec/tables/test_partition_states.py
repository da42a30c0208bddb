"""The partition table against a second transcription of the documentation, and what follows from its shape.

The expected moves are written the other way round, as Kafka's code has them: for each target, what may precede it.
"""

import networkx as nx
import pytest

from spec.tables.partition_states import PARTITION_TRANSITIONS, PartitionState, state_at_start_up
from spec.tables.table import find, initial_state, transitions, valid_previous_states

MAY_PRECEDE = {
    "NewPartition": {"NonExistentPartition"},
    "OnlinePartition": {"NewPartition", "OnlinePartition", "OfflinePartition"},
    "OfflinePartition": {"NewPartition", "OnlinePartition", "OfflinePartition"},
    "NonExistentPartition": {"OfflinePartition"},
}
DRAWN = nx.DiGraph((str(row.source), str(row.target)) for row in transitions(PARTITION_TRANSITIONS))


def test_names_and_codes_are_kafkas() -> None:
    assert [(str(state), state.code) for state in PartitionState] == [
        ("NewPartition", 0),
        ("OnlinePartition", 1),
        ("OfflinePartition", 2),
        ("NonExistentPartition", 3),
    ]


@pytest.mark.parametrize("target", PartitionState)
def test_what_may_precede_a_state(target: PartitionState) -> None:
    assert valid_previous_states(PARTITION_TRANSITIONS, target) == MAY_PRECEDE[target]


def test_all_16_pairs_agree_with_the_documentation() -> None:
    pairs = [(previous, target) for previous in PartitionState for target in PartitionState]
    verdicts = [find(PARTITION_TRANSITIONS, previous, target) is not None for previous, target in pairs]
    assert verdicts == [previous in MAY_PRECEDE[target] for previous, target in pairs]
    assert (len(pairs), sum(verdicts)) == (16, 8)


def test_every_state_has_its_row_and_every_move_its_id_effect_and_source() -> None:
    assert set(PARTITION_TRANSITIONS) == set(PartitionState)
    for row in transitions(PARTITION_TRANSITIONS):
        assert row.id == "-".join(("P", row.source.name.replace("_", ""), row.target.name.replace("_", "")))
        assert row.effect.endswith(".")
        assert row.citation


def test_every_state_is_reachable_from_every_other() -> None:
    assert nx.is_strongly_connected(DRAWN)
    assert initial_state(PARTITION_TRANSITIONS) is PartitionState.NON_EXISTENT


def test_a_partition_ends_only_by_going_offline() -> None:
    """A live partition cannot be deleted in one move: Offline stands on every way from New to NonExistent."""
    assert nx.immediate_dominators(DRAWN, "NewPartition")["NonExistentPartition"] == "OfflinePartition"
    assert nx.shortest_path_length(DRAWN, "OnlinePartition", "NonExistentPartition") == 2


def test_a_partition_is_new_only_once_in_its_life() -> None:
    alive = DRAWN.subgraph(set(DRAWN) - {"NonExistentPartition"})
    assert not list(alive.predecessors("NewPartition"))


def test_only_online_and_offline_may_be_asked_for_twice() -> None:
    assert set(nx.nodes_with_selfloops(DRAWN)) == {"OnlinePartition", "OfflinePartition"}


def test_where_a_failover_places_a_partition() -> None:
    placed = {leader: state_at_start_up(leader, {1, 2}) for leader in (None, 1, 2, 3, -1)}
    assert placed == {
        None: PartitionState.NEW,
        1: PartitionState.ONLINE,
        2: PartitionState.ONLINE,
        3: PartitionState.OFFLINE,
        -1: PartitionState.OFFLINE,
    }
