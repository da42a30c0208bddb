"""Partitions that were added to topics of real clusters: with one fact changed they are not explained."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from model_check.judging.on_demand import called_for
from model_check.recordings.reading import read
from model_check.recordings.recording import Cluster
from model_check.recordings.seen import StateWritten
from model_check.stepping.open_system import open_system
from model_check.stepping.plain_state import PlainState
from tests.leaderships import led
from tests.model_check.tampering import Lie, assert_found_out
from tests.model_check.unpacking import changed, replaced, without_line

ADDED, LOST = "01-start-create", "24-D39-lost-partition"


LIES: Mapping[str, Lie] = {
    "a listener that finds other replicas than the znode has": Lie(
        ADDED,
        "broker-1/controller.log",
        replaced("Map([rf1,3] -> List(2))", "Map([rf1,3] -> List(3))"),
        "broker-1/controller.log:94",
    ),
    "a partition that was added on another broker than leads it": Lie(
        ADDED, "zookeeper.jsonl", replaced(r"\"2\":[3],\"3\":[2]", r"\"2\":[3],\"3\":[3]"), "zookeeper.jsonl:82"
    ),
    "an added partition that is not said to be new": Lie(
        ADDED,
        "broker-1/state-change.log",
        without_line("changed partition [rf1,3] state from NonExistentPartition"),
        "broker-1/state-change.log:164",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_an_addition_that_was_tampered_with_is_not_explained(lie: str, tmp_path: Path) -> None:
    assert_found_out(LIES[lie], tmp_path)


@pytest.mark.parametrize(
    ("written", "cut"),
    [
        (r"{\"0\":[2],\"1\":[2,3]}", None),
        (r"{\"0\":[3,2,2],\"1\":[2,3]}", "a partition that is written without replicas, or with one twice,"),
        (r"{\"1\":[2,3]}", "a partition that is taken out of its topic by hand"),
    ],
)
def test_a_tool_that_writes_something_else_than_it_read_edits_the_topic(
    tmp_path: Path, written: str, cut: str | None
) -> None:
    found = read(changed(LOST, tmp_path, "zookeeper.jsonl", replaced(r"{\"0\":[3,2],\"1\":[2,3]}", written)))
    assert (found.cut and found.cut.reason) == (cut and f"{cut} is not specified")
    assert [one[:2] for one in found.cluster.edited] == [((2,), (2, 3))] or cut


def test_an_addition_may_name_a_broker_that_never_is(tmp_path: Path) -> None:
    change = replaced(r"{\"0\":[3,2],\"1\":[2,3]}", r"{\"0\":[3,2],\"1\":[9]}")
    found = read(changed(LOST, tmp_path, "zookeeper.jsonl", change))
    assert 9 in found.cluster.broker_ids
    assert found.cluster.additions[0][:2] == ((), (found.cluster.broker(9),))


def test_the_rebalance_that_leads_to_an_election_goes_by_what_the_controller_knows_to_be_assigned() -> None:
    """Partition 1 is added later: before that no broker is to lead it, then broker 2 is."""
    parts = frozenset({"addition", "auto_rebalance"})
    model = open_system(2, ((1, 2), ()), (0, 0), controller_epochs=2, parts=parts).model
    written = StateWritten(
        place="", time=0, text="", zxid=1, by=1, partition=1, state=led(2, 1, (2,), 1, 1), by_leader=False,
        changed=frozenset(),
    )  # fmt: skip
    cluster = Cluster((1, 2), ("t",), (), model.scope.assigned)
    known: PlainState = {"controllers": {1: {"partitions": {1: {"assigned": model.brokers.list_kind.encode((2, 1))}}}}}
    assert list(called_for(model, cluster, written, {})) == []
    assert list(called_for(model, cluster, written, known)) == [("check_imbalance", {"c": 1, "h": 2})]
