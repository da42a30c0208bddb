"""Characters that no file may have, and those that make a text read otherwise than it is: no reader is shown them."""

import json
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, Final

import pytest

from model_check.cli.streams import harmless
from model_check.reports.characters import plain_markdown, printable
from model_check.reports.terminal import lanes
from model_check.reports.wanted import FORMATS, rendered
from model_check.verdicts.possibilities import Choice, Choices
from model_check.verdicts.rendering import text
from model_check.verdicts.results import Comparison, Document, Finding, plain_document
from model_check.verdicts.verdict import Verdict
from tests.model_check.documents import run
from tests.model_check.reports.stories import WHY, ZOMBIE

TURNING: Final = tuple(map(chr, (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Unicode's Bidi_Control, whose members are these (PropList.txt)."""


def test_characters_that_no_file_may_have_are_written_out() -> None:
    assert printable("a\tb\x00\x7f\ud800\uffff") == "a\tb\\x00\\x7f\\ud800\\uffff"
    assert plain_markdown("a\n*b*") == "a \\*b\\*"
    assert printable("one\ntwo\x80 \u00d7 \ud7ff\ue000\ufffd \U0001f600\U0010ffff") == (
        "one\ntwo\x80 \u00d7 \ud7ff\ue000\ufffd \U0001f600\U0010ffff"
    )


def tainted(one: Any, with_what: str) -> Any:
    """The same with something more at the end of each text in it."""
    if is_dataclass(one) and not isinstance(one, type):
        return replace(one, **{each.name: tainted(getattr(one, each.name), with_what) for each in fields(one)})
    if isinstance(one, dict):
        return {name: tainted(each, with_what) for name, each in one.items()}
    if isinstance(one, tuple):
        return tuple(tainted(each, with_what) for each in one)
    return one + with_what if isinstance(one, str) and not isinstance(one, Enum) else one


def full() -> Document:
    """A document with a text at each place that a report shows."""
    broken = Finding("p", "step", "It holds.", "by hand", Verdict.VIOLATED, "why", story=replace(ZOMBIE, because=WHY))
    told = run(broken, verdict=Verdict.VIOLATED, comparisons=(Comparison("q", "a", "b", Verdict.VIOLATED),))
    choice = Choice("crash(b=1)", "broker 1", "It dies.", "broker 1", "a row", ("it is dead",))
    return plain_document(
        "explore", replace(told, notes=("a note",), story=ZOMBIE, choices=(Choices(1, "", (choice,), (choice,)),))
    )


@pytest.mark.parametrize("name", sorted({*FORMATS, "text", "lanes"} - {"json"}))
def test_what_turns_the_direction_of_a_text_is_shown_as_an_escape_wherever_a_text_is_shown(name: str) -> None:
    for one in TURNING:
        document = tainted(full(), one)
        if name == "text":
            told = harmless(text(document))
        elif name == "lanes":
            told = "\n".join(lanes(document.runs[0].story))
        else:
            told = rendered(document, name)
            told = (
                json.dumps(json.loads(told), ensure_ascii=False) if name == "sarif" else told
            )  # as its readers see it
        assert not {*TURNING} & {*told}
        assert (f"u{ord(one):04x}" in told) == (name != "lanes"), "where it stood, something stands"
