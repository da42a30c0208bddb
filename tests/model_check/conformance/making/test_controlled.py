"""Scripts for driven controllers: made as they stand, the same by any number of workers, and each of them is passed."""

from collections import Counter
from dataclasses import replace

import pytest

from model_check.conformance.making.cases import files_of
from model_check.conformance.making.controlled import ROWS, THEMES, Made, case_of, make, told_of, walked
from model_check.conformance.making.stages import Script, cover
from model_check.conformance.vector import FOLDER, Vector, is_legal, read_vectors
from model_check.spark.spark_vectors import made_by_workers
from tests.model_check.conformance.driving.test_conversation import outcome

VECTORS = [one for one in read_vectors() if one.verb == "control"]


def as_files(made: dict[str, Made]) -> dict[str, str]:
    """The text of the files of some themes."""
    known = [one for one in VECTORS if one.group in made]
    files = files_of({name: one.cases for name, one in made.items()}, known, [])
    return {name: text for name, text in files.items() if name != "manifest.json"}


def as_they_stand(names: list[str]) -> dict[str, str]:
    """The files of some themes."""
    return {f"{name}.jsonl": (FOLDER / f"{name}.jsonl").read_text("utf-8") for name in names}


@pytest.mark.takes("It walks 300 turns of the specification and the reference.")
def test_a_theme_is_as_it_is_made() -> None:
    """If not: `kcheck vectors`."""
    made = {"addition": make("addition")}
    assert as_files(made) == as_they_stand(["addition"])
    (told, *shares) = told_of(made)
    assert told.startswith(f"addition: {len(made['addition'].cases)} of {made['addition'].walked} scripts show all of ")
    assert shares[2].startswith(f"9 of {len(ROWS)} rows of the tables; without partition: ")


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_any_number_of_workers_makes_the_same(workers: int) -> None:
    made = made_by_workers(master=f"local[{workers}]")
    assert made is not None
    assert as_files(made) == as_they_stand([*THEMES])


@pytest.mark.slow
@pytest.mark.parametrize("name", THEMES)
def test_every_script_of_a_theme_is_passed_by_the_reference(name: str) -> None:
    walker, found = walked(name)
    cases = [case_of(name, walker, one) for one in found]
    vectors = [Vector(f"kcs-{name}-{number:04}", one.title, [], [], [*one.dialects], one.verb, one.given, one.then, "")
               for number, one in enumerate(cases)]  # fmt: skip
    assert [one.title for one in vectors if not is_legal(one, outcome(one))] == []


def test_a_cover_shows_all_with_the_scripts_that_show_most() -> None:
    def script(*shows: str) -> Script:
        return Script((), frozenset((one,) for one in shows))

    a, ab, bcd, d, e = script("a"), script("a", "b"), script("b", "c", "d"), script("d"), script("e")
    assert cover([a, ab, bcd, d, e]) == [a, bcd, e]
    assert cover([]) == []


def test_each_theme_has_vectors_that_show_what_it_is_about() -> None:
    assert {*Counter(one.group for one in VECTORS)} == {*THEMES}
    by_group = {name: [one for one in VECTORS if one.group == name] for name in THEMES}
    abouts = {
        "failover": "end_session", "topic": "topic b is created", "deletion": "fail_deletion", "rebalance": "rebalance",
        "move": "reassign_partitions", "preferred": "preferred_replica_election", "departure": "shutdown",
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
