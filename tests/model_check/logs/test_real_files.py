"""Logs of real clusters: nothing is broken in them that ZooKeeper's log, where there is one, does not show as well."""

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_check.logs.answers import AT_ONCE, LATEST, ONE_TERM
from model_check.logs.heads import FOREIGN, TORN
from model_check.logs.judging import judge_logs
from model_check.logs.reading import UNKNOWN
from model_check.monitors.check import check_history
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from tests.model_check.unpacking import DAILY, NAMES, RECORDINGS, recording

pytestmark = RECORDINGS
DATA = Path(__file__).parents[2] / "data"

BROKEN = {"12-D1-epoch-write-delayed": {ONE_TERM}, "13-D1-epoch-write-connectionloss": {ONE_TERM, AT_ONCE}}
"""What the brokers' logs of recordings tell, as their READMEs do; nothing, of all others."""


def broken(run: Run) -> set[str]:
    """The claims that are broken."""
    return {one.property for one in run.findings if one.verdict is Verdict.VIOLATED}


def odd(run: Run) -> list[str]:
    """What is said of lines that are no good ones."""
    return [note for note in run.notes if note.endswith((f"{UNKNOWN}:", f"{TORN}:", f"{FOREIGN}:"))]


@pytest.mark.parametrize("name", [pytest.param(one, marks=[pytest.mark.slow] * (one not in DAILY)) for one in NAMES])
def test_of_a_recording_only_what_it_was_made_for_is_broken(name: str) -> None:
    (run,) = judge_logs([recording(name)])
    assert broken(run) == BROKEN.get(name, set())
    assert odd(run) == []


@pytest.fixture
def unpacked(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    with tarfile.open(DATA / request.param) as opened:
        opened.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.mark.takes("Ten files of real clusters are read.")
@pytest.mark.parametrize("unpacked", ["kafka-public-logs.tar.xz"], indirect=True)
def test_nothing_is_broken_in_what_people_committed(unpacked: Path) -> None:
    runs = judge_logs([unpacked])
    assert [(broken(run), odd(run), run.verdict) for run in runs] == [(set(), [], Verdict.HOLDS)] * len(runs)
    assert len(runs) == 7  # of three clusters both logs are of one hour, of one the two are of different months


ARCHIVES = sorted(one.name for one in DATA.glob("kafka-campaign*.tar.xz"))


def below(folder: Path) -> Iterator[Path]:
    """The recordings in a folder."""
    return (one.parent for one in sorted(folder.rglob("zookeeper.jsonl")))


@pytest.mark.slow
@pytest.mark.parametrize("unpacked", ARCHIVES, indirect=True)
def test_what_logs_show_broken_zookeeper_shows_broken(unpacked: Path) -> None:
    recordings = list(below(unpacked))
    assert recordings
    for folder in recordings:
        (run,) = judge_logs([folder])
        found = broken(run)
        assert found <= {LATEST, ONE_TERM}
        if found:
            assert found <= broken(check_history(folder, chosen=sorted(found)))
