"""Goals against what networkx says of the same graph, and against verdicts found by thinking."""

from collections.abc import Iterator
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_check.explicit_state.exploration import SpecificationError
from model_check.explicit_state.explorer import MARKS, explore
from model_check.explicit_state.graph import GoalResult, Graph, out_of_reach, reaching
from model_check.terms.straight_line import evaluate
from spec.language.rules import TransitionSystem
from tests.model_check.plain_exploration import explore_plainly, successors
from tests.model_check.random_systems import systems
from tests.model_check.systems import clerks, jugs, lamps, odometer


@pytest.fixture(autouse=True, scope="module")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KCHECK_CACHE", str(tmp_path_factory.mktemp("kcheck")))
        yield


EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40)


def arrays(edges: list[tuple[int, int]], states: int = 12) -> Graph:
    grouped = [[target for source, target in edges if source == state] for state in range(states)]
    targets = np.array([target for group in grouped for target in group], dtype=np.uint32)
    degrees = np.array([len(group) for group in grouped], dtype=np.uint16)
    return Graph(targets, degrees, np.zeros(states, dtype=np.uint32), (), states)


def as_networkx(edges: list[tuple[int, int]], states: int = 12) -> nx.DiGraph:
    graph = nx.DiGraph(edges)
    graph.add_nodes_from(range(states))
    return graph


@given(EDGES)
def test_components_are_those_of_networkx(edges: list[tuple[int, int]]) -> None:
    numbers = arrays(edges).components
    ours = {frozenset(np.flatnonzero(numbers == number).tolist()) for number in set(numbers.tolist())}
    assert ours == set(map(frozenset, nx.strongly_connected_components(as_networkx(edges))))


@given(EDGES, st.sets(st.integers(0, 11)))
def test_what_reaches_the_seeds_are_their_ancestors(edges: list[tuple[int, int]], seeds: set[int]) -> None:
    flags = np.array([state in seeds for state in range(12)])
    expected = seeds.union(*(nx.ancestors(as_networkx(edges), seed) for seed in seeds))
    assert set(np.flatnonzero(reaching(arrays(edges), flags)).tolist()) == expected


ONWARD = EDGES.map(lambda edges: [(source, target) for source, target in edges if source < target])
"""Graphs without circles: from each state a path leads to an end."""


@given(EDGES.map(lambda edges: [edge for edge in edges if edge[0] != edge[1]]) | ONWARD)
def test_bottom_components_are_those_that_no_step_leaves(edges: list[tuple[int, int]]) -> None:
    graph = as_networkx(edges)
    bottoms = (one for one in nx.strongly_connected_components(graph) if not nx.node_boundary(graph, one))
    assert set(np.flatnonzero(arrays(edges).settled[0]).tolist()) == set().union(*bottoms)


@given(EDGES | ONWARD, st.sets(st.integers(0, 11)))
def test_a_goal_is_out_of_reach_of_all_but_its_ancestors(edges: list[tuple[int, int]], goal: set[int]) -> None:
    graph = as_networkx(edges)
    flags = np.array([state in goal for state in range(12)])
    lost = set(graph) - goal.union(*(nx.ancestors(graph, state) for state in goal))
    assert set(np.flatnonzero(out_of_reach(arrays(edges), flags)[0]).tolist()) == lost


