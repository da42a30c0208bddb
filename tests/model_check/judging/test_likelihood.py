"""Which of the steps that are possible are taken at once, by what the recording tells next."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from model_check.judging.likelihood import ISR_CHANGES, Likelihood
from model_check.judging.positions import Explained, Position
from model_check.recordings.seen import ControllerDeleted, ControllerSaid, ReplicaStopped, SessionEnded, StateWritten
from model_check.recordings.tracks import REPORTS, STATE_CHANGES, UNLOCKED
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log.failover import Resigned, SessionExpired
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_request_lines import UpdateMetadataSending
from spec.logs.log_lines import Line
from spec.logs.state_change_lines import ReplicaChanged, ReplicaChangeFailed
from spec.protocol.broker_events.controlled_shutdown import move_partition
from spec.protocol.broker_events.isr_notification import read_notification
from spec.protocol.brokers.processes import expire_session
from spec.protocol.failover.election import resign_delete
from spec.protocol.leadership.partitions import read_for_election
from spec.protocol.leadership.replicas import read_for_removal
from spec.protocol.requests.connections import deliver_deletion, deliver_deletion_unanswered
from spec.tables.replica_states import ReplicaState
from tests.leaderships import led

AT: dict[str, Any] = {"place": "", "time": 0, "text": ""}
RESIGNS, FOUND = Resigned(1), NotificationsFound(1)
NAMES = TopicPartition("t", 0), TopicPartition("t", 1)
TELLS = UpdateMetadataSending(1, 5, led(1, 0, (1,), 5), (2,), TopicPartition("t", 0))


def likelihood(said: Mapping[str, tuple[Line, ...]], earlier: tuple[str, ...] = (STATE_CHANGES,)) -> Likelihood:
    """Of a recording that tells these lines of controller 1 next, and has told some earlier in these logs."""
    lines = {
        log: [ControllerSaid(**AT, controller=1, incarnation=1, line=one) for one in some] for log, some in said.items()
    }
    tracks: Any = SimpleNamespace(
        lines=lambda _place, _c, log: lines.get(log, []),
        tells=lambda _c, log: log in earlier or bool(lines.get(log)),
        is_late=lambda _place, _shown: False,
        changes=lambda _place: [],
    )
    deliveries: Any = SimpleNamespace(are_lost=lambda *_: False, system=SimpleNamespace(model=None))
    return Likelihood(tracks, deliveries, deaths_are_inferred=False)


def is_taken_at_once(of: Likelihood, rule: str, before: Mapping[str, Any], after: Mapping[str, Any], **by: int) -> bool:
    at = Position(before, ())
    step = Explained(rule, {"c": 1, **by}, (), ())
    return of.is_likely_at_once(at, Position(after, (), before=at, step=step))


@pytest.mark.parametrize(
    ("said", "callbacks", "expected"),
    [
        ((FOUND,), {}, False),  # a notification is yet to wake the listener
        ((FOUND,), {0: ISR_CHANGES}, True),
        ((RESIGNS, FOUND), {}, True),  # it says something else before
        ((), {}, True),
    ],
)
def test_a_controller_resigns_when_what_it_says_next_has_been_woken(
    said: tuple[Line, ...], callbacks: dict[int, int], expected: bool
) -> None:
    before, after = ({"controllers": {1: {"active": active, "callbacks": callbacks}}} for active in (1, 0))
    assert is_taken_at_once(likelihood({REPORTS: said}), "resign", before, after) is expected


@pytest.mark.parametrize(("znode", "expected"), [({}, True), ({0: {"version": 3}}, False)])
def test_what_is_gone_is_read_at_once(znode: dict[int, Any], expected: bool) -> None:
    """Else a read for a removal is taken when what is written comes next."""
    state = {"zookeeper": {"state": znode}, "controllers": {1: {}}}
    assert is_taken_at_once(likelihood({}), read_for_removal.name, state, state, p=0, r=2) is expected


@pytest.mark.parametrize(
    ("said", "earlier", "expected"),
    [
        ({STATE_CHANGES: (TELLS,)}, (STATE_CHANGES,), True),
        ({REPORTS: (FOUND,)}, (STATE_CHANGES,), False),  # it goes on, and sends nothing
        ({}, (STATE_CHANGES,), True),  # the recording ends here
        ({REPORTS: (FOUND,)}, (), True),  # its log never tells of what it sends
    ],
)
def test_a_notification_is_read_at_once_by_who_tells_of_it(
    said: dict[str, tuple[Line, ...]], earlier: tuple[str, ...], expected: bool
) -> None:
    state = {"controllers": {1: {"epoch": 5, "partitions": {0: {"todo": 1}}}}}
    assert is_taken_at_once(likelihood(said, earlier), read_notification.name, state, state) is expected


def test_with_a_dirty_batch_it_may_be_read_by_who_tells_nobody() -> None:
    state = {"controllers": {1: {"epoch": 5, "dirty": 1, "partitions": {0: {"todo": 1}}}}}
    assert is_taken_at_once(likelihood({REPORTS: (FOUND,)}), read_notification.name, state, state)


@pytest.mark.parametrize(("told", "expected"), [(0, True), (1, False), (None, True)])
@pytest.mark.parametrize("kind", [ReplicaChanged, ReplicaChangeFailed])
def test_a_shutdown_turns_to_the_partition_of_which_its_controller_speaks_next(
    kind: type[ReplicaChanged | ReplicaChangeFailed], told: int | None, *, expected: bool
) -> None:
    """Broker 2 is shut down; its replica's way Offline is told, or fails, and that is told."""
    line = kind(1, 5, 2, NAMES[told or 0], ReplicaState.ONLINE, ReplicaState.OFFLINE)
    of = likelihood({STATE_CHANGES: () if told is None else (line,)})
    tracks: Any = of.tracks
    tracks.cluster = SimpleNamespace(partitions=NAMES)
    assert is_taken_at_once(of, move_partition.name, {"controllers": {}}, {"controllers": {1: {}}}, p=0) is expected


