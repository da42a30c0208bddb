"""Verification: every way to differ from the manifest fails, and nothing else does."""

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from model_check.verdicts import verification
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check, compared, document, printed_expectation, run_checks
from spec.errors import EnvironmentFailure, LacksMemory
from spec.expectations import Expectation, plans
from tests.model_check.documents import finding, run

EXPECTED = Expectation(
    scope="tiny",
    variant="AS_CODED",
    states=125,
    transitions=300,
    depth=12,
    digest="7d-1",
    violated={"broken": 7},
    incomplete={"open": "a bound is in the way"},
    unwitnessed=frozenset({"unseen"}),
    never_fired=frozenset({"idle"}),
    bounds_hit=frozenset({"turn"}),
)


def found() -> Run:
    """A run that is exactly as expected."""
    made = run(
        finding("fine", Verdict.HOLDS),
        finding("seen", Verdict.HOLDS, kind="sometimes", length=3),
        finding("broken", Verdict.VIOLATED, length=7),
        finding("open", Verdict.INCOMPLETE, kind="recoverable", length=4),
        finding("unseen", Verdict.INCOMPLETE, kind="sometimes"),
        verdict=Verdict.VIOLATED,
    )
    return replace(made, never_fired=("idle",), bounds_hit={"turn": 75})


def changed(name: str, verdict: Verdict, length: int | None = None) -> Run:
    """The run with another verdict on one property."""
    made = found()
    others = tuple(
        replace(finding(name, verdict, kind=one.kind, length=length)) if one.property == name else one
        for one in made.findings
    )
    return replace(made, findings=others)


def test_a_run_as_expected_holds_whatever_its_own_verdict_was() -> None:
    one = compared(found(), EXPECTED)
    assert one.verdict is Verdict.HOLDS
    assert len(one.comparisons) == 4 + 5 + 2
    assert all(comparison.is_met for comparison in one.comparisons)


def test_expected_violations_and_open_questions_are_counted_as_such() -> None:
    expected = [one.expected_verdict for one in compared(found(), EXPECTED).comparisons if one.expected_verdict]
    assert sorted(expected) == ["HOLDS", "HOLDS", "INCOMPLETE", "VIOLATED", "unwitnessed"]


def test_an_open_question_carries_its_reason() -> None:
    reasons = {one.property: one.expected for one in compared(found(), EXPECTED).findings}
    assert reasons["open"] == "INCOMPLETE: a bound is in the way"
    assert reasons["broken"] == "VIOLATED in 7 steps"


def without(name: str) -> Run:
    """The run without a word on one property."""
    return replace(found(), findings=tuple(one for one in found().findings if one.property != name))


def sized(**changes: Any) -> Run:
    """The run with other counts."""
    counts = found().counts
    assert counts is not None
    return replace(found(), counts=replace(counts, **changes))


DIFFERENT: dict[str, tuple[Run, Verdict]] = {
    "fewer states": (sized(states=124), Verdict.VIOLATED),
    "fewer transitions": (sized(transitions=299), Verdict.VIOLATED),
    "another depth": (sized(depth=11), Verdict.VIOLATED),
    "other states": (sized(digest="7d-2"), Verdict.VIOLATED),
    "a new violation": (changed("fine", Verdict.VIOLATED, 3), Verdict.VIOLATED),
    "a shorter trace": (changed("broken", Verdict.VIOLATED, 6), Verdict.VIOLATED),
    "a longer trace": (changed("broken", Verdict.VIOLATED, 8), Verdict.VIOLATED),
    "a violation that is gone": (changed("broken", Verdict.HOLDS), Verdict.VIOLATED),
    "a question that is settled": (changed("open", Verdict.HOLDS), Verdict.VIOLATED),
    "a new question": (changed("fine", Verdict.INCOMPLETE), Verdict.INCOMPLETE),
    "a witness that is gone": (changed("seen", Verdict.INCOMPLETE), Verdict.VIOLATED),
    "a witness that is new": (changed("unseen", Verdict.HOLDS, 2), Verdict.VIOLATED),
    "a rule that never fires": (replace(found(), never_fired=("idle", "other")), Verdict.VIOLATED),
    "a rule that fires now": (replace(found(), never_fired=()), Verdict.VIOLATED),
    "a bound that is hit": (replace(found(), bounds_hit={"turn": 75, "other": 1}), Verdict.VIOLATED),
    "a bound that is not hit": (replace(found(), bounds_hit={}), Verdict.VIOLATED),
    "a property that is not there": (without("broken"), Verdict.ERROR),
}  # fmt: skip


