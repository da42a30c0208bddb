"""The change log of the vectors: as the files are, and kept by a version that rises with what changes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from model_check.cli.vectors import command
from model_check.conformance.making import cases as making
from model_check.conformance.making.cases import Case, made_anew, write_vectors
from model_check.conformance.making.changelog import CHANGELOG, brought_up, entries, entry_of
from model_check.conformance.vector import FOLDER, VERSION, Vector, read_manifest, read_vectors
from spec.errors import BadInput, MalformedInput
from tests.model_check.conformance.all_vectors import VECTORS

PAGE = (FOLDER / CHANGELOG).read_text("utf-8")
A, B, C = (Case("transition", word, {"machine": word}, [{"permitted": True}], [], []) for word in "abc")


def test_the_newest_entry_is_of_the_files() -> None:
    newest = entries(PAGE)[0]
    assert newest.version == VERSION == read_manifest(FOLDER).version
    of_today = entry_of(VERSION, [], VECTORS)
    assert (newest.count, newest.digest) == (of_today.count, of_today.digest)
    added = [name for one in entries(PAGE) for name in one.added]
    retired = [name for one in entries(PAGE) for name in one.retired]
    assert len(set(added)) == len(added)
    assert sorted({*added} - {*retired}) == sorted(one.id for one in VECTORS)
    assert sorted(retired) == read_manifest(FOLDER).retired


def test_earlier_entries_stay_as_they_are() -> None:
    """Counted when they were written: 65 + 422 + 45 + 89, then 78 fences, then six functions."""
    assert [(one.version, one.count, len(one.added)) for one in entries(PAGE)[-3:]] == [
        ("0.3.0", 1116, 24 + 50 + 200 + 44 + 48 + 51), ("0.2.0", 699, 78), ("0.1.0", 621, 65 + 422 + 45 + 89),
    ]  # fmt: skip
    assert [one.digest for one in entries(PAGE)[-3:]] == ["48925d192578c4f7", "70fbfd6c70ce990b", "46b13ee2f73d6e8b"]


def written(folder: Path, version: str, some: Sequence[Case], monkeypatch: pytest.MonkeyPatch) -> list[Vector]:
    monkeypatch.setattr(making, "VERSION", version)
    write_vectors(folder, {"transition": some})
    return read_vectors(folder)


def test_what_comes_and_goes_is_told_by_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "0.1.0", [A, B], monkeypatch)
    written(tmp_path, "0.2.0", [A, B, C], monkeypatch)
    other = replace(B, then=[{"permitted": False}])
    written(tmp_path, "1.0.0", [A, other], monkeypatch)
    page = (tmp_path / CHANGELOG).read_text("utf-8")
    newest, middle, oldest = entries(page)
    assert (oldest.added, oldest.changed, oldest.retired) == (("kcs-transition-0001", "kcs-transition-0002"), (), ())
    assert (middle.count, middle.added, middle.retired) == (3, ("kcs-transition-0003",), ())
    assert newest.added == newest.changed == ("kcs-transition-0004",)
    assert newest.retired == ("kcs-transition-0002", "kcs-transition-0003")
    assert "- retired 2: `kcs-transition-0002..0003`\n" in page
    written(tmp_path, "1.0.0", [A, other], monkeypatch)
    assert (tmp_path / CHANGELOG).read_text("utf-8") == page


@pytest.mark.parametrize(
    ("version", "some", "told"),
    [
        ("0.1.0", [A, B, C], "kcs-transition-0003 is not in 0.1.0, or is no more; raise VERSION in .* to 0.2.0"),
        ("0.1.1", [A], "kcs-transition-0002 is not in 0.1.0, or is no more; .* to 0.2.0"),
        ("0.2.0", [A, replace(B, then=[{"permitted": False}])], "kcs-transition-0003 allows less than the same"),
        ("0.9.0", [A, replace(B, then=[{"permitted": False}])], "raise VERSION in .* to 1.0.0"),
        ("0.0.9", [A, B], "were of 0.1.0, which is higher"),
        ("next", [A, B], "next: is no version"),
    ],
)
def test_a_version_that_has_not_risen_enough_is_refused(
    version: str, some: list[Case], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "0.1.0", [A, B], monkeypatch)
    before = {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()}
    with pytest.raises(BadInput, match=told):
        written(tmp_path, version, some, monkeypatch)
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == before


def test_an_outcome_in_a_new_dialect_is_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = replace(A, dialects=("as-coded-0.8.2",))
    written(tmp_path, "0.1.0", [old], monkeypatch)
    newer = replace(A, dialects=("documented",), then=[{"permitted": False}])
    written(tmp_path, "0.2.0", [old, newer], monkeypatch)
    assert entries((tmp_path / CHANGELOG).read_text("utf-8"))[0].changed == ()


def test_an_id_keeps_its_content_whatever_the_version_is() -> None:
    first, second = (replace(VECTORS[0], given={"machine": word}, hash=16 * word) for word in "ab")
    with pytest.raises(BadInput, match="kcs-transition-0001 would ask something else than before"):
        brought_up("", "1.0.0", [first], [second], was="0.3.0")


def test_files_that_are_made_from_nothing_do_not_use_ids_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after somebody has removed the vectors, and left the page."""
    written(tmp_path, "0.1.0", [A, B], monkeypatch)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(BadInput, match=r"kcs-transition-0001 would be new, and is of 0\.1\.0"):
        written(tmp_path, "0.2.0", [B, A], monkeypatch)
    with pytest.raises(BadInput, match=r"the digest of 0\.1\.0 is [0-9a-f]{16}, and would be [0-9a-f]{16}; raise"):
        written(tmp_path, "0.1.0", [B, A], monkeypatch)


def test_check_says_what_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, "0.1.0", [A, B], monkeypatch)
    monkeypatch.setattr("model_check.cli.vectors.made_here", lambda _: {"transition": [A, B, C]})
    assert command(tmp_path, check=True) == 1
    assert "kcs-transition-0003 is not in 0.1.0" in capsys.readouterr().out
    monkeypatch.setattr(making, "VERSION", "0.2.0")
    assert command(tmp_path, check=True) == 1
    assert (
        capsys.readouterr().out
        == "transition.jsonl would change\nmanifest.json would change\nCHANGELOG.md would change\n"
    )
    assert "CHANGELOG.md" in made_anew(tmp_path, {"transition": [A, B]})


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda page: page.replace("vectors, digest", "vectors", 1), "expected its count and digest"),
        (lambda page: page.replace("- changed 0\n", "", 1), "expected its count and digest"),
        (lambda page: page.replace("- changed 0", "- altered 0", 1), "expected a line that begins with - changed"),
        (lambda page: page.replace("0001..0051", "0001-0051", 1), "is no range of ids"),
    ],
)
def test_a_damaged_page_is_refused(damage: Callable[[str], str], told: str) -> None:
    with pytest.raises(MalformedInput, match=re.escape(told)):
        entries(damage(PAGE))
