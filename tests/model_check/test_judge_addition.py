"""Partitions that were added to topics of real clusters are explained; with one fact changed they are not.

The accounts were written down from the recordings' own (model_check/shipped/README.md) and from PROTOCOL.md sections
7.3 and D39.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from model_check.judge import Judgement, Outcome, judge
from model_check.on_demand import called_for
from model_check.open_system import open_system
from model_check.plain_state import PlainState
from model_check.recorded import Cluster, Leadership, StateWritten
from model_check.recordings import read
from model_check.shipped_recordings import BROKEN
from tests.model_check.recordings import Change, changed, recording, replaced, without_line

ADDED, LOST = "01-start-create", "24-D39-lost-partition"
ACCOUNTS: Mapping[str, Mapping[str, int]] = {
    # Two partitions, then one; with those of the topics' creations 13 state znodes, and two partitions stay New.
    ADDED: {"write_addition": 2, "on_partition_modifications": 2, "create_state": 13},
    # Neither new partition is seen: each write of a controller undoes one. Two reassignments, two writes each.
    LOST: {"write_addition": 2, "create_state": 2, "write_union": 2, "write_target": 2},
}
"""How often some rules must occur in any explanation."""


@cache
def judged(name: str) -> Judgement:
    return judge(read(recording(name)))


@pytest.mark.parametrize("name", [pytest.param(ADDED, marks=pytest.mark.slow), LOST])
def test_additions_are_explained_and_break_what_they_are_known_to_break(name: str) -> None:
    found = judged(name)
    assert (found.outcome, found.reason, found.explained) == (Outcome.EXPLAINED, "", found.observations)
    assert {one.claim.name for one in found.broken} == BROKEN[name]
    assert found.possibly == ()
    taken = [one.step.rule for one in found.path if one.step is not None]
    assert {rule: taken.count(rule) for rule in ACCOUNTS[name]} == ACCOUNTS[name]


LIES: Mapping[str, tuple[str, Change, str]] = {
    "a listener that finds other replicas than the znode has": (
        "broker-1/controller.log",
        replaced("Map([rf1,3] -> List(2))", "Map([rf1,3] -> List(3))"),
        "broker-1/controller.log:94",
    ),
    "a partition that was added on another broker than leads it": (
        "zookeeper.jsonl",
        replaced(r"\"2\":[3],\"3\":[2]", r"\"2\":[3],\"3\":[3]"),
        "zookeeper.jsonl:82",
    ),
    "an added partition that is not said to be new": (
        "broker-1/state-change.log",
        without_line("changed partition [rf1,3] state from NonExistentPartition"),
        "broker-1/state-change.log:164",
    ),
}
"""What is changed in a recording, and the place at which no explanation goes on."""
LISTENER, *OTHERS = LIES


@pytest.mark.parametrize("lie", [LISTENER, *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)])
def test_an_addition_that_was_tampered_with_is_not_explained(lie: str, tmp_path: Path) -> None:
    file, change, place = LIES[lie]
    found = judge(read(changed(ADDED, tmp_path, file, change)), budget=1000)
    assert found.outcome is Outcome.UNEXPLAINED
    assert found.stuck is not None
    assert place in [one.place for one in found.stuck.next]


def test_a_tool_that_writes_what_it_read_earlier_is_judged_up_to_there(tmp_path: Path) -> None:
    change = replaced(r"{\"0\":[3,2],\"1\":[2,3]}", r"{\"0\":[2],\"1\":[2,3]}")
    found = read(changed(LOST, tmp_path, "zookeeper.jsonl", change))
    assert found.cut is not None
    assert found.cut.reason == "a tool's write of what it read earlier is not judged"


def test_the_rebalance_that_leads_to_an_election_goes_by_what_the_controller_knows_to_be_assigned() -> None:
    """Partition 1 is added later: before that no broker is to lead it, then broker 2 is."""
    parts = frozenset({"addition", "auto_rebalance"})
    model = open_system(2, ((1, 2), ()), (0, 0), controller_epochs=2, parts=parts).model
    written = StateWritten(
        place="", time=0, text="", zxid=1, by=1, partition=1, state=Leadership(2, 1, (2,), 1, 1), by_leader=False,
        changed=frozenset(),
    )  # fmt: skip
    cluster = Cluster((1, 2), ("t",), (), model.scope.assigned)
    known: PlainState = {"controllers": {1: {"partitions": {1: {"assigned": model.brokers.list_kind.encode((2, 1))}}}}}
    assert list(called_for(model, cluster, written, {})) == []
    assert list(called_for(model, cluster, written, known)) == [("check_imbalance", {"c": 1, "h": 2})]
