"""Log files: whole lines that Kafka's own readers take, appended over all incarnations."""

import os
import threading
from pathlib import Path

import pytest

from model_check.recordings.sessions import sessions_by_log
from reference.journal import Milestone, Reached, Report, StateChange
from reference.live.logs import Logs
from spec.formats.kafka_types import TopicPartition
from spec.logs.controller_log.broker_changes import BrokerDifference
from spec.logs.controller_log.failover import ReadyToServe
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_entries import LogEntry, TornLine, read_entries
from spec.logs.state_change_lines import STATE_CHANGE_LOG, LeaderElected

LINE = LeaderElected(1, 4, leader=2, partition=TopicPartition("t", 0))


def entries(file: Path) -> list[LogEntry | TornLine]:
    return list(read_entries(file.read_text(encoding="utf-8").splitlines(), file.name))


def test_what_the_handlers_say_is_read_back_as_it_was(tmp_path: Path) -> None:
    for _ in range(2):  # two incarnations
        Logs(1, tmp_path).journal(StateChange(LINE))
    read = entries(tmp_path / "state-change.log")
    assert [STATE_CHANGE_LOG.parse(one.message) for one in read if isinstance(one, LogEntry)] == [LINE, LINE]


def test_threads_do_not_tear_each_others_lines(tmp_path: Path) -> None:
    logs = Logs(1, tmp_path)

    def write() -> None:
        for _ in range(200):
            logs.journal(StateChange(LINE))

    writers = [threading.Thread(target=write) for _ in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    read = entries(tmp_path / "state-change.log")
    assert len(read) == 800
    assert all(isinstance(one, LogEntry) for one in read)


def test_part_of_a_line_is_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that a disk has room for in part succeeds: nobody must go on as if the line were there."""
    logs, write = Logs(1, tmp_path), os.write
    monkeypatch.setattr(os, "write", lambda descriptor, line: write(descriptor, line[:10]))
    with pytest.raises(OSError, match="No space left on device"):
        logs.journal(StateChange(LINE))


def test_what_the_controller_reports_stands_in_its_own_log(tmp_path: Path) -> None:
    logs = Logs(3, tmp_path)
    lines = [ReadyToServe(3, 7), BrokerDifference(3, (1, 2), (), (1, 2, 3))]
    for line in lines:
        logs.journal(Report(line))
    for milestone in Milestone:
        logs.journal(Reached(3, milestone, 7))
    read = [one for one in entries(tmp_path / "controller.log") if isinstance(one, LogEntry)]
    assert [CONTROLLER_LOG.parse(one.message) for one in read] == lines
    assert [(one.level, one.logger) for one in read] == [(line.level, line.logger) for line in lines]
    (failed,) = entries(tmp_path / "server.log")
    assert isinstance(failed, LogEntry)
    assert (failed.level, failed.message) == ("ERROR", "Error while electing or becoming leader on broker 3")


def test_sessions_are_told_with_the_life_that_had_them(tmp_path: Path) -> None:
    for life in (1, 2):
        logs = Logs(5, tmp_path / "broker-5")
        logs.starting()
        logs.session_began(16 * life, "127.0.0.1:2181", 1500)
    logs.session_began(-1, "127.0.0.1:2181", 1500)
    found = {session: (one.broker, one.incarnation) for session, one in sessions_by_log(tmp_path).items()}
    assert found == {16: (5, 1), 32: (5, 2), -1: (5, 2)}
