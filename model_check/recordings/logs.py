"""The brokers' logs, read: of which release each is, what it tells, put together, and where an end of one is torn.

A release prints some lines as no other does. `members.json` goes before what whoever judges says, and that before the
lines. Then it is the newest release that has all lines of the recording; or, if the brokers differ, of each broker's
own logs. A line that none has is refused later, by its place, as one of the release that has the most of the others.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

from model_check.recordings.clocks import ahead_of_zookeeper, lives_of
from model_check.recordings.entries import TORN_END, Log
from model_check.recordings.lines import Lines
from model_check.recordings.members import MEMBERS, Member
from model_check.recordings.recording import Cluster, Contradiction, Observed
from model_check.recordings.reports import CONTROLLER_LOG, read_reports
from model_check.recordings.seen import AnswerReceived, ZooKeeperChange
from model_check.recordings.tracks import REPORTS, STATE_CHANGES, UNLOCKED
from spec.errors import BadInput
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.logs.controller_log.lines import CONTROLLER_LOG as CONTROLLER_LINES
from spec.logs.state_change_lines import STATE_CHANGE_LOG


class BrokerLogs(NamedTuple):
    """The logs of one broker: its state-change.log, and its controller.log, which need not be there."""

    changes: Log
    reports: Log

    @classmethod
    def of(cls, state_change_log: Path, release: KafkaVersion = V0102) -> "BrokerLogs":
        """The logs that stand in one folder, of a broker of a release."""
        reports = state_change_log.with_name(CONTROLLER_LOG)
        return cls(Log(state_change_log, STATE_CHANGE_LOG, release), Log(reports, CONTROLLER_LINES, release))

    def as_of(self, release: KafkaVersion) -> "BrokerLogs":
        """The same of a broker of another release; those that were read already, if it is that."""
        return self if self.changes.release is release else BrokerLogs.of(self.changes.file, release)

    def set_right(self, cluster: Cluster, changes: Sequence[ZooKeeperChange], until: float) -> "BrokerLogs":
        """The same by ZooKeeper's clock, up to a time."""
        ahead = ahead_of_zookeeper(self.changes, self.reports, cluster, changes)
        if not ahead and until == inf:
            return self
        return BrokerLogs(*(replace(one, ahead=ahead, until=until) for one in self))


@dataclass
class ReadLogs:
    """What the brokers' logs tell; `ends` says when each controller's log ends, `torn_ends` which end is torn.

    `ahead` is what was taken off the times of each broker, by its id.
    """

    tracks: dict[str, tuple[Observed, ...]] = field(default_factory=dict)
    contradictions: list[Contradiction] = field(default_factory=list)
    answers: list[AnswerReceived] = field(default_factory=list)
    ends: dict[str, int] = field(default_factory=dict)
    torn_ends: list[str] = field(default_factory=list)
    ahead: dict[int, int] = field(default_factory=dict)


def read_logs(
    logs: Mapping[int, BrokerLogs],
    cluster: Cluster,
    changes: Sequence[ZooKeeperChange],
    acts: Sequence[Observed],
    passed_over: Counter[str],
    until: float,
) -> ReadLogs:
    """All that is in the logs, by broker id, up to a time; MalformedInput names the file and line that is wrong."""
    found = ReadLogs()
    for broker_id, as_written in logs.items():
        broker, own = cluster.broker(broker_id), as_written.set_right(cluster, changes, until)
        lines = Lines(cluster, broker, lives_of(broker, (*changes, *acts), own.reports), passed_over)
        for log in own:
            torn = log.torn_ends(lines.life)
            found.torn_ends += torn
            if torn:
                passed_over[f"{log.file.name}: {TORN_END}"] += len(torn)
        found.ahead[broker_id] = own.changes.ahead
        found.tracks |= lines.read(own.changes)
        found.ends[f"{STATE_CHANGES} {broker_id}"] = own.changes.end()
        if own.reports.file.exists():
            found.tracks |= read_reports(own.reports, cluster, broker, lines.life, passed_over)
            found.ends |= dict.fromkeys((f"{log} {broker_id}" for log in (REPORTS, UNLOCKED)), own.reports.end())
        found.contradictions += lines.requests.contradictions
        found.answers += lines.answers
    return found


NEWEST_FIRST: Final = sorted(KafkaVersion, reverse=True)
ERA: Final = f"{min(KafkaVersion)} to {max(KafkaVersion)}"

Releases = Mapping[int, KafkaVersion | None]
"""By broker; None, if a broker claims none of the documented ones."""


def releases_of(
    logs: Mapping[int, BrokerLogs], members: Mapping[int, Member] | None, given: KafkaVersion | None
) -> Releases:
    """The release of each member, and of each broker that has a state-change.log.

    BadInput if a broker's lines belong to no documented release, and nobody says that it claims none.
    """
    said = {broker: one.release for broker, one in (members or {}).items()}
    unsaid = {broker: one for broker, one in logs.items() if broker not in said}
    return {**said, **(_told(unsaid) if given is None else dict.fromkeys(unsaid, given))}


def _told(logs: Mapping[int, BrokerLogs]) -> Releases:
    """What the lines of some brokers tell."""
    everything = [log for one in logs.values() for log in one]
    common = next((one for one in NEWEST_FIRST if not any(any(log.unread(one)) for log in everything)), None)
    if common is not None:
        return dict.fromkeys(logs, common)
    return {broker: _of_one(broker, one) for broker, one in logs.items()}


def _of_one(broker: int, logs: BrokerLogs) -> KafkaVersion:
    """The release that has the most lines of one broker; a broker that is of none has less than half of them."""
    unread = {release: sum(1 for log in logs for _ in log.unread(release)) for release in NEWEST_FIRST}
    best = min(NEWEST_FIRST, key=unread.__getitem__)
    entries = sum(1 for log in logs for _ in log.entries())
    if 2 * unread[best] > entries:
        raise BadInput(
            f"{logs.changes.source}: {unread[best]:,} of its and controller.log's {entries:,} lines are not of Kafka"
            f" {ERA}; if broker {broker} runs something else, write {MEMBERS} with release null for it (RECORDING.md),"
            " and its logs are not read"
        )
    return best
