"""Kafka 0.10.2.2 where a broker cannot remove the files of a replica that it is to delete: their folder was moved."""

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from model_check.judging.shipped_recordings import unpack
from model_check.live.live_run import judged
from model_check.recordings.reading import read
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from spec.variants import AS_CODED

ARCHIVE = Path(__file__).parents[2] / "data" / "kafka-undeletable.tar.xz"
FAILED = "{error_code=0,partitions=[{topic=topic-1,partition=0,error_code=-1}]}"


def broken(run: Run) -> set[str]:
    """The claims that a run breaks."""
    return {one.property for one in run.findings if one.verdict is Verdict.VIOLATED}


@pytest.mark.slow
def test_all_of_it_is_explained_and_what_it_breaks_is_known(tmp_path: Path) -> None:
    """PROTOCOL.md D72: nothing goes on before a broker starts; of topic-2 another one does, and a log is left."""
    unpack(ARCHIVE, tmp_path)
    claims, search = judged(tmp_path / "undeletable", AS_CODED)
    assert search.explained is not None
    assert search.explained.explained == search.explained.observations == 379
    assert broken(search) == {
        "eventually_deletions_complete", "deleted_topics_are_hosted_nowhere", "dying_topics_get_no_leadership",
    }  # fmt: skip
    assert broken(claims) == {"eventually_deletions_complete"}
    assert {note.rpartition(" ")[2] for note in claims.notes if "known defect" in note} == {"D72)"}
    assert (claims.verdict, search.verdict) == (Verdict.HOLDS, Verdict.HOLDS)


STAMP: Final = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]", re.MULTILINE)


def moved_in_time(folder: Path, broker: int, ms: int) -> None:
    """A broker's clock is ahead by so many milliseconds."""

    def ahead(found: re.Match[str]) -> str:
        time = datetime.fromisoformat(found[1]) + timedelta(milliseconds=ms)
        return f"[{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03}]"

    for log in folder.glob(f"broker-{broker}/*.log"):
        log.write_text(STAMP.sub(ahead, log.read_text(encoding="utf-8")), encoding="utf-8")


def cut_after(folder: Path, time: str) -> None:
    """All logs end at a time."""
    for log in folder.glob("broker-*/*.log"):
        text = log.read_text(encoding="utf-8")
        end = next((one.start() for one in STAMP.finditer(text) if one[1] > time), len(text))
        log.write_text(text[:end], encoding="utf-8")


@pytest.mark.parametrize("time", ["2026-11-29 22:38:47,512", "2026-11-29 22:38:56,960"])
def test_a_log_that_ends_behind_a_failed_deletion_contradicts_nothing(tmp_path: Path, time: str) -> None:
    """The broker has not gone on to anything else by then, so that only the answer tells that it has failed."""
    unpack(ARCHIVE, tmp_path)
    cut_after(tmp_path / "undeletable", time)
    assert read(tmp_path / "undeletable").contradictions == ()


def test_clocks_that_differ_contradict_nothing(tmp_path: Path) -> None:
    """Each within what a clock may be off ZooKeeper's."""
    unpack(ARCHIVE, tmp_path)
    for broker, ms in ((1, -1500), (2, -1500), (3, 1500)):
        moved_in_time(tmp_path / "undeletable", broker, ms)
    assert read(tmp_path / "undeletable").contradictions == ()


def judged_where(tmp_path: Path, log: str, said: str, instead: str) -> Run:
    """What the judge says where a line of broker 1's has other words."""
    unpack(ARCHIVE, tmp_path)
    path = tmp_path / "undeletable" / "broker-1" / log
    text = path.read_text(encoding="utf-8")
    assert text.count(said) == 1
    path.write_text(text.replace(said, instead), encoding="utf-8")
    return judged(tmp_path / "undeletable", AS_CODED)[1]


@pytest.mark.slow
def test_an_answer_that_is_told_otherwise_contradicts_the_broker(tmp_path: Path) -> None:
    """It may be that of the next stop; then the one behind it is nobody's."""
    search = judged_where(tmp_path, "state-change.log", FAILED, FAILED.replace("code=-1", "code=0"))
    assert search.reason == "no cluster writes this: broker-1/state-change.log:111 contradicts other lines"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "said", "instead"),
    [
        (
            "state-change.log",
            "ReplicaDeletionStarted to ReplicaDeletionIneligible",
            "ReplicaDeletionStarted to ReplicaDeletionSuccessful",
        ),
        ("controller.log", "Halted deletion of topics topic-1", "Halted deletion of topics topic-2"),
    ],
)
def test_a_failed_deletion_that_is_told_otherwise_is_not_explained(
    tmp_path: Path, log: str, said: str, instead: str
) -> None:
    """The search for a way to explain it anyhow takes its time."""
    search = judged_where(tmp_path, log, said, instead)
    assert search.verdict is not Verdict.HOLDS
