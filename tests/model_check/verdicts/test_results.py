"""The results document: what is written is what is read, and nothing else is."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from model_check.verdicts import results
from model_check.verdicts.results import ANEW, VERSION, Document, from_json, plain_document
from model_check.verdicts.verdict import NOT_BEGUN, Verdict
from spec.errors import MalformedInput
from tests.model_check.documents import documents, finding, run


@given(documents)
def test_reading_gives_what_was_written(document: Document) -> None:
    assert from_json(document.to_json(), "results.json") == document


SCHEMA = Draft202012Validator(json.loads(Path(results.__file__).with_name("results.schema.json").read_text("utf-8")))


@given(documents)
def test_what_is_written_is_as_the_schema_says_and_nothing_else_is(document: Document) -> None:
    written = json.loads(document.to_json())
    SCHEMA.validate(written)
    assert not SCHEMA.is_valid(written | {"version": VERSION - 1})
    assert not SCHEMA.is_valid(written | {"verdict": "GREEN"})


@given(documents)
def test_every_field_that_a_reader_needs_is_in_the_json(document: Document) -> None:
    read = json.loads(document.to_json())
    assert read["version"] == VERSION
    assert read["exit_code"] == document.exit_code
    assert [one["verdict"] for one in read["runs"]] == [one.verdict for one in document.runs]


def written() -> dict[str, Any]:
    document = plain_document("explore", run(finding("p", Verdict.VIOLATED, length=2), verdict=Verdict.VIOLATED))
    written: dict[str, Any] = json.loads(document.to_json())
    return written


def test_a_plain_document_is_as_bad_as_its_worst_run() -> None:
    runs = run(), run(verdict=Verdict.INCOMPLETE)
    assert plain_document("explore", *runs).verdict is Verdict.INCOMPLETE


@pytest.mark.parametrize("verb", ["refine", "enumerate"])
def test_of_what_was_interrupted_it_is_told_whether_anything_goes_on(verb: str) -> None:
    cut, other = run(verdict=Verdict.INCOMPLETE), run(verdict=Verdict.INCOMPLETE)
    cut, unbegun = replace(cut, reason="interrupted; open", notes=("one",)), replace(cut, reason=NOT_BEGUN)
    failed = run(verdict=Verdict.ERROR)
    told = plain_document(verb, cut, unbegun, other, replace(failed, reason="interrupted"))
    assert [one.notes for one in told.runs] == [("one", *[ANEW] * (verb == "refine")), (), (), ()]


def test_input_that_was_refused_exits_as_bad_usage_unless_something_is_worse() -> None:
    failed, holds = run(verdict=Verdict.ERROR), run()
    refused = replace(failed, refused=True)
    assert plain_document("judge", refused, holds).exit_code == 2
    assert plain_document("judge", refused, run(verdict=Verdict.INCOMPLETE)).exit_code == 2
    assert plain_document("judge", refused, failed).exit_code == 4
    assert plain_document("judge", refused, run(verdict=Verdict.VIOLATED)).exit_code == 1
    told = plain_document("judge", refused, holds)
    assert from_json(told.to_json(), "stdout") == told


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        ("format", "something else", "r.json: not a document of the format"),
        ("version", VERSION + 1, "r.json: another version of the format"),
        ("verdict", "FINE", "r.json: verdict: is not one of HOLDS, INCOMPLETE, ERROR, VIOLATED"),
        ("exit_code", 0, "r.json: exit_code: is 0, but the verdict VIOLATED is 1"),
        ("runs", {}, "r.json: runs: is not a list"),
        ("runs.0", [], "r.json: runs[0]: is not an object"),
        ("runs.0.counts.states", "many", "r.json: runs[0].counts.states: is not of type int"),
        ("runs.0.counts.states", True, "r.json: runs[0].counts.states: is not of type int"),
        ("runs.0.findings.0.story.steps.1.action", None, "r.json: runs[0].findings[0].story.steps[1].action: is not"),
        ("runs.0.colour", "red", "r.json: runs[0]: missing or unknown: colour"),
    ],
)  # fmt: skip
def test_a_damaged_document_is_refused_at_its_place(path: str, value: object, complaint: str) -> None:
    document: Any = written()
    *way, last = path.split(".")
    place: Any = document
    for key in way:
        place = place[int(key)] if key.isdigit() else place[key]
    place[int(last) if last.isdigit() else last] = value
    with pytest.raises(MalformedInput) as caught:
        from_json(json.dumps(document), "r.json")
    assert str(caught.value).startswith(complaint)


def test_a_missing_field_is_named() -> None:
    document = written()
    del document["runs"][0]["notes"]
    with pytest.raises(MalformedInput, match="missing or unknown: notes"):
        from_json(json.dumps(document), "r.json")


def test_what_is_not_json_is_refused() -> None:
    with pytest.raises(MalformedInput, match=r"^r\.json: not JSON"):
        from_json("{", "r.json")
    with pytest.raises(MalformedInput, match=r"^r\.json: not JSON"):
        from_json("[" * 100_000, "r.json")
    with pytest.raises(MalformedInput, match=r"^r\.json: cannot be read: Exceeds the limit"):
        from_json("1" * 5000, "r.json")
