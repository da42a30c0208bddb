"""Whole log files of real Kafkas: every line reads, prints as it stood, and has its level and logger."""

import tarfile
from collections import Counter
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

import pytest

from spec.formats.kafka_types import V0100, V0101, V0102, V082, KafkaVersion
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_entries import LogEntry, TornLine, read_entries
from spec.logs.log_lines import Line, Vocabulary
from spec.logs.state_change_lines import STATE_CHANGE_LOG

DATA = Path(__file__).parents[2] / "data"
VOCABULARIES = {"controller.log": CONTROLLER_LOG, "state-change.log": STATE_CHANGE_LOG}


def files(archive: str) -> Iterator[tuple[str, list[LogEntry | TornLine]]]:
    """The files of an archive, by their names, as entries."""
    with tarfile.open(DATA / archive) as opened:
        for member in opened:
            stream = opened.extractfile(member)
            assert stream is not None
            yield member.name, list(read_entries(TextIOWrapper(stream, encoding="utf-8"), member.name))


def reads(entry: LogEntry, vocabulary: Vocabulary, version: KafkaVersion) -> Line:
    """The line of an entry, which prints as the entry stands."""
    line = vocabulary.parse(entry.message, version, entry.place)
    assert (str(line), line.level, line.logger) == (entry.message, entry.level, entry.logger)
    return line


PUBLIC = [
    ("0.8.2-a-controller.log", V082, 233, 233),
    ("0.8.2-a-state-change.log", V082, 300, 100),
    ("0.8.2-b-controller.log", V082, 319, 311),
    ("0.8.2-b-state-change.log", V082, 152, 102),
    ("0.8.2-c-controller.log", V082, 256, 256),
    ("0.8.2-c-state-change.log", V082, 961, 417),
    ("0.10.0-state-change.log", V0100, 190, 90),
    ("0.10.1-state-change.log", V0101, 567, 567),
    ("0.10.2-controller.log", V0102, 338, 292),
    ("0.10.2-state-change.log", V0102, 7229, 973),
]
"""Files that people committed, their lines (`wc -l`), and how many begin with a time; the rest is stack traces."""


@pytest.fixture(scope="module")
def public() -> dict[str, list[LogEntry | TornLine]]:
    return dict(files("kafka-public-logs.tar.xz"))


@pytest.mark.parametrize(("name", "version", "lines", "entries"), PUBLIC)
def test_all_of_what_people_committed_reads(
    public: dict[str, list[LogEntry | TornLine]], name: str, version: KafkaVersion, lines: int, entries: int
) -> None:
    """The share that is read of each file is the whole: nothing is torn, refused or left over."""
    found = [entry for entry in public[name] if isinstance(entry, LogEntry)]
    vocabulary = next(known for end, known in VOCABULARIES.items() if name.endswith(end))
    for entry in found:
        reads(entry, vocabulary, version)
    assert len(public) == len(PUBLIC)
    assert len(found) == len(public[name]) == entries
    assert sum(1 + len(entry.trace) for entry in found) == lines


def test_all_that_recorded_controllers_wrote_reads() -> None:
    """97 files of 30 small clusters of 0.10.2.2: 21,888 lines, 16,807 of them begin with a time."""
    seen = Counter[str]()
    names = traced = 0
    for name, entries in files("kafka-0.10.2.2-controller-logs.tar.xz"):
        names += 1
        for entry in entries:
            assert isinstance(entry, LogEntry), name
            traced += len(entry.trace)
            seen[type(reads(entry, CONTROLLER_LOG, V0102)).__name__] += 1
    assert (names, seen.total(), traced) == (97, 16_807, 21_888 - 16_807)
    assert {kind.__name__ for kind in CONTROLLER_LOG.kinds} - seen.keys() == NEVER_RECORDED


NEVER_RECORDED = {
    # Errors that no scenario provoked.
    "DeletionThreadFailed",
    "NoStateToShrink",
    "NotificationUnreadable",
    "OldControllerInfo",
    "PartitionsError",
    "PartitionsInvokedError",
    "PartitionsOnlineError",
    "PreferredElectionError",
    "ReassignedIsrError",
    "ReassignedNeverCreated",
    "RemovalError",
    "ReplicasInvokedError",
    "SendThreadFailed",
    "SendingGivenUp",
    "TopicChangeError",
    "LeaderAndIsrNotSent",
    "StopReplicaNotSent",
    "UpdateMetadataNotSent",
    # A fix says it, and no Kafka (D61).
    "ReassignmentRefused",
    # Cases that none of them has.
    "FailoverAborted",
    "LeaderReassignedDead",
    "NeverAsked",
    "PreferredElectionSkipped",
    "PreferredElectionUnderWay",
    "ReassignmentSkipped",
    "SessionExpiredElectedAlready",
    # Topics may be deleted in all of them, and no JMX client looked at any.
    "RequestRefused",
    "RequestRefusedAtStart",
    "LoggerRegistered",
}