@pytest.mark.parametrize(
    "rows", [{}, {"P-NEW-ONLINE": 4}, {"P-NEW-OFFLINE": 5}, {"P-NEW-ONLINE": 5, "P-NEW-OFFLINE": 6}], ids=str
)
def test_rows_are_compared_where_they_are_expected(rows: dict[str, int]) -> None:
    expected = replace(EXPECTED, rows={"P-NEW-ONLINE": 5})
    as_expected = replace(found(), first_depths={"a_rule": 1, "P-NEW-ONLINE": 5})
    assert compared(as_expected, expected).verdict is Verdict.HOLDS
    assert compared(replace(as_expected, first_depths=rows), expected).verdict is Verdict.VIOLATED
    assert compared(replace(as_expected, first_depths=rows), EXPECTED).verdict is Verdict.HOLDS


@pytest.mark.parametrize("name", DIFFERENT)
def test_each_difference_alone_fails(name: str) -> None:
    made, verdict = DIFFERENT[name]
    one = compared(made, EXPECTED)
    assert [comparison.verdict for comparison in one.comparisons if not comparison.is_met] == [verdict]
    assert one.verdict is verdict


def test_what_was_cut_short_is_incomplete_however_it_differs() -> None:
    short = replace(sized(states=60), reason="not exhausted", never_fired=())
    assert compared(short, EXPECTED).verdict is Verdict.INCOMPLETE


def test_a_verification_that_compared_nothing_is_an_error() -> None:
    assert document([]).verdict is Verdict.ERROR
    assert document([run()]).verdict is Verdict.ERROR
    assert document([compared(found(), EXPECTED)]).verdict is Verdict.HOLDS


# --------------------------------------------------------------------------------------------------------------- checks


def check(cost: int, make: Callable[[], Iterable[Run]]) -> Check:
    return Check("explorer", f"scope {cost}", "AS_CODED", cost, make)


def good() -> list[Run]:
    return [compared(found(), EXPECTED)]


def failing(error: BaseException) -> Callable[[], Iterable[Run]]:
    def make() -> Iterable[Run]:
        raise error

    return make


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (EnvironmentFailure("the disk is full", "make room"), "the disk is full; make room"),
        (KeyError("no such term"), "KeyError: 'no such term' (test_verification.py:"),
        (MemoryError(), "MemoryError:  (test_verification.py:"),
    ],
)
def test_a_check_that_breaks_is_an_error_and_hides_no_other(error: Exception, reason: str) -> None:
    runs = list(run_checks([check(1, good), check(2, failing(error)), check(3, good)]))
    assert [one.verdict for one in runs] == [Verdict.HOLDS, Verdict.ERROR, Verdict.HOLDS]
    assert runs[1].reason.startswith(reason)
    assert document(runs).exit_code == 4


def test_a_violation_elsewhere_is_worse_than_an_error() -> None:
    bad = compared(DIFFERENT["fewer states"][0], EXPECTED)
    runs = run_checks([check(1, failing(ValueError())), check(2, lambda: [bad])])
    assert document(runs).exit_code == 1


def test_after_an_interruption_nothing_is_begun_and_all_of_it_is_incomplete() -> None:
    begun: list[int] = []

    def noting(number: int) -> Iterable[Run]:
        begun.append(number)
        return good()

    checks = [check(1, partial(noting, 1)), check(2, failing(KeyboardInterrupt())), check(3, partial(noting, 3))]
    runs = list(run_checks(checks))
    assert begun == [1]
    assert [one.verdict for one in runs] == [Verdict.HOLDS, Verdict.INCOMPLETE, Verdict.INCOMPLETE]
    assert document(runs).exit_code == 3


