"""Text is rendered from the document, and says what a reader must not miss."""

from dataclasses import replace

from hypothesis import given

from model_check.verdicts.rendering import headline, steps_in_lines, text
from model_check.verdicts.results import (
    Because,
    Comparison,
    Counts,
    Document,
    Finding,
    Run,
    Story,
    from_json,
    plain_document,
)
from model_check.verdicts.verdict import Verdict
from tests.model_check.documents import SILENT, STEP, documents, finding, run


@given(documents)
def test_the_text_needs_nothing_but_the_saved_document(document: Document) -> None:
    assert text(from_json(document.to_json(), "r.json")) == text(document)


@given(documents)
def test_the_verdict_stands_in_the_first_line(document: Document) -> None:
    assert f": {document.verdict}" in text(document)


def test_every_number_and_verdict_of_a_run_is_told() -> None:
    told = text(plain_document("explore", run(finding("p", Verdict.HOLDS), finding("q", Verdict.VIOLATED, length=3))))
    assert "  125 states, 300 transitions, depth 12, digest 7d-1" in told
    assert "  HOLDS      always      p" in told.splitlines()
    assert "  VIOLATED   always      q  broken by 3 steps" in told.splitlines()


def test_a_story_reads_as_who_did_what_and_what_changed() -> None:
    broken = replace(finding("p", Verdict.VIOLATED), story=Story(2, (STEP, SILENT)))
    told = text(plain_document("explore", run(broken)))
    assert told.endswith(
        "p: What p says.\n"
        "Broken by 2 steps (by hand):\n"
        "   0. The initial state.\n"
        "   1. wheel 1: A wheel shows one more than before.  [turn(w=1)]\n"
        "        seen: wheel 1 turned\n"
        "        a: 0 -> 1\n"
        "   2. wheel 1: The wheel rests.  [rest(w=1)]\n"
        "        (nothing changes)\n"
    )


def test_a_step_says_which_claims_it_breaks() -> None:
    broken = replace(finding("p", Verdict.VIOLATED), story=Story(2, (STEP, replace(SILENT, breaks=("p", "q")))))
    told = text(plain_document("judge", run(broken)))
    assert told.endswith("        (nothing changes)\n        breaks p\n        breaks q\n")


def test_without_changes_a_step_is_told_by_the_things_that_it_is_about_and_the_branch_it_takes() -> None:
    step = replace(STEP, about="wheel 2, [a,0]", branch=("next: rest, since it is late",))
    assert [*steps_in_lines(Story(2, (step, SILENT)), changes=False)] == [
        "   0. The initial state.",
        "   1. wheel 1: A wheel shows one more than before.  [turn: wheel 2, [a,0]]",
        "        next: rest, since it is late",
        "        seen: wheel 1 turned",
        "   2. wheel 1: The wheel rests.  [rest]",
    ]


def test_a_story_ends_with_why_it_is_the_violation() -> None:
    why = Because("wheel 1", ("its digit (1) is not 0", "it rests: yes"))
    for because, lines in (
        (why, "   Because, of wheel 1:\n        its digit (1) is not 0\n        it rests: yes\n"),
        (Because("", why.facts[1:]), "   Because:\n        it rests: yes\n"),
        (Because("wheel 1"), "   Because, of wheel 1:\n        it never holds\n"),
    ):
        broken = replace(finding("p", Verdict.VIOLATED), story=Story(2, (STEP, SILENT), because=because))
        assert text(plain_document("explore", run(broken))).endswith(f"\n        (nothing changes)\n{lines}")


def told_stories(*findings: Finding, stories: tuple[str, ...] | None = None) -> list[str]:
    lines = text(plain_document("explore", run(*findings)), stories=stories).splitlines()
    return [line.split(":")[0] for line in lines if ": What " in line]


def test_by_default_only_the_shortest_violation_is_told() -> None:
    long, short = finding("long", Verdict.VIOLATED, length=9), finding("short", Verdict.VIOLATED, length=2)
    witness = finding("seen", Verdict.HOLDS, kind="sometimes", length=1)
    assert told_stories(long, short, witness) == ["short"]
    assert told_stories(witness) == []


def test_the_chosen_stories_are_told() -> None:
    long, short = finding("long", Verdict.VIOLATED, length=9), finding("short", Verdict.VIOLATED, length=2)
    assert told_stories(long, short, stories=("long",)) == ["long"]
    assert told_stories(long, short, stories=()) == []


def test_a_trace_without_words_is_no_story() -> None:
    silent = replace(finding("short", Verdict.VIOLATED, length=2), story=Story(2))
    assert told_stories(silent) == []
    assert "  VIOLATED   always      short  broken by 2 steps" in text(plain_document("explore", run(silent)))


def compared(*met: tuple[str, Verdict, str]) -> Run:
    made = tuple(Comparison(about, "this", "that", verdict, expected) for about, verdict, expected in met)
    surprise = finding("surprise", Verdict.VIOLATED, length=1)
    known = replace(finding("known", Verdict.VIOLATED, length=2), expected="VIOLATED in 2 steps")
    return run(surprise, known, comparisons=made, verdict=Verdict.VIOLATED)


def test_the_first_line_counts_expected_and_unexpected_and_what_was_expected_to_be_bad() -> None:
    one = compared(
        ("states", Verdict.HOLDS, ""),
        ("known", Verdict.HOLDS, "VIOLATED"),
        ("open", Verdict.HOLDS, "INCOMPLETE"),
        ("surprise", Verdict.VIOLATED, "HOLDS"),
    )
    document = Document("verify", Verdict.VIOLATED, (one,))
    assert headline(document) == (
        "kcheck verify: VIOLATED: 3 as expected (among them 1 VIOLATED, 1 INCOMPLETE), 1 unexpected, in 1 run"
    )


def test_what_was_not_expected_is_told_with_its_story_and_what_was_expected_without() -> None:
    one = compared(("known", Verdict.HOLDS, "VIOLATED"), ("surprise", Verdict.VIOLATED, "HOLDS"))
    told = text(Document("verify", Verdict.VIOLATED, (one,)))
    assert "  VIOLATED   surprise: expected this, found that" in told.splitlines()
    assert "  violated, as expected: known (in 2 steps)" in told.splitlines()
    assert "known: expected" not in told
    assert "surprise: What surprise says." in told
    assert "known: What" not in told


def test_what_a_bound_cut_off_and_what_never_happened_is_told_in_lines_that_fit() -> None:
    rules = tuple(f"a_rule_with_a_long_name_{number}" for number in range(12))
    one = replace(run(), bounds_hit={"turn": 75}, never_fired=rules, not_asked=("can_return",))
    lines = text(plain_document("explore", one)).splitlines()
    assert "  exhausted only up to bounds that stop: turn (75)" in lines
    assert "  not asked: can_return" in lines
    assert all(any(f" {rule}" in line for line in lines) for rule in rules)
    assert max(map(len, lines)) <= 100


def test_large_counts_are_grouped() -> None:
    one = replace(run(), counts=Counts(1234567, 2345678, 9, "d", (1,)))
    assert "1,234,567 states, 2,345,678 transitions" in text(plain_document("explore", one))
