"""Estimates: what the same work took, or its size at a rate; and nothing where nothing is known."""

import time
from pathlib import Path
from typing import Any

import pytest

from model_check.kernel.cache import cache_folder
from model_check.waiting import estimates
from model_check.waiting.estimates import estimated, seconds_of, shown
from tests.model_check.cli.conftest import Bars, Kcheck


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """What a person at a terminal is told, with a cache folder of its own."""
    lines: list[str] = []
    monkeypatch.setenv("KCHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(estimates, "is_alone", lambda: True)
    monkeypatch.setattr(estimates, "note", lines.append)
    return lines


def took(monkeypatch: pytest.MonkeyPatch, verb: str, what: str, seconds: float, units: int | None = None) -> None:
    """Work that comes to its end after so many seconds."""
    times = iter([0.0, seconds])
    with monkeypatch.context() as clock:
        clock.setattr(time, "perf_counter", lambda: next(times))
        with estimated(verb, what, units) as whole:
            whole()


def test_of_what_is_known_the_same_work_tells_most() -> None:
    known = {"tiny": (1_000, 20.0), "small": (10_000, 100.0), "proof": (0, 60.0)}
    assert seconds_of(known, "small", 10_000) == 100
    assert seconds_of(known, "small", 20_000) == 200  # it has grown since
    assert seconds_of(known, "other", 50_000) == 500  # at the rate of the largest
    assert seconds_of(known, "other", 100_001) is None  # more than ten times as large: nobody knows
    assert seconds_of(known, "other", 100_001, usual=1e-3) == pytest.approx(100.001)
    assert seconds_of(known, "proof", None) == 60
    assert seconds_of(known, "another proof", None) is None
    assert seconds_of({}, "tiny", 1_000) is None


def test_the_first_time_nothing_is_said_and_then_what_it_took(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    took(monkeypatch, "prove", "proof", 61)
    took(monkeypatch, "refine", "proof", 62)  # another verb: its own time
    assert told == []
    took(monkeypatch, "prove", "proof", 1)
    assert told == ["proof: about 61 s, as last time"]
    took(monkeypatch, "prove", "proof", 1)
    assert len(told) == 1, "what takes a second is not worth saying"


def test_only_what_is_as_large_took_as_long_last_time(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    took(monkeypatch, "explore", "tiny", 61, 1_000)
    took(monkeypatch, "explore", "tiny", 61, 2_000)
    assert told == ["tiny: about 2 min"]


def test_who_knows_better_what_the_work_took_says_so(told: list[str]) -> None:
    with estimated("enumerate", "tiny", 100) as whole:
        whole(61)  # it was taken up again, and had taken this in all
    with estimated("enumerate", "tiny", 100):
        pass
    assert told == ["tiny: about 61 s, as last time"]


def test_work_that_was_cut_short_tells_nothing(told: list[str]) -> None:
    with estimated("enumerate", "tiny", 100, size="100 states", usual=1.0):
        pass
    assert told == ["tiny: 100 states; about 100 s"]
    assert not list(cache_folder().glob("*"))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{torn",
        '{"prove": {"proof": 7}}',
        '{"prove": {"proof": ["a", "b"]}}',
        '{"prove": {"proof": [Infinity, 3]}}',
        "[" * 99999,
    ],
)
def test_a_file_that_is_none_tells_nothing(told: list[str], content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = cache_folder() / "durations.json"
    file.parent.mkdir()
    file.write_text(content, encoding="utf-8")
    took(monkeypatch, "prove", "proof", 61)
    assert told == []
    took(monkeypatch, "prove", "proof", 61)
    assert told == ["proof: about 61 s, as last time"]


def test_a_cache_that_cannot_be_written_is_done_without(told: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    cache_folder().write_text("a file is in the way", encoding="utf-8")
    took(monkeypatch, "prove", "proof", 61)
    took(monkeypatch, "prove", "proof", 61)
    assert told == []


@pytest.mark.parametrize(("seconds", "text"), [(6.4, "6 s"), (119, "119 s"), (150, "2 min"), (9000, "2.5 h")])
def test_a_span_of_time_is_said_in_round_numbers(seconds: float, text: str) -> None:
    assert shown(seconds) == text


@pytest.mark.parametrize(
    ("verb", "about"),
    [
        (("explore", "solo", "--no-goals"), "solo AS_CODED"),
        (("prove", "solo", "--property", "epochs_never_go_back"), "solo AS_CODED, 1 of its properties"),
        (("simulate", "solo", "--runs", "2", "--steps", "9"), "solo AS_CODED"),
    ],
)
def test_long_verbs_know_how_long_they_took_and_fill_a_bar(
    kcheck: Kcheck, told: list[str], bars: Bars, verb: tuple[str, ...], about: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[Any, ...]] = []
    monkeypatch.setattr(estimates, "_keep", lambda *work: kept.append(work))
    assert kcheck(*verb).exit_code == 0
    assert told == []
    assert (verb[0], about) in [work[:2] for work in kept]
    assert bars.told
    assert [done for _, done, _ in bars.told] == [of for _, _, of in bars.told]
