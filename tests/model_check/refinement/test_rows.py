"""The rows of the tables that the specification says are taken are those that the reference's machines take."""

import pytest

from model_check.explicit_state.interpreter import explore_plainly
from model_check.explicit_state.spanning_tree import spanning_tree
from model_check.refinement.edge_replay import replay_edges
from model_check.refinement.sides import Sides
from reference import partition_leadership, replica_transitions
from reference.controller import is_permitted
from reference.machines import TABLES, TableKind
from spec.moves import ROWS
from spec.scopes import scope
from spec.tables import KafkaState, find
from spec.variants import AS_CODED


@pytest.fixture
def permitted(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The rows that the reference's machines have permitted since the test began, or somebody emptied the set."""
    rows: set[str] = set()

    def noted(kind: TableKind, source: KafkaState, target: KafkaState) -> bool:
        answer = is_permitted(kind, source, target)
        if answer:
            row = find(TABLES[kind], source, target)
            assert row is not None
            rows.add(row.id)
        return answer

    for module in (partition_leadership, replica_transitions):
        monkeypatch.setattr(module, "is_permitted", noted)
    return rows


@pytest.mark.parametrize(
    "name",
    [
        "move",
        "bounce",
        "addition",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("partitions", "move_crash", "leaderless_deletion")),
    ],
)
def test_the_reference_takes_the_rows_of_the_specification(name: str, permitted: set[str]) -> None:
    both = Sides(scope(name), AS_CODED)
    both.initial()
    permitted.clear()  # what led to the running cluster that the scope begins with
    replay_edges(both, spanning_tree(both.system))
    counted = explore_plainly(both.system).occurrences
    assert permitted == {row for row in ROWS if counted.get(row)}
