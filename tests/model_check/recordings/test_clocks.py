"""Brokers' clocks that are off, or of another time zone, are set right by what follows from transactions."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from model_check.recordings.clocks import ahead_of_zookeeper
from model_check.recordings.logs import BrokerLogs
from model_check.recordings.reading import read
from model_check.recordings.zookeeper import SessionBegan, ZooKeeperChange
from spec.errors import BadInput, MalformedInput
from tests.model_check.clocks import LOGS
from tests.model_check.clocks import shifted as with_clocks
from tests.model_check.unpacking import recording, unpacked

NAME = "12-D1-epoch-write-delayed"
A_MOMENT = 50
"""Milliseconds that a request takes."""


def shifted(folder: Path, broker: int, seconds: int) -> Path:
    """A broker's clock is so many seconds ahead."""
    return with_clocks(NAME, folder, {broker: timedelta(seconds=seconds)})


@pytest.mark.parametrize(("broker", "seconds"), [(1, 60), (2, -60), (3, 7200)])
def test_a_clock_that_is_off_is_set_right(broker: int, seconds: int, tmp_path: Path) -> None:
    original, copy = read(recording(NAME)), read(shifted(tmp_path, broker, seconds))
    assert all(abs(end - copy.log_ends[name]) <= A_MOMENT for name, end in original.log_ends.items())
    whole, found = original.tracks, copy.tracks
    assert found.keys() == whole.keys()
    for name, track in whole.items():
        assert [one.text for one in found[name]] == [one.text for one in track]
        assert all(abs(one.time - other.time) <= A_MOMENT for one, other in zip(found[name], track, strict=True))


@pytest.mark.parametrize("seconds", [0, 1, -1])
def test_what_the_search_bears_is_left(seconds: int, tmp_path: Path) -> None:
    whole, found = read(recording(NAME)).tracks["controller 2"], read(shifted(tmp_path, 2, seconds))
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
    whole, logs = read(recording(NAME)), BrokerLogs.of(log)
    changes = [one for one in whole.tracks["zookeeper"] if isinstance(one, ZooKeeperChange)]
    ahead = ahead_of_zookeeper(logs.changes, logs.reports, whole.cluster, changes)
    assert abs(ahead - 1000 * seconds * told) <= A_MOMENT


def test_who_was_away_and_is_told_old_states_at_its_start_has_no_clock_that_is_ahead(tmp_path: Path) -> None:
    """The lines are a minute late, but its session began behind the writes."""
    log = shifted(tmp_path, 3, 60) / "broker-3/state-change.log"
    log.with_name("controller.log").unlink()
    whole, logs = read(recording(NAME)), BrokerLogs.of(log)
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
