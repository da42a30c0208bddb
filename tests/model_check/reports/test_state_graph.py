"""A small state graph as a drawing: each state in the row of its depth, each step between its states."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from model_check.checks.exploration import LOOKED_AT, with_graph
from model_check.reports.html import report
from model_check.reports.state_graph import CLOSE, EDGE, Drawing, state_graphs
from model_check.verdicts.results import Counts, Run, plain_document
from model_check.verdicts.state_graphs import StateGraph
from tests.model_check.documents import run
from tests.model_check.plain_exploration import explore_plainly
from tests.model_check.systems import odometer

DIAMOND = StateGraph((1, 2, 1), ("left", "right", "back", "stay"), (
    (0, 0, 1), (0, 1, 2), (1, 1, 3), (1, 3, 1), (2, 0, 3), (3, 2, 0),
))  # fmt: skip


def drawn(graph: StateGraph) -> Drawing:
    (drawing,) = state_graphs(plain_document("explore", replace(run(), graph=graph), run()))
    return drawing


def test_steps_down_a_shortest_way_are_told_apart_and_those_that_stay_are_left_out() -> None:
    found = {one.title: one.is_first for one in drawn(DIAMOND).steps}
    assert found == {
        "left: 0 -> 1": True,
        "right: 0 -> 2": True,
        "right: 1 -> 3": True,
        "left: 2 -> 3": False,
        "back: 3 -> 0": False,
    }


@st.composite
def graphs(draw: st.DrawFn) -> StateGraph:
    """Any tree of states by depth, with steps between any of them."""
    levels = (1, *draw(st.lists(st.integers(1, 30), max_size=6)))
    states = sum(levels)
    above = [number for depth, count in enumerate(levels) for number in [sum(levels[: depth - 1])] * count]
    tree = [(above[state], 0, state) for state in range(1, states)]
    number = st.integers(0, states - 1)
    others = draw(st.lists(st.tuples(number, st.just(1), number), max_size=20))
    return StateGraph(levels, ("down", "anywhere"), tuple(sorted([*tree, *others])))


@given(graphs())
def test_states_of_a_depth_stand_in_a_row_apart_from_each_other_and_within_the_drawing(graph: StateGraph) -> None:
    drawing = drawn(graph)
    assert len(drawing.states) == sum(graph.levels)
    rows: dict[float, list[float]] = {}
    for one in drawing.states:
        rows.setdefault(one.y, []).append(one.x)
        assert EDGE <= one.x <= drawing.width - EDGE
        assert one.y <= drawing.height - EDGE / 2
    assert [len(rows[y]) for y in sorted(rows)] == [*graph.levels]
    for xs in map(sorted, rows.values()):
        assert all(right - left >= CLOSE for left, right in pairwise(xs))
    assert sum(one.is_first for one in drawing.steps) >= len(drawing.states) - 1


def test_a_small_system_has_the_steps_that_the_plain_explorer_takes() -> None:
    system = odometer()
    plain = explore_plainly(system)
    found = with_graph(exhausted(sum(plain.levels)), system).graph
    assert found is not None
    assert found.levels == plain.levels
    assert len(found.steps) == plain.transitions
    assert Counter(found.actions[action] for _, action, _ in found.steps) == Counter(plain.fired)
    page = report(plain_document("explore", replace(run(), graph=found)))
    assert f"all {sum(plain.levels)} states" in page


def exhausted(states: int) -> Run:
    """A run that found so many."""
    return replace(run(), counts=Counts(states, 0, 0, "", ()))


def test_what_is_large_or_was_cut_short_is_not_drawn() -> None:
    assert with_graph(exhausted(LOOKED_AT + 1), odometer()).graph is None
    assert with_graph(replace(exhausted(1), reason="not exhausted"), odometer()).graph is None
