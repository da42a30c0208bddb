"""What is looked up in the sequences of a recording, ahead of the place that is explained."""

from collections.abc import Iterable, Sequence
from itertools import product, takewhile
from pathlib import Path
from typing import Any

import pytest

from model_check.recordings.recording import Cluster, Observed, Recording
from model_check.recordings.seen import (
    ControllerDeleted,
    ControllerSaid,
    Handled,
    ProcessKilled,
    ReplicaStopped,
    RequestHandled,
    SessionBegan,
    SessionEnded,
)
from model_check.recordings.tracks import APART, BROKER, REPORTS, SKEW, STATE_CHANGES, ZOOKEEPER, Place, Tracks
from spec.logs.controller_log.broker_changes import ShuttingDownBroker
from spec.logs.log_lines import Line
from tests.model_check.unpacking import JUDGED, RECORDINGS, judged, recorded


def test_a_log_goes_on_if_it_has_an_entry_later_than_clocks_differ() -> None:
    """The other log of the broker does not tell, nor whether that entry is an observation."""
    began = SessionBegan(place="", time=1000, text="", zxid=1, by=2, first=True, is_guess=False)

    def goes_on(log: str, end: int, place: int = 0) -> bool:
        ends = {f"{REPORTS} 7": end, f"{STATE_CHANGES} 7": 9000, f"{REPORTS} 1": 9000}
        recording = Recording(Path(), Cluster((1, 7), (), (), ()), {ZOOKEEPER: (began,)}, {}, 1, log_ends=ends)
        return Tracks(recording).goes_on((place,), (place,), 2, log, SKEW)

    assert goes_on(STATE_CHANGES, 0)
    assert goes_on(REPORTS, 1001 + SKEW)
    assert not goes_on(REPORTS, 1000 + SKEW)
    assert goes_on(REPORTS, 1001 + SKEW, place=1)  # the last that was observed is still then
    assert not goes_on("another.log", 9000)


def test_a_log_does_not_go_on_behind_its_last_entry_whatever_other_clocks_show() -> None:
    """Broker 1's clock is far ahead of ZooKeeper's, which has yet to tell of a session; its own entries are explained.

    What it writes as a broker is in state-change.log, too.
    """
    began = SessionBegan(place="", time=1000, text="", zxid=1, by=1, first=True, is_guess=False)
    at: dict[str, Any] = {"place": "", "time": 9000, "text": ""}
    said = ControllerSaid(**at, controller=1, incarnation=1, line=ShuttingDownBroker(1, 1))
    stopped = ReplicaStopped(**at, broker=1, incarnation=1, partition=0, delete=False)

    def goes_on(log: str, track: str, one: Observed, end: int, *, explained: bool) -> bool:
        tracks = {ZOOKEEPER: (began,), f"{track} 1": (one,)}
        recording = Recording(Path(), Cluster((1,), (), (), ()), tracks, {}, 1, log_ends={f"{log} 1": end})
        return Tracks(recording).goes_on((0, 0), (0, int(explained)), 1, log, APART)

    for log, track, one in ((REPORTS, REPORTS, said), (STATE_CHANGES, STATE_CHANGES, said)):
        assert not goes_on(log, track, one, 9000, explained=True)
        assert goes_on(log, track, one, 9001, explained=True)
    assert not goes_on(STATE_CHANGES, "broker", stopped, 9000, explained=True)
    assert goes_on(STATE_CHANGES, "broker", stopped, 9000, explained=False)
    assert goes_on(REPORTS, "broker", stopped, 9000, explained=True)


def test_a_log_goes_on_if_it_tells_of_a_later_life() -> None:
    """The order of its lines is certain, whatever the clocks say."""
    began = [
        SessionBegan(place="", time=time, text="", zxid=time, by=1, first=True, is_guess=False) for time in (0, 1000)
    ]
    said = [
        ControllerSaid(place="", time=1000, text="", controller=1, incarnation=life, line=ShuttingDownBroker(1, 1))
        for life in (1, 2)
    ]

    def goes_on(*lines: ControllerSaid, place: tuple[int, int]) -> bool:
        tracks = {ZOOKEEPER: tuple(began), f"{REPORTS} 1": lines}
        recording = Recording(Path(), Cluster((1,), (), (), ()), tracks, {}, 1, log_ends={f"{REPORTS} 1": 1000})
        return Tracks(recording).goes_on(place, place, 1, REPORTS, SKEW)

    assert goes_on(*said, place=(1, 0))
    assert goes_on(*said, place=(1, 1))
    assert not goes_on(*said[:1], place=(1, 0))
    assert not goes_on(*said, place=(2, 2))


