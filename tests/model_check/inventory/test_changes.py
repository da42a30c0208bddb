"""Changes of the inventory in words: what was added, removed or changed, and of long facts only what moved."""

import pytest

from model_check.inventory.changes import Change, changes, in_words

BEFORE = {
    "claim x": "always, of partitions",
    "scope tiny / verified": "every day, with goals",
    "scope tiny / budget crashes": "2",
    "system tiny AS_CODED": "3 variables, 4 actions: variables 0a, actions 1b",
}


def test_the_same_facts_have_no_changes() -> None:
    assert changes(BEFORE, dict(reversed(BEFORE.items()))) == []
    assert in_words([]) == "nothing changed\n"


def test_each_kind_of_change_is_told_under_what_it_is_about() -> None:
    after = {
        "claim y": "sometimes",
        "scope tiny / verified": "with --deep, with goals",
        "scope tiny / budget crashes": "1",
        "system tiny AS_CODED": "3 variables, 4 actions: variables 0a, actions 2c",
    }
    assert in_words(changes(BEFORE, after)).splitlines() == [
        "1 added, 1 removed, 3 changed",
        "claim x",
        "  removed: always, of partitions",
        "claim y",
        "  added: sometimes",
        "scope tiny",
        "  changed: budget crashes: 2 -> 1",
        "  changed: verified: every day -> with --deep",
        "system tiny AS_CODED",
        "  changed: actions 1b -> actions 2c",
    ]


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ("a, b", "a, c", ("b", "c")),
        ("a, b", "a, b, c", ("a, b", "a, b, c")),
        ("a: b; c", "a: d; e", ("b; c", "d; e")),
        (None, "a, b", ("nothing", "a, b")),
        ("a, b", None, ("a, b", "nothing")),
    ],
)
def test_only_the_parts_that_differ_are_told(before: str, after: str, difference: tuple[str, str]) -> None:
    assert Change("x", before, after).difference == difference
