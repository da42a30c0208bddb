"""Checks in a second process: what they find comes back, and nothing of them outlives the block."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from model_check.results import Run
from model_check.second_process import in_a_second_process
from model_check.verdicts import Verdict
from model_check.verification import Check, run_checks
from spec.errors import BadInput


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


def takes_an_hour() -> list[Run]:
    time.sleep(3600)
    return []


def test_both_processes_make_checks_and_each_is_made_once(tmp_path: Path) -> None:
    names = [str(number) for number in range(12)]
    checks = [Check("test", name, "", -int(name), partial(slowly, name, tmp_path)) for name in names]
    with in_a_second_process(checks) as shared:
        runs = list(run_checks(shared))
    assert [one.scope for one in runs] == names[::-1]  # the cheap ones first
    assert len({one.variant for one in runs}) == 2
    assert sorted(file.name.partition("-")[0] for file in tmp_path.iterdir()) == sorted(names)


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


def leave_early() -> None:
    with in_a_second_process([Check("test", "", "", 0, takes_an_hour)] * 3):
        assert multiprocessing.active_children()
        raise KeyboardInterrupt


def test_who_leaves_early_leaves_no_process_behind() -> None:
    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt):
        leave_early()
    assert set(multiprocessing.active_children()) <= before
