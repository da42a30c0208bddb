"""The brokers' logs, read: what each of them tells, put together, and where an end of one is torn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from model_check.recordings.clocks import ahead_of_zookeeper
from model_check.recordings.entries import TORN_END, Log
from model_check.recordings.lines import Lines
from model_check.recordings.lives import lives_of
from model_check.recordings.processes import AnswerReceived
from model_check.recordings.recording import Cluster, Contradiction, Observed
from model_check.recordings.reports import CONTROLLER_LOG, read_reports
from model_check.recordings.tracks import REPORTS, STATE_CHANGES
from model_check.recordings.zookeeper import ZooKeeperChange
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.logs.controller_log.lines import CONTROLLER_LOG as CONTROLLER_LINES
from spec.logs.state_change_lines import STATE_CHANGE_LOG


@dataclass(frozen=True)
class BrokerLogs:
    """The logs of one broker: its state-change.log, and its controller.log, which need not be there."""

    changes: Log
    reports: Log

    @classmethod
    def of(cls, state_change_log: Path, release: KafkaVersion = V0102) -> BrokerLogs:
        """The logs that stand in one folder, of a broker of a release."""
        reports = state_change_log.with_name(CONTROLLER_LOG)
        return cls(Log(state_change_log, STATE_CHANGE_LOG, release), Log(reports, CONTROLLER_LINES, release))

    def set_right(self, cluster: Cluster, changes: Sequence[ZooKeeperChange], until: int | None) -> BrokerLogs:
        """The same by ZooKeeper's clock, up to a time."""
        ahead = ahead_of_zookeeper(self.changes, self.reports, cluster, changes)
        return BrokerLogs(*(replace(one, ahead=ahead, until=until) for one in (self.changes, self.reports)))


@dataclass
class ReadLogs:
    """What the brokers' logs tell; `ends` says when each controller's log ends, `torn_ends` which end is torn."""

    tracks: dict[str, tuple[Observed, ...]] = field(default_factory=dict)
    contradictions: list[Contradiction] = field(default_factory=list)
    answers: list[AnswerReceived] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)
    torn_ends: list[str] = field(default_factory=list)


def read_logs(
    logs: Mapping[int, BrokerLogs],
    cluster: Cluster,
    changes: Sequence[ZooKeeperChange],
    acts: Sequence[Observed],
    passed_over: Counter[str],
    until: int | None,
) -> ReadLogs:
    """All that is in the logs, by broker id, up to a time; MalformedInput names the file and line that is wrong."""
    found = ReadLogs()
    for broker_id, as_written in logs.items():
        broker, own = cluster.broker(broker_id), as_written.set_right(cluster, changes, until)
        lines = Lines(cluster, broker, lives_of(broker, (*changes, *acts), own.reports), passed_over)
        for log in (own.changes, own.reports):
            torn = log.torn_ends(lines.life)
            found.torn_ends += torn
            if torn:
                passed_over[f"{log.file.name}: {TORN_END}"] += len(torn)
        found.tracks |= lines.read(own.changes)
        found.ends[f"{STATE_CHANGES} {broker_id}"] = own.changes.end()
        if own.reports.file.exists():
            found.tracks |= read_reports(own.reports, cluster, broker, lines.life, passed_over)
            found.ends[f"{REPORTS} {broker_id}"] = own.reports.end()
        found.contradictions += lines.contradictions
        found.answers += lines.answers
    return found
