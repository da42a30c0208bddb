"""Runs of real Kafka 0.10.2.2 that a campaign recorded and the specification does not explain yet, one of each kind.

`model_check/campaigns/README.md` says what is behind each. Whoever fixes a kind moves its recording to those that are
explained.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from model_check.live.live_run import judged
from model_check.recordings.reading import read
from model_check.verdicts.verdict import Verdict
from spec.variants import AS_CODED

ARCHIVE = Path(__file__).parents[2] / "data/kafka-unexplained.tar.xz"
OBSERVATIONS = {
    "expiry-is-told-before-the-lock": 667,
    "killed-before-it-is-told-as-sent": 536,
    "killed-before-the-answer": 645,
    "late-note": 508,
    "lock-is-free-before-the-election": 634,
    "queue-dropped-with-its-channel": 422,
    "resignation-of-a-shutdown": 1025,
    "step-12-of-a-zombie": 494,
    "stop-before-the-read": 707,
    "taken-back-without-a-session": 506,
    "three-stops-refused": 933,
    "two-leave-the-isr": 412,
    "two-leave-the-isr-and-a-late-note": 649,
}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all of them."""
    folder = tmp_path_factory.mktemp("unexplained")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder


def test_each_is_read_to_its_end(recordings: Path) -> None:
    assert {one.name: read(one).observations for one in recordings.iterdir()} == OBSERVATIONS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "explained", "place", "text"),
    [
        ("two-leave-the-isr", 71, "zookeeper.jsonl:53", "/brokers/topics/topic-"),
        ("taken-back-without-a-session", 109, "zookeeper.jsonl:62", "/brokers/topics/topic-2/partitions/0/state"),
        ("expiry-is-told-before-the-lock", 299, "broker-3/controller.log:48", "ZK expired"),
        ("killed-before-it-is-told-as-sent", 271, "broker-3/controller.log:48", ""),
    ],
)
def test_what_no_behaviour_shows_is_told_and_no_claim_is_broken(
    recordings: Path, name: str, explained: int, place: str, text: str
) -> None:
    claims, search = judged(recordings / name, AS_CODED)
    assert claims.verdict is Verdict.HOLDS
    assert (search.verdict, search.reason.partition(":")[0]) == (Verdict.INCOMPLETE, "not explained")
    assert search.explained is not None
    assert (search.explained.explained, search.explained.next[0].place) == (explained, place)
    assert text in search.explained.next[0].text
