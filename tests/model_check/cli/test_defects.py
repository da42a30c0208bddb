"""`kcheck defects`: listed, and shown as stories that end with the fix."""

from dataclasses import replace
from typing import Any

import pytest
from typer.testing import Result

from model_check.checks import gate
from model_check.checks.defects import halves, shown
from model_check.cli import defects as verb
from model_check.reports.terminal import LEGEND
from model_check.verdicts.results import from_json
from spec import defects
from spec.defects import DEFECTS, UNFOUND, Defect, Unfound
from spec.variants import Switch
from tests.model_check.cli.conftest import Kcheck, expectation

NAME = "resigned_controllers_are_inactive"


@pytest.fixture
def half_active(monkeypatch: pytest.MonkeyPatch) -> Defect:
    """A row about the scope `pair`, in place of the real ones."""
    depth = expectation("pair")["violated"][NAME]
    row = Defect(
        "D4", "Resigning leaves a half-active controller", NAME, "pair", depth, frozenset({Switch.RESIGN_CLEANS_UP})
    )
    monkeypatch.setattr(defects, "DEFECTS", (row,))
    monkeypatch.setattr(verb, "DEFECTS", (row,))
    monkeypatch.setattr(gate, "DEFECTS", (row,))
    return row


def test_every_defect_is_listed(kcheck: Kcheck) -> None:
    result = kcheck("defects")
    assert result.exit_code == 0
    assert all(f"{one.id:<4} {one.title}" in result.stdout for one in DEFECTS)
    assert all(f"{one.id:<4} {one.title}\n     not found here: {one.reason}" in result.stdout for one in UNFOUND)
    assert all(f"     of this 0.10.2 has: {one.remains}\n" in result.stdout for one in DEFECTS if one.remains)


def test_a_defect_is_shown_and_then_it_is_gone(kcheck: Kcheck, half_active: Defect) -> None:
    result = kcheck("defects", "D4")
    assert result.exit_code == 0, result.stdout
    assert result.stdout.startswith("kcheck defects: HOLDS: 2 as expected (among them 1 VIOLATED), 0 unexpected")
    assert f"Broken by {half_active.first_depth} steps" in result.stdout
    assert "(D4, explorer): HOLDS: not exhausted: a violation was found after" in result.stdout
    assert "pair AS_CODED+RESIGN_CLEANS_UP (D4, explorer): HOLDS" in result.stdout


def test_its_story_has_the_changes_or_is_drawn_where_that_is_asked_for(kcheck: Kcheck, half_active: Defect) -> None:
    """Every verb that tells stories goes this way."""
    plain, verbose, drawn = (kcheck("defects", "D4", *more).stdout for more in ((), ("--verbose",), ("--timeline",)))
    change, last = "controllers[2].at: RESIGN_DELETE -> IDLE", f"\n{half_active.first_depth:>4}"
    assert (change in plain, change in verbose, change in drawn) == (False, True, False)
    assert "[resign_delete]" in plain
    assert "[resign_delete(c=2)]" in verbose
    assert [f"{last}. " in one for one in (plain, verbose, drawn)] == [True, True, False]
    assert f"{last} " in drawn
    assert LEGEND in drawn
    assert all("controller 2's active: yes" in " ".join(one.split()) for one in (plain, verbose, drawn))


def test_what_0_10_2_has_of_an_older_defect_is_told_with_its_story(
    kcheck: Kcheck, half_active: Defect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(defects, "DEFECTS", (replace(half_active, remains="a part"),))
    document = from_json(kcheck("defects", "D4", "--json").stdout, "stdout")
    assert [run.notes for run in document.runs] == [("of this 0.10.2 has: a part",)] * 2


@pytest.mark.usefixtures("kcheck")
def test_its_steps_are_told_and_a_verification_which_expects_it_tells_none(half_active: Defect) -> None:
    for told in (False, True):
        story = shown(halves(half_active)[0], told=told).findings[0].story
        assert story is not None
        assert (story.length, len(story.steps)) == (half_active.first_depth, half_active.first_depth * told)


def test_all_can_be_shown_as_json(kcheck: Kcheck, half_active: Defect) -> None:
    document = from_json(kcheck("defects", "--all", "--json").stdout, "stdout")
    assert [one.comparisons[0].about for one in document.runs] == [
        f"{half_active.id}: {NAME}",
        f"{half_active.id} fixed: {NAME}",
    ]


@pytest.mark.usefixtures("half_active")
def test_an_unknown_defect_is_refused(kcheck: Kcheck) -> None:
    result = kcheck("defects", "D4x")
    assert result.exit_code == 2
    assert "no defect is called 'D4x'; did you mean D4?" in result.stderr


@pytest.mark.parametrize("one", UNFOUND, ids=lambda one: one.id)
def test_of_a_defect_that_is_not_found_the_reason_is_told(kcheck: Kcheck, one: Unfound) -> None:
    result = kcheck("defects", one.id)
    assert result.exit_code == 0
    assert result.stdout == f"{one.id:<4} {one.title}\n     not found here: {one.reason}\n"
    result = kcheck("defects", one.id, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{one.id} is not found here, so that there is no result of it" in result.stderr


@pytest.mark.usefixtures("half_active")
def test_a_defect_that_is_not_found_hides_none_that_is(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    both = kcheck("defects", "D26", "D4")
    assert both.exit_code == 0
    assert both.stdout.startswith("kcheck defects: HOLDS: 2 as expected")
    assert both.stdout.endswith(f"     not found here: {UNFOUND[0].reason}\n")
    monkeypatch.setattr(defects, "DEFECTS", tuple(replace(one, first_depth=1) for one in defects.DEFECTS))
    assert kcheck("defects", "D26", "D4").exit_code == 1


def test_verify_shows_defects_that_no_expectation_covers(kcheck: Kcheck, half_active: Defect, manifest: Any) -> None:
    fixed = f"D4 fixed: {half_active.breaks}"
    assert f"D4: {half_active.breaks}" not in json_of(kcheck("verify", "pair", "--json"))
    assert fixed in json_of(kcheck("verify", "pair", "--json"))
    manifest["pair"]["expect"]["AS_CODED+RESIGN_CLEANS_UP"] = {**expectation("pair"), "violated": {}}
    assert fixed not in json_of(kcheck("verify", "pair", "--json"))


def json_of(result: Result) -> str:
    """What a verification printed, which must be a document."""
    from_json(result.stdout, "stdout")
    return result.stdout


def test_the_table_has_a_row_for_each_defect_that_is_found_here(kcheck: Kcheck) -> None:
    header, line, *rows = kcheck("defects", "--list").stdout.splitlines()
    assert (header, line) == (
        "| defect | what goes wrong | steps | scope | fixed by |",
        "| --- | --- | --- | --- | --- |",
    )
    assert rows == [f"| {one.id} | {one.title} | {one.first_depth} | {one.scope} | {one.remedy} |" for one in DEFECTS]


@pytest.mark.parametrize("more", [["D1"], ["--all"], ["--json"]])
def test_the_table_shows_no_defect(kcheck: Kcheck, more: list[str]) -> None:
    result = kcheck("defects", "--list", *more)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("kcheck: --list lists the defects and shows none; ")