@pytest.mark.parametrize(
    ("by", "deleted", "said", "expected"),
    [
        (1, 99, 100, False),
        (1, 101, 100, True),  # it says something else before
        (2, 99, 100, True),
        (1, 99, None, False),
        (0, 99, 100, True),  # by hand
    ],
)
def test_who_resigns_deletes_the_controller_that_comes_before_it_says_more(
    by: int, deleted: int, said: int | None, *, expected: bool
) -> None:
    """There is none now, so the deletion of the next one would be nobody's (D3)."""
    of = likelihood({})
    tracks: Any = of.tracks
    line = ControllerSaid(**{**AT, "time": said or 0}, controller=1, incarnation=1, line=FOUND)
    tracks.lines = lambda _place, _c, log: [line] if said and log == REPORTS else []
    tracks.changes = lambda _place: [ControllerDeleted(**{**AT, "time": deleted}, zxid=1, by=by)]
    assert is_taken_at_once(of, resign_delete.name, {"controllers": {}}, {"controllers": {}}) is expected


@pytest.mark.parametrize(
    ("said", "delete", "expected"),
    [
        ((RESIGNS,), True, True),
        ((RESIGNS,), False, False),  # of what is only stopped no callback waits for the controller
        ((FOUND, RESIGNS), True, False),  # it goes on for a while
        ((), True, False),
    ],
)
def test_the_answer_to_a_deletion_is_lost_to_who_closes_its_channels(
    said: tuple[Line, ...], delete: bool, expected: bool
) -> None:
    """It would wait for the lock of whoever waits for it (D50)."""
    of = likelihood({REPORTS: said})
    told: Any = of.deliveries
    told.is_a_last_deletion = lambda *_: False
    stopped = ReplicaStopped(**AT, broker=2, incarnation=1, partition=0, delete=delete)
    at = Position({}, ())
    rule = deliver_deletion_unanswered.name
    assert of.is_likely((rule, {"c": 1, "b": 2, "p": 0}), at, at, stopped) is expected
    assert of.is_likely((deliver_deletion.name, {"c": 1, "b": 2, "p": 0}), at, at, stopped)


@pytest.mark.parametrize(("written", "expected"), [(99, False), (100, True), (101, True)])
def test_a_state_znode_is_read_behind_what_was_written_before_the_line_that_tells_of_it(
    written: int, expected: bool
) -> None:
    """Whoever reads it says at 100 that it does; somebody else writes it again, by the clocks, before that or not."""
    of = likelihood({})
    told: Any = of.tracks
    change = StateWritten(
        **{**AT, "time": written},
        zxid=1,
        by=2,
        partition=0,
        state=led(2, 1, (2,), 6),
        by_leader=False,
        changed=frozenset(),
    )
    told.transactions = lambda _place, until: [change] if written <= until else []
    line = ControllerSaid(**{**AT, "time": 100}, controller=1, incarnation=1, line=RESIGNS)
    at = Position({}, ())
    step = Explained(read_for_election.name, {"c": 1, "p": 0}, (), (line,))
    assert of.is_too_early(at, Position({}, (), before=at, step=step)) is not expected


@pytest.mark.parametrize(
    ("waiting", "found", "details", "expected"),
    [
        ({0: ISR_CHANGES}, 8, {NotificationsFound}, False),  # it runs under the next session only
        ({0: ISR_CHANGES}, None, {NotificationsFound}, False),
        ({0: ISR_CHANGES}, 6, {NotificationsFound}, True),
        ({}, 8, {NotificationsFound}, True),
        ({0: ISR_CHANGES}, None, set(), True),  # its process does not write of that listener at all
    ],
)
def test_an_event_that_no_listener_hears_before_its_session_is_over_was_lost_with_it(
    waiting: dict[int, int], found: int | None, details: set[type[Line]], expected: bool
) -> None:
    """ZkClient's thread calls the listeners in the order of the events that have reached it."""
    of = likelihood({})
    told: Any = of.tracks
    lines = {UNLOCKED: (7, SessionExpired(1)), REPORTS: (found, FOUND)}
    told.lines = lambda _place, _c, log: [
        ControllerSaid(
            **{**AT, "place": f"broker-1/controller.log:{number}"},
            controller=1,
            incarnation=1,
            line=line,
            details=frozenset(details),
        )
        for number, line in [lines[log]]
        if number is not None
    ]
    at, to = Position({}, ()), Position({"controllers": {1: {"callbacks": waiting}}}, ())
    ended = SessionEnded(
        **AT, zxid=1, by=1, by_client=False, superseded=False, survived=True, had_controller=True, had_registration=True
    )
    assert of.is_likely((expire_session.name, {"b": 1, "lost": 0}), at, to, ended) is expected
