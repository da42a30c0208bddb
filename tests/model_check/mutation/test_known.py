"""The list of known mutants: it can be read, each is still one, and says why."""

import pytest

from model_check.mutation.known import FILE, gone, known_mutants
from model_check.mutation.mutants import Maker
from spec.errors import MalformedInput
from tests.needs import ROOT

ENTRY = """[[mutant]]
file = "a.py"
function = "f"
line = "g(1)"
change = "1 -> 2"
kind = "open"
reason = "Nobody asks."
"""


def test_every_known_mutant_is_one_and_says_why() -> None:
    known = known_mutants(FILE.read_text("utf-8"))
    names = [one.name for file in {name[0] for name in known} for one in Maker().mutants_of(file, _source(file))]
    assert gone(known.values(), names) == []
    assert all(one.reason.endswith(".") for one in known.values())


def _source(file: str) -> bytes:
    return (ROOT / file).read_bytes()


def test_a_mutant_that_is_none_any_more_is_found() -> None:
    known = known_mutants(ENTRY)
    (name,) = known
    assert gone(known.values(), []) == [known[name]]
    assert gone(known.values(), [name]) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ENTRY.replace('"open"', '"closed"'), "mutant[0].kind: is neither equivalent nor open"),
        (ENTRY.replace('reason = "Nobody asks."', ""), "mutant[0]: has file"),
        (ENTRY.replace('"f"', "3"), "mutant[0]: has file"),
        ("[[mutant", "not TOML"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, said: str) -> None:
    with pytest.raises(MalformedInput) as refused:
        known_mutants(text, "list.toml")
    assert str(refused.value).startswith("list.toml")
    assert said in str(refused.value)
