"""Whether a listener on notifications has listed, or read, something too early, by what its controller tells next."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final

import pytest

from model_check.judging.positions import Explained, Position
from model_check.judging.recorded_trees import raw_leadership
from model_check.judging.told_next import ToldNext
from model_check.recordings.recording import Cluster
from model_check.recordings.seen import (
    ControllerSaid,
    NotificationCreated,
    NotificationDeleted,
    SessionBegan,
    StateWritten,
    ZooKeeperChange,
)
from model_check.recordings.tracks import REPORTS, STATE_CHANGES
from model_check.stepping.open_system import open_system
from spec.formats.kafka_types import LEADER_DURING_DELETE, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_request_lines import UpdateMetadataSending
from spec.protocol.broker_events.isr_notification import on_isr_change, read_notified
from spec.variants import AS_CODED
from tests.leaderships import led

MODEL = open_system(
    3, ((1, 2), (2, 3)), (0, 0), controller_epochs=3, switches=AS_CODED, parts=frozenset({"notifications"})
).model
NAMES = (TopicPartition("t", 0), TopicPartition("t", 1))
CLUSTER = Cluster(broker_ids=(11, 12, 13), topics=("t",), partitions=NAMES, assigned=((1, 2), (2, 3)))
"""Brokers 1, 2 and 3 have other ids."""
AT: dict[str, Any] = {"place": "", "text": ""}
EPOCH, TOLD_AT = 5, 50
BEFORE, AFTER = led(11, 0, (11, 12), 1), led(12, 1, (12,), 6)
FIRST, SECOND = 0b001, 0b010
"""Notifications."""


def said(line: Any, time: int = TOLD_AT) -> ControllerSaid:
    return ControllerSaid(**AT, time=time, controller=3, incarnation=1, line=line)


def tells(
    state: LeaderIsrAndControllerEpoch,
    p: int = 0,
    *,
    epoch: int = EPOCH,
    to: tuple[int, ...] = (11,),
    time: int = TOLD_AT,
) -> ControllerSaid:
    """A line of UpdateMetadata."""
    return said(UpdateMetadataSending(13, epoch, state, to, NAMES[p]), time)


def written(state: LeaderIsrAndControllerEpoch, *, time: int = 40, p: int = 0) -> StateWritten:
    state = CLUSTER.in_numbers(state)
    return StateWritten(**AT, time=time, zxid=1, by=1, partition=p, state=state, by_leader=True, changed=frozenset())


def created(*partitions: int, time: int = 40) -> NotificationCreated:
    return NotificationCreated(**AT, time=time, zxid=1, by=1, partitions=frozenset(partitions), notice=2)


def deleted(by: int, time: int) -> NotificationDeleted:
    return NotificationDeleted(**AT, time=time, zxid=1, by=by, notice=0)


def began(by: int, time: int) -> SessionBegan:
    return SessionBegan(**AT, time=time, zxid=1, by=by, first=False, is_guess=False)


FOUND: Final = said(NotificationsFound(13))


def is_yet_to_come(
    step: Explained, lines: list[ControllerSaid], changes: list[ZooKeeperChange], *found: ControllerSaid
) -> bool:
    """Of controller 3, which knows BEFORE of the first partition, and has listed the first notification, of it."""
    logs = {STATE_CHANGES: lines, REPORTS: list(found)}
    tracks: Any = SimpleNamespace(
        cluster=CLUSTER,
        lines=lambda _place, _c, log: logs[log],
        transactions=lambda _place, until: [one for one in changes if one.time <= until],
    )
    known = raw_leadership(MODEL, CLUSTER.in_numbers(BEFORE))
    state = {
        "controllers": {3: {"epoch": EPOCH, "taken": FIRST, "partitions": {0: known}}},
        "zookeeper": {"notified": {0: FIRST, 1: SECOND}},
    }
    return ToldNext(tracks, MODEL).is_yet_to_come(Position(state, ()), step)


READ, LISTED = Explained(read_notified.name, {"c": 3, "p": 0}, (), ()), Explained(on_isr_change.name, {"c": 3}, (), ())
REMOVED = replace(AFTER, leader=LEADER_DURING_DELETE, leader_epoch=0)


@pytest.mark.parametrize(
    ("lines", "changes", "expected"),
    [
        ([tells(AFTER)], [written(AFTER)], True),
        ([tells(BEFORE)], [written(AFTER)], False),  # it tells what it has read
        ([tells(AFTER)], [], False),  # nobody is to write that
        ([tells(AFTER)], [written(AFTER, time=60)], False),  # nor before it is told
        ([tells(AFTER)], [written(AFTER, p=1)], False),
        ([tells(AFTER, epoch=4)], [written(AFTER)], False),  # of a term before, so not of this step
        ([tells(AFTER, 1)], [written(AFTER)], False),  # of another partition
        ([tells(BEFORE, 1), tells(AFTER)], [written(AFTER)], True),
        ([tells(BEFORE), tells(AFTER, to=(12,))], [written(AFTER)], False),  # what the next broker is told
        ([tells(BEFORE), tells(AFTER)], [written(AFTER)], False),  # what the next request tells
        ([tells(AFTER)], [written(AFTER), deleted(3, TOLD_AT - 1)], False),  # this run has told all by then
        ([tells(AFTER)], [written(AFTER), deleted(3, TOLD_AT), deleted(1, 0)], True),
        ([FOUND, tells(AFTER)], [written(AFTER)], False),
        ([], [written(AFTER)], False),
        ([tells(REMOVED)], [written(AFTER)], True),  # its ISR and controller epoch tell
        ([tells(REMOVED)], [written(BEFORE)], False),
        ([tells(led(99, 1, (99,), 6))], [written(AFTER)], False),  # a broker that nobody knows
    ],
)
def test_a_state_znode_is_read_when_it_is_as_it_is_told(
    lines: list[ControllerSaid], changes: list[ZooKeeperChange], expected: bool
) -> None:
    assert is_yet_to_come(READ, lines, changes) is expected


def test_what_is_told_after_the_listener_runs_again_was_not_read_by_this_run() -> None:
    assert not is_yet_to_come(READ, [tells(AFTER)], [written(AFTER)], said(NotificationsFound(13), TOLD_AT - 1))
    assert is_yet_to_come(READ, [tells(AFTER)], [written(AFTER)], said(NotificationsFound(13), TOLD_AT))


@pytest.mark.parametrize(
    ("lines", "changes", "expected"),
    [
        ([tells(BEFORE), tells(BEFORE, 1)], [created(1)], True),
        ([tells(BEFORE)], [created(1)], False),  # it tells of what it has listed
        # It lists the second one by itself, once the first is dealt with.
        ([tells(BEFORE), tells(BEFORE, 1, time=60)], [created(1), deleted(3, 55)], False),
        ([tells(BEFORE, 1)], [], False),
        ([tells(BEFORE, 1)], [created(0)], False),
        ([tells(BEFORE, 1)], [created(1, time=60)], False),
        ([tells(REMOVED, 1)], [created(1)], False),  # which is told of whatever is named
        ([], [created(1)], False),
    ],
)
def test_notifications_are_listed_when_all_are_there_that_are_told_of(
    lines: list[ControllerSaid], changes: list[ZooKeeperChange], expected: bool
) -> None:
    assert is_yet_to_come(LISTED, lines, changes) is expected


@pytest.mark.parametrize(
    ("change", "expected"), [(began(3, 49), True), (began(3, 50), False), (began(1, 49), False), (None, False)]
)
def test_notifications_are_listed_in_the_session_in_which_the_listener_says_that_it_runs(
    change: ZooKeeperChange | None, expected: bool
) -> None:
    """The client of a paused controller waits with the listing for its next session (ZkClient.retryUntilConnected)."""
    step = replace(LISTED, observations=(FOUND,))
    assert is_yet_to_come(step, [], [change] if change else []) is expected


def test_another_step_is_not_looked_at() -> None:
    assert not is_yet_to_come(replace(READ, rule="resign_delete"), [tells(AFTER)], [written(AFTER)])