def test_a_run_that_says_it_was_interrupted_ends_the_verification() -> None:
    stopped = replace(found(), verdict=Verdict.INCOMPLETE, reason="not exhausted: it was interrupted after 3 states")
    runs = list(run_checks([check(1, lambda: [stopped]), check(2, good)]))
    assert runs[1].reason == "interrupted before it began"


def test_what_another_process_has_made_is_told_after_an_interruption() -> None:
    there, not_yet = replace(check(2, good), is_made=lambda: True), check(3, good)
    runs = list(run_checks([check(1, failing(KeyboardInterrupt())), there, not_yet]))
    assert [one.verdict for one in runs] == [Verdict.INCOMPLETE, Verdict.HOLDS, Verdict.INCOMPLETE]


def test_checks_are_made_in_the_order_given_and_everybody_hears_of_each() -> None:
    told: list[Run] = []
    runs = list(run_checks([check(9, failing(ValueError())), check(1, good)], told.append))
    assert runs == told
    assert [one.verdict for one in runs] == [Verdict.ERROR, Verdict.HOLDS]


class Lacking:
    """A check for which there is no memory the first few times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self) -> Iterable[Run]:
        self.left -= 1
        if self.left >= 0:
            raise LacksMemory("small needs about 2.0 GiB of memory, and 1.0 GiB are free", "take a smaller scope")
        return good()


@pytest.mark.parametrize(("times", "verdict"), [(1, "HOLDS"), (2, "HOLDS"), (3, "HOLDS"), (4, "ERROR")])
def test_a_check_that_lacks_memory_is_put_off_and_tried_again_for_a_while(
    times: int, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "WAITS", (0, 0, 0))
    lacking = Lacking(times)
    runs = list(run_checks([check(1, lacking), check(2, good), check(3, good)]))
    assert [one.verdict for one in runs] == ["HOLDS", "HOLDS", verdict]
    assert lacking.left == (-1 if verdict == "HOLDS" else 0)
    assert [one.reason for one in runs if one.verdict == "ERROR"] == (
        []
        if verdict == "HOLDS"
        else ["small needs about 2.0 GiB of memory, and 1.0 GiB are free; take a smaller scope"]
    )


def test_nobody_waits_for_memory_once_told_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "WAITS", (600,))
    asked = iter([False])
    runs = list(run_checks([check(1, Lacking(1))], stop=lambda: next(asked, True)))
    assert [one.reason for one in runs] == ["interrupted before it began"]


def test_only_what_lacks_memory_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "WAITS", (0, 600))
    assert [one.verdict for one in run_checks([check(1, Lacking(1)), check(2, good)])] == ["HOLDS", "HOLDS"]


# ------------------------------------------------------------------------------------------------- what to write down


def test_the_printed_block_is_read_back_as_what_was_measured() -> None:
    made = run(
        finding("one_term_acts_in_an_epoch", Verdict.VIOLATED, kind="step", length=7),
        finding("recoverable_one_working_controller", Verdict.INCOMPLETE, kind="recoverable", length=4),
        finding("two_controllers_act", Verdict.INCOMPLETE, kind="sometimes"),
        finding("epochs_never_go_back", Verdict.HOLDS, kind="step"),
    )
    made = replace(made, variant="AS_CODED+FENCED_WRITES", never_fired=("crash",), bounds_hit={"elect_create": 3})
    table = tomllib.loads(printed_expectation(made))
    expected = plans(table)["tiny"].exploration("AS_CODED+FENCED_WRITES")
    assert expected is not None
    assert compared(made, expected).verdict is Verdict.HOLDS


def test_nothing_is_to_be_expected_of_what_was_cut_short() -> None:
    assert all(line.startswith("#") for line in printed_expectation(replace(found(), reason="cut")).splitlines())
