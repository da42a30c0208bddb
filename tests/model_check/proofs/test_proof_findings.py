"""From a proof to verdicts: what is proved, what is open, how deep that was looked at, against what is expected.

The system is that of tests/model_check/elections.py: one term in an epoch is proved with a lemma, that there are few
terms is false after six steps, and that the version grows needs nothing.
"""

from functools import cache

import pytest

from model_check.proofs.bounded import check_bounded
from model_check.proofs.induction import prove
from model_check.proofs.proof_findings import compared_proof, missing_lemmas, run_of_proof, with_bounded
from model_check.proofs.proof_report import ProofReport
from model_check.verdicts.results import Finding, Run
from model_check.verdicts.verdict import Verdict
from spec.expectations import ProofExpectation
from tests.model_check.elections import below_version, elections

SYSTEM = elections(candidates=2, few=2)
LEMMA = below_version(SYSTEM, "epoch")


@cache
def proof(*, with_lemma: bool = True) -> ProofReport:
    return prove(SYSTEM, None, [LEMMA] if with_lemma else [], workers=1)


def run() -> Run:
    return run_of_proof(SYSTEM, proof(), scope="elections", variant="AS_CODED")


def verdicts(one: Run) -> dict[str, str]:
    return {finding.property: str(finding.verdict) for finding in one.findings}


def expected(incomplete: dict[str, str] | None = None, bounded: dict[str, int] | None = None) -> ProofExpectation:
    open_ones = {"few_terms": "it is false"} if incomplete is None else incomplete
    return ProofExpectation("elections", "AS_CODED", frozenset(), open_ones, bounded or {})


def test_what_is_proved_holds_and_what_a_step_may_break_is_open() -> None:
    assert verdicts(run()) == {"one_per_epoch": "HOLDS", "few_terms": "INCOMPLETE", "version_grows": "HOLDS"}
    assert run().verdict is Verdict.INCOMPLETE
    assert "1 of 1 lemmas are inductive" in run().notes[0]


def test_a_property_that_was_not_to_be_proved_is_named() -> None:
    some = prove(SYSTEM, [SYSTEM.property_named("version_grows")], workers=1)
    one = run_of_proof(SYSTEM, some, scope="elections", variant="AS_CODED")
    assert one.not_asked == ("one_per_epoch", "few_terms")
    assert one.verdict is Verdict.HOLDS


def test_a_missing_lemma_shows_in_a_step_from_a_state_that_cannot_be_reached() -> None:
    told = "\n".join(missing_lemmas(proof(with_lemma=False), SYSTEM))
    assert "stands in the way of one_per_epoch" in told
    assert "action: write(c=" in told
    assert "stands in the way of one_per_epoch" not in "\n".join(missing_lemmas(proof(), SYSTEM))


def bounded(depth: int) -> Finding:
    report = check_bounded(SYSTEM, SYSTEM.property_named("few_terms"), depth)
    findings = {one.property: one for one in with_bounded(run(), SYSTEM, {"few_terms": report}).findings}
    return findings["few_terms"]


def test_bounded_runs_find_that_there_are_more_than_few_terms_and_no_sooner() -> None:
    # Three terms for two candidates: read and write three times, and a resignation in between.
    assert bounded(6).verdict is Verdict.INCOMPLETE
    assert "holds up to a depth of 6 steps" in bounded(6).reason
    broken = bounded(7)
    assert (broken.verdict, broken.story and broken.story.length) == (Verdict.VIOLATED, 7)


def test_a_proof_as_expected_holds_and_carries_depth_and_reason() -> None:
    reports = {"few_terms": check_bounded(SYSTEM, SYSTEM.property_named("few_terms"), 5)}
    one = compared_proof(run(), expected(bounded={"few_terms": 5}), reports)
    assert one.verdict is Verdict.HOLDS
    assert len(one.comparisons) == 4
    said = {finding.property: finding.expected for finding in one.findings}
    assert said["few_terms"] == "INCOMPLETE up to 5 steps: it is false"


@pytest.mark.parametrize(
    ("wanted", "verdict"),
    [
        (expected(incomplete={}), Verdict.INCOMPLETE),
        (expected(incomplete={"few_terms": "", "version_grows": ""}), Verdict.VIOLATED),
        (expected(incomplete={"few_terms": "", "no_such": ""}), Verdict.ERROR),
    ],
    ids=["an open question too many", "one too few", "one of nothing"],
)
def test_each_difference_alone_fails(wanted: ProofExpectation, verdict: Verdict) -> None:
    one = compared_proof(run(), wanted)
    assert [comparison.verdict for comparison in one.comparisons if not comparison.is_met] == [verdict]
    assert one.verdict is verdict


@pytest.mark.parametrize(("depth", "verdict"), [(6, Verdict.INCOMPLETE), (9, Verdict.VIOLATED)])
def test_an_open_question_must_be_looked_at_as_deep_as_expected(depth: int, verdict: Verdict) -> None:
    reports = {"few_terms": check_bounded(SYSTEM, SYSTEM.property_named("few_terms"), depth)}
    assert compared_proof(run(), expected(bounded={"few_terms": 9}), reports).verdict is verdict
