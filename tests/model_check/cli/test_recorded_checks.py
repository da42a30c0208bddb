"""What `kcheck verify` checks from outside: recordings with exactly what they must break, and a live run."""

import shutil
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from model_check.checks import gate, live_checks
from model_check.checks import recorded_checks as checks
from model_check.judging import search, shipped_recordings
from model_check.judging.shipped_recordings import (
    BROKEN,
    DEAD_IN_SYNC,
    DEEP,
    LONG,
    ONE_CONTROLLER,
    ONE_TERM,
    SHIPPED,
    judged,
    unpacked,
)
from model_check.live import live_run
from model_check.live.live_run import Task
from model_check.verdicts.interrupts import raising
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check, document, run_checks
from tests.model_check.cli.conftest import Kcheck
from tests.model_check.unpacking import RECORDINGS, judged_before, recorded

pytestmark = RECORDINGS

NAME = "13-D1-epoch-write-connectionloss"


def test_every_recording_is_checked_and_one_live_run_more_when_deep() -> None:
    assert [one.scope for one in checks.judgements(deep=False)] == [name for name in BROKEN if name not in DEEP]
    assert [one.scope for one in checks.judgements(deep=True)] == [*BROKEN, *LONG]
    assert [one.scope for one in live_checks.live_runs(deep=False)] == ["seed-1"]
    assert len(list(live_checks.live_runs(deep=True))) > 1


def test_there_is_an_expectation_of_each_recording() -> None:
    with unpacked() as home:
        assert {one.name for one in home.iterdir()} == set(BROKEN)
    assert {one.name for one in (SHIPPED / "long").iterdir()} == {f"{name}.tar.xz" for name in LONG}
    for name in LONG:
        with unpacked(name) as home:
            assert [one.name for one in home.iterdir()] == [name]


@pytest.fixture
def judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The recording was read and judged before."""
    monkeypatch.setattr(shipped_recordings, "read", lambda folder: recorded(folder.name))
    monkeypatch.setattr(shipped_recordings, "judge", judged_before)


@pytest.mark.usefixtures("judged_once")
def test_a_recording_is_compared_with_what_it_must_break() -> None:
    made = judged(NAME)
    assert [(one.about, one.is_met, one.expected_verdict) for one in made.comparisons] == [
        ("explained", True, ""), (ONE_CONTROLLER, True, "VIOLATED"), (ONE_TERM, True, "VIOLATED"),
        (DEAD_IN_SYNC, True, "VIOLATED"),
    ]  # fmt: skip
    assert document([made]).verdict is Verdict.HOLDS


@pytest.mark.usefixtures("judged_once")
def test_a_recording_that_breaks_less_or_more_is_unexpected(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {NAME: frozenset({ONE_TERM, DEAD_IN_SYNC, "resigned_controllers_are_inactive"})}
    monkeypatch.setattr(shipped_recordings, "BROKEN", expected)
    made = judged(NAME)
    assert made.verdict is Verdict.VIOLATED
    assert [(one.about, one.expected, one.found) for one in made.comparisons if not one.is_met] == [
        (ONE_CONTROLLER, "HOLDS", "VIOLATED"), ("resigned_controllers_are_inactive", "VIOLATED", "HOLDS"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "faults", "plant", "verdict"),
    [
        (Verdict.HOLDS, 2, Verdict.HOLDS, Verdict.HOLDS),
        (Verdict.HOLDS, 1, Verdict.HOLDS, Verdict.INCOMPLETE),
        (Verdict.HOLDS, 2, Verdict.ERROR, Verdict.ERROR),
        (Verdict.VIOLATED, 2, Verdict.HOLDS, Verdict.VIOLATED),
        (Verdict.INCOMPLETE, 0, Verdict.HOLDS, Verdict.INCOMPLETE),
    ],
)
def test_a_live_run_is_kept_where_it_does_not_hold_lacks_faults_or_nobody_saw_what_was_planted(
    said: Verdict, faults: int, plant: Verdict, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path] = []

    def run(task: Task, folder: Path, _stop: object) -> Run:
        (folder / task.title).mkdir()
        folders.append(folder)
        return Run("live", task.title, "AS_CODED", said, faults=("1 kill-controller", "2 stop-controller")[:faults])

    planted = Comparison("what was planted is seen", Verdict.VIOLATED, Verdict.VIOLATED, plant)
    monkeypatch.setattr(live_checks, "checked_run", run)
    monkeypatch.setattr(live_checks, "recorded", lambda _folder: planted)
    (made,) = next(live_checks.live_runs(deep=False)).make()
    is_whole = said is Verdict.HOLDS and faults == 2
    assert [one.verdict for one in made.comparisons[2:]] == [plant] * is_whole
    assert [one.is_met for one in made.comparisons[:2]] == [said is Verdict.HOLDS, faults == 2]
    assert document([made]).verdict is verdict
    assert folders[0].exists() == (verdict is not Verdict.HOLDS)
    if folders[0].exists():
        assert made.notes == (f"recorded in {folders[0] / 'seed-1'}",)


@pytest.mark.slow
def test_ctrl_c_ends_the_search_of_a_recording_without_a_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    enter = search.Search._enter

    def pressed_at_the_fifth(self: Any, before: Any, position: Any) -> Any:
        node = enter(self, before, position)
        if self.positions == 5:
            signal.raise_signal(signal.SIGINT)
        return node

    monkeypatch.setattr(search.Search, "_enter", pressed_at_the_fifth)
    chosen = [one for one in checks.judgements(deep=True) if one.scope == NAME]
    with raising() as stop:
        (made,) = run_checks(chosen, stop=stop)
        assert stop()
    assert (made.verdict, made.reason, made.comparisons) == (Verdict.INCOMPLETE, "interrupted", ())
    assert any(one.startswith("5 positions searched") for one in made.notes)


def test_ctrl_c_ends_the_live_run_and_no_other_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def run(task: Task, folder: Path, *, stop: Callable[[], bool]) -> Run:
        folder.mkdir()
        tried.append(task.title)
        signal.raise_signal(signal.SIGINT)
        assert stop()
        return Run("live", task.title, "AS_CODED", Verdict.INCOMPLETE, "interrupted")

    monkeypatch.setattr(live_run, "run", run)
    (check,) = live_checks.live_runs(deep=False)
    with raising():
        (made,) = run_checks([check])
    assert (made.verdict, made.is_cut_short, tried) == (Verdict.INCOMPLETE, True, ["seed-1"])
    shutil.rmtree(Path(made.notes[0].removeprefix("recorded in ")).parent)


def test_verify_has_them_unless_a_scope_is_named(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    def outside(engine: str, *, deep: bool) -> list[Check]:
        return [Check(engine, f"outside-{deep}", "", 0, lambda: [Run(engine, f"outside-{deep}", "", Verdict.ERROR)])]

    monkeypatch.setattr(gate, "judgements", partial(outside, "judge"))
    monkeypatch.setattr(gate, "live_runs", partial(outside, "live"))
    for not_of_interest in ("explorations", "proofs", "enumerations", "refinements"):
        monkeypatch.setattr(gate, not_of_interest, lambda _, **_options: [])
    usual, deep = kcheck("verify").stdout, kcheck("verify", "--deep").stdout
    for engine in ("judge", "live"):
        assert f"outside-False ({engine}): ERROR" in usual
        assert f"outside-True ({engine}): ERROR" in deep
    assert "outside" not in kcheck("verify", "pair").stdout
