"""Checks in a second process: what they find comes back, and nothing of them outlives the block."""

import multiprocessing
import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from model_check.checks.second_process import in_a_second_process
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check, run_checks
from spec.errors import BadInput, LacksMemory


def whose(name: str) -> list[Run]:
    return [Run("test", name, str(os.getpid()), Verdict.HOLDS)]


def slowly(name: str, folder: Path) -> list[Run]:
    """Leaves a file for each time that it is called."""
    time.sleep(0.3)
    (folder / f"{name}-{os.getpid()}").touch(exist_ok=False)
    return whose(name)


def fails() -> list[Run]:
    raise BadInput("no scope is called so")


def only_here(process: int) -> list[Run]:
    """Kills any other process, as an operating system without memory does."""
    if os.getpid() != process:
        os.kill(os.getpid(), signal.SIGKILL)
    return whose("survivor")


def lacks_memory_elsewhere(process: int) -> list[Run]:
    if os.getpid() != process:
        raise LacksMemory("small needs about 2.0 GiB of memory, and 1.0 GiB are free", "take a smaller scope")
    return whose("patient")


def takes_a_minute(begun: Path) -> list[Run]:
    """Does not stop when it is asked to."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    begun.touch()
    time.sleep(60)
    begun.unlink()
    return []


def killed_after(go: Path, begun: Path, process: int) -> list[Run]:
    """As `only_here`, once it may."""
    begun.touch()
    wait_for(go)
    return only_here(process)


def wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.01)


def test_both_processes_make_checks_and_each_is_made_once(tmp_path: Path) -> None:
    names = [str(number) for number in range(12)]
    checks = [Check("test", name, "", 0, partial(slowly, name, tmp_path)) for name in names]
    with in_a_second_process(checks) as shared:
        runs = list(run_checks(reversed(shared)))
    assert [one.scope for one in runs] == names[::-1]  # the first process goes its own way through them
    assert len({one.variant for one in runs}) == 2
    assert sorted(file.name.partition("-")[0] for file in tmp_path.iterdir()) == sorted(names)


def test_who_is_interrupted_still_hears_what_the_other_process_made() -> None:
    checks = [Check("test", name, "", 0, partial(whose, name)) for name in "ab"]
    with in_a_second_process(checks) as shared:
        assert not any(one.is_made() for one in checks)
        while not all(one.is_made() for one in shared):
            time.sleep(0.01)
        runs = list(run_checks(shared, stop=lambda: True))
    assert [one.verdict for one in runs] == [Verdict.HOLDS, Verdict.HOLDS]
    assert str(os.getpid()) not in {one.variant for one in runs}


def test_one_that_fails_is_an_error_and_the_next_one_is_made() -> None:
    checks = [Check("test", "a", "", 0, fails), Check("test", "b", "", 1, partial(whose, "b"))]
    with in_a_second_process(checks) as under_way:
        runs = list(run_checks(under_way))
    assert [one.verdict for one in runs] == [Verdict.ERROR, Verdict.HOLDS]
    assert runs[0].reason == "no scope is called so"


def test_what_a_killed_process_had_begun_is_made_here() -> None:
    with in_a_second_process([Check("test", "", "", 0, partial(only_here, os.getpid()))] * 3) as shared:
        while multiprocessing.active_children():
            time.sleep(0.01)  # the other process takes one, and dies
        runs = list(run_checks(shared))
    assert [(one.scope, one.variant) for one in runs] == [("survivor", str(os.getpid()))] * 3


def test_what_was_taken_back_before_the_process_was_killed_hides_nothing(tmp_path: Path) -> None:
    under_way = tmp_path / "begun"
    killed = Check("test", "", "", 0, partial(killed_after, tmp_path / "go", under_way, os.getpid()))
    here = [Check("test", str(number), "", 0, partial(whose, "here")) for number in range(6)]
    with in_a_second_process([killed, *here]) as (first, *others):
        wait_for(under_way)
        runs = [run for check in others for run in check.make()]
        (tmp_path / "go").touch()
        runs += first.make()
    assert [(one.scope, one.variant) for one in runs] == [("here", str(os.getpid()))] * 6 + [
        ("survivor", str(os.getpid()))
    ]


def leave_early(under_way: Path) -> None:
    minutes = [Check("test", "", "", 0, partial(takes_a_minute, under_way))] * 3
    with in_a_second_process([*minutes, *[Check("test", "", "", 0, partial(whose, "here"))] * 3]) as shared:
        wait_for(under_way)
        assert [run.variant for check in shared[3:] for run in check.make()] == [str(os.getpid())] * 3
        raise KeyboardInterrupt


def test_who_leaves_early_leaves_no_process_behind(tmp_path: Path) -> None:
    """Not even one that does not stop when it is asked to, nor an error of a thread, which would fail the test."""
    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt):
        leave_early(tmp_path / "begun")
    assert (tmp_path / "begun").exists()
    assert set(multiprocessing.active_children()) <= before


def test_what_lacked_memory_in_the_other_process_is_made_here() -> None:
    checks = [Check("test", "patient", "", 0, partial(lacks_memory_elsewhere, os.getpid()))]
    with in_a_second_process(checks) as shared:
        runs = list(run_checks(shared))
    assert [(one.scope, one.variant) for one in runs] == [("patient", str(os.getpid()))]
