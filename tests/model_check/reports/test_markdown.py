"""Markdown for a pull request, read by a library: a table, what differs, and stories that are folded away."""

from dataclasses import replace

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from model_check.reports.characters import folded
from model_check.reports.markdown import MOST_CHARACTERS, report
from model_check.verdicts.results import Comparison, Document, plain_document
from model_check.verdicts.told_stories import stories_told
from model_check.verdicts.verdict import Verdict
from tests.model_check.documents import documents, finding, run

READER = MarkdownIt("commonmark", {"html": True}).enable("table")


def blocks(text: str) -> list[str]:
    """The kinds of a page's blocks, in order."""
    return [one.type for one in READER.parse(text) if one.level == 0 and one.nesting >= 0]


@given(documents)
def test_whatever_is_in_a_document_it_is_a_page_of_one_heading_and_one_table(document: Document) -> None:
    page = blocks(report(document))
    assert page[0] == "heading_open"
    assert page.count("heading_open") == 1
    assert page.count("table_open") == bool(document.runs)
    stories = len(stories_told(document)) + sum(bool(one.choices) for one in document.runs)
    assert page.count("fence") == stories
    assert page.count("html_block") == 2 * stories
    assert {*page} <= {"heading_open", "table_open", "paragraph_open", "bullet_list_open", "html_block", "fence"}


def test_what_else_there_is_to_say_of_a_run_is_a_list_under_its_title() -> None:
    page = report(plain_document("diff", replace(run(), notes=("states 1 -> 2", "two\n  lines"))))
    assert page.endswith("**\n\n- states 1 -\\> 2\n- two\n- lines\n")


def test_notes_that_do_not_fit_are_counted() -> None:
    page = report(plain_document("diff", replace(run(), notes=tuple("x" * 199 for _ in range(1_000)))))
    assert MOST_CHARACTERS / 2 < len(page) < MOST_CHARACTERS
    assert f"\nand {1_000 - page.count('- x')} lines more\n" in page


def test_what_differs_comes_before_stories_and_new_stories_before_known_ones() -> None:
    known, new = finding("known", Verdict.VIOLATED, length=1), finding("new", Verdict.VIOLATED, length=2)
    made = (
        Comparison("known", "VIOLATED", "VIOLATED", Verdict.HOLDS, "VIOLATED"),
        Comparison("new", "HOLDS", "VIOLATED", Verdict.VIOLATED, "HOLDS"),
    )
    page = report(plain_document("verify", run(known, new, verdict=Verdict.VIOLATED, comparisons=made)))
    row, difference = (
        "| tiny AS\\_CODED (explorer) | VIOLATED | 125 | 1 of 2 | 2 |", "- new: expected HOLDS, found VIOLATED",
    )  # fmt: skip
    stories = [f"<summary>tiny AS_CODED (explorer): {name}</summary>" for name in ("new", "known")]
    found = [page.index(one) for one in (row, difference, *stories)]
    assert found == sorted(found)
    assert "known: expected" not in page


def test_a_page_fits_and_says_what_it_leaves_out() -> None:
    long = finding("long", Verdict.VIOLATED, length=600)
    page = report(plain_document("explore", *[run(long, verdict=Verdict.VIOLATED)] * 120))
    assert MOST_CHARACTERS / 2 < len(page) < 65_536
    assert "and 80 runs more, of which 0 hold" in page
    shown = page.count("<details>")
    assert shown > 0
    assert page.endswith(f"and {120 - shown} stories more; `--report json=FILE` has them\n")


def test_nothing_in_a_name_is_markdown_or_html() -> None:
    hostile = "<script>alert(1)</script>\n# `x` | [a](b) @everybody #1 \x1b[31m\ud800"
    page = report(plain_document("explore", replace(run(verdict=Verdict.VIOLATED), scope=hostile, reason=hostile)))
    assert blocks(page) == ["heading_open", "table_open"]
    inline = [child.type for one in READER.parse(page) for child in one.children or ()]
    assert {*inline} == {"text"}
    assert page.encode("utf-8")


@pytest.mark.parametrize(("runs", "unmet", "letters"), [(100, 100, 8), (1, 1, 10_000_000), (300, 1, 10_000)])
def test_a_page_fits_however_much_there_is_to_tell(runs: int, unmet: int, letters: int) -> None:
    text = "_" * letters
    made = tuple(Comparison(f"{text}{number}", "a", "b", Verdict.VIOLATED) for number in range(unmet))
    one = replace(run(verdict=Verdict.VIOLATED, comparisons=made), scope=text, reason=text)
    assert len(report(plain_document("verify", *[one] * runs))) < 65_536


def test_of_runs_that_all_hold_their_number_is_told() -> None:
    page = report(plain_document("verify", *[run(finding("p", Verdict.HOLDS, length=0))] * 200))
    assert page == "### kcheck verify: HOLDS\n\n\n200 runs, of which 200 hold\n"


def test_what_is_folded_ends_where_it_ends_whatever_fences_it_has() -> None:
    text = "a\n```\n<b>\n`````\n# no heading"
    assert blocks(folded("<i>", text)) == ["html_block", "fence", "html_block"]
    assert next(one.content for one in READER.parse(folded("", text)) if one.type == "fence") == f"{text}\n"
