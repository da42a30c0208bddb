"""The inventory's file: what is written is read back, sorted, and a damaged line is refused at its place."""

from pathlib import Path

import pytest

from model_check.inventory import accepted as store
from model_check.inventory.accepted import accept, accepted, facts_in, text_of_facts
from spec.errors import MalformedInput

FACTS = {"scope b": "1 = one", "scope a / verified": "every day"}


def test_what_is_accepted_is_read_back_and_stands_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "FILE", tmp_path / "inventory.txt")
    assert accepted() == {}
    accept(FACTS)
    assert accepted() == FACTS
    assert (tmp_path / "inventory.txt").read_text().splitlines()[1:] == [
        "scope a / verified = every day",
        "scope b = 1 = one",
    ]
    assert [one.name for one in tmp_path.iterdir()] == ["inventory.txt"]


def test_the_file_that_comes_along_is_as_it_would_be_written() -> None:
    assert text_of_facts(accepted()) == store.FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a = 1\nb 2\n", "inventory.txt: line 2: is no fact, `name = what is so`"),
        ("a = 1\na = 2\n", "inventory.txt: line 2: tells of a a second time"),
        ("a = 1\n<<<<<<< ours\n", "inventory.txt: line 2: is no fact, `name = what is so`"),
    ],
)
def test_a_line_that_is_no_fact_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(MalformedInput) as caught:
        facts_in(text)
    assert str(caught.value) == complaint
