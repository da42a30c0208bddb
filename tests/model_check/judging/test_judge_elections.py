"""Preferred elections, rebalances and controlled shutdowns as recorded: one fact changed, and nothing explains it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.recordings.reading import read
from model_check.recordings.seen import ReplicaStopped
from tests.model_check.tampering import Lie, assert_found_out, assert_not_explained
from tests.model_check.unpacking import RECORDINGS, changed, recorded, replaced, without_line

pytestmark = RECORDINGS

ELECTIONS, BOUNCE, SHUTDOWN = "07-preferred-auto", "17-D12-bounce-unnoticed", "09-controlled-shutdown"

LIES: Mapping[str, Lie] = {
    "a request that names another partition": Lie(
        BOUNCE, "zookeeper.jsonl",
        replaced(r'[{\"topic\":\"p\",\"partition\":0}]', r'[{\"topic\":\"t\",\"partition\":1}]'),
        "broker-1/controller.log:96",
    ),
}  # fmt: skip

SLOW_LIES: Mapping[str, Lie] = {
    "a broker that leads already, and is elected": Lie(
        ELECTIONS, "broker-1/state-change.log",
        replaced("changed partition [rf3,0] from OnlinePartition to OnlinePartition with leader 1",
                 "changed partition [rf3,0] from OnlinePartition to OnlinePartition with leader 2"),
        "broker-1/state-change.log:255",
    ),
    "a rebalance that nobody looked for": Lie(
        ELECTIONS, "broker-2/controller.log",
        without_line("Starting preferred replica leader election for partitions [rf3,3]"),
        "broker-2/state-change.log:318",
    ),
}  # fmt: skip

ENDLESS_LIES: Mapping[str, Lie] = {
    "a preferred replica that does not lead, and is said to": Lie(
        ELECTIONS, "broker-1/controller.log",
        replaced("WARN [Controller 1]: Partition [rf3,5] failed to complete preferred replica leader election. Leader"
                 " is 1", "INFO [Controller 1]: Partition [rf3,5] completed preferred replica leader election. New"
                 " leader is 3"),
        "broker-1/controller.log:183",
    ),
    "a rebalance for less than there is": Lie(
        ELECTIONS, "broker-1/controller.log",
        replaced("leader imbalance ratio for broker 3 is 1.000000", "leader imbalance ratio for broker 3 is 0.500000"),
        "broker-1/controller.log:203",
    ),
    "a shutdown of a broker that was not told to stop": Lie(
        SHUTDOWN, "broker-1/controller.log", replaced("Shutting down broker 3", "Shutting down broker 2"),
        "broker-1/controller.log:84",
    ),
    "a follower that stays in the ISR": Lie(
        SHUTDOWN, "zookeeper.jsonl",
        replaced(r'\"leader_epoch\":1,\"isr\":[1,2]', r'\"leader_epoch\":1,\"isr\":[1,2,3]'),
        "zookeeper.jsonl:75",
    ),
    "another leader than the selector's": Lie(
        SHUTDOWN, "broker-1/controller.log",
        replaced("All leaders = [rf3,1] -> (Leader:2", "All leaders = [rf3,1] -> (Leader:1"),
        "broker-1/controller.log:114",
    ),
}  # fmt: skip
"""Of these, more orders of what several threads do at once are possible than a search comes to the end of."""


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIES)
def test_a_recording_that_was_tampered_with_is_not_explained(lie: str, tmp_path: Path) -> None:
    assert_found_out(LIES[lie], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("lie", SLOW_LIES)
def test_nor_is_a_longer_one(lie: str, tmp_path: Path) -> None:
    assert_found_out(SLOW_LIES[lie], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("lie", ENDLESS_LIES)
def test_nor_is_one_with_too_many_orders_to_try(lie: str, tmp_path: Path) -> None:
    assert_not_explained(ENDLESS_LIES[lie], tmp_path)


def test_each_line_of_a_stop_replica_is_an_observation() -> None:
    """Broker 3 stops one replica twice before it leaves: as it is told first, and once more with the others."""
    stopped = [one for one in recorded(SHUTDOWN).tracks["broker 3"] if isinstance(one, ReplicaStopped)]
    assert [(one.partition, one.delete, one.incarnation) for one in stopped[:2]] == [(0, False, 1), (0, False, 1)]


@pytest.mark.slow
def test_a_cluster_may_rebalance_of_which_nobody_ever_asked_for_an_election(tmp_path: Path) -> None:
    """Broker 1, which was dead, is back and leads nothing."""
    ratio = "[2026-11-20 18:57:38,000] TRACE [Controller 2]: leader imbalance ratio for broker 1 is 1.000000"
    ratio += " (kafka.controller.KafkaController)"
    folder = changed("12-D1-epoch-write-delayed", tmp_path, "broker-2/controller.log", lambda text: f"{text}{ratio}\n")
    found = judge(read(folder))
    assert (found.outcome, found.reason) == (Outcome.EXPLAINED, "")
    assert [one.step.rule for one in found.path if one.step is not None][-1] == "check_imbalance"
