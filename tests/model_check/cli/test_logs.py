"""`kcheck logs`: what it prints, writes and exits with, on good input, bad input and hostile input."""

import bz2
import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from model_check.cli.verbs import app
from model_check.verdicts.results import from_json
from model_check.verdicts.verdict import Verdict
from tests.model_check.logs.telling import CHANGES, REPORTS, election, log, stamped, written

ILLEGAL = "Controller 1 epoch 2 changed partition [t,0] state from NewPartition to NonExistentPartition"


def kcheck(*arguments: str) -> Result:
    """A command line."""
    return CliRunner().invoke(app, ["logs", *arguments])


def bzipped(path: Path) -> None:
    """A log that nothing but bzip2 unpacks."""
    path.parent.mkdir()
    path.write_bytes(bz2.compress(log(CHANGES, election(1, 2)).encode()))


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return written(tmp_path / "good", {CHANGES: log(CHANGES, election(1, 2)), "notes.txt": "none of Kafka's\n"})


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return written(tmp_path / "bad", {CHANGES: log(CHANGES, [*election(1, 2), ILLEGAL])})


def test_a_good_log_holds(good: Path) -> None:
    result = kcheck(str(good))
    assert result.exit_code == 0
    assert result.stdout.startswith("kcheck logs: HOLDS\n\n")
    assert "no logs in question, and not read: good/notes.txt" in result.stdout
    row = next(line.split() for line in result.stdout.splitlines() if line.startswith("    2 "))
    assert row == ["2", "1", "2016-09-21", "13:05:00,000", "2016-09-21", "13:05:02,000", "3", "1"]


def test_a_transition_without_a_row_is_1_and_told_by_file_and_line(bad: Path) -> None:
    result = kcheck(str(bad / CHANGES))
    assert result.exit_code == 1
    assert (
        f"VIOLATED   step        transitions_are_rows  broken 1 of 2 times, first at bad/{CHANGES}:4" in result.stdout
    )


def test_the_document_has_all_of_it(bad: Path) -> None:
    result = kcheck(str(bad), "--json")
    document = from_json(result.stdout, "stdout")
    assert (document.verb, document.verdict) == ("logs", Verdict.VIOLATED)
    assert json.loads(result.stdout)["exit_code"] == result.exit_code == 1


@pytest.mark.parametrize("format_", ["html", "junit", "sarif", "markdown", "mermaid", "json"])
def test_every_report_is_written(bad: Path, tmp_path: Path, format_: str) -> None:
    report = tmp_path / f"report.{format_}"
    assert kcheck(str(bad), "--report", f"{format_}={report}").exit_code == 1
    if format_ != "mermaid":  # which has no more than stories
        assert "transitions_are_rows" in report.read_text(encoding="utf-8").replace("\\_", "_")


def test_several_clusters_are_several_runs(good: Path, bad: Path) -> None:
    other = written(
        good.parent / "x", {REPORTS: log(REPORTS, ["[Controller 7]: Controller startup complete"], since=9e6)}
    )
    result = kcheck(str(bad), str(other), "--json")
    document = from_json(result.stdout, "stdout")
    assert [run.verdict for run in document.runs] == [Verdict.VIOLATED, Verdict.INCOMPLETE]


def test_nothing_read_is_3(tmp_path: Path) -> None:
    (tmp_path / CHANGES).write_text("")
    result = kcheck(str(tmp_path / CHANGES))
    assert result.exit_code == 3
    assert "INCOMPLETE: no line of a controller or a broker was read" in result.stdout


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda _: None, "does not exist"),
        (lambda path: path.mkdir(), "no file in it is a log of Kafka's"),
        (lambda path: path.write_bytes(bz2.compress(b"x")), "is compressed otherwise than with gzip; unpack it first"),
        (lambda path: path.write_bytes(gzip.compress(b"x")[:-3]), "is damaged (Compressed file ended before the end"),
        (lambda path: bzipped(path / f"{CHANGES}.bz2"), f"not read: given/{CHANGES}.bz2 (compressed otherwise"),
    ],
)
def test_bad_input_is_2_and_told_in_one_line(tmp_path: Path, make: object, told: str) -> None:
    make(tmp_path / "given")  # type: ignore[operator]
    result = kcheck(str(tmp_path / "given"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_workers_and_a_master_exclude_each_other(good: Path) -> None:
    assert kcheck(str(good), "--workers", "2", "--master", "local[2]").exit_code == 2


HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "<script>alert(1)</script>",
    "\x00" * 100,
    "[" * 10_000,
    "[2016-09-21 13:05:09,418] TRACE " + "( " * 5_000 + " (state.change.logger)",
    stamped("Controller 1 epoch 2 " + "changed partition [" * 2_000, 1).strip(),
    stamped("Broker 1 received LeaderAndIsr request " + "correlation id 1 from controller 1 " * 2_000, 1).strip(),
    stamped(
        "Controller 1 epoch 2 changed partition [<b>,0] state from NewPartition to NonExistentPartition", 1
    ).strip(),
]


@pytest.mark.parametrize("line", HOSTILE)
def test_hostile_lines_are_counted_and_never_executed(good: Path, line: str) -> None:
    with (good / CHANGES).open("ab") as opened:
        opened.write(line.encode() + b"\xff\xfe\xc3\n")
    report = good.parent / "report.html"
    result = kcheck(str(good), "--report", f"html={report}")
    assert result.exit_code == 0, result.stdout
    assert "\x1b" not in result.stdout
    assert "<script>alert" not in report.read_text(encoding="utf-8")
    assert "1 line is " in result.stdout


def test_an_exception_that_is_told_tells_the_terminal_nothing(good: Path) -> None:
    failed = "Controller 1 epoch 2 initiated state change for partition [t,0] from OfflinePartition to OnlinePartition"
    with (good / CHANGES).open("a") as opened:
        opened.write(stamped(f"{failed} failed", 9, level="ERROR") + "a.OddException: \x1b[2Jgone\x07\n")
    result = kcheck(str(good))
    assert result.exit_code == 0
    assert "a.OddException: \\x1b[2Jgone\\x07" in result.stdout


def test_the_help_says_that_it_begins_anew_after_ctrl_c() -> None:
    said = " ".join(kcheck("--help").stdout.split())
    assert "Ctrl-C ends it with what was found until then, and INCOMPLETE; the same command begins anew." in said
