"""A controlled shutdown's turn to a partition leaves no trace: what it leads to calls for it."""

from types import SimpleNamespace
from typing import Any

import pytest

from model_check.judging.on_demand import LEAVING, called_for
from model_check.recordings.recording import Observed
from model_check.recordings.seen import ControllerDeleted, ControllerSaid
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log.broker_changes import ShuttingDownBroker
from spec.logs.log_lines import Line
from spec.logs.state_change_lines import ReplicaChanged
from spec.protocol.broker_events.controlled_shutdown import move_partition
from spec.state.elections import Leaving
from spec.tables.replica_states import ReplicaState

AT: dict[str, Any] = {"place": "", "time": 0, "text": ""}
MODEL: Any = SimpleNamespace(
    has={"shutdown"}.__contains__, controllers=range(1, 3), brokers=SimpleNamespace(ids=(1, 2, 3))
)
CLUSTER: Any = SimpleNamespace(partition=lambda one: one.partition, broker=lambda broker: broker)
STATE = {
    "controllers": {1: {"shutdown_of": 3, "to_move": {0: 1, 2: 1}}},
    "processes": {3: {"leaving": LEAVING.index(Leaving.WAITS), "asked": 1}},
}
"""Controller 1 has two partitions left to move from broker 3."""


def said(controller: int, line: Line) -> ControllerSaid:
    return ControllerSaid(**AT, controller=controller, incarnation=1, line=line)


def offline(p: int) -> Line:
    return ReplicaChanged(1, 1, 3, TopicPartition("topic", p), ReplicaState.ONLINE, ReplicaState.OFFLINE)


def turns(one: Observed) -> set[int]:
    """The partitions to which controller 1's shutdown of broker 3 may come before an observation."""
    found = called_for(MODEL, CLUSTER, one, STATE)
    return {parameters["p"] for step, parameters in found if step == move_partition.name and parameters["r"] == 3}


@pytest.mark.parametrize(
    ("one", "moved"),
    [
        (said(1, offline(2)), {2}), (said(1, offline(1)), set()), (said(2, offline(2)), set()),
        (ControllerDeleted(**AT, zxid=1, by=1), {0, 2}), (ControllerDeleted(**AT, zxid=1, by=2), set()),
        (said(2, ShuttingDownBroker(2, 3)), {0, 2}), (said(1, ShuttingDownBroker(1, 3)), set()),
    ],
)  # fmt: skip
def test_a_turn_is_called_for_by_what_it_leads_to_and_by_who_is_asked_next(one: Observed, moved: set[int]) -> None:
    assert turns(one) == moved
