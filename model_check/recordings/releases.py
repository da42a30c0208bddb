"""Which release wrote a broker's logs: as it is said, or as its lines tell, some of which only that release prints so.

`members.json` goes before what whoever judges says, and that before the lines. Then it is the newest release that has
all lines of the recording; or, if the brokers differ, of each broker's own logs. A line that none has is refused later,
by its place, as one of the release that has the most of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from model_check.recordings.entries import Log
from model_check.recordings.logs import BrokerLogs
from model_check.recordings.members import MEMBERS, Member
from spec.errors import BadInput
from spec.formats.kafka_types import KafkaVersion

NEWEST_FIRST: Final = sorted(KafkaVersion, reverse=True)
ERA: Final = f"{min(KafkaVersion)} to {max(KafkaVersion)}"

Releases = Mapping[int, KafkaVersion | None]
"""By broker; None, if a broker claims none of the documented ones."""


def releases_of(
    files: Mapping[int, Path], members: Mapping[int, Member] | None, given: KafkaVersion | None
) -> Releases:
    """The release of each member, and of each broker that has a state-change.log.

    BadInput if a broker's lines belong to no documented release, and nobody says that it claims none.
    """
    said = {broker: one.release for broker, one in (members or {}).items()}
    unsaid = {broker: BrokerLogs.of(file) for broker, file in files.items() if broker not in said}
    if given is not None:
        return {**said, **dict.fromkeys(unsaid, given)}
    return {**said, **_told(unsaid)}


def _told(logs: Mapping[int, BrokerLogs]) -> Releases:
    """What the lines of some brokers tell."""
    everything = [log for one in logs.values() for log in (one.changes, one.reports)]
    common = next((release for release in NEWEST_FIRST if _reads_all(everything, release)), None)
    if common is not None:
        return dict.fromkeys(logs, common)
    return {broker: _of_one(broker, one) for broker, one in logs.items()}


def _of_one(broker: int, logs: BrokerLogs) -> KafkaVersion:
    """The release that has the most lines of one broker; a broker that is of none has less than half of them."""
    unread = {release: logs.changes.unread(release) + logs.reports.unread(release) for release in NEWEST_FIRST}
    best = min(NEWEST_FIRST, key=lambda release: unread[release])
    entries = logs.changes.number_of_entries + logs.reports.number_of_entries
    if 2 * unread[best] > entries:
        raise BadInput(
            f"{logs.changes.source}: {unread[best]:,} of its and controller.log's {entries:,} lines are none of Kafka"
            f" {ERA}; if broker {broker} runs something else, write {MEMBERS} with release null for it (RECORDING.md),"
            " and its logs are not read"
        )
    return best


def _reads_all(logs: Iterable[Log], release: KafkaVersion) -> bool:
    return all(log.reads_all(release) for log in logs)
