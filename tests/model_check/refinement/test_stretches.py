"""A tree is walked stretch by stretch: they come to the whole, and one process finds in them what it finds at once."""

import itertools
from functools import cache

import pytest

from model_check.explicit_state.spanning_tree import SpanningTree
from model_check.refinement import edge_replay
from model_check.refinement.edge_replay import joined, walk, walk_here
from model_check.refinement.lockstep import Sides
from spec.scopes import scope
from spec.variants import AS_CODED
from tests.model_check.plain_trees import plain_tree, replay_edges


@cache
def sides(name: str) -> Sides:
    return Sides(scope(name), AS_CODED)


@cache
def plainly(name: str) -> SpanningTree:
    return plain_tree(sides(name).machine, None)


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_the_parts_of_a_tree_come_to_the_whole(parts: int) -> None:
    both, whole = sides("bounce"), plainly("bounce")
    walks = [walk(both, stretch) for stretch in whole.stretches(parts)]
    assert joined(both, whole, walks) == replay_edges(both, whole)


def test_stretch_by_stretch_one_process_finds_what_it_finds_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_replay, "SIZE", 20)
    both, of, reports = sides("bounce"), plainly("bounce"), list[int]()
    walks = walk_here(both, of, reports.append, lambda: False)
    assert walks is not None
    assert joined(both, of, walks) == replay_edges(both, of)
    assert (len(walks), len(reports), reports[-1]) == (of.states // 20, of.states // 20, of.states)


@pytest.mark.parametrize("looks", [0, 1])
def test_a_walk_that_is_stopped_brings_nothing_back(looks: int) -> None:
    asked = itertools.count()
    assert walk_here(sides("bounce"), plainly("bounce"), lambda _: None, lambda: next(asked) >= looks) is None
