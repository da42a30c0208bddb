"""Whether a failover has read something too early, by what it tells the brokers first."""

from types import SimpleNamespace
from typing import Any

import pytest

from model_check.judging.positions import Position
from model_check.judging.recorded_trees import raw_leadership
from model_check.judging.told_first import ToldFirst
from model_check.recordings.seen import AssignmentWritten, ControllerSaid, RequestHandled, StateWritten, ZooKeeperChange
from model_check.recordings.tracks import REPORTS
from model_check.stepping.open_system import open_system
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs.controller_log.failover import ActiveBrokers, EpochIncremented, Resigned
from spec.logs.log_lines import Line
from spec.variants import AS_CODED
from tests.leaderships import led

MODEL = open_system(
    3,
    ((1, 2), (2, 3)),
    (0, 0),
    controller_epochs=3,
    switches=AS_CODED,
    parts=frozenset({"reassignment"}),
    requests=(((3,), ()),),
).model
AT: dict[str, Any] = {"place": "", "text": ""}
BEFORE, AFTER = led(1, 0, (1, 2), 1), led(1, 0, (1,), 1)
LIVE, EPOCH = 0b011, 2
GOES_ON, ANEW, RESIGNS = ActiveBrokers(3, (1, 2)), EpochIncremented(3, 4), Resigned(3)


def handled(
    broker: int, state: LeaderIsrAndControllerEpoch, replicas: tuple[int, ...], *, received: int = 50, p: int = 0
) -> RequestHandled:
    """A LeaderAndIsr of controller 3 that a broker has received."""
    return RequestHandled(
        **AT,
        time=received,
        broker=broker,
        incarnation=1,
        received=received,
        kind="LeaderAndIsr",
        controller=3,
        epoch=EPOCH,
        correlation_id=0,
        states={p: state},
        outcomes={},
        refused=False,
        replicas={p: frozenset(replicas)},
    )


def written(state: LeaderIsrAndControllerEpoch, *, time: int = 40, p: int = 0) -> StateWritten:
    return StateWritten(**AT, time=time, zxid=1, by=1, partition=p, state=state, by_leader=True, changed=frozenset({2}))


def assigned(*replicas: int, time: int = 40) -> AssignmentWritten:
    return AssignmentWritten(**AT, time=time, zxid=1, by=1, topic=0, assigned={0: replicas, 1: (2, 3)})


METADATA = RequestHandled(
    **AT,
    time=10,
    broker=1,
    incarnation=1,
    received=10,
    kind="UpdateMetadata",
    controller=3,
    epoch=EPOCH,
    correlation_id=0,
    states={},
    outcomes={},
    refused=False,
)


def is_yet_to_come(
    told: list[RequestHandled],
    changes: list[ZooKeeperChange],
    partition: dict[str, Any],
    said: tuple[Line, ...] = (GOES_ON,),
    **p: int,
) -> bool:
    """Of controller 3, in epoch 2, to whom brokers 1 and 2 are live, and which knows this of the first partition."""
    lines = [ControllerSaid(**AT, time=0, controller=3, incarnation=1, line=one) for one in said]
    tracks: Any = SimpleNamespace(
        lines=lambda _place, _c, log: lines if log == REPORTS else [],
        transactions=lambda _place, until: [one for one in changes if one.time <= until],
        next_requests=lambda _place, b, c, epoch: (
            one for one in told if (one.broker, one.controller, one.epoch) == (b, c, epoch)
        ),
    )
    controller = {"epoch": EPOCH, "live": LIVE, "partitions": {0: partition}}
    return ToldFirst(tracks, MODEL).is_yet_to_come(Position({"controllers": {3: controller}}, ()), {"c": 3, **p})


@pytest.mark.parametrize(
    ("told", "changes", "expected"),
    [
        ([handled(1, AFTER, (1, 2))], [written(AFTER)], True),
        ([METADATA, handled(1, AFTER, (1, 2))], [written(AFTER)], True),  # 0.10.2 begins with an UpdateMetadata
        ([handled(1, BEFORE, (1, 2))], [written(AFTER)], False),  # it tells what it has read
        ([handled(1, AFTER, (1, 2))], [], False),  # nobody is to write that
        ([handled(1, AFTER, (1, 2))], [written(BEFORE), written(AFTER, p=1)], False),
        ([handled(1, AFTER, (1, 2))], [written(AFTER, time=60)], False),  # nor before it is told
        ([handled(2, AFTER, (1, 2), received=55), handled(1, BEFORE, (1, 2))], [written(AFTER)], False),
        ([handled(1, BEFORE, (1, 2)), handled(1, AFTER, (1, 2))], [written(AFTER)], False),  # a later one has it
        ([handled(1, BEFORE, (2, 3), p=1), handled(1, AFTER, (1, 2))], [written(AFTER)], False),
        ([handled(3, AFTER, (1, 2))], [written(AFTER)], False),  # who is not live is told later
        ([], [written(AFTER)], False),
    ],
)
def test_a_state_znode_is_read_when_it_is_as_it_is_told(
    told: list[RequestHandled], changes: list[ZooKeeperChange], expected: bool
) -> None:
    """Its version is not looked at, as most releases do not print it."""
    read = {**raw_leadership(MODEL, BEFORE), "version": 1, "assigned": MODEL.brokers.list_kind.encode((1, 2))}
    assert is_yet_to_come(told, changes, read, p=0) is expected


@pytest.mark.parametrize(
    ("said", "expected"), [((RESIGNS, GOES_ON, ANEW), True), ((ANEW, GOES_ON), False), ((RESIGNS,), False), ((), False)]
)
def test_a_failover_that_fails_tells_nothing_although_its_controller_may_act_later(
    said: tuple[Line, ...], expected: bool
) -> None:
    """As on top of left-over channels (D56): what such a controller tells first has nothing to do with what it read."""
    read = {**raw_leadership(MODEL, BEFORE), "assigned": MODEL.brokers.list_kind.encode((1, 2))}
    assert is_yet_to_come([handled(1, AFTER, (1, 2))], [written(AFTER)], read, said, p=0) is expected


def test_what_is_created_later_was_not_read() -> None:
    read = {"assigned": MODEL.brokers.list_kind.encode((1, 2))}
    assert not is_yet_to_come([handled(1, AFTER, (1, 2))], [written(AFTER)], read, p=0)


@pytest.mark.parametrize(
    ("told", "changes", "expected"),
    [
        ([handled(1, BEFORE, (1, 2, 3))], [assigned(3, 1, 2)], True),
        ([handled(1, BEFORE, (1, 2))], [assigned(3, 1, 2)], False),
        ([handled(1, BEFORE, (1, 2, 3))], [assigned(3)], False),
        ([handled(1, BEFORE, (1, 2, 3))], [assigned(3, 1, 2, time=60)], False),
        ([], [assigned(3, 1, 2)], False),
    ],
)
def test_topics_are_read_when_their_replicas_are_as_they_are_told(
    told: list[RequestHandled], changes: list[ZooKeeperChange], expected: bool
) -> None:
    """In which order a partition has them, a LeaderAndIsr's lines do not tell."""
    read = {"assigned": MODEL.brokers.list_kind.encode((1, 2))}
    assert is_yet_to_come(told, changes, read) is expected


def test_a_partition_that_is_added_later_was_not_read() -> None:
    assert not is_yet_to_come([handled(1, BEFORE, (1, 2))], [assigned(1, 2)], {})
