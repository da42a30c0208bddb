"""The tree and its stretches: every state and every step once, shortest ways, by the counts of a plain search."""

from collections.abc import Iterator

import pytest

from model_check.explicit_state.interpreter import Machine
from model_check.explicit_state.spanning_tree import SpanningTree, spanning_tree
from model_check.traces.trace import State
from spec.language.rules import TransitionSystem
from tests.model_check.plain_exploration import Exploration, explore_plainly, successors
from tests.model_check.plain_trees import plain_tree
from tests.model_check.systems import EXPECTED


@pytest.fixture(params=EXPECTED, scope="module")
def built(request: pytest.FixtureRequest) -> tuple[TransitionSystem, SpanningTree, Exploration]:
    system, _ = EXPECTED[request.param]
    return system, spanning_tree(system), explore_plainly(system)


def walked(system: TransitionSystem, way: tuple[str, ...]) -> State:
    """The state that some steps lead to; StopIteration if one is not enabled."""
    state: State = {variable.name: variable.initial for variable in system.variables}
    for name in way:
        state = next(after for action, after in successors(system, state) if action.name == name)
    return state


def depths(tree: SpanningTree) -> Iterator[int]:
    for depth, count in enumerate(tree.levels):
        yield from [depth] * count


def test_states_edges_levels_and_steps_by_rule_are_those_of_a_plain_search(
    built: tuple[TransitionSystem, SpanningTree, Exploration],
) -> None:
    system, tree, plain = built
    assert (tree.states, tree.edges, tree.levels, tree.exhausted) == (
        plain.states,
        plain.transitions,
        plain.levels,
        True,
    )
    rules = {action.rule for action in system.actions}
    assert tree.by_rule == {
        rule: sum(plain.fired[action.name] for action in system.actions if action.rule == rule) for rule in rules
    }


def test_ways_are_shortest_and_lead_to_all_states_each_with_its_own_steps(
    built: tuple[TransitionSystem, SpanningTree, Exploration],
) -> None:
    system, tree, plain = built
    states = [walked(system, tree.way(number)) for number in range(tree.states)]
    assert {tuple(state.values()) for state in states} == set(plain.reached)
    assert [len(tree.way(number)) for number in range(tree.states)] == list(depths(tree))
    for number, state in enumerate(states):
        expected = {action.name: after for action, after in successors(system, state)}
        assert {name: states[target] for name, target in tree.steps(number)} == expected


def steps_by_state(system: TransitionSystem, tree: SpanningTree) -> dict[tuple[int, ...], tuple[int, object]]:
    """Of each state of a tree how far away it is, and where its steps lead."""
    known = max(tree.states, *(int(target) + 1 for target in tree.targets))
    states = [tuple(walked(system, tree.way(number)).values()) for number in range(known)]
    return {
        states[number]: (len(tree.way(number)), {name: states[target] for name, target in tree.steps(number)})
        for number in range(tree.states)
    }


@pytest.mark.parametrize("depth", [pytest.param(None, marks=pytest.mark.slow), 1, 3])
def test_the_plain_tree_is_the_same_but_for_the_numbers(
    built: tuple[TransitionSystem, SpanningTree, Exploration], depth: int | None
) -> None:
    system, _, _ = built
    tree, plain = spanning_tree(system, depth=depth), plain_tree(Machine(system), depth)
    assert (plain.states, plain.edges, plain.levels) == (tree.states, tree.edges, tree.levels)
    assert (plain.by_rule, plain.exhausted) == (tree.by_rule, tree.exhausted)
    assert steps_by_state(system, plain) == steps_by_state(system, tree)


@pytest.mark.parametrize("parts", [1, 3, 1000])
def test_stretches_share_out_the_states_evenly_and_tell_how_to_get_to_each(
    built: tuple[TransitionSystem, SpanningTree, Exploration], parts: int
) -> None:
    _, tree, _ = built
    stretches = list(tree.stretches(parts))
    sizes = [len(stretch.steps) for stretch in stretches]
    assert len(stretches) == min(parts, tree.states)
    assert max(sizes) - min(sizes) <= 1
    assert sorted(number for stretch in stretches for number in stretch.steps) == list(range(tree.states))
    for stretch in stretches:
        for number, steps in stretch.steps.items():
            assert stretch.way(number) == tree.way(number)
            assert steps == tree.steps(number)
            assert number in stretch.ways or stretch.parents[number][0] in stretch.steps


@pytest.mark.parametrize("depth", [1, 3])
def test_a_depth_cuts_the_tree_below_a_level(
    built: tuple[TransitionSystem, SpanningTree, Exploration], depth: int
) -> None:
    system, whole, plain = built
    tree = spanning_tree(system, depth=depth)
    assert tree.levels == plain.levels[:depth]
    assert tree.exhausted == (depth >= len(plain.levels))
    assert [tree.steps(number) for number in range(tree.states)] == [whole.steps(n) for n in range(tree.states)]


def test_a_limit_begins_no_further_level(built: tuple[TransitionSystem, SpanningTree, Exploration]) -> None:
    system, _, plain = built
    limit = plain.levels[0] + plain.levels[1]
    tree = spanning_tree(system, limit=limit)
    assert (tree.states, tree.exhausted) == ((1, False) if len(plain.levels) > 2 else (plain.levels[0], False))
    assert list(spanning_tree(system, limit=1).stretches(4)) == []
