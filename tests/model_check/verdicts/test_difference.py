"""What became of an exploration beside another: claims that changed, in order of length, and the size."""

import pytest

from model_check.verdicts.difference import Outcome, changed_claims, size_change
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from tests.model_check.documents import finding, run

BEFORE = Outcome(100, 9, {"fixed": 4, "later": 5, "sooner": 6, "same": 7})
AFTER = Outcome(1_200, 9, {"new": 8, "newer": 3, "later": 9, "sooner": 2, "same": 7})
ALL = BEFORE.broken.keys() | AFTER.broken.keys()


def test_every_claim_that_changed_is_told_and_no_other() -> None:
    assert list(changed_claims(BEFORE, AFTER, ALL)) == [
        "now broken: newer in 3 steps",
        "now broken: new in 8 steps",
        "no longer broken: fixed",
        "broken sooner: sooner in 2 steps, before in 6",
        "broken later: later in 9 steps, before in 5",
    ]
    assert list(changed_claims(BEFORE, BEFORE, ALL)) == []


def test_what_was_not_asked_of_both_is_not_told() -> None:
    assert list(changed_claims(BEFORE, AFTER, {"fixed", "same"})) == ["no longer broken: fixed"]


def test_the_size_is_told_before_and_after() -> None:
    assert size_change(BEFORE, AFTER) == "states 100 -> 1,200, depth 9 as before"


def test_the_outcome_of_a_run_is_what_it_found() -> None:
    found = run(finding("broken", Verdict.VIOLATED, length=3), finding("holds", Verdict.HOLDS))
    assert Outcome.found(found) == Outcome(125, 12, {"broken": 3})
    with pytest.raises(ValueError, match="counted nothing"):
        Outcome.found(Run("explorer", "tiny", "AS_CODED", Verdict.ERROR))
