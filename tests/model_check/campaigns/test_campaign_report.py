"""The table of a campaign, its totals, and what is said of single runs."""

from dataclasses import replace

import pytest

from model_check.campaigns.campaign_report import seen_by, summary, table
from model_check.campaigns.outcomes import Outcome, outcomes
from model_check.live.live_run import with_its_making
from model_check.verdicts.results import Document, Finding, Run, plain_document
from model_check.verdicts.verdict import Verdict
from tests.model_check.campaigns.stand_in_runs import PART, WHOLE, judged_run

SECONDS = {"record": 12.34, "judge": 5.0}
AGAIN = "to judge it again: kcheck judge runs/c/seed-8"
BROKEN = Finding("one_working_controller", "always", "One works.", "x", Verdict.VIOLATED, "at step 3", "HOLDS")
EXPLAINED = replace(judged_run("seed-7", WHOLE, ("1 lag", "2 lag")), seconds=SECONDS)
UNEXPLAINED = replace(judged_run("seed-8", PART, ("1 lag",)), seconds=SECONDS, notes=(AGAIN, "more"))
BREAKING = replace(judged_run("seed-9"), verdict=Verdict.VIOLATED, findings=(BROKEN,))
ABSENT = Run("live", "seed-10", "AS_CODED", Verdict.ERROR, "no java", seconds={"record": 0.1})
CLAIMS = Run("claims", "seed-11", "", Verdict.HOLDS, faults=("1 lag", "2 lag"), seconds=SECONDS)
SHRUNK = Run(
    "shrink",
    "seed-8",
    "AS_CODED",
    Verdict.INCOMPLETE,
    "shown again:",
    notes=("kcheck live --seed 8",),
    faults=("1 lag",),
)


def document(*runs: Run) -> Document:
    return plain_document("campaign", *runs)


def test_the_table_has_a_row_for_each_run() -> None:
    assert table(document(EXPLAINED, UNEXPLAINED, SHRUNK, ABSENT)) == [
        ("run", "faults", "observations", "explained", "verdict", "record s", "judge s", "positions", "best at"),
        ("seed-7", "2", "40", "40", "HOLDS", "12.3", "5.0", "55", "50"),
        ("seed-8", "1", "40", "31", "INCOMPLETE", "12.3", "5.0", "10,000", "44"),
        ("seed-10", "-", "-", "-", "ERROR", "0.1", "-", "-", "-"),
    ]


def test_the_totals_count_each_question_for_itself() -> None:
    first, *_ = summary(document(EXPLAINED, UNEXPLAINED, BREAKING, ABSENT))
    assert first == (
        "4 runs: 2 explained, 1 not explained, 0 not searched, 1 with a broken claim, 1 not recorded or not read"
    )
    first, *_ = summary(document(EXPLAINED))
    assert (
        first
        == "1 run: 1 explained, 0 not explained, 0 not searched, 0 with a broken claim, 0 not recorded or not read"
    )


def test_a_run_that_is_not_searched_is_not_explained() -> None:
    broken = replace(CLAIMS, scope="seed-12", verdict=Verdict.VIOLATED, findings=(BROKEN,))
    early, *_ = with_its_making((replace(CLAIMS, faults=()),), "seed-13", "broker 1 ended by itself", 3.0)
    found = document(CLAIMS, broken, early)
    assert [row[1:5] for row in table(found)[1:]] == [
        ("2", "-", "-", "HOLDS"),
        ("2", "-", "-", "VIOLATED"),
        ("0", "-", "-", "INCOMPLETE"),
    ]
    assert list(summary(found)) == [
        "3 runs: 0 explained, 0 not explained, 3 not searched, 1 with a broken claim, 0 not recorded or not read",
        "ended early: seed-13: broker 1 ended by itself",
        "seed-12 breaks one_working_controller: One works. (at step 3)",
    ]


def test_of_a_run_that_is_not_explained_all_is_said_that_one_needs() -> None:
    _, _, *lines = summary(document(UNEXPLAINED, SHRUNK))
    assert lines == [
        "seed-8 is not explained: not explained: no behaviour shows this",
        "  no behaviour shows   zookeeper.jsonl:59: zxid 0x3b version=1",
        "  seen by              ZooKeeper, in its transaction log",
        "  possible instead     write_removal(c=3, p=1, r=1), deliver_request(c=1, b=2)",
        f"  {AGAIN}",
        "  shown again:",
        "    kcheck live --seed 8",
    ]


def test_who_could_not_be_recorded_is_told_by_reason() -> None:
    _, told = summary(document(ABSENT, replace(ABSENT, scope="seed-11")))
    assert told == "not recorded or not read: seed-10, seed-11: no java"


def test_a_broken_claim_is_told_unless_the_exploration_breaks_it_too() -> None:
    assert list(summary(document(BREAKING)))[1:] == ["seed-9 breaks one_working_controller: One works. (at step 3)"]
    known = replace(BREAKING, verdict=Verdict.HOLDS, findings=(replace(BROKEN, expected="VIOLATED"),))
    assert list(summary(document(known)))[1:] == []


def test_a_broken_claim_of_another_question_leaves_a_run_explained() -> None:
    claims = replace(ABSENT, engine="claims", scope="seed-7", verdict=Verdict.VIOLATED, findings=(BROKEN,))
    (one,) = outcomes(document(EXPLAINED, claims))
    assert (one.is_explained, len(one.breaks), one.verdict) == (True, 1, Verdict.VIOLATED)
    assert one.seconds == {"record": pytest.approx(12.44), "judge": 5.0}


def test_what_was_left_out_is_told() -> None:
    cut = Run("campaign", "", "AS_CODED", Verdict.INCOMPLETE, "1 of 3 runs were made", notes=("goes on: kcheck",))
    assert list(summary(document(EXPLAINED, cut)))[1] == "INCOMPLETE: 1 of 3 runs were made; goes on: kcheck"


@pytest.mark.parametrize(
    ("run", "is_explained"),
    [
        (EXPLAINED, True),
        (UNEXPLAINED, False),
        (replace(EXPLAINED, verdict=Verdict.INCOMPLETE, reason="explained up to a part that is not modelled"), False),
        (replace(EXPLAINED, explained=replace(WHOLE, next=PART.next)), False),
    ],
)
def test_explained_is_what_is_whole_and_contradicts_nothing(run: Run, is_explained: bool) -> None:
    assert Outcome("seed-7", (run,)).is_explained is is_explained


def test_who_saw_it_is_told_by_the_file() -> None:
    assert seen_by("broker-3/state-change.log:12") == "broker 3, in its state-change.log"
    assert seen_by("actions.jsonl:12") == "whoever did harm to the cluster"
