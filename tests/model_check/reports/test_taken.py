"""The state machines as drawings: each row is an arrow from its state to its state, and what was taken is told."""

import re
from dataclasses import replace

import pytest

from model_check.reports.taken import DRAWING, STATE, Machine, State, machines, taken
from model_check.verdicts.occurrences import added_up
from model_check.verdicts.results import Document, Run, plain_document
from spec.tables.table import transitions
from spec.tables.taken_rows import TABLES
from tests.model_check.documents import run

NUMBER = re.compile(r"-?\d+")


def explored(**rows: int) -> Run:
    """An exploration that took these rows so often, the first after one step, the next after two."""
    names = {name.replace("_", "-"): times for name, times in rows.items()}
    return replace(run(), fired={}, occurrences=names, first_depths={one: at for at, one in enumerate(names, 1)})


def drawn(*runs: Run) -> list[Machine]:
    return machines(taken(document(*runs)))


def document(*runs: Run) -> Document:
    return plain_document("explore", *runs)


def on_border(state: State, x: float, y: float) -> bool:
    """Whether a point is on the border of a state, but for rounding to pixels."""
    across, down = abs(x - state.x) - STATE.width / 2, abs(y - state.y) - STATE.height / 2
    return max(across, down) == pytest.approx(0, abs=1)


def test_each_row_is_an_arrow_between_the_borders_of_its_states() -> None:
    for machine, table in zip(drawn(explored()), TABLES, strict=True):
        states = {one.name: one for one in machine.states}
        assert list(states) == [str(one) for one in table]
        for arrow, row in zip(machine.arrows, transitions(table), strict=True):
            x, y, *_, to_x, to_y = map(float, NUMBER.findall(arrow.path.replace("M", " ").replace("C", " ")))
            assert on_border(states[str(row.source)], x, y)
            assert on_border(states[str(row.target)], to_x, to_y)
            assert arrow.title.startswith(f"{row}\n{row.effect}\n")


def test_states_lie_apart_and_all_is_within_the_drawing() -> None:
    for machine in drawn(explored()):
        for one in machine.states:
            assert STATE.width / 2 <= one.x <= DRAWING.width - STATE.width / 2
            assert STATE.height / 2 <= one.y <= DRAWING.height - STATE.height / 2
            apart = [
                abs(one.x - other.x) > STATE.width or abs(one.y - other.y) > STATE.height
                for other in machine.states
                if other is not one
            ]
            assert all(apart)
        assert all(0 < arrow.x < DRAWING.width and 0 < arrow.y < DRAWING.height for arrow in machine.arrows)


def test_no_two_numbers_lie_on_each_other() -> None:
    for machine in drawn(explored()):
        places = [(arrow.x, arrow.y) for arrow in machine.arrows]
        assert all(
            abs(x - other_x) > 40 or abs(y - other_y) > 12
            for at, (x, y) in enumerate(places)
            for other_x, other_y in places[at + 1 :]
        )


def test_what_was_taken_is_told_with_its_number_and_the_rest_is_not() -> None:
    partition, replica = drawn(explored(P_NEW_ONLINE=1200, R_NEW_ONLINE=7), explored(P_NEW_ONLINE=34))
    assert [one.label for one in partition.arrows if one.label] == ["1,234"]
    (taken_row,) = [one for one in replica.arrows if one.label]
    assert taken_row.label == "7"
    assert taken_row.title.endswith("\n7 times in 1 exploration, first after 2 steps (tiny AS_CODED)")
    assert all(one.title.endswith("\nnot taken") for one in replica.arrows if not one.label)


def test_where_nothing_was_explored_nothing_is_drawn() -> None:
    assert taken(document(run())) == {}
    assert drawn(run()) == []


def test_what_sums_up_explorations_counts_where_they_are_not_there_themselves() -> None:
    runs = explored(P_NEW_ONLINE=1200), explored(R_NEW_ONLINE=5, P_NEW_ONLINE=34)
    summed = added_up(replace(run(), counts=None), runs)
    assert summed.occurrences == {"P-NEW-ONLINE": 1234, "R-NEW-ONLINE": 5}
    assert summed.first_depths == {"P-NEW-ONLINE": 1, "R-NEW-ONLINE": 1}
    labels = {one.label for machine in drawn(summed) for one in machine.arrows}
    assert labels == {"", "1,234", "5"}
    assert {one.label for machine in drawn(*runs, summed) for one in machine.arrows} == labels
