"""A small state graph as a drawing: a row for each depth, the initial states above, and each step as a line.

A state stands below the middle of those that reach it first, as far as its neighbours leave room. Steps down are those
of shortest ways; the others, which lead to states that were reached before, are fainter.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from model_check.verdicts.results import Document, Run
from model_check.verdicts.state_graphs import StateGraph

CLOSE, FAR, WIDE = 14, 60, 900
"""Pixels: two states of a depth are no closer and no farther apart, and the widest row is so wide, if it can be."""
DEEP, EDGE = 34, 24
"""Pixels: between two depths, and around all states."""


class State(NamedTuple):
    """A state: where it is, and what a pointer over it sees."""

    x: float
    y: float
    title: str


class Step(NamedTuple):
    """A step: its two ends, its action, and whether it is the first that reaches its target."""

    x: float
    y: float
    to_x: float
    to_y: float
    title: str
    is_first: bool


class Drawing(NamedTuple):
    """A graph, drawn: of which run it is, its size in pixels, its states and steps."""

    title: str
    width: float
    height: float
    states: Sequence[State]
    steps: Sequence[Step]


def state_graphs(document: Document) -> list[Drawing]:
    """The graphs of a document's runs."""
    return [_drawing(run, run.graph) for run in document.runs if run.graph is not None]


def _drawing(run: Run, graph: StateGraph) -> Drawing:
    first = {target: (source, action) for source, action, target in reversed(graph.steps) if source < target}
    states = _placed(graph, {target: source for target, (source, _) in first.items()})
    steps = [
        Step(
            states[source].x, states[source].y, states[target].x, states[target].y,
            f"{graph.actions[action]}: {source} -> {target}", first.get(target) == (source, action),
        )
        for source, action, target in graph.steps
        if source != target
    ]  # fmt: skip
    width = max(one.x for one in states) + EDGE
    return Drawing(run.title, width, len(graph.levels) * DEEP + EDGE, states, steps)


def _placed(graph: StateGraph, parents: dict[int, int]) -> list[State]:
    places: list[State] = []
    apart = min(FAR, max(CLOSE, WIDE // max(graph.levels)))
    for depth, states in enumerate(_by_depth(graph)):
        wanted = {one: places[parents[one]].x if one in parents else EDGE for one in states}
        right, xs = float(EDGE - apart), dict[int, float]()
        for one in sorted(states, key=lambda one: (wanted[one], one)):
            xs[one] = right = max(wanted[one], right + apart)
        places += [State(xs[one], depth * DEEP + EDGE, f"state {one}, depth {depth}") for one in states]
    return places


def _by_depth(graph: StateGraph) -> Iterator[range]:
    ends = list(accumulate(graph.levels))
    return (range(begin, end) for begin, end in zip([0, *ends], ends, strict=False))
