"""Brokers' clocks that are off, or of another time zone, are set right by what follows from transactions.

And which of a broker's processes wrote a line, whatever its clock shows, and whether its controller.log tells.
"""

import re
from dataclasses import replace
from datetime import timedelta
from math import inf
from pathlib import Path

import pytest

from model_check.recordings.clocks import ahead_of_zookeeper, lives_of
from model_check.recordings.entries import Log
from model_check.recordings.logs import BrokerLogs
from model_check.recordings.reading import read
from model_check.recordings.recording import Observed
from model_check.recordings.seen import ProcessKilled, SessionBegan, SessionEnded, ZooKeeperChange
from spec.errors import BadInput, MalformedInput
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_entries import print_time
from tests.model_check.clocks import LOGS, moment
from tests.model_check.clocks import shifted as with_clocks
from tests.model_check.unpacking import RECORDINGS, recorded, unpacked

pytestmark = RECORDINGS

NAME = "12-D1-epoch-write-delayed"
A_MOMENT = 50
"""Milliseconds that a request takes."""


def shifted(folder: Path, broker: int, seconds: int) -> Path:
    """A broker's clock is so many seconds ahead."""
    return with_clocks(NAME, folder, {broker: timedelta(seconds=seconds)})


@pytest.mark.parametrize(("broker", "seconds"), [(1, 60), (2, -60), (3, 7200)])
def test_a_clock_that_is_off_is_set_right(broker: int, seconds: int, tmp_path: Path) -> None:
    original, copy = recorded(NAME), read(shifted(tmp_path, broker, seconds))
    assert all(abs(end - copy.log_ends[name]) <= A_MOMENT for name, end in original.log_ends.items())
    whole, found = original.tracks, copy.tracks
    assert found.keys() == whole.keys()
    for name, track in whole.items():
        assert [one.text for one in found[name]] == [one.text for one in track]
        assert all(abs(one.time - other.time) <= A_MOMENT for one, other in zip(found[name], track, strict=True))


@pytest.mark.parametrize("seconds", [0, 1, -1])
def test_what_the_search_bears_is_left(seconds: int, tmp_path: Path) -> None:
    whole, found = recorded(NAME).tracks["controller 2"], read(shifted(tmp_path, 2, seconds))
    assert [one.time for one in found.tracks["controller 2"]] == [one.time + 1000 * seconds for one in whole]


@pytest.mark.parametrize(("lines", "seconds", "told"), [(1, 60, False), (2, 60, True), (1, -60, True)])
def test_one_late_line_tells_of_a_slow_request_not_of_a_clock(
    lines: int, seconds: int, told: bool, tmp_path: Path
) -> None:
    """A request may have been held; but what is early is so by its clock."""
    log = shifted(tmp_path, 3, seconds) / "broker-3/state-change.log"
    received = [one for one in log.read_text(encoding="utf-8").splitlines() if " received LeaderAndIsr request " in one]
    log.write_text("".join(f"{one}\n" for one in received[:lines]), encoding="utf-8")
    log.with_name("controller.log").unlink()
    whole, logs = recorded(NAME), BrokerLogs.of(log)
    changes = [one for one in whole.tracks["zookeeper"] if isinstance(one, ZooKeeperChange)]
    ahead = ahead_of_zookeeper(logs.changes, logs.reports, whole.cluster, changes)
    assert abs(ahead - 1000 * seconds * told) <= A_MOMENT


def test_who_was_away_and_is_told_old_states_at_its_start_has_no_clock_that_is_ahead(tmp_path: Path) -> None:
    """The lines are a minute late, but its session began behind the writes."""
    log = shifted(tmp_path, 3, 60) / "broker-3/state-change.log"
    log.with_name("controller.log").unlink()
    whole, logs = recorded(NAME), BrokerLogs.of(log)
    changes = [one for one in whole.tracks["zookeeper"] if isinstance(one, ZooKeeperChange)]
    away = [
        replace(one, time=one.time + 55_000) if isinstance(one, SessionBegan) and one.by == 3 else one
        for one in changes
    ]
    assert any(one != other for one, other in zip(changes, away, strict=True))
    assert ahead_of_zookeeper(logs.changes, logs.reports, whole.cluster, changes) > 0
    assert ahead_of_zookeeper(logs.changes, logs.reports, whole.cluster, away) == 0


