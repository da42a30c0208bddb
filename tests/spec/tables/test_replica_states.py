"""The replica table against a second transcription of the documentation, and what follows from its shape.

The expected moves are written the other way round, as Kafka's code has them: for each target, what may precede it.
"""

import networkx as nx
import pytest

from spec.errors import UnknownName
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import REPLICA_TRANSITIONS, ReplicaState, state_at_start_up
from spec.tables.table import find, transitions, valid_previous_states

MAY_PRECEDE = {
    "NewReplica": {"NonExistentReplica"},
    "OnlineReplica": {"NewReplica", "OnlineReplica", "OfflineReplica", "ReplicaDeletionIneligible"},
    "OfflineReplica": {"NewReplica", "OnlineReplica", "OfflineReplica", "ReplicaDeletionIneligible"},
    "ReplicaDeletionStarted": {"OfflineReplica"},
    "ReplicaDeletionSuccessful": {"ReplicaDeletionStarted"},
    "ReplicaDeletionIneligible": {"ReplicaDeletionStarted"},
    "NonExistentReplica": {"ReplicaDeletionSuccessful"},
}
DRAWN = nx.DiGraph((str(row.source), str(row.target)) for row in transitions(REPLICA_TRANSITIONS))


def test_names_and_codes_are_kafkas() -> None:
    assert [(str(state), state.code) for state in ReplicaState] == [
        ("NewReplica", 1),
        ("OnlineReplica", 2),
        ("OfflineReplica", 3),
        ("ReplicaDeletionStarted", 4),
        ("ReplicaDeletionSuccessful", 5),
        ("ReplicaDeletionIneligible", 6),
        ("NonExistentReplica", 7),
    ]


@pytest.mark.parametrize("target", ReplicaState)
def test_what_may_precede_a_state(target: ReplicaState) -> None:
    assert valid_previous_states(REPLICA_TRANSITIONS, target) == MAY_PRECEDE[target]


def test_all_49_pairs_agree_with_the_documentation() -> None:
    pairs = [(previous, target) for previous in ReplicaState for target in ReplicaState]
    verdicts = [find(REPLICA_TRANSITIONS, previous, target) is not None for previous, target in pairs]
    assert verdicts == [previous in MAY_PRECEDE[target] for previous, target in pairs]
    assert (len(pairs), sum(verdicts)) == (49, 13)


def test_every_state_has_its_row_and_every_move_its_id_effect_and_source() -> None:
    assert set(REPLICA_TRANSITIONS) == set(ReplicaState)
    for row in transitions(REPLICA_TRANSITIONS):
        assert row.id == "-".join(("R", row.source.name.replace("_", ""), row.target.name.replace("_", "")))
        assert row.effect.endswith(".")
        assert row.citation


def test_every_state_is_reachable_from_every_other() -> None:
    assert nx.is_strongly_connected(DRAWN)


def test_a_replica_ends_only_by_a_deletion_that_succeeded() -> None:
    """From Online the way to NonExistent has no side entrance: each station stands on every path to the next."""
    gate = nx.immediate_dominators(DRAWN, "OnlineReplica")
    assert gate["NonExistentReplica"] == "ReplicaDeletionSuccessful"
    assert gate["ReplicaDeletionSuccessful"] == "ReplicaDeletionStarted"
    assert gate["ReplicaDeletionStarted"] == "OfflineReplica"
    assert nx.shortest_path_length(DRAWN, "OnlineReplica", "NonExistentReplica") == 4


def test_a_dead_replica_cannot_wait_without_a_started_deletion() -> None:
    """The known defect behind KAFKA-3143: Ineligible is entered from DeletionStarted and nowhere else."""
    assert nx.immediate_dominators(DRAWN, "OfflineReplica")["ReplicaDeletionIneligible"] == "ReplicaDeletionStarted"


def test_a_successful_deletion_is_not_taken_back() -> None:
    alive = DRAWN.subgraph(set(DRAWN) - {"NonExistentReplica"})
    assert nx.descendants(alive, "ReplicaDeletionSuccessful") == set()


def test_only_online_and_offline_may_be_asked_for_twice() -> None:
    assert set(nx.nodes_with_selfloops(DRAWN)) == {"OnlineReplica", "OfflineReplica"}


def test_where_a_failover_places_a_replica() -> None:
    placed = [state_at_start_up(replica, {1, 2}) for replica in (1, 2, 3)]
    assert placed == [ReplicaState.ONLINE, ReplicaState.ONLINE, ReplicaState.DELETION_INELIGIBLE]


def test_a_stranger_is_refused_and_the_states_are_listed() -> None:
    with pytest.raises(UnknownName, match=r"is called 'OnlinePartition' \(known:\s+NonExistentReplica, NewReplica"):
        find(REPLICA_TRANSITIONS, ReplicaState.NEW, PartitionState.ONLINE)  # type: ignore[misc]
