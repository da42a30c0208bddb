"""Lines of callbacks and threads that find nothing to do are no steps; those that find something are."""

from pathlib import Path
from typing import Any

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.judging.spurious_callbacks import finds_nothing_new
from model_check.recordings.reading import read
from model_check.recordings.recording import Cluster
from model_check.recordings.seen import ControllerSaid
from model_check.stepping.open_system import OpenSystem, open_system
from model_check.stepping.plain_state import PlainState
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_log.topic_deletion import (
    DeletionIneligible,
    DeletionInProgress,
    DeletionQueued,
    DeletionRequested,
    HandlingDeletion,
)
from spec.logs.controller_log.topics import PartitionsAdded
from spec.logs.log_lines import Line
from spec.state.enumerations import At, DeletionThread, Handler
from spec.tables.replica_states import ReplicaState
from spec.variants import AS_CODED, Switch, Switches
from tests.model_check.unpacking import changed

CLUSTER = Cluster((1, 2), ("t",), (TopicPartition("t", 0),), ((1, 2),))
STARTED, INELIGIBLE = (list(ReplicaState).index(one) for one in (
    ReplicaState.DELETION_STARTED, ReplicaState.DELETION_INELIGIBLE))  # fmt: skip
BETWEEN: dict[str, Any] = {
    "at": list(At).index(At.REASSIGN_NEXT),
    "handler": list(Handler).index(Handler.REASSIGNMENT),
    "due": {0: 2},
}
"""Before the partition that is to be reassigned to broker 2, with the lock free."""
HANDLING = HandlingDeletion(topics=("t",), controller=1)
IN_PROGRESS = DeletionInProgress(replicas=(2,), partitions=(TopicPartition("t", 0),), topic="t", controller=1)
HELD_BACK = DeletionIneligible(topic="t", controller=1)


def system(switches: Switches) -> OpenSystem:
    parts = frozenset({"deletion", "reassignment"})
    return open_system(2, ((1, 2),), (0,), controller_epochs=2, switches=switches, parts=parts, requests=(((2,),),))


def state(replica: int = 0, *, notified: int = 0, marked: bool = False, **fields: int) -> PlainState:
    """Controller 1 is active, its deletion thread runs, and topic t, with AR [1, 2] and leadership, is queued."""
    thread = list(DeletionThread).index(DeletionThread.RUNNING)
    controller: PlainState = {
        "active": 1,
        "deletion": thread,
        "queued": {0: 1},
        "topics": {0: 1},
        "partitions": {0: {"assigned": 3, "leader_epoch": 1, **({"replicas": {2: replica}} if replica else {})}},
        **({"ineligible": {0: 1}} if marked else {}),
    }
    return {"controllers": {1: {**controller, **fields}}, **({"zookeeper": {"notified": {0: 1}}} if notified else {})}


def is_nothing(line: Line, at: PlainState, switches: Switches = AS_CODED) -> bool:
    said = ControllerSaid(place="", time=0, text="", controller=1, incarnation=1, line=line)
    return finds_nothing_new(system(switches), CLUSTER, said, at)


@pytest.mark.parametrize(
    ("line", "at", "expected"),
    [
        (NotificationsFound(controller=1), state(), True),
        (NotificationsFound(controller=1), state(notified=1), False),
        (NotificationsFound(controller=1), state(active=0), False),
        (NotificationsFound(controller=1), state(at=list(At).index(At.READ_TOPICS)), False),
        (NotificationsFound(controller=1), state(**BETWEEN), False),
        (HANDLING, state(STARTED, **BETWEEN), True),
        (HANDLING, state(STARTED, at=list(At).index(At.BUMP_READ)), False),
        (HANDLING, state(STARTED), True),
        (IN_PROGRESS, state(STARTED), True),
        (HELD_BACK, state(STARTED), False),
        (HELD_BACK, state(STARTED, marked=True), True),
        (HANDLING, state(marked=True), True),
        (HANDLING, state(), False),  # it would start
        (HANDLING, state(INELIGIBLE, marked=True), False),  # it would be taken Offline again
        (IN_PROGRESS, state(marked=True), False),
        (HANDLING, state(STARTED, deletion=list(DeletionThread).index(DeletionThread.ENDED)), False),
    ],
)
def test_a_line_is_no_step_only_where_there_is_nothing_to_do(line: Line, at: PlainState, *, expected: bool) -> None:
    assert is_nothing(line, at) is expected


@pytest.mark.parametrize(
    ("topics", "at", "expected"),
    [
        ((), state(), True),
        (("t",), state(), False),  # it would be queued
        (("t",), state(active=0), True),
        (("t",), state(active=0, at=list(At).index(At.READ_TOPICS)), False),
    ],
)
def test_before_0_10_2_who_is_not_active_tells_of_requests_too(
    topics: tuple[str, ...], at: PlainState, *, expected: bool
) -> None:
    before = frozenset({Switch.RUN_WHEN_NOT_ACTIVE})
    lines: list[Line] = [DeletionRequested(topics=topics, controller=1)]
    if topics:
        lines += [DeletionQueued(topics=topics, controller=1)]
    assert {is_nothing(line, at, before) for line in lines} == {expected}
    assert not any(is_nothing(line, at) for line in lines)


@pytest.mark.parametrize(("active", "expected"), [(0, True), (1, False)])
def test_before_0_10_2_who_is_not_active_tells_of_partitions_that_were_added_too(
    active: int, *, expected: bool
) -> None:
    line, at = PartitionsAdded(assignment=((TopicPartition("t", 1), (1, 2)),), controller=1), state(active=active)
    assert is_nothing(line, at, frozenset({Switch.RUN_WHEN_NOT_ACTIVE})) is expected
    assert not is_nothing(line, at)


@pytest.mark.slow
@pytest.mark.parametrize("act", ["broker-kill-9", "broker-sigterm (controlled shutdown)", "broker-sigstop"])
def test_a_signal_to_a_process_that_has_ended_by_itself_changes_nothing(act: str, tmp_path: Path) -> None:
    """Broker 3's last process found its id taken, and was gone when the signal came."""
    signal = f'{{"ms": 1795200733000, "action": "{act}", "broker": 3}}\n'

    def with_signal(text: str) -> str:
        lines = text.splitlines(keepends=True)
        return "".join([*lines[:-3], signal, *lines[-3:]])

    found = judge(read(changed("02-broker-kill-restart", tmp_path, "actions.jsonl", with_signal)))
    assert (found.outcome, found.broken) == (Outcome.EXPLAINED, ())
    told = [one.step for one in found.path if one.step is not None]
    assert [one.rule for one in told if signal.strip() in [observed.text for observed in one.observations]] == [""]
