"""Checks in several processes: what they find comes back, and nothing of them outlives the block."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import pytest

from model_check.checks.processes import Shared, Task, fitting, shared_out
from model_check.proofs.proof_findings import ENGINE as PROOF
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check, run_checks
from spec.errors import BadInput, LacksMemory


def whose(name: str) -> list[Run]:
    return [Run("test", name, str(os.getpid()), Verdict.HOLDS)]


def once_all_are_there(name: str, folder: Path, processes: int = 1) -> list[Run]:
    """Leaves a file for each time that it is called, and waits until so many processes have left one."""
    (folder / f"{name}-{os.getpid()}").touch(exist_ok=False)
    while len({file.name.partition("-")[2] for file in folder.iterdir()}) < processes:
        time.sleep(0.01)
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


def made_by(checks: list[Check], helpers: int = 1) -> list[Run]:
    with shared_out(checks, helpers) as shared:
        return list(run_checks(shared.checks()))


@pytest.mark.parametrize("helpers", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_all_processes_make_checks_and_each_is_made_once(helpers: int, tmp_path: Path) -> None:
    names = [str(number) for number in range(12)]
    checks = [Check("test", name, "", 0, partial(once_all_are_there, name, tmp_path, 1 + helpers)) for name in names]
    runs = made_by(checks, helpers)
    assert sorted(one.scope for one in runs) == sorted(names)
    assert len({one.variant for one in runs}) == 1 + helpers
    assert sorted(file.name.partition("-")[0] for file in tmp_path.iterdir()) == sorted(names)


@pytest.mark.parametrize(("in_order", "order"), [(False, "cba"), (True, "abc")])
def test_the_first_process_goes_its_own_way(in_order: bool, order: str) -> None:
    checks = [Check("test", name, "", 0, partial(whose, name)) for name in "abc"]
    with shared_out(checks, 0, in_order=in_order) as shared:
        runs = list(run_checks(shared.checks()))
    assert "".join(one.scope for one in runs) == order


def test_of_a_scope_one_proof_is_made_at_a_time_while_there_is_another() -> None:
    shared = Shared([(Check(PROOF, scope, "", 0, partial(whose, scope)), Future()) for scope in "aabb"])
    begun = [shared.begin() for _ in range(3)]
    assert [task[0].scope for task in begun if task] == ["a", "b", "a"]
    for task in begun:
        if task and task[0].scope == "b":
            task[1].set_result([])
    assert [task and task[0].scope for task in (shared.begin(), shared.begin())] == ["b", None]


def test_who_has_built_a_system_goes_on_with_what_else_is_about_it() -> None:
    about = [("a", "x"), ("b", "x"), ("a", "y"), ("a", "x"), ("b", "x")]
    every: list[Task] = [
        (Check("test", *one, number, partial(whose, "")), Future()) for number, one in enumerate(about)
    ]
    shared, order = Shared(list(every)), list[int]()
    first, second = shared.begin(), shared.begin()
    while first or second:
        order += [task[0].cost for task in (first, second) if task]
        for task in (first, second):
            if task:
                task[1].set_result([])
        first, second = (shared.begin(task and task[0]) for task in (first, second))
    assert order == [0, 1, 3, 4, 2]


def test_where_the_order_counts_nobody_goes_on_with_a_system() -> None:
    tasks: list[Task] = [(Check("test", name, "", 0, partial(whose, name)), Future()) for name in "aba"]
    shared = Shared(tasks, in_order=True)
    first = shared.begin()
    assert first is not None
    first[1].set_result([])
    assert shared.begin(first[0]) is tasks[1]


def test_a_proof_waits_for_another_of_its_scope_also_behind_what_is_about_its_system() -> None:
    names = [("test", "s", "x"), (PROOF, "s", "y"), (PROOF, "s", "x"), ("test", "u", "x")]
    tasks: list[Task] = [(Check(*name, 0, partial(whose, "")), Future()) for name in names]
    shared = Shared(tasks)
    first, second = shared.begin(), shared.begin()
    assert first is not None
    assert second is tasks[1]
    first[1].set_result([])
    assert shared.begin(first[0]) is tasks[3]
    assert shared.begin() is tasks[2]


def test_the_first_process_goes_on_with_a_system_too() -> None:
    about = [("a", "x"), ("b", "x"), ("a", "y"), ("a", "x"), ("b", "x")]
    checks = [Check("test", *one, number, partial(whose, str(number))) for number, one in enumerate(about)]
    assert [one.scope for one in made_by(checks, 0)] == ["4", "1", "3", "0", "2"]


def wait_until_made(shared: Shared) -> None:
    while not all(future.done() for _, future in shared.tasks):
        time.sleep(0.01)


@pytest.mark.slow
def test_who_is_interrupted_still_hears_what_a_helper_made() -> None:
    checks = [Check("test", name, "", 0, partial(whose, name)) for name in "ab"]
    with shared_out(checks) as shared:
        wait_until_made(shared)
        runs = list(run_checks(shared.checks(), stop=lambda: True))
    assert [one.verdict for one in runs] == [Verdict.HOLDS, Verdict.HOLDS]
    assert str(os.getpid()) not in {one.variant for one in runs}


@pytest.mark.slow
def test_a_listener_hears_what_a_helper_begins_and_ends() -> None:
    heard: list[tuple[str, str]] = []

    class Noting:
        def begun(self, helper: int, check: Check) -> None:
            heard.append((f"begun by {helper}", check.scope))

        def ended(self, check: Check, runs: list[Run]) -> None:
            heard.append((str(runs[0].verdict), check.scope))

    checks = [Check("test", "a", "", 0, fails), Check("test", "b", "", 0, partial(whose, "b"))]
    with shared_out(checks, 1, Noting()) as shared:
        wait_until_made(shared)
    assert heard == [("begun by 1", "a"), ("ERROR", "a"), ("begun by 1", "b"), ("HOLDS", "b")]


def test_one_that_fails_is_an_error_and_the_next_one_is_made() -> None:
    runs = made_by([Check("test", "a", "", 0, fails), Check("test", "b", "", 1, partial(whose, "b"))])
    assert {one.scope: one.verdict for one in runs} == {"a": Verdict.ERROR, "b": Verdict.HOLDS}
    assert [one.reason for one in runs if one.scope == "a"] == ["no scope is called so"]


def test_what_a_killed_process_had_begun_is_made_here() -> None:
    with shared_out([Check("test", "", "", 0, partial(only_here, os.getpid()))] * 3) as shared:
        while not any(future.done() for _, future in shared.tasks):
            time.sleep(0.01)  # the helper takes one, and dies
        runs = list(run_checks(shared.checks()))
    assert [(one.scope, one.variant) for one in runs] == [("survivor", str(os.getpid()))] * 3


@pytest.mark.slow
def test_where_one_helper_is_killed_the_other_goes_on(tmp_path: Path) -> None:
    killed = Check("test", "", "", 0, partial(only_here, os.getpid()))
    others = [Check("test", name, "", 0, partial(once_all_are_there, name, tmp_path)) for name in "abcd"]
    with shared_out([killed, *others], 2) as shared:
        wait_until_made(shared)
        runs = list(run_checks(shared.checks()))
    assert {one.variant for one in runs if one.scope == "survivor"} == {str(os.getpid())}
    assert len({one.variant for one in runs}) == 2
    assert len(runs) == 5


@pytest.mark.slow
def test_what_was_taken_back_before_the_process_was_killed_hides_nothing(tmp_path: Path) -> None:
    under_way = tmp_path / "begun"
    killed = Check("test", "", "", 0, partial(killed_after, tmp_path / "go", under_way, os.getpid()))
    here = [Check("test", str(number), "", 0, partial(whose, "here")) for number in range(6)]
    with shared_out([killed, *here]) as shared:
        wait_for(under_way)
        every = shared.checks()
        runs = [run for _ in here for run in next(every).make()]
        (tmp_path / "go").touch()
        runs += next(every).make()
    assert [(one.scope, one.variant) for one in runs] == [("here", str(os.getpid()))] * 6 + [
        ("survivor", str(os.getpid()))
    ]


def leave_early(under_way: Path) -> None:
    minutes = [Check("test", "", "", 0, partial(takes_a_minute, under_way))] * 3
    with shared_out([*minutes, *[Check("test", "", "", 0, partial(whose, "here"))] * 3]) as shared:
        wait_for(under_way)
        every = shared.checks()
        assert [run.variant for _ in range(3) for run in next(every).make()] == [str(os.getpid())] * 3
        raise KeyboardInterrupt


@pytest.mark.slow
def test_who_leaves_early_leaves_no_process_behind(tmp_path: Path) -> None:
    """Not even one that does not stop when it is asked to, nor an error of a thread, which would fail the test."""
    before = set(multiprocessing.active_children())
    with pytest.raises(KeyboardInterrupt):
        leave_early(tmp_path / "begun")
    assert (tmp_path / "begun").exists()
    assert set(multiprocessing.active_children()) <= before


def test_what_lacked_memory_in_the_other_process_is_made_here() -> None:
    runs = made_by([Check("test", "patient", "", 0, partial(lacks_memory_elsewhere, os.getpid()))])
    assert [(one.scope, one.variant) for one in runs] == [("patient", str(os.getpid()))]


@pytest.mark.parametrize(("cores", "gigabytes", "processes"), [(2, 24, 2), (16, 24, 8), (16, 2, 1), (1, 24, 1)])
def test_there_are_as_many_processes_as_a_machine_has_cores_and_memory_for(
    cores: int, gigabytes: int, processes: int
) -> None:
    assert fitting(cores, gigabytes << 30) == processes


KILLED = """
import os, signal, sys, time
from functools import partial
from pathlib import Path
from model_check.checks.processes import shared_out
from model_check.verdicts.verification import Check
from tests.model_check.checks.test_processes import tells_and_waits, wait_for

if __name__ == "__main__":
    told = Path(sys.argv[1])
    with shared_out([Check("test", "long", "", 0, partial(tells_and_waits, told))]):
        wait_for(told)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def tells_and_waits(told: Path) -> list[Run]:
    """Writes whole or not at all which process it is, and works on."""
    written = told.with_suffix(".written")
    written.write_text(str(os.getpid()))
    written.rename(told)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass
    return []


@pytest.mark.slow
def test_a_helper_ends_with_the_first_process_also_where_that_is_killed(tmp_path: Path) -> None:
    told, program = tmp_path / "told", tmp_path / "program.py"
    program.write_text(KILLED)
    done = subprocess.run([sys.executable, program, told], stderr=subprocess.DEVNULL, check=False)
    assert done.returncode == -signal.SIGKILL
    helper, deadline = Path("/proc") / told.read_text(), time.monotonic() + 10
    while helper.exists() and "python" in (helper / "cmdline").read_text():
        assert time.monotonic() < deadline, "the helper works on"
        time.sleep(0.05)
