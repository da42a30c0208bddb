"""What is named, and the vectors, side by side."""

import json
from pathlib import Path
from typing import Any

import pytest

from model_check.revisions.specification import FOLDER, SAME_NAMES, specification_run, vectors_run
from spec.errors import MalformedInput


def test_the_same_facts_are_no_change() -> None:
    assert specification_run({"row X": "a -> b"}, {"row X": "a -> b"}, []).notes == (SAME_NAMES,)


def test_each_change_is_a_line_and_what_came_whole_is_one() -> None:
    before = {
        "scope u": "there",
        "scope u / bound brokers": "3",
        "action a": "by admin",
        "action a / words": "1",
        "row X": "a -> b",
        "scope s": "there",
    }
    after = {
        "scope u": "there", "action a": "by admin", "action a / words": "2", "row X": "a -> c", "scope t": "there",
        "scope t / bound brokers": "3", "switch Y": "what it does",
    }  # fmt: skip
    assert specification_run(before, after, ["system s AS_CODED: removed"]).notes == (
        "action a: its words changed",
        "row X: was a -> b; is a -> c",
        "scope s: removed: there",
        "scope t: added: there",
        "scope u: bound brokers removed: 3",
        "switch Y: added: what it does",
        "system s AS_CODED: removed",
    )


def vector(name: str, given: int, then: int, *dialects: str) -> dict[str, Any]:
    return {"id": name, "verb": "ask", "given": {"it": given}, "dialects": dialects, "then": [{"is": then}]}


def written(folder: Path, *vectors: dict[str, Any]) -> Path:
    (folder / FOLDER).mkdir(parents=True)
    (folder / FOLDER / "some.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in vectors))
    return folder


def test_the_same_vectors_are_no_change(tmp_path: Path) -> None:
    sides = [written(tmp_path / side, vector("v-1", 1, 1, "a")) for side in ("before", "after")]
    assert vectors_run(sides[0], sides[1]).notes == ("nothing changed: 1 vector",)


def test_a_question_with_another_outcome_is_told_though_the_id_is_another(tmp_path: Path) -> None:
    before = written(tmp_path / "before", vector("v-1", 1, 1, "a"), vector("v-2", 2, 2, "a"), vector("v-3", 3, 3, "a"))
    after = written(tmp_path / "after", vector("v-4", 1, 7, "a"), vector("v-2", 2, 8, "a"), vector("v-3", 3, 3, "b"))
    assert vectors_run(before, after).notes == (
        "added 1: v-4",
        "retired 1: v-1",
        "other content under the same id 2: v-2, v-3",
        "other outcomes of 2 questions: v-1 -> v-4, v-2",
    )


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"verb": 1}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_vector_is_refused_by_its_line(line: bytes, tmp_path: Path) -> None:
    folder = written(tmp_path, vector("v-1", 1, 1, "a"))
    with (folder / FOLDER / "some.jsonl").open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(MalformedInput, match=r"some.jsonl:2: is no vector"):
        vectors_run(folder, folder)
