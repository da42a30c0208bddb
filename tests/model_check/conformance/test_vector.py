"""The vectors: as their schema says, each read back; damaged ones are refused by file and line."""

import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

import model_check.conformance
from model_check.conformance.making.cases import Case, files_of
from model_check.conformance.protocol import PROTOCOL, VERBS
from model_check.conformance.vector import (
    DIALECTS,
    FOLDER,
    VERSION,
    Vector,
    difference,
    first_difference,
    is_legal,
    read_manifest,
    read_vectors,
    since,
)
from spec.errors import MalformedInput
from spec.formats.kafka_types import V0102, V082
from tests.model_check.conformance.all_vectors import VECTORS

HERE = Path(model_check.conformance.__path__[0])


def test_there_are_as_many_as_are_told() -> None:
    groups = Counter(one.group for one in VECTORS)
    fences = 3 * (9 + 9 + 2 * 2 + 2) + 2 * 3
    assert groups == {
        "transition": 4 * 4 + 7 * 7, "elect": 422 + 13, "creation": 3 * 8, "removal": 50, "reassignment": 200,
        "imbalance": 45, "write": 2 * (9 + 6 + 5) + 2 * 2 + 1 + 3, "batch": 51, "machine": 52, "shutdown": 25,
        "failure": 32, "notification": 43, "isr": 38, "delay": 33 + 7, "fence": fences, "znode": 47,
        "request": 14 * 6 + 5, "response": 19 * 3 + 14, "line": 2 * 45 + 17,
        "broker": 98, "unclean": 25, "failover": 28, "topic": 53, "addition": 38, "deletion": 85, "move": 88,
        "requested": 54, "rebalance": 15, "departure": 45, "report": 28, "kept": 15, "moves": 62, "busy": 36,
        "life": 16, "unborn": 17, "found": 33, "nobody": 40, "reading": 21, "starting": 9, "unheard": 2, "refused": 26,
        "log": 106, "case": 51 + 24,
    }  # fmt: skip
    told = (HERE / "FORMAT.md").read_text("utf-8")
    assert f"what there is to ask: {len(VECTORS)} vectors" in told
    assert f"Protocol {PROTOCOL}, vectors {VERSION}." in told


def test_each_verb_is_asked_in_the_dialects_that_the_page_says() -> None:
    """What the page excepts, verb by verb; all others are asked in all."""
    asked = {verb: {dialect for one in VECTORS if one.verb == verb for dialect in one.dialects} for verb in VERBS}
    assert {verb: {*DIALECTS} - dialects for verb, dialects in asked.items() if dialects < {*DIALECTS}} == {
        "handle_isr_changes": {"as-coded-0.8.2"},
        "delay": {"as-coded-0.8.2", "as-coded-0.9.0"},
        "control": {*DIALECTS} - {"as-coded-0.10.2"},
    }


def test_a_line_is_as_the_schema_says() -> None:
    schema = json.loads((HERE / "vector.schema.json").read_text("utf-8"))
    made = TypeAdapter(Vector).json_schema()
    assert schema == {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}
    validator = Draft202012Validator(schema)
    for file in FOLDER.glob("*.jsonl"):
        for line in file.read_text("utf-8").splitlines():
            validator.validate(json.loads(line))
    assert not validator.is_valid({"id": "kcs-elect-0001"})


def test_a_case_keeps_its_id_and_one_that_is_gone_gives_it_to_nobody() -> None:
    first, second, third = (
        Case("transition", word, {"machine": word}, [{"permitted": True}], [], []) for word in "abc"
    )
    before = files_of({"transition": [first, second]}, [], [])
    known = [Vector(**json.loads(line)) for line in before["transition.jsonl"].splitlines()]
    after = files_of({"transition": [third, second]}, known, [])
    ids = [json.loads(line)["id"] for line in after["transition.jsonl"].splitlines()]
    assert ids == ["kcs-transition-0003", "kcs-transition-0002"]
    assert json.loads(after["manifest.json"])["retired"] == ["kcs-transition-0001"]
    with pytest.raises(ValueError, match="two cases of transition ask the same: a"):
        files_of({"transition": [first, first]}, [], [])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace('"permitted": true', '"permitted": false', 1), "is not as manifest.json says"),
        (lambda text: text[:-40], "is not as manifest.json says"),
        (lambda _: "", "is not as manifest.json says"),
    ],
)
def test_a_file_that_is_not_as_its_manifest_says_is_refused(change: object, told: str, tmp_path: Path) -> None:
    folder = tmp_path / "vectors"
    shutil.copytree(FOLDER, folder)
    file = folder / "transition.jsonl"
    file.write_text(change(file.read_text("utf-8")), "utf-8")  # type: ignore[operator]
    with pytest.raises(MalformedInput, match=re.escape(told)):
        read_vectors(folder)
    (folder / "manifest.json").write_text("{}", "utf-8")
    with pytest.raises(MalformedInput, match=r"manifest\.json.* is no manifest of vectors"):
        read_vectors(folder)


