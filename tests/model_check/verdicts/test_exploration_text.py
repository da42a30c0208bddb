"""An exploration as text: what nobody expected comes first, what is known takes a line, and nothing else hides."""

from dataclasses import replace

from hypothesis import given

from model_check.verdicts.exploration_text import headline, text
from model_check.verdicts.results import Comparison, Document, Finding, Run, from_json, plain_document
from model_check.verdicts.verdict import Verdict
from tests.model_check.documents import documents, finding, run

KNOWN = Comparison("known", "VIOLATED in 2 steps", "VIOLATED in 2 steps", Verdict.HOLDS, "VIOLATED")
NEW = Comparison("new", "HOLDS", "VIOLATED in 3 steps", Verdict.VIOLATED, "HOLDS")
COUNTED = Comparison("states", "125", "125", Verdict.HOLDS)


def explored(*comparisons: Comparison, findings: tuple[Finding, ...] = ()) -> Run:
    given = {
        "known": replace(finding("known", Verdict.VIOLATED, length=2), expected="VIOLATED in 2 steps"),
        "new": replace(finding("new", Verdict.VIOLATED, length=3), expected="HOLDS"),
    }
    asked = tuple(given[one.about] for one in comparisons if one.about in given)
    worse = any(not one.is_met for one in comparisons)
    verdict = Verdict.VIOLATED if worse else Verdict.HOLDS
    return run(*asked, *findings, comparisons=comparisons, verdict=verdict)


@given(documents)
def test_the_text_needs_nothing_but_the_saved_document(document: Document) -> None:
    for verbose in (False, True):
        read = from_json(document.to_json(), "r.json")
        assert text(read, verbose=verbose) == text(document, verbose=verbose)


@given(documents)
def test_the_verdict_stands_in_the_first_line(document: Document) -> None:
    assert f": {document.verdict}" in text(document).split("\n")[0] or "\n" in document.verb


def test_what_is_new_comes_first_with_its_story_and_what_is_known_behind_it_in_a_line() -> None:
    told = text(plain_document("explore", explored(COUNTED, KNOWN, NEW))).splitlines()
    assert told == [
        "kcheck explore: VIOLATED: 1 not as expected, 1 known violation",
        "",
        "tiny AS_CODED (explorer)",
        "  125 states, 300 transitions, depth 12, digest 7d-1",
        "  VIOLATED   always      new  broken by 3 steps; expected: HOLDS",
        "",
        "new: What new says.",
        "Broken by 3 steps (by hand):",
        "   0. The initial state.",
        "   1. wheel 1: It turns.  [turn(w=1)]",
        "        (nothing changes)",
        "   2. wheel 1: It turns.  [turn(w=1)]",
        "        (nothing changes)",
        "   3. wheel 1: It turns.  [turn(w=1)]",
        "        (nothing changes)",
        "",
        "  known      always      known  broken by 2 steps, as expected (by hand)",
        "  0 of 2 claims hold; --verbose names them",
    ]


def test_a_known_violation_has_no_story_unless_it_is_asked_for() -> None:
    document = plain_document("explore", explored(KNOWN))
    assert "The initial state" not in text(document)
    assert "known: What known says." in text(document, stories=("known",))


def test_the_first_line_says_what_the_verdict_goes_by() -> None:
    def first(one: Run) -> str:
        return headline(plain_document("explore", one))

    assert first(explored(COUNTED)) == "kcheck explore: HOLDS: all as expected"
    assert first(explored(KNOWN)) == "kcheck explore: HOLDS: all as expected, 1 known violation"
    assert first(run(verdict=Verdict.VIOLATED)) == "kcheck explore: VIOLATED; the manifest expects nothing of it"
    cut_short = replace(explored(KNOWN), verdict=Verdict.INCOMPLETE, reason="not exhausted")
    assert first(cut_short) == "kcheck explore: INCOMPLETE"


def test_of_lists_only_the_names_that_differ_are_told() -> None:
    rules = Comparison("rules never enabled", "a, b", "b, c", Verdict.VIOLATED)
    gone = Comparison("rules stopped by a bound", "none", "none", Verdict.HOLDS)
    missing = Comparison("lost", "a verdict", "no such property in this scope, or not asked", Verdict.ERROR)
    told = text(plain_document("explore", explored(rules, gone, missing))).splitlines()
    assert "  rules never enabled, and not expected: c" in told
    assert "  rules never enabled, expected and not found: a" in told
    assert "  lost: expected a verdict, found no such property in this scope, or not asked" in told
    assert not [line for line in told if "bound" in line]


def test_verdicts_are_counted_or_named() -> None:
    findings = (
        finding("holds", Verdict.HOLDS),
        replace(finding("vacuous", Verdict.HOLDS), reason="for want of occasion"),
        finding("undecided", Verdict.INCOMPLETE),
        finding("seen", Verdict.HOLDS, kind="sometimes", length=1),
        finding("unseen", Verdict.INCOMPLETE, kind="sometimes"),
    )
    document = plain_document("explore", explored(KNOWN, findings=findings))
    counted = "2 of 4 claims hold (1 for want of occasion), 1 still open, 1 of 2 witnesses are shown; --verbose names"
    assert counted in text(document)
    assert not [one.property for one in findings if f" {one.property}" in text(document)]
    assert all(f" {one.property}" in text(document, verbose=True) for one in findings)
    assert counted not in text(document, verbose=True)


def test_bounds_and_what_was_not_asked_and_notes_are_always_told() -> None:
    one = replace(explored(COUNTED), bounds_hit={"turn": 75}, not_asked=("can_return",), notes=("mind this",))
    told = text(plain_document("explore", one))
    for line in ("exhausted only up to bounds that stop: turn (75)", "not asked: can_return", "mind this"):
        assert f"  {line}\n" in told


def test_a_rule_that_is_never_enabled_is_told_where_nobody_expects_it() -> None:
    idle = {"never_fired": ("rest",), "idle_instances": ("turn(w=2)",)}
    silent, told = (replace(one, **idle) for one in (explored(COUNTED), run()))  # type: ignore[arg-type]
    assert "rest" not in text(plain_document("explore", silent))
    assert "  never enabled: rest\n" in text(plain_document("explore", told))
    assert "turn(w=2)" not in text(plain_document("explore", told))
    assert "turn(w=2)" in text(plain_document("explore", told), verbose=True)
