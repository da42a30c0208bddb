"""A verification of everything makes every accepted check, one by one; whatever was not made is named."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from model_check.checks import gate
from model_check.checks.completeness import check_completeness
from model_check.inventory.accepted import accepted
from model_check.inventory.inventory_check import gate_names
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict
from model_check.verdicts.verification import Check
from spec.expectations import plans

ACCEPTED = {
    "gate explorer tiny AS_CODED": "every day",
    "gate explorer large AS_CODED": "with --deep",
    "gate induction proof FENCED": "every day",
    "scope tiny / explored AS_CODED": "125 states",
}
MET = Comparison("states", "125", "125", Verdict.HOLDS)


NAMES = [name.removeprefix("gate ") for name in ACCEPTED if name.startswith("gate ")]


def made(*, without: str = "", last: Verdict = Verdict.HOLDS, comparisons: Sequence[Comparison] = (MET,)) -> Run:
    """What is said of a deep run that made all checks but one; the last of them ended with this verdict."""
    found = dict[Check, list[Run]]()
    for name in NAMES:
        engine, scope, variant = name.split()
        run = Run(engine, scope, variant, Verdict.HOLDS, comparisons=(MET,))
        if name == NAMES[-1]:
            run = replace(run, verdict=last, comparisons=tuple(comparisons))
        if name != without:
            found[Check(engine, scope, variant, 0, list)] = [run]
    return check_completeness(found, ACCEPTED, deep=True)


def said(run: Run) -> list[tuple[str, str, Verdict]]:
    return [(one.about, one.found, one.verdict) for one in run.comparisons]


def test_where_all_is_made_and_compared_it_holds() -> None:
    assert said(made()) == [("checks", "3 made", Verdict.HOLDS)]


@pytest.mark.parametrize("name", NAMES)
def test_each_that_was_not_made_is_named(name: str) -> None:
    missed = [("checks", "2 made", Verdict.ERROR), (f"check {name}", "not made", Verdict.ERROR)]
    assert said(made(without=name)) == missed


def test_where_nothing_was_accepted_nothing_is_complete() -> None:
    (found,) = said(check_completeness({}, {}, deep=False))
    assert found == ("checks", "none is in the inventory", Verdict.ERROR)


def test_every_day_none_is_missed_that_only_a_deep_run_makes() -> None:
    assert gate_names(ACCEPTED, deep=False) == ["explorer tiny AS_CODED", "induction proof FENCED"]


def test_what_holds_and_compared_nothing_is_not_made() -> None:
    found = said(made(comparisons=()))
    assert found[1:] == [("check induction proof FENCED", "nothing was compared", Verdict.ERROR)]


def test_what_is_open_leaves_it_open_and_what_is_broken_was_made() -> None:
    assert said(made(last=Verdict.INCOMPLETE)) == [("checks", "2 made", Verdict.INCOMPLETE)]
    assert said(made(last=Verdict.VIOLATED)) == [("checks", "3 made", Verdict.HOLDS)]


def test_the_names_are_those_of_the_gate() -> None:
    """As the inventory has them; all checks of the present plan are among them."""
    every_day = [one for one in plans().values() if not one.deep]
    planned = [one.identity for some in gate.checks(every_day, whole=True, deep=False) for one in some]
    assert sorted(planned) == sorted(gate_names(accepted(), deep=False))
