"""What is wrong with the words of a report is found first; what is written is whole, or not there."""

from pathlib import Path

import pytest

from model_check.reports import junit
from model_check.reports.wanted import FORMATS, Report, rendered, wanted, write
from model_check.verdicts.results import from_json, plain_document
from spec.errors import BadInput, EnvironmentFailure
from tests.model_check.documents import run

DOCUMENT = plain_document("explore", run())


def test_each_word_is_a_format_and_a_file(tmp_path: Path) -> None:
    words = [f"{name}={tmp_path / name}" for name in FORMATS]
    assert wanted(words) == tuple(Report(name, tmp_path / name) for name in FORMATS)
    assert wanted(None) == ()
    assert wanted([f"json={tmp_path}/a=b"]) == (Report("json", tmp_path / "a=b"),)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["junit"], "--report junit: say FORMAT=FILE, such as junit=report.xml"),
        (["junit="], "--report junit=: say FORMAT=FILE"),
        (["junt={}/a"], "no format of reports is called 'junt'; did you mean junit?"),
        (["junit={}"], "cannot be written: it is a folder"),
        (["junit={}/nowhere/a"], "cannot be written: there is no folder {}/nowhere"),
        (["junit={}/a", "json={}/a"], "{}/a: two reports are to be written there"),
        (["junit={}/a", "json={}/./a"], "/a: two reports are to be written there"),
    ],
)
def test_what_cannot_be_a_report_is_refused(words: list[str], told: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        wanted(word.format(tmp_path) for word in words)
    assert told.format(tmp_path) in str(refused.value)


def test_all_are_written_or_none(tmp_path: Path) -> None:
    first, gone = Report("json", tmp_path / "a.json"), Report("junit", tmp_path / "nowhere" / "b.xml")
    with pytest.raises(EnvironmentFailure, match=r"b\.xml: cannot be written: there is no folder"):
        write(DOCUMENT, [first, gone])
    assert not list(tmp_path.iterdir())
    write(DOCUMENT, [first])
    assert from_json(first.path.read_text("utf-8"), "a.json") == DOCUMENT


def test_every_format_has_a_renderer_of_its_own() -> None:
    assert len({rendered(DOCUMENT, name) for name in FORMATS}) == len(FORMATS)


def test_a_format_that_fails_keeps_no_other_from_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_document: object) -> str:
        raise ValueError("a mistake")

    monkeypatch.setattr(junit, "report", fail)
    with pytest.raises(ValueError, match="a mistake"):
        write(DOCUMENT, [Report("junit", tmp_path / "a.xml"), Report("json", tmp_path / "a.json")])
    assert [one.name for one in tmp_path.iterdir()] == ["a.json"]
