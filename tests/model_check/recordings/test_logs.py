"""Logs of each release are read as what that prints: as it is said, or as they tell; and nobody asks of later ones."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model_check.judging.judge import Outcome, judge
from model_check.recordings.logs import BrokerLogs, releases_of
from model_check.recordings.reading import read
from model_check.recordings.seen import EpochWritten
from spec.errors import BadInput, UnknownName
from spec.formats.kafka_types import V0100, V0101, V0102, V082, V090, KafkaVersion, release_named

ARCHIVE = Path(__file__).parents[2] / "data" / "kafka-other-releases.tar.xz"
OF_THE_ERA = {"release-0.8.2.2": V082, "release-0.9.0.1": V090, "release-0.10.1.1": V0101}
LATER = ("controller-1.1.1", "controller-2.8.2")
"""Broker 1 is a controller of that release, and holds no replicas; the others are the reference's."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with all recordings, to be changed."""
    with tarfile.open(ARCHIVE) as archive:
        for member in archive:
            if (stream := archive.extractfile(member)) is not None:
                (tmp_path / member.name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / member.name).write_bytes(stream.read())
    return tmp_path


def logs(folder: Path) -> Iterator[tuple[int, BrokerLogs]]:
    for file in sorted(folder.glob("broker-*/state-change.log")):
        yield int(file.parent.name.removeprefix("broker-")), BrokerLogs.of(file)


@pytest.mark.parametrize("name", OF_THE_ERA)
def test_logs_tell_their_release_and_are_read_to_the_last_line(name: str, home: Path) -> None:
    found = read(home / name)
    assert found.releases == dict.fromkeys((1, 2, 3), OF_THE_ERA[name])
    assert (found.claims_era, found.cut, found.contradictions, found.torn_ends) == (True, None, (), ())
    for _, one in logs(home / name):
        for log in (one.changes, one.reports):
            text = log.file.read_text(encoding="utf-8")
            assert sum(1 for _ in log.entries()) == sum(line.startswith("[20") for line in text.splitlines())
            assert not list(log.unread(OF_THE_ERA[name]))


def test_only_the_own_release_has_all_lines(home: Path) -> None:
    """How many of the lines of each recording are none of each release."""
    unread = {
        name: [
            sum(len(list(log.unread(release))) for _, one in logs(home / name) for log in (one.changes, one.reports))
            for release in KafkaVersion
        ]
        for name in OF_THE_ERA
    }
    assert [counts.index(0) for counts in unread.values()] == [0, 1, 3]
    assert all(counts.count(0) == 1 for counts in unread.values())


def test_brokers_of_different_releases_tell_theirs_each(home: Path) -> None:
    first = {number: dict(logs(home / name))[1] for number, name in enumerate(OF_THE_ERA, start=1)}
    assert releases_of(first, None, None) == {1: V082, 2: V090, 3: V0101}


def test_what_members_say_goes_before_what_is_given_and_that_before_the_lines(home: Path) -> None:
    folder = home / "release-0.8.2.2"
    with pytest.raises(BadInput, match=r"^broker-1/state-change.log:\d+: no line of Kafka 0.9.0: expected "):
        read(folder, V090)
    assert read(folder, V082).tracks == read(folder).tracks
    write_members(folder, {1: "0.8.2", 2: "0.8.2", 3: "0.8.2"})
    assert read(folder, V090).releases == {1: V082, 2: V082, 3: V082}


def write_members(folder: Path, releases: dict[int, str | None]) -> None:
    members: dict[str, Any] = {
        str(broker): {"role": "both", "runs": "kafka", "release": release} for broker, release in releases.items()
    }
    (folder / "members.json").write_text(json.dumps(members), encoding="utf-8")


@pytest.mark.parametrize("name", LATER)
def test_logs_that_nobody_knows_are_refused_with_what_to_do(name: str, home: Path) -> None:
    with pytest.raises(BadInput) as refusal:
        read(home / name)
    assert "lines are not of Kafka 0.8.2 to 0.10.2; if broker 1 runs something else, write members.json" in str(
        refusal.value
    )
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", LATER)
@pytest.mark.parametrize("has_logs", [True, False])
def test_of_who_claims_no_release_no_log_is_read_or_asked_for(name: str, has_logs: bool, home: Path) -> None:
    """ZooKeeper's side and the other brokers' logs are read to the end."""
    folder = home / name
    write_members(folder, {1: None, 2: "0.10.2", 3: "0.10.2", 4: "0.10.2"})
    if not has_logs:
        for log in (folder / "broker-1").iterdir():
            log.unlink()
    found = read(folder)
    assert (found.claims_era, found.cut) == (False, None)
    assert found.releases == {1: None, 2: V0102, 3: V0102, 4: V0102}
    assert "controller 1" not in found.tracks
    assert len(found.tracks["broker 2"]) > 5
    epochs = [one.epoch for one in found.tracks["zookeeper"] if isinstance(one, EpochWritten)]
    assert epochs == ([1] if name == "controller-1.1.1" else [0, 1])
    lines = (folder / "zookeeper.jsonl").read_text(encoding="utf-8").count("\n")
    last = int(found.tracks["zookeeper"][-1].place.rpartition(":")[2])
    assert lines - 20 < last <= lines


def test_where_all_claim_none_no_log_is_needed(home: Path) -> None:
    folder = home / LATER[0]
    write_members(folder, dict.fromkeys((1, 2, 3, 4)))
    for log in folder.glob("broker-*/*.log"):
        log.unlink()
    assert set(read(folder).tracks) == {"zookeeper", "environment"}


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_THE_ERA)
def test_what_older_releases_did_is_explained_by_their_own_ways(name: str, home: Path) -> None:
    """Their lines tell each broker of an UpdateMetadata by itself; those of 0.8.2 no version of a state znode."""
    found = judge(read(home / name))
    assert (found.outcome, found.explained) == (Outcome.EXPLAINED, found.observations)


@pytest.mark.parametrize(
    ("name", "release"), [("0.8.2", V082), ("0.8.2.2", V082), ("0.10.0.1", V0100), ("0.10.2", V0102)]
)
def test_a_release_is_named_by_its_line_or_in_full(name: str, release: KafkaVersion) -> None:
    assert release_named(name) is release


@pytest.mark.parametrize("name", ["0.10", "1.1.1", "", "0.8.22"])
def test_a_release_that_is_not_documented_has_no_name(name: str) -> None:
    with pytest.raises(UnknownName, match=r"no release is called .* \(known: 0.8.2, 0.9.0, 0.10.0, 0.10.1, 0.10.2\)"):
        release_named(name)
