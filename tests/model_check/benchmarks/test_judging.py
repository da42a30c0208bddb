"""Judging is measured on beginnings of a recording: as if all of its files had been copied at one moment."""

from contextlib import nullcontext

import pytest

from model_check.benchmarks import judging
from model_check.benchmarks.judging import beginning, judging_rows
from model_check.recordings.reading import read
from tests.model_check.unpacking import RECORDINGS, recorded, recording

pytestmark = RECORDINGS

NAME = "33-D54-connectionloss-on-create"


def test_a_beginning_has_what_was_written_until_then_and_nothing_else() -> None:
    whole = recorded(NAME)
    until = sorted(one.time for track in whole.tracks.values() for one in track)[100]
    with beginning(recording(NAME), until) as folder:
        found = read(folder)
    seen = {name: [one.place for one in track if one.time < until] for name, track in whole.tracks.items()}
    assert {name: [one.place for one in track] for name, track in found.tracks.items()} == seen
    assert 90 < found.observations <= 100


@pytest.mark.slow
def test_each_beginning_is_told_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "NAME", NAME)
    monkeypatch.setattr(judging, "unpacked", lambda _: nullcontext(recording(NAME).parent))
    told = [(name, number) for name, number, _ in judging_rows([30, 60])]
    first, last = [number for number, (name, _) in enumerate(told) if name.endswith(" observations")]
    assert 0 < int(told[first][0].split()[0]) < int(told[last][0].split()[0]) < recorded(NAME).observations
    parts = [name.split(",")[0].strip() for name, _ in told[first + 1 : last]]
    assert parts == ["reading", "claims without a search", "search", "claims", "claims"]
