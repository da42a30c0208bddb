"""What runs every day does not get less unnoticed, and what the Makefile runs is heard when it fails."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests.every_day import (
    ACCEPTED,
    DOCUMENTS,
    HEAD,
    SOME,
    accepted,
    counted,
    fewer,
    is_whole,
    ran_too_few,
    read,
    written,
)

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_no_function_has_fewer_tests_than_were_accepted(request: pytest.FixtureRequest) -> None:
    """Whoever means it runs `pytest --accept-tests`."""
    if not is_whole(request.config):
        pytest.skip("only some of the tests are run")
    assert list(fewer(counted(request.session.items), accepted())) == []


def test_each_test_less_is_told() -> None:
    assert list(fewer({"f a": 2, "g a": 1}, {"f a": 2, "f b": 3, "g a": 1})) == [
        "f: 0 tests of test_b run every day, 3 were accepted"
    ]
    assert list(fewer({"f a": 1}, {"f a": 2})) == ["f: 1 tests of test_a run every day, 2 were accepted"]
    assert list(fewer({"f a": 3, "f new": 1}, {"f a": 2})) == []


def item(file: str, name: str, *marks: str) -> pytest.Item:
    """A test that was collected, with these marks."""
    found = SimpleNamespace(location=(file, 1, name), get_closest_marker=lambda one: one if one in marks else None)
    return cast(pytest.Item, found)


def test_one_that_is_marked_slow_is_told_though_another_was_added_beside_it() -> None:
    before = [item("f.py", "test_heavy"), item("f.py", "test_each[1]"), item("f.py", "test_each[2]")]
    known = counted(before)
    assert known == {"f.py heavy": 1, "f.py each": 2}
    after = [item("f.py", "test_heavy", "slow"), item("f.py", "test_trivial"), *before[1:]]
    assert list(fewer(counted(after), known)) == ["f.py: 0 tests of test_heavy run every day, 1 were accepted"]
    after = [*before[:2], item("f.py", "test_each[2]", "skipif"), item("f.py", "test_trivial")]
    assert list(fewer(counted(after), known)) == ["f.py: 1 tests of test_each run every day, 2 were accepted"]


def test_what_is_written_is_read_again() -> None:
    known = {"f.py each": 2, "f.py heavy": 1, "g/f.py Group.test_each": 1}
    text = written(known)
    assert text == f"{HEAD}f.py\n  each 2\n  heavy\ng/f.py\n  Group.test_each\n"
    assert read(text) == known


def test_the_accepted_tests_are_those_of_the_file() -> None:
    """As many functions as lines, and none named twice."""
    lines = [one for one in ACCEPTED.read_text(encoding="utf-8").splitlines() if one.startswith("  ")]
    assert len(lines) == len(accepted()) > 2000
    assert accepted()["tests/test_every_day.py what_is_written_is_read_again"] == 1


def test_a_run_in_which_too_few_pass_is_told() -> None:
    known = {"a": 1000, "b": 200}
    assert ran_too_few(1200, known) == ""
    assert ran_too_few(1199, known) == "1,199 tests passed, and at least 1,200 must (every_day.txt)"


def asked(*args: str, **options: object) -> pytest.Config:
    """What pytest was asked for."""
    config = SimpleNamespace(args=list(args), getini=lambda _: ["tests"], option=SimpleNamespace(**options))
    return cast(pytest.Config, config)


def test_a_run_of_some_tests_is_no_whole_run(pytestconfig: pytest.Config) -> None:
    assert is_whole(asked("tests", keyword="", lf=False, maxfail=0))
    assert not is_whole(asked("tests/spec"))
    for option in SOME:
        assert hasattr(pytestconfig.option, option), "pytest has no such option"
        assert not is_whole(asked("tests", **{option: "1"}))


def test_no_option_leaves_tests_out(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.getini("testpaths") == ["tests"]
    assert pytestconfig.getini("addopts") == ["--import-mode=importlib", "--strict-markers", "--strict-config", "-ra"]
    assert not [path for path in (ROOT / "tests").rglob("conftest.py") if "collect_ignore" in path.read_text("utf-8")]


def test_the_documents_are_those_of_the_makefile() -> None:
    (named,) = re.findall(r"^DOCUMENTS := (.*)$", MAKEFILE, re.MULTILINE)
    assert tuple(named.split()) == DOCUMENTS


TOOLS = {
    "verify": ("kcheck verify",),
    "check": ("ruff check", "ruff format", "python -m pytest -q", "python -m pytest -n", "mypy"),
    "test": ("ruff check", "ruff format", "python -m pytest -q", "python -m pytest -n", "mypy"),
    "deep": ("ruff check", "ruff format", "python -m pytest -q", "python -m pytest -n", "mypy"),
    "lint": ("ruff check", "ruff format", "mypy"),
    "documents": ("ruff check", "ruff format", "python -m pytest -q"),
    "bench": ("python -m model_check.benchmarks",),
    "kafka": ("python -m model_check.live.fetch_kafka",),
}
"""What each target runs."""
STAND_IN = """#!/bin/sh
echo "$(basename "$0") $*" >> "$TOLD"
case "$(basename "$0") $*" in "$FAILS"*) exit 1;; esac
"""


def made(target: str, folder: Path, fails: str) -> tuple[int, str]:
    """The exit code of a target where one tool fails, of those that stand in for the real ones; and what was run."""
    for tool in ("kcheck", "ruff", "mypy", "python"):
        (folder / "bin").mkdir(exist_ok=True)
        (folder / "bin" / tool).write_text(STAND_IN, encoding="utf-8")
        (folder / "bin" / tool).chmod(0o755)
    (folder / "set-up-seconds").write_text("0\n", encoding="utf-8")
    told = folder / "told"
    told.touch()
    done = subprocess.run(
        ["make", "-s", "-C", str(ROOT), target, f"VENV={folder}", "ARGS="],
        env={**os.environ, "FAILS": fails, "TOLD": str(told), "MAKEFLAGS": ""},
        capture_output=True,
        check=False,
    )
    return done.returncode, told.read_text(encoding="utf-8")


@pytest.mark.parametrize(("target", "fails"), [(target, tool) for target, tools in TOOLS.items() for tool in tools])
def test_a_target_fails_where_what_it_runs_fails(target: str, fails: str, tmp_path: Path) -> None:
    code, told = made(target, tmp_path, fails)
    assert code != 0
    assert fails in told


@pytest.mark.parametrize("target", TOOLS)
def test_a_target_passes_where_all_that_it_runs_passes(target: str, tmp_path: Path) -> None:
    code, told = made(target, tmp_path, "nothing of it")
    assert code == 0
    assert [tool for tool in TOOLS[target] if tool not in told] == []


@pytest.mark.takes("A process runs pytest.")
def test_a_run_of_all_tests_of_which_too_few_pass_fails() -> None:
    """Also where none fails: as if somebody had deselected most of them."""
    program = """
import sys, pytest
from tests import every_day
every_day.is_whole = lambda _: True
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "tests/test_every_day.py", "-k", "each_test_less"]))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert ran_too_few(1, accepted()) in done.stdout
