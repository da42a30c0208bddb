"""`--report FORMAT=FILE`: every verb that has a result writes it for others, and changes no verdict by that."""

import errno
import json
import os
from pathlib import Path

import pytest
from junitparser import JUnitXml

from model_check.checks import possibilities
from model_check.reports.wanted import FORMATS
from model_check.verdicts.results import from_json
from tests.model_check.cli.conftest import Kcheck


def fails_for_want_of_space(_file: Path, _target: Path) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


VERBS = (
    "campaign", "check", "coverage", "defects", "enumerate", "explore", "judge", "live", "matrix", "mutate", "prove",
    "refine", "replay", "simulate", "verify",
)  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_whatever_has_a_result_has_reports_and_refuses_bad_ones_before_it_begins(kcheck: Kcheck, verb: str) -> None:
    given = {"judge": ["."], "prove": [], "replay": ["trace.json"]}.get(verb, [])
    scope = ["solo"] if verb in {"explore", "enumerate", "refine", "simulate"} else []
    result = kcheck(verb, *scope, *given, "--report", "pdf=report.pdf")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no format of reports is called 'pdf'" in result.stderr


def test_reports_are_of_what_was_printed(kcheck: Kcheck, tmp_path: Path) -> None:
    files = {name: tmp_path / f"report.{name}" for name in FORMATS}
    words = [word for name, file in files.items() for word in ("--report", f"{name}={file}")]
    plain, result = kcheck("explore", "pair"), kcheck("explore", "pair", *words)
    assert (result.exit_code, result.stdout) == (plain.exit_code, plain.stdout)
    document = from_json(files["json"].read_text("utf-8"), "report.json")
    assert document.verb == "explore"
    (suite,) = JUnitXml.fromfile(str(files["junit"]))
    assert suite.tests == 1 + len(document.runs[0].comparisons)
    assert files["markdown"].read_text("utf-8").startswith("### kcheck explore: HOLDS: ")
    broken = [one.property for one in document.runs[0].findings if one.verdict == "VIOLATED"]
    results = json.loads(files["sarif"].read_text("utf-8"))["runs"][0]["results"]
    assert [one["ruleId"] for one in results] == broken
    assert all(len(one["codeFlows"][0]["threadFlows"][0]["locations"]) > 1 for one in results)
    assert sorted(tmp_path.iterdir()) == sorted(files.values())


def test_a_page_and_a_document_tell_what_else_was_possible_at_each_step_of_what_is_broken(
    kcheck: Kcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other reports, and what is printed, do not: there nobody asks for it."""
    page, saved = tmp_path / "report.html", tmp_path / "report.json"
    assert kcheck("explore", "pair", "--report", f"html={page}", "--report", f"json={saved}").exit_code == 0
    findings = from_json(saved.read_text("utf-8"), "report.json").runs[0].findings
    stories = [one.story for one in findings if one.verdict == "VIOLATED"]
    assert stories
    for story in filter(None, stories):
        assert story.possibilities is not None
        assert (story.possibilities.first, story.possibilities.last) == (1, story.length)
        for step in story.steps:
            possible = [one.action for one in story.possibilities.others(step.number, "")]
            assert step.action in possible, "what a story does is possible"
    assert not any(one.story and one.story.possibilities for one in findings if one.verdict != "VIOLATED")
    assert page.read_text("utf-8").count('<details class="possibilities">') == len(stories)

    monkeypatch.delattr(possibilities, "with_possibilities")
    assert kcheck("explore", "pair", "--json", "--report", f"sarif={tmp_path}/a.sarif").exit_code == 0


def test_of_a_saved_result_reports_are_made_later(kcheck: Kcheck, tmp_path: Path) -> None:
    saved, report = tmp_path / "saved.json", tmp_path / "report.md"
    code = kcheck("explore", "pair", "--report", f"json={saved}").exit_code
    result = kcheck("show", "results", str(saved), "--report", f"markdown={report}")
    assert result.exit_code == code
    assert report.read_text("utf-8").startswith("### kcheck explore: ")


def test_a_report_that_cannot_be_written_is_an_error_behind_the_verdict(
    kcheck: Kcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.xml"
    monkeypatch.setattr(Path, "replace", fails_for_want_of_space)
    result = kcheck("explore", "solo", "--report", f"junit={file}")
    assert result.exit_code == 4
    assert result.stdout == kcheck("explore", "solo").stdout
    assert result.stderr == f"kcheck: {file}: cannot be written: No space left on device; name another file\n"


@pytest.mark.parametrize("verb", [("explore", "solo"), ("matrix",)])
def test_where_no_result_is_printed_there_is_no_report(kcheck: Kcheck, verb: tuple[str, ...], tmp_path: Path) -> None:
    result = kcheck(*verb, "--print-expectations", "--report", f"json={tmp_path}/a.json")
    assert result.exit_code == 2
    assert "--print-expectations prints no result" in result.stderr


def test_the_schema_of_results_is_published(kcheck: Kcheck) -> None:
    """If not: `kcheck show schema --results > model_check/verdicts/results.schema.json`."""
    published = Path(from_json.__code__.co_filename).with_name("results.schema.json")
    assert published.read_text("utf-8") == kcheck("show", "schema", "--results").stdout


def test_a_list_of_defects_has_no_report(kcheck: Kcheck, tmp_path: Path) -> None:
    result = kcheck("defects", "--report", f"json={tmp_path}/a.json")
    assert (result.exit_code, result.stderr.startswith("kcheck: name a defect, or say --all")) == (2, True)
