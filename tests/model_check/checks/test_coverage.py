"""Coverage: what never occurs is found, and what does is told with its count, its first depth and where."""

from dataclasses import replace

import pytest

from model_check.checks.coverage import ENGINE, check_coverage, table
from model_check.verdicts.occurrences import items, occurrence
from model_check.verdicts.results import Comparison, Run
from model_check.verdicts.verdict import Verdict
from spec.expectations import plans
from spec.language.rules import GOALS
from spec.properties import claims
from spec.system import rules
from spec.tables.taken_rows import ROWS
from tests.model_check import documents

NAMES = tuple(item.occurrence for item in items())
COUNTS = {"states": 1, "transitions": 0, "depth": 0, "digest": "1-0"}


def explored(scope: str = "tiny", *, without: str = "", times: int = 3, depth: int = 4) -> Run:
    """An exploration in which everything occurs, but for one name."""
    every = {name: times for name in NAMES if name != without}
    return replace(
        documents.run(),
        scope=scope,
        fired={name: every.get(name, 0) for name in (rule.name for rule in rules())},
        occurrences={name: every.get(name, 0) for name in NAMES},
        first_depths=dict.fromkeys(every, depth),
    )


def comparison(about: str, *runs: Run, given: dict[str, object] | None = None) -> Comparison:
    """What coverage says of one item."""
    run = check_coverage(runs, plans({"scope": given or {}}).values())
    return next(one for one in run.comparisons if one.about == about)


def test_every_action_row_and_property_has_to_occur() -> None:
    run = check_coverage([explored()])
    assert (run.engine, run.verdict) == (ENGINE, Verdict.HOLDS)
    named = [*(rule.name for rule in rules()), *ROWS, *(claim.name for claim in claims())]
    assert [one.about.split()[1] for one in run.comparisons] == named


@pytest.mark.parametrize("kind", ["action", "row", "property"])
def test_each_that_never_occurs_fails_alone(kind: str, pytestconfig: pytest.Config) -> None:
    """Every day one in five."""
    every = [item for item in items() if item.kind == kind]
    for item in every if pytestconfig.getoption("--deep") else every[::5]:
        run = check_coverage([explored(without=item.occurrence)])
        missed = [one.about for one in run.comparisons if not one.is_met]
        assert missed == [f"{one.kind} {one.name}" for one in items() if one.occurrence == item.occurrence]
        assert run.verdict is Verdict.VIOLATED


def test_a_property_occurs_by_its_witness_and_a_goal_by_a_state_that_lacks_it() -> None:
    by = {item.name: item.occurrence for item in items() if item.kind == "property"}
    for claim in claims():
        assert by[claim.name] == (claim.name if claim.kind in (*GOALS, "sometimes") else claim.witness)


def test_counts_are_added_up_and_the_shortest_trace_is_named() -> None:
    runs = explored("small", times=5, depth=9), explored("tiny", times=7, depth=2), explored("pair", without="crash")
    assert str(occurrence("crash", runs)) == "12 times in 2 explorations, first after 2 steps (tiny AS_CODED)"
    assert comparison("action crash", *runs).found == str(occurrence("crash", runs))
    line = next(one for one in table(runs).splitlines() if one.startswith("action crash "))
    assert line.split() == ["action", "crash", "2", "12", "2", "tiny", "AS_CODED"]
    assert occurrence("crash", runs[2:]) is None


def test_what_only_a_scope_shows_that_was_not_explored_is_left_to_it() -> None:
    one = comparison("row P-NEW-OFFLINE", explored(without="P-NEW-OFFLINE"), given=scopes(rows={"P-NEW-OFFLINE": 33}))
    assert (one.is_met, one.found) == (True, "not explored here: small")
    assert not comparison("row P-NEW-OFFLINE", explored(without="P-NEW-OFFLINE"), given=scopes()).is_met
    assert comparison("action deliver_request", explored(without="deliver_request"), given=scopes()).is_met
    idle = scopes(never_fired=["deliver_request"])
    assert not comparison("action deliver_request", explored(without="deliver_request"), given=idle).is_met
    witness = "a_leader_is_elected"
    assert comparison(f"property {witness}", explored(without=witness), given=scopes()).is_met
    assert not comparison(f"property {witness}", explored(without=witness), given=scopes(unwitnessed=[witness])).is_met


def scopes(**expected: object) -> dict[str, object]:
    """A manifest of one scope, which expects this besides counts."""
    return {"small": {"expect": {"AS_CODED": {**COUNTS, **expected}}}}


def test_what_an_exploration_that_was_cut_short_lacks_is_an_open_question() -> None:
    short = replace(explored(without="crash"), reason="not exhausted")
    assert comparison("action crash", short).verdict is Verdict.INCOMPLETE


def test_only_explorations_count() -> None:
    replayed = replace(explored(), engine="refinement", fired=None)
    assert occurrence("crash", [replayed]) is not None
    assert comparison("action crash", replayed).verdict is Verdict.VIOLATED
