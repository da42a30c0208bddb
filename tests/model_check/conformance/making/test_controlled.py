"""Scripts for driven controllers: made as they stand, the same by any number of workers, and each of them is passed."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest

from model_check.conformance.making.cases import BY_HAND, Case
from model_check.conformance.making.controlled import kept, make
from model_check.conformance.making.logged import GROUP
from model_check.conformance.making.shares import told_of
from model_check.conformance.making.stages import cover
from model_check.conformance.making.themes import THEMES
from model_check.conformance.vector import FOLDER, Vector, is_legal
from tests.model_check.conformance.all_vectors import VECTORS
from tests.model_check.conformance.driving.driven import outcome
from tests.model_check.conformance.making.every_script import every_case, vectors_of

KCHECK = "from model_check.cli import main; main()"
SCRIPTS = [one for one in VECTORS if one.verb == "control"]


def hashes(cases: Iterable[Case | Vector]) -> list[str]:
    """What tells cases apart."""
    return [one.hash for one in cases]


@pytest.mark.slow
def test_a_theme_is_as_it_is_made() -> None:
    """If not: `kcheck vectors`."""
    made = {"starting": make("starting")}
    cases = kept(made)["starting"]
    there = hashes(one for one in SCRIPTS if one.group == "starting")
    assert [one for one in hashes(cases) if one in there] == there
    told, actions, lost, rows, branches, *_ = told_of(made)
    assert told.startswith(f"{len(cases)} of {made['starting'].walked} scripts show all of 23 actions, ")
    assert (actions[:8], lost[:8]) == ("17 of 62", "5 of 16 ")
    assert rows.startswith("3 of 21 rows of the tables; without P-NEW-OFFLINE, ")
    assert branches.startswith("1 of 10 branches of the selectors; without controlled-shutdown elects from the ISR, ")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_any_number_of_workers_makes_the_same(workers: int) -> None:
    """In a process of its own, for this one may have a Spark session of other workers."""
    command = [sys.executable, "-c", KCHECK, "vectors", "--check", "--master", f"local[{workers}]"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    assert said[-1] == "the vectors are as they are made"
    first, *shares = (re.findall(r"\d+", one) for one in said)
    page = " ".join((FOLDER.parent / "README.md").read_text("utf-8").split())
    assert f"{first[0]} scripts, a cover of what {int(first[1]):,} walks" in page
    actions, lost, rows, branches, occasions, broken, troubles = (one[:2] for one in shares[:7])
    assert f"{actions[0]} of the {actions[1]} actions of a controller of 0.10.2, all {lost[1]} lost answers" in page
    assert f"{rows[0]} of the {rows[1]} rows of the tables, all {branches[1]} branches of the selectors" in page
    assert f"{occasions[0]} of the {occasions[1]} occasions of claims" in page
    assert f"Of the {broken[1]} claims that defects of 0.10.2 break, walks break {broken[0]};" in page
    assert f"of the {troubles[1]} lines that warn or tell of an error, they have {troubles[0]}." in page
    assert (lost[0], branches[0]) == (lost[1], branches[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", THEMES)
def test_every_script_of_a_theme_is_passed_by_the_reference(name: str) -> None:
    vectors = vectors_of(name, every_case(name))
    assert [one.title for one in vectors if not is_legal(one, outcome(one))] == []


def test_a_cover_shows_all_with_the_scripts_that_show_most() -> None:
    shows = [frozenset((one,) for one in letters) for letters in ("a", "ab", "bcd", "d", "e")]
    assert cover(shows) == [0, 2, 4]
    assert cover([]) == []


def test_each_theme_has_vectors_that_show_what_it_is_about() -> None:
    assert {*Counter(one.group for one in SCRIPTS)} == {*THEMES, GROUP, BY_HAND}
    by_group = {name: [one for one in SCRIPTS if one.group == name] for name in THEMES}
    abouts = {
        "failover": "end_session", "topic": "topic b is created", "deletion": "fail_deletion", "rebalance": "rebalance",
        "kept": "delete_topics", "life": "topic a is created", "unborn": "Broker 2 is killed", "refused": '"reply"',
        "found": "reassign_partitions", "nobody": '"replicas": []', "reading": "isr_change_notification",
        "starting": '"lose"', "unheard": "somebody creates /controller",
        "move": "reassign_partitions", "requested": "preferred_replica_election", "departure": "shutdown",
        "report": "isr_change_notification",
    }  # fmt: skip
    for name, about in abouts.items():
        assert any(about in one.to_line() for one in by_group[name])


def test_a_theme_has_a_scope_in_which_nothing_runs_at_first() -> None:
    theme = replace(THEMES["move"], budgets={"crashes": 1})
    scope = theme.scope("move")
    assert scope.cold
    assert scope.topics_stand
    assert (scope.brokers, scope.controllers, scope.budgets) == (3, 1, (("crashes", 1),))
