"""The breadth-first tree of a scope's state graph, cut into stretches that workers walk on their own.

The native explorer numbers the states in the order of their discovery and keeps the parent of each; that is a tree of
shortest ways. Here the steps between the states are added, all of them, those that lead nowhere new included. A
*stretch* is a run of states in preorder, which is a few whole subtrees and the upper parts of some: equal in size, and
for the first state of each subtree it says by which steps a walker gets there.

Left out on purpose: the states themselves. The walker of the tree computes them, from the same terms by another engine.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from model_check.explicit_state.exploration import Exploration
from model_check.explicit_state.explorer import explore
from model_check.explicit_state.visited import Visited
from spec.language.rules import TransitionSystem

Numbers = npt.NDArray[np.int64]
Step = tuple[str, int]
"""An action by name, and the number of the state that it leads to."""

WALKED = 100_000
"""States that a tree is expected to have: a walk takes so much longer than the search that few are walked."""


@dataclass(frozen=True)
class Stretch:
    """States to walk, by number in the order of discovery.

    `steps` has the steps out of each, and `parents` the state and action by which it is first reached. `ways` tells how
    to get to those whose parent is in another stretch.
    """

    ways: Mapping[int, tuple[str, ...]]
    steps: Mapping[int, tuple[Step, ...]]
    parents: Mapping[int, tuple[int, str]]

    def way(self, state: int) -> tuple[str, ...]:
        """A shortest way to one of the states."""
        names: list[str] = []
        here = state
        while here not in self.ways:
            here, name = self.parents[here]
            names.append(name)
        return (*self.ways[here], *reversed(names))


@dataclass(frozen=True)
class SpanningTree:
    """The tree of the states up to some depth.

    `states` are those whose steps are known, the first ones in the order of discovery; `levels` counts them by depth.
    Steps are three columns, sorted by source: number of the source, of the action, of the target. Each state has the
    number of its parent, and of the action that leads from there. `exhausted` is false if there are states beyond.
    """

    actions: tuple[str, ...]
    rules: tuple[str, ...]
    states: int
    levels: tuple[int, ...]
    parents: Numbers
    reached_by: Numbers
    sources: Numbers
    labels: Numbers
    targets: Numbers
    exhausted: bool

    @property
    def edges(self) -> int:
        """How many steps there are."""
        return len(self.sources)

    @property
    def by_rule(self) -> dict[str, int]:
        """How many steps each rule has."""
        counts = np.bincount(self.labels, minlength=len(self.actions)).tolist()
        found = dict.fromkeys(self.rules, 0)
        for rule, count in zip(self.rules, counts, strict=True):
            found[rule] += count
        return found

    def stretches(self, parts: int) -> Iterator[Stretch]:
        """The tree in so many stretches of equal size, or fewer if there are fewer states."""
        order = self._preorder()
        ends = np.linspace(0, self.states, min(parts, self.states) + 1).astype(int)
        for begin, end in pairwise(ends.tolist()):
            yield self._stretch(np.sort(order[begin:end]).tolist())

    def _preorder(self) -> Numbers:
        """The states such that each comes before its subtree, and that before anything else."""
        sizes = np.ones(self.states, dtype=np.int64)
        for state in range(self.states - 1, 0, -1):
            sizes[self.parents[state]] += sizes[state]
        places, free = np.zeros(self.states, dtype=np.int64), np.ones(self.states, dtype=np.int64)
        for state in range(1, self.states):
            parent = int(self.parents[state])
            places[state] = free[parent]
            free[parent] += sizes[state]
            free[state] = places[state] + 1
        return np.argsort(places)

    def _stretch(self, states: Sequence[int]) -> Stretch:
        inside = set(states)
        return Stretch(
            ways={state: self.way(state) for state in states if not state or int(self.parents[state]) not in inside},
            steps={state: self.steps(state) for state in states},
            parents={state: self._first(state) for state in states if state},
        )

    def steps(self, state: int) -> tuple[Step, ...]:
        """The steps out of a state."""
        begin, end = np.searchsorted(self.sources, [state, state + 1]).tolist()
        names = (self.actions[label] for label in self.labels[begin:end].tolist())
        return tuple(zip(names, self.targets[begin:end].tolist(), strict=True))

    def way(self, state: int) -> tuple[str, ...]:
        """A shortest way to a state."""
        names = []
        here = state
        while here:
            here, name = self._first(here)
            names.append(name)
        return tuple(reversed(names))

    def _first(self, state: int) -> tuple[int, str]:
        return int(self.parents[state]), self.actions[int(self.reached_by[state])]


def spanning_tree(
    system: TransitionSystem,
    *,
    depth: int | None = None,
    limit: int | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> SpanningTree:
    """The tree of all states, of those less than `depth` steps away, or of the levels begun below `limit` states."""
    seen = [0]
    found = explore(
        system,
        limit=limit,
        expected=WALKED,
        progress=lambda explored: seen.append(explored.depth),
        stop=lambda: stop() or (depth is not None and seen[-1] >= depth),
    )
    levels = found.levels[: found.complete_depth + 1][:depth]
    sources, labels, targets = _steps(found, sum(levels))
    parents = found.retracer.parents[: found.states].astype(np.int64)
    is_first = parents[targets] == sources
    reached, places = np.unique(targets[is_first], return_index=True)
    reached_by = np.zeros(found.states, dtype=np.int64)
    reached_by[reached] = labels[is_first][places]
    return SpanningTree(
        actions=tuple(one.name for one in system.actions),
        rules=tuple(one.rule for one in system.actions),
        states=sum(levels),
        levels=levels,
        parents=parents,
        reached_by=reached_by,
        sources=sources,
        labels=labels,
        targets=targets,
        exhausted=found.exhausted and sum(levels) == found.states,
    )


def _steps(found: Exploration, states: int) -> tuple[Numbers, Numbers, Numbers]:
    """Source, action and target of every step out of the first states, by number, sorted."""
    kernel = found.retracer.kernel
    successors, sources, labels = kernel.edges(found.retracer.states, 0, states)
    numbered = Visited(kernel.words, found.states + len(successors))
    numbered.add(found.visited)
    targets = numbered.add(successors).astype(np.int64)
    order = np.lexsort((labels, sources))
    return sources[order], labels[order].astype(np.int64), targets[order]
