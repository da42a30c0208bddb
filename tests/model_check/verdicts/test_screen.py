"""A verification on one screen: it fits, says the verdict first, and hides nothing that is not as expected."""

from hypothesis import given

from model_check.verdicts.results import Comparison, Counts, Document, Run
from model_check.verdicts.screen import KINDS, LINES, NEWS, WIDTH, screen
from model_check.verdicts.verdict import Verdict
from tests.model_check.documents import documents

KNOWN = Comparison("known", "VIOLATED in 2 steps", "VIOLATED in 2 steps", Verdict.HOLDS, "VIOLATED")
OPEN = Comparison("open", "INCOMPLETE", "INCOMPLETE", Verdict.HOLDS, "INCOMPLETE")
NEW = Comparison("new", "HOLDS", "VIOLATED in 3 steps", Verdict.VIOLATED, "HOLDS")
COUNTED = Comparison("states", "125", "126", Verdict.VIOLATED)


def made(engine: str, *comparisons: Comparison, states: int = 0, scope: str = "tiny") -> Run:
    verdict = Verdict.VIOLATED if any(not one.is_met for one in comparisons) else Verdict.HOLDS
    counts = Counts(states, 0, 0, "", ()) if states else None
    return Run(engine, scope, "AS_CODED", verdict, counts=counts, comparisons=comparisons)


def lines_of(*runs: Run, verdict: Verdict = Verdict.HOLDS) -> list[str]:
    return screen(Document("verify", verdict, runs), "the full report: here").splitlines()


def test_what_passes_is_counted_by_kind() -> None:
    assert lines_of(
        made("induction", OPEN),
        made("explorer", KNOWN, states=1_000),
        made("D1, explorer", KNOWN),
        made("explorer", KNOWN, KNOWN, states=200),
        made("manifest"),
    ) == [
        "kcheck verify: HOLDS: 5 as expected (among them 4 VIOLATED, 1 INCOMPLETE), 0 unexpected, in 5 runs",
        "",
        "     2 explorations: 3 expectations met, 1,200 states",
        "     1 defects shown, or gone when fixed: 1 expectations met",
        "     1 proofs by induction: 1 expectations met",
        "     1 manifest: 0 expectations met",
        "     4 known violations, all as expected",
        "     1 known open questions, all as expected",
        "",
        "the full report: here",
    ]


def test_a_run_that_is_not_as_expected_takes_a_line_and_its_claims_come_before_its_counts() -> None:
    broken = made("explorer", KNOWN, COUNTED, NEW)
    failed = Run("live", "seed-1", "AS_CODED", Verdict.ERROR, "the disk is full")
    told = lines_of(broken, failed, made("judge"), verdict=Verdict.VIOLATED)
    start = told.index("not as expected:")
    assert told[start + 1 : start + 4] == [
        "  tiny AS_CODED (explorer): new: expected HOLDS, found VIOLATED in 3 steps; and 1 more",
        "  seed-1 AS_CODED (live): ERROR: the disk is full",
        "",
    ]


def test_it_fits_on_a_screen_whatever_was_found() -> None:
    kinds = (*KINDS, "manifest", "inventory", "coverage")
    runs = [made(kind, NEW, KNOWN, OPEN, scope="s" * 200) for kind in kinds for _ in range(9)]
    told = lines_of(*runs, verdict=Verdict.VIOLATED)
    assert len(told) <= LINES
    assert max(map(len, told[1:])) <= WIDTH
    assert f"  and {len(runs) - NEWS} more runs" in told


@given(documents)
def test_the_verdict_stands_in_the_first_line(document: Document) -> None:
    assert f": {document.verdict}" in screen(document, "")
