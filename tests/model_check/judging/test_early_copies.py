"""A log of a controller may end early, as one that was copied before the others; it may have no hole."""

from dataclasses import replace
from pathlib import Path

import pytest

from model_check.judging.judge import Judgement, Outcome, judge
from model_check.judging.judgement_report import run_of
from model_check.judging.positions import BreakOff, Position
from model_check.judging.shipped_recordings import BROKEN
from model_check.recordings.reading import read
from tests.model_check.unpacking import Change, changed

LATE, BOUNCED = "33-D54-connectionloss-on-create", "15-D3-resign-deletes-foreign-controller"
LOG = "broker-1/controller.log"
BROKE_OFF = "controller 1 did not write what Kafka writes after"


def up_to_line(number: int) -> Change:
    """A log that was copied when it had so many lines."""
    return lambda text: "".join(text.splitlines(keepends=True)[:number])


def without(begin: str, end: str) -> Change:
    """A log that has no entry from one time of that day to another."""

    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        return "".join(line for line in lines if not f"[2026-11-20 {begin}" <= line < f"[2026-11-20 {end}")

    return change


def noted(folder: Path, found: Judgement) -> list[str]:
    """What a reader is told of logs that break off."""
    return [one for one in run_of(read(folder), found, "AS_CODED").notes if "did not write" in one]


@pytest.mark.slow
def test_a_log_that_was_copied_before_another_of_its_process_ends_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process writes on in state-change.log for 14 seconds, and does what the log would tell of."""
    monkeypatch.setattr("model_check.judging.search.MORE", 0)
    folder = changed(LATE, tmp_path, LOG, up_to_line(63))
    found = judge(read(folder))
    assert (found.outcome, found.explained) == (Outcome.EXPLAINED, found.observations)
    assert {one.claim.name for one in found.broken} == BROKEN[LATE]
    assert noted(folder, found) == [f"{BROKE_OFF} {LOG}:55; that log ends by then, as if copied early"]


@pytest.mark.slow
def test_a_log_that_ends_at_once_is_paid_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were it unlikely again at each step of its controller, the search would give up."""
    monkeypatch.setattr("model_check.judging.search.MORE", 0)
    name = "06-reassign-controller-kill"
    found = judge(read(changed(name, tmp_path, "broker-2/controller.log", up_to_line(5))))
    assert (found.outcome, found.explained) == (Outcome.EXPLAINED, found.observations)
    assert sum(one.is_cut_short for one in found.path) == 1
    assert sum(bool(one.breaks_off) for one in found.path) > 1


def test_a_log_ends_once_in_each_life() -> None:
    first, second = (BreakOff(1, life, "controller.log", "", goes_on=False, lives_on=True) for life in (1, 2))
    dead = replace(second, lives_on=False)

    def is_cut_short(*breaks_off: BreakOff, ended: tuple[BreakOff, ...] = ()) -> bool:
        before = Position({}, (), ended=frozenset(one.key for one in ended))
        return Position({}, (), before=before, breaks_off=breaks_off).is_cut_short

    assert is_cut_short(first)
    assert not is_cut_short(first, ended=(first,))
    assert is_cut_short(first, second, ended=(first,))
    assert not is_cut_short(dead)


def test_the_log_of_a_life_has_no_hole_at_its_end_if_the_next_life_goes_on_in_it(tmp_path: Path) -> None:
    """22 lines are gone, the last of the first life, which does much before it is killed a second later."""
    folder = changed(BOUNCED, tmp_path, LOG, without("19:03:35,5", "19:03:50"))
    found = judge(read(folder))
    assert found.outcome is Outcome.UNEXPLAINED
    assert found.stuck is not None
    assert "broker-1/state-change.log:6" in [one.place for one in found.stuck.next]
    assert noted(folder, found) == [f"{BROKE_OFF} {LOG}:25; that log goes on, so this controller took no more steps"]
    assert found.path[-1].silent == {(1, 1)}
    assert [one for one in found.stuck.enabled if "c=1" in one] == []