def test_logs_whose_clocks_are_ages_apart_are_refused(tmp_path: Path) -> None:
    """Both are of one process; what sets one of them right makes no time of the other's."""
    copy = unpacked(NAME, tmp_path)
    for log, year in zip(LOGS, ("0001", "9000"), strict=True):
        file = copy / "broker-2" / log
        file.write_text(file.read_text(encoding="utf-8").replace("[2026-", f"[{year}-"), encoding="utf-8")
    with pytest.raises(MalformedInput, match=r"^broker-2/controller.log:1: time: .* is 63,\d{3},.* behind"):
        read(copy)


@pytest.mark.parametrize("log", LOGS)
def test_pieces_of_a_log_are_refused(log: str, tmp_path: Path) -> None:
    piece = unpacked(NAME, tmp_path) / "broker-2" / f"{log}.2026-11-20-18"
    piece.touch()
    with pytest.raises(BadInput, match=re.escape(f"{piece} was rolled over; put the pieces of that log together")):
        read(tmp_path / NAME)


def test_pieces_of_a_server_log_are_refused_where_it_must_tell_whose_the_sessions_are(tmp_path: Path) -> None:
    piece = unpacked(NAME, tmp_path) / "broker-2/server.log.2026-11-20-18"
    piece.touch()
    read(tmp_path / NAME)
    (tmp_path / NAME / "sessions.json").unlink()
    with pytest.raises(BadInput, match=re.escape(f"{piece} was rolled over")):
        read(tmp_path / NAME)


STARTING = "INFO [Controller 7]: Controller starting up (kafka.controller.KafkaController)"


def began(time: int, by: int = 1) -> SessionBegan:
    return SessionBegan(place="", time=time, text="", zxid=time, by=by, first=True, is_guess=False)


def killed(time: int, broker: int = 1) -> ProcessKilled:
    return ProcessKilled(place="", time=time, text="", broker=broker)


def ended(time: int, *, superseded: bool = False, survived: bool = False) -> SessionEnded:
    return SessionEnded(
        place="", time=time, text="", zxid=time, by=1, by_client=False, superseded=superseded, survived=survived,
        had_controller=False, had_registration=True,
    )  # fmt: skip


def lives(folder: Path, starts: tuple[int, ...], *observed: Observed, until: float = inf) -> tuple[int, ...]:
    log = folder / "controller.log"
    log.write_text("".join(f"[{print_time(moment(start))}] {STARTING}\n" for start in starts), encoding="utf-8")
    return lives_of(1, sorted(observed, key=lambda one: one.time), Log(log, CONTROLLER_LOG, until=until))


@pytest.mark.parametrize("off", [-1900, -600, 0, 600, 1900])
def test_a_process_begins_where_it_says_that_its_controller_starts(off: int, tmp_path: Path) -> None:
    """It is killed, and starts anew within half a second; its clock may be off by more than that."""
    starts = (20_200 + off, 30_200 + off, 40_200 + off)
    observed = (began(20_000), killed(29_500), began(30_000), killed(39_500), began(40_000), began(25_000, by=2))
    assert lives(tmp_path, starts, *observed) == starts


def test_who_says_nothing_begins_between_the_last_death_and_its_session(tmp_path: Path) -> None:
    """The second life is killed as it starts; and one that no line tells of has its own session, or the log is cut."""
    observed = (began(20_000), killed(28_000), began(30_000), killed(30_100), began(40_000))
    assert lives(tmp_path, (20_200, 40_200), *observed) == (20_200, 29_000, 40_200)
    assert lives(tmp_path, (20_200,), *observed) == (20_200, 29_000, 35_050)
    assert lives(tmp_path, (20_200, 30_200, 40_200), *observed, until=40_100) == (20_200, 30_200, 35_050)


def test_without_a_log_the_end_of_a_session_tells_of_a_death_if_nothing_else_does(tmp_path: Path) -> None:
    """A session that ends after the next process has begun is none of that, nor is one that a process outlives."""
    none = Log(tmp_path / "none", CONTROLLER_LOG)
    assert lives_of(1, (began(20_000), ended(28_000), began(30_000)), none) == (20_000, 29_000)
    assert lives_of(1, (began(20_000), killed(24_000), ended(28_000), began(30_000)), none) == (20_000, 27_000)
    assert lives_of(1, (began(20_000), ended(28_000, survived=True), began(30_000)), none) == (20_000, 30_000)
    late = (began(20_000), began(30_000), ended(31_000, superseded=True), killed(38_000), began(40_000))
    assert lives_of(1, late, none) == (20_000, 30_000, 39_000)
    assert lives_of(1, (began(20_000), killed(24_000, broker=2), began(30_000)), none) == (20_000, 30_000)