def test_a_life_outlasts_the_session_of_the_one_before() -> None:
    """A broker is killed at 100, or dies unseen, begins anew at 1000, and its first session ends at 3000."""
    began = [
        SessionBegan(place="", time=time, text="", zxid=time, by=1, first=True, is_guess=False) for time in (0, 1000)
    ]
    ended = SessionEnded(
        place="", time=3000, text="", zxid=3000, by=1,
        by_client=False, superseded=True, survived=False, had_controller=False, had_registration=False,
    )  # fmt: skip
    killed = ProcessKilled(place="", time=100, text="", broker=1)
    later = SessionBegan(place="", time=9000, text="", zxid=9000, by=2, first=True, is_guess=False)

    def lives_on(*actions: ProcessKilled, place: int, milliseconds: int) -> bool:
        tracks = {ZOOKEEPER: (*began, ended, later), "actions": actions}
        tracks_of = Tracks(Recording(Path(), Cluster((1, 2), (), (), ()), tracks, {}, 1))
        return tracks_of.lives_on((place, len(actions)), 1, milliseconds)

    assert lives_on(killed, place=2, milliseconds=5999), "from 3000 on, to the last"
    assert not lives_on(killed, place=2, milliseconds=6000)
    assert not lives_on(place=1, milliseconds=0), "it ends at the latest when the next one begins"
    assert not Tracks(Recording(Path(), Cluster((1, 2), (), (), ()), {ZOOKEEPER: (*began, ended, later)}, {}, 1)).dies(
        (2,), 1
    )


def test_a_line_is_late_whose_controller_has_done_something_else_before() -> None:
    """It said something in its other log, or deleted /controller."""
    change: dict[str, Any] = {"place": "", "text": "", "zxid": 1}
    deleted = ControllerDeleted(**change, time=10, by=1)

    def said(line: Line, time: int) -> ControllerSaid:
        return ControllerSaid(place="", time=time, text="", controller=1, incarnation=1, line=line)

    def is_late(line: Line, time: int, *others: Observed) -> bool:
        changes = tuple(one for one in others if not isinstance(one, ControllerSaid))
        lines = tuple(one for one in others if isinstance(one, ControllerSaid))
        tracks = {ZOOKEEPER: changes, f"{REPORTS} 1": lines}
        return Tracks(Recording(Path(), Cluster((1, 2), (), (), ()), tracks, {}, 1)).is_late((0, 0), [said(line, time)])

    leaving = ShuttingDownBroker(1, 1)
    assert is_late(leaving, 11, said(leaving, 10))
    assert not is_late(leaving, 10, said(leaving, 10))
    assert is_late(leaving, 11, deleted)
    assert not is_late(leaving, 10, deleted)
    assert not is_late(leaving, 11, ControllerDeleted(**change, time=10, by=2)), (
        "who else deletes it, is another's doing"
    )
    assert not Tracks(Recording(Path(), Cluster((1,), (), (), ()), {ZOOKEEPER: (deleted,)}, {}, 1)).is_late((0,), [])


def plainly_handled(tracks: Tracks, place: Place, b: int) -> list[Handled]:
    """What the present process of a broker has yet to handle: all that follows, up to what is another process's."""
    number = tracks.track(BROKER, b)
    left: Sequence[Any] = () if number is None else tracks.sequences[number][place[number] :]
    return list(takewhile(lambda one: one.incarnation == tracks.life(place, b), left))


def plainly_asked(requests: Iterable[Observed], c: int, epoch: int) -> list[RequestHandled]:
    """Those of some requests that are of a controller's term."""
    every = (one for one in requests if isinstance(one, RequestHandled))
    return [one for one in every if (one.controller, one.epoch) == (c, epoch)]


def plain_leavers(changes: Iterable[Observed]) -> frozenset[int]:
    """The brokers of whom the next end or birth of a session is an end that they have asked for."""
    first: dict[int, bool] = {}
    for one in changes:
        if isinstance(one, SessionEnded) or (isinstance(one, SessionBegan) and one.first):
            first.setdefault(one.by, isinstance(one, SessionEnded) and one.by_client)
    return frozenset(b for b, leaves in first.items() if leaves)


@RECORDINGS
@pytest.mark.parametrize("name", JUDGED)
def test_what_is_looked_up_is_what_one_finds_who_goes_through_the_sequences(name: str) -> None:
    """At every place of an explanation; the places of requests by term, and where processes end, are kept."""
    recording, path = recorded(name), judged(name).path
    tracks, found = Tracks(recording), 0
    brokers = range(1, len(recording.cluster.broker_ids) + 1)
    for place in dict.fromkeys(one.place for one in path):
        changes = tracks.sequences[0][place[0] :]
        assert list(tracks.changes(place)) == list(changes)
        assert tracks.leavers(place) == plain_leavers(changes)
        for b in brokers:
            handled, number = plainly_handled(tracks, place, b), tracks.track(BROKER, b)
            assert (list(tracks.handled(place, b)), len(tracks.handled(place, b))) == (handled, len(handled))
            done = [] if number is None else list(reversed(tracks.sequences[number][: place[number]]))
            for c, epoch in product(brokers, range(1, recording.controller_epochs)):
                last, following = plainly_asked(done, c, epoch), plainly_asked(handled, c, epoch)
                assert tracks.last_request(place, b, c, epoch) is next(iter(last), None)
                assert tracks.next_request(place, b, c, epoch) is next(iter(following), None)
                assert list(tracks.next_requests(place, b, c, epoch)) == following
                found += bool(last and following)
    assert found