@pytest.mark.parametrize(
    ("manifest", "told"),
    [
        ('{"version": "1", "files": {"../a.jsonl": {}}, "retired": []}', "files.../a.jsonl: expected a file such as"),
        ('{"version": "1", "files": {"a.jsonl": 3}, "retired": []}', "files.a.jsonl: expected a file such as"),
        ('{"version": "1", "files": {}, "retired": [1]}', "retired[0]: expected kcs-GROUP-NUMBER, found 1"),
        ('{"version": "1", "files": {}, "retired": ["kcs-a-x"]}', 'expected kcs-GROUP-NUMBER, found "kcs-a-x"'),
        ('{"version": "1", "files": [["a.jsonl", {}]], "retired": []}', "is no manifest of vectors: "),
        ('{"version": "1", "files": {}}', "is no manifest of vectors: 'retired'"),
    ],
)
def test_a_manifest_that_is_malformed_is_refused(manifest: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(manifest, "utf-8")
    with pytest.raises(MalformedInput, match=re.escape(told)):
        read_vectors(tmp_path)


def test_the_manifest_lists_all_ids() -> None:
    """A range has the first id, and the number of the last."""
    listed = []
    for one in (one for of in read_manifest(FOLDER).files.values() for one in of["ids"]):
        first, _, last = one.partition("..")
        group, number = first.rsplit("-", 1)
        listed += [f"{group}-{id_:04}" for id_ in range(int(number), int(last or number) + 1)]
    assert sorted(listed) == sorted(one.id for one in VECTORS)


def test_who_allows_several_outcomes_says_so() -> None:
    assert {one.id for one in VECTORS if len(one.then) > 1} == {
        one.id for one in VECTORS if "several-outcomes" in one.tags
    }


def test_a_legal_outcome_has_all_that_is_named() -> None:
    one = replace(VECTORS[0], then=[{"a": {"b": [1, 2]}}, {"refused": True}])
    assert is_legal(one, {"a": {"b": [1, 2], "more": 0}, "more": 0})
    assert is_legal(one, {"refused": True})
    assert not is_legal(one, {"refused": 1})
    assert difference({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}) == "a.b[1]: expected 2, found 3"
    assert difference({"a": {"b": [1, 2]}}, {"a": {"b": [1]}}) == "a.b: expected [1, 2], found [1]"
    assert difference({"a": {"b": [1]}}, {"a": {}}) == "a.b: expected [1], found nothing"
    assert difference({"a": True}, {"a": 1}) == "a: expected true, found 1"
    assert difference({}, 7) == "the outcome: expected {}, found 7"
    found = difference({"lines": ["a", "b", "b"]}, {"lines": ["b", "c"]})
    assert found == 'lines: expected "a", which is not there'
    assert difference({"lines": []}, {"lines": ["b"]}) == 'lines: found "b", which is not expected'


def test_of_several_outcomes_the_one_that_is_most_alike_is_told_of() -> None:
    one = replace(VECTORS[0], then=[{"a": 1, "b": [1, 2]}, {"a": 2, "b": [2, 2]}])
    told = "none of 2 legal outcomes; of the one that is most like it, b[1]: expected 2, found 3"
    assert first_difference(one, {"a": 2, "b": [2, 3]}) == told
    assert first_difference(replace(one, then=one.then[:1]), {"a": 2, "b": [1, 2]}) == "a: expected 1, found 2"


def test_of_lines_that_are_missing_each_counts() -> None:
    """Else the outcome that one line is missing of is as far away as one of which every line is."""
    one = replace(VECTORS[0], then=[{"lines": {"1": ["x", "y", "z"]}}, {"lines": {"1": ["a", "b", "c"]}}])
    told = 'none of 2 legal outcomes; of the one that is most like it, lines.1: expected "b", which is not there'
    assert first_difference(one, {"lines": {"1": ["a", "c"]}}) == told


def test_a_dialect_since_a_release() -> None:
    assert since(V0102) == ("documented", "as-coded-0.10.2")
    assert len(since(V082)) == 6
