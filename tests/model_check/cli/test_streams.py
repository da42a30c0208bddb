"""The standard streams closed, full, or read by nobody: a line or none, no traceback, and an honest exit code."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from model_check.cli.streams import harmless
from model_check.verdicts.results import plain_document
from model_check.verdicts.verdict import Verdict
from tests.model_check.documents import finding, run

ROOT = Path(__file__).resolve().parents[3]
KCHECK = f"{sys.executable} -c 'from model_check.cli import main; main()'"
FULL = "kcheck: no space is left for what is written; make room and start again\n"


def ended(line: str) -> tuple[int, str, str]:
    """How a line of a shell ends in which K is kcheck: its exit code, its output, its standard error.

    Of a pipe the exit code is kcheck's own.
    """
    told = f'k() {{ {KCHECK} "$@"; }}; {line.replace("K ", "k ")}'
    done = subprocess.run(["bash", "-o", "pipefail", "-c", told], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


HOSTILE = "\ud800\x1b[2J\x1b]0;owned\x07\x9b\u202e\u200f<b>\u00d7\r!"


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "times"), [("utf-8", "\u00d7"), ("ascii", "\\xd7")])
def test_what_a_file_says_is_shown_and_no_terminal_obeys_it(tmp_path: Path, encoding: str, times: str) -> None:
    """Nor does a character fail that is half of one, or that the terminal does not have."""
    told = plain_document(
        "explore", run(replace(finding("one", Verdict.VIOLATED), reason=HOSTILE), verdict=Verdict.VIOLATED)
    )
    (tmp_path / "result.json").write_text(told.to_json(), "utf-8")
    code, out, err = ended(f"PYTHONIOENCODING={encoding} K show results {tmp_path}/result.json")
    assert (code, err) == (1, "")
    assert rf"\ud800\x1b[2J\x1b]0;owned\x07\x9b\u202e\u200f<b>{times}\r!" in out
    code, out, err = ended(f"K replay {tmp_path}/$'\\e[2J'")
    assert (code, out) == (2, "")
    assert err.startswith(f"kcheck: {tmp_path}/\\x1b[2J: cannot be read")


def test_lines_and_tabs_are_not_commands() -> None:
    assert harmless("one\ttwo\nthree \u00d7 \U0001f600") == "one\ttwo\nthree \u00d7 \U0001f600"


@pytest.mark.parametrize(
    ("line", "closed"),
    [
        ("--help", ">&-"), ("--version", "<&- >&-"), ("show tables", "<&- >&- 2>&-"),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in (
            ("show tables", ">&-"), ("show tables", "2>&-"), ("explore --help", ">&- 2>&-"),
        )),
    ],
)  # fmt: skip
def test_a_closed_stream_is_no_failure(line: str, closed: str) -> None:
    code, out, err = ended(f"K {line} {closed}")
    assert (code, err) == (0, "")
    assert bool(out) == (">&-" not in closed.replace("2>&-", ""))


@pytest.mark.slow
def test_an_unknown_verb_is_bad_usage_whoever_may_read_that() -> None:
    assert ended("K nonsense 2>&-") == (2, "", "")
    code, out, err = ended("K nonsense >&-")
    assert (code, out) == (2, "")
    assert "No such command 'nonsense'" in err
    assert ended("K nonsense 2>/dev/full") == (4, "", "")


@pytest.mark.takes("It starts the program twice.")
@pytest.mark.parametrize("line", [pytest.param("show tables", marks=pytest.mark.slow), "--help"])
def test_what_nobody_reads_is_an_error_that_nobody_is_told(line: str) -> None:
    """Not VIOLATED, which is what typer makes of it."""
    assert ended(f"(sleep 0.2; K {line}) | true") == (4, "", "")
    assert ended(f"(sleep 0.2; K {line}) 2>&1 | true") == (4, "", "")


@pytest.mark.takes("It starts the program twice.")
@pytest.mark.parametrize("line", [pytest.param("show tables", marks=pytest.mark.slow), "--help"])
def test_a_full_disk_is_told_in_a_line_if_that_can_be_written(line: str) -> None:
    assert ended(f"K {line} >/dev/full") == (4, "", FULL)
    assert ended(f"K {line} >/dev/full 2>&1") == (4, "", "")


CHILD = """
import os, subprocess, sys
from model_check.cli.streams import open_what_is_closed
open_what_is_closed()
print("lost")
with open(sys.argv[1], "w") as file:
    subprocess.run([sys.executable, "-c", "print(1)"], check=True)
    print("kept", file=file)
"""


def test_what_is_printed_gets_into_no_file_of_ours(tmp_path: Path) -> None:
    """The first file that is opened would get the number of what is closed."""
    path = tmp_path / "file"
    told = f"{sys.executable} -c '{CHILD}' {path} <&- >&- 2>&-"
    subprocess.run(["bash", "-c", told], cwd=ROOT, check=True)
    assert path.read_text("utf-8") == "kept\n"