def expected_goal(system: TransitionSystem, name: str) -> tuple[str, int]:
    """The verdict and the number of bad states, by the words of the definition."""
    claim = system.property_named(name)
    names = [variable.name for variable in system.variables]
    states = [dict(zip(names, raw, strict=True)) for raw in explore_plainly(system).reached]
    graph, holding, cut = nx.DiGraph(), set(), set()
    for state in states:
        key = tuple(state.values())
        graph.add_node(key)
        graph.add_edges_from(
            (key, tuple(after.values())) for action, after in successors(system, state) if action.budget is None
        )
        holding |= {key} if evaluate(claim.term, state) else set()
        bounded = (evaluate(action.overflow, state) for action in system.actions if action.budget is None)
        cut |= {key} if any(bounded) else set()
    broken: set[tuple[int, ...]] = set()
    unclear: set[tuple[int, ...]] = set()
    for key in graph:
        reachable = nx.descendants(graph, key) | {key}
        lost = not reachable & holding
        astray = claim.kind == "eventually" and key not in holding
        if astray:
            astray = all(key in nx.descendants(graph, other) for other in reachable - {key})
        if lost or astray:
            (unclear if reachable & cut else broken).add(key)
    if broken:
        return "VIOLATED", len(broken)
    return ("INCOMPLETE", len(unclear)) if unclear else ("HOLDS", 0)


def in_short(result: GoalResult) -> tuple[str, int]:
    return result.verdict, result.count


@pytest.mark.parametrize("system", [odometer(2, 3), lamps(2, 2), clerks(), jugs()], ids=lambda system: system.name)
def test_goals_are_judged_by_the_words_of_the_definition(system: TransitionSystem) -> None:
    goals = explore(system, graph=True).goals
    assert {name: in_short(result) for name, result in goals.items()} == {
        name: expected_goal(system, name) for name in goals
    }


@given(systems())
@settings(max_examples=max(1, settings().max_examples // 5))
def test_goals_of_random_systems_too(system: TransitionSystem) -> None:
    found = explore(system, graph=True, limit=60)
    if found.exhausted:
        assert {name: in_short(result) for name, result in found.goals.items()} == {
            name: expected_goal(system, name) for name in ("recoverable", "eventually")
        }
    else:
        assert all(result.verdict in ("VIOLATED", "INCOMPLETE") for result in found.goals.values())


def test_lamps_that_stay_lit_need_no_faults() -> None:
    goals = explore(lamps(), graph=True).goals
    assert in_short(goals["relit"]) == in_short(goals["all_lit"]) == ("HOLDS", 0)


def test_a_lost_update_cannot_be_fixed() -> None:
    goals = explore(clerks(), graph=True).goals
    assert in_short(goals["all_done"]) == ("HOLDS", 0)
    assert goals["can_be_right"].verdict == "VIOLATED"
    trace = goals["can_be_right"].trace
    assert trace is not None
    assert trace.actions in (("read(c=1)", "read(c=2)"), ("read(c=2)", "read(c=1)"))


def test_wheels_that_cannot_turn_back_are_incomplete_since_a_bound_stops_them() -> None:
    counts = 5**3
    goals = explore(odometer(), graph=True).goals
    assert in_short(goals["can_return"]) == ("INCOMPLETE", counts - 1)
    assert in_short(goals["gets_to_top"]) == ("HOLDS", 0)


def test_many_goals_have_a_mark_each_and_more_than_there_are_marks_are_refused() -> None:
    """Each goal asked again and again is judged alike, and a bound is a bound: no mark runs over."""
    system = odometer()
    goals = [one for one in system.properties if one.kind in {"recoverable", "eventually"}]

    def asked(times: int) -> TransitionSystem:
        again = [replace(one, name=f"{one.name} {number}") for number in range(times) for one in goals]
        return replace(system, properties=tuple(again))

    most = (MARKS - 1) // len(goals)
    alone, found = explore(system, graph=True).goals, explore(asked(most), graph=True).goals
    assert len(found) == most * len(goals) > 16
    assert all(in_short(one) == in_short(alone[name.rpartition(" ")[0]]) for name, one in found.items())
    with pytest.raises(SpecificationError, match=r"goals are more than there are marks"):
        explore(asked(most + 1), graph=True)


def test_without_the_graph_no_goal_is_judged() -> None:
    assert explore(lamps()).goals == {}


def test_a_search_that_was_stopped_proves_no_goal() -> None:
    assert explore(lamps(), graph=True, limit=5).goals["relit"].verdict == "INCOMPLETE"
