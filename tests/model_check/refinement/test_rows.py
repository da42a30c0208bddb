"""The rows of the tables that the specification says are taken are those that the reference's machines take."""

import pytest

from model_check.refinement.lockstep import Sides
from model_check.terms.straight_line import evaluate
from reference.controller.controller import is_permitted
from reference.controller.machines import TABLES, TableKind
from reference.leadership import partitions as partition_leadership
from reference.leadership import replicas as replica_transitions
from spec.expectations import plan
from spec.scopes import scope
from spec.tables.table import KafkaState, find
from spec.tables.taken_rows import ROWS
from spec.variants import AS_CODED
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.plain_trees import plain_tree, replay_edges


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
        "bounce",
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in ("addition", "move", "partitions", "move_crash", "leaderless_deletion")
        ),
    ],
)
def test_the_reference_takes_the_rows_of_the_specification(name: str, permitted: set[str]) -> None:
    both = Sides(scope(name), AS_CODED)
    both.initial()
    permitted.clear()  # what led to the running cluster that the scope begins with
    replay_edges(both, plain_tree(both.machine))
    counted = explore_plainly(both.system).occurrences
    assert permitted == {row for row in ROWS if counted.get(row)}


NEW_TO_OFFLINE = (
    # Controller 1 is about to create the state znode of a new partition when it loses its session.
    "create_topic(t=0)", "on_topic_change(c=1)", "read_for_new_replica(c=1, p=0, r=2)",
    "read_for_new_replica(c=1, p=0, r=1)", "expire_session(b=1, lost=0)",
    # Controller 2 is elected, and reads that there is none: to it the partition is New.
    "on_controller_change(c=2)", "elect_read(c=2)", "elect_create(c=2)", "read_epoch(c=2)", "increment_epoch(c=2)",
    "renew_session(b=1)", "subscribe(c=2)", "read_brokers(c=2)", "read_topics(c=2)", "read_state(c=2, p=0)",
    # Controller 1 creates it, and makes broker 1 the leader; the create of controller 2 fails.
    "create_state(c=1, p=0)", "deliver_request(c=1, b=1)", "on_new_session(c=1)", "elect_read(c=1)",
    "register_broker(b=1)", "create_state(c=2, p=0)", "finish_failover(c=2)", "on_controller_change(c=2)",
    # The leader announces that its ISR shrank: controller 2 caches who leads. Then the leader dies.
    "shrink_isr(b=1, p=0, r=2)", "report_isr_changes(b=1)", "crash(b=1)", "on_broker_change(c=2)",
    "end_orphaned_session(b=1)", "create_state(c=2, p=0)", "on_isr_change(c=2)", "read_notified(c=2, p=0)",
    "delete_notification(c=2, n=1)", "on_broker_change(c=2)",
)  # fmt: skip


def test_a_partition_that_another_controller_created_goes_from_new_to_offline(permitted: set[str]) -> None:
    name, variant = "foreign_creation", "AS_CODED"
    expected = next(one for one in plan(name).explorations if one.variant == variant)
    assert expected.rows is not None
    assert expected.rows["P-NEW-OFFLINE"] == len(NEW_TO_OFFLINE)
    both = Sides(scope(name), AS_CODED)
    both.after(NEW_TO_OFFLINE[:-1])
    assert "P-NEW-OFFLINE" not in permitted
    both.after(NEW_TO_OFFLINE)
    assert "P-NEW-OFFLINE" in permitted
    *_, (_, before), (last, _) = both.story(NEW_TO_OFFLINE).steps
    action = next(one for one in both.system.actions if one.name == last)
    assert evaluate(action.taken["P-NEW-OFFLINE"], before)
