"""Kafka 0.10.2.2 where a listener is given a topic that the deletion thread finishes before it has the lock."""

from pathlib import Path

import pytest

from model_check.judging.shipped_recordings import unpack
from model_check.live.live_run import judged
from model_check.recordings.reading import read
from model_check.verdicts.verdict import Verdict
from spec.variants import AS_CODED

ARCHIVE = Path(__file__).parents[2] / "data" / "kafka-two-deletions.tar.xz"


@pytest.mark.slow
def test_a_topic_that_is_new_to_nobody_is_explained(tmp_path: Path) -> None:
    """Its AR is kept, since a controller hears of a topic that has none by then (broker-2/controller.log:155)."""
    unpack(ARCHIVE, tmp_path)
    assert "addition" in read(tmp_path / "two-deletions").cluster.parts
    claims, search = judged(tmp_path / "two-deletions", AS_CODED)
    assert search.explained is not None
    assert search.explained.explained == search.explained.observations == 329
    assert (claims.verdict, search.verdict) == (Verdict.HOLDS, Verdict.HOLDS)


def test_a_topic_that_has_its_partitions_is_no_such_topic(tmp_path: Path) -> None:
    unpack(ARCHIVE, tmp_path)
    log = tmp_path / "two-deletions" / "broker-2" / "controller.log"
    said = "New topics: [Set(other)], deleted topics: [Set()], new partition replica assignment [Map({})]"
    text = log.read_text(encoding="utf-8")
    assert text.count(said.format("")) == 1
    log.write_text(text.replace(said.format(""), said.format("[other,0] -> List(1, 2)")), encoding="utf-8")
    assert "addition" not in read(tmp_path / "two-deletions").cluster.parts
