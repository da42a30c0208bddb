"""Ctrl-C ends a program that loads, raises in a verb, and is told from errors that ctypes makes out of it."""

import ast
import ctypes
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import model_check
from model_check.verdicts.interrupts import SIGNALS, end_at_once, is_interrupt, raising
from model_check.verdicts.verdict import INTERRUPTED, Verdict
from model_check.verdicts.verification import Check, run_checks

PACKAGE = Path(model_check.__path__[0])


def call_into_c(raised: type[BaseException]) -> None:
    """Call a function of C; what is raised comes while its argument is converted."""

    class Converted:
        @classmethod
        def from_param(cls, _: object) -> Any:
            raise raised("on the way")

    function: Any = ctypes.CDLL(None).labs
    function.argtypes = [Converted]
    function(1)


@pytest.mark.parametrize(("raised", "is_one"), [(KeyboardInterrupt, True), (ValueError, False)])
def test_an_interrupt_within_a_call_is_one(raised: type[BaseException], is_one: bool) -> None:
    with pytest.raises(ctypes.ArgumentError) as failed:
        call_into_c(raised)
    assert is_interrupt(failed.value) is is_one


def test_no_other_check_begins_after_it() -> None:
    def made() -> list[Any]:
        call_into_c(KeyboardInterrupt)
        return []

    checks = [Check("first", "", "", 0, made), Check("second", "", "", 1, list)]
    assert [run.verdict for run in run_checks(checks)] == [Verdict.INCOMPLETE, Verdict.INCOMPLETE]


WHILE_IT_LOADS = """
import os, signal, sys
number = getattr(signal, sys.argv.pop(1))

class Pressed:
    def find_spec(self, name, *_rest):
        if name == "z3":
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Pressed())
from model_check.cli import main
main()
"""


WHILE_A_VERB_RUNS = """
import os, signal, sys
from model_check.cli import main
import model_check.cli.vectors as verb
number = getattr(signal, sys.argv.pop(1))
verb.every_case = lambda: os.kill(os.getpid(), number)
main()
"""


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    ("program", "verb"),
    [
        (WHILE_IT_LOADS, "show scopes"),
        pytest.param(WHILE_A_VERB_RUNS, "vectors --check --keep-driven", marks=pytest.mark.slow),
    ],
)
def test_it_ends_the_program_in_one_line_and_incomplete(program: str, verb: str, number: str) -> None:
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", program, number, *verb.split()]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "kcheck: interrupted; nothing more was checked\n"


@pytest.fixture
def restored() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, does in before.items():
        signal.signal(number, does)


@pytest.mark.usefixtures("restored")
def test_in_a_verb_it_raises_and_not_before_or_after() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end_at_once()
    for number in SIGNALS:
        ending = signal.getsignal(number)
        assert ending not in (signal.default_int_handler, signal.SIG_DFL)
        with pytest.raises(KeyboardInterrupt), raising():
            signal.raise_signal(number)
        assert signal.getsignal(number) is ending


@pytest.mark.usefixtures("restored")
def test_a_helper_that_is_told_to_end_ends() -> None:
    """It never was told that SIGTERM is to be a line and INCOMPLETE."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with raising():
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.usefixtures("restored")
def test_a_verb_whose_ctrl_c_is_ignored_hears_of_the_other() -> None:
    """As a shell starts what it leaves in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_at_once()
    with raising() as stop, raising() as inner:
        assert inner is stop
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        assert stop()


class Pressing:
    """Somebody presses Ctrl-C while Python throws this away."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("restored")
def test_where_python_drops_an_exception_it_is_remembered_and_nothing_printed() -> None:
    """What pytest hears of an exception that is dropped fails a test."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with raising() as stop:
        assert not stop()
        Pressing()
        assert stop()
        with raising() as inner:
            assert inner()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with raising() as stop:
        assert not stop()


@pytest.mark.usefixtures("restored")
def test_where_it_is_ignored_it_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_at_once()
    with raising():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_it_is_told_in_the_same_word_everywhere() -> None:
    """Whoever looks for what was cut short looks for one word, from one place; only docstrings end in a point."""
    word = r"\binterrupted\b|Ctrl-C"
    told = {
        (path.relative_to(PACKAGE).as_posix(), node.value)
        for path in PACKAGE.rglob("*.py")
        if re.search(word, text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value
        and re.search(word, node.value) and not node.value.endswith((".", ":"))
    }  # fmt: skip
    assert told == {("verdicts/verdict.py", INTERRUPTED)}
