"""The tree that edge replays walk, made by the plain interpreter: nothing is compiled for it, which takes longer than
to replay a small scope. `tests/model_check/explicit_state/test_spanning_tree.py` shows that it is the explorer's.
"""

import numpy as np

from model_check.explicit_state.interpreter import Machine
from model_check.explicit_state.spanning_tree import SpanningTree
from model_check.refinement.edge_replay import Replayed, joined, walk
from model_check.refinement.lockstep import Sides


def plain_tree(machine: Machine, depth: int | None = None) -> SpanningTree:
    """The tree of a system: of all its states, or of those less than `depth` steps away."""
    numbers, parents, reached_by, levels = {machine.initial: 0}, [0], [0], list[int]()
    edges, frontier = list[tuple[int, int, int]](), [machine.initial]
    actions = machine.system.actions
    numbers_of = {action.name: label for label, action in enumerate(actions)}
    while frontier and (depth is None or len(levels) < depth):
        levels.append(len(frontier))
        fresh = []
        for raw in frontier:
            for name, after in machine.enabled(raw).items():
                label = numbers_of[name]
                if after not in numbers:
                    numbers[after] = len(numbers)
                    parents.append(numbers[raw])
                    reached_by.append(label)
                    fresh.append(after)
                edges.append((numbers[raw], label, numbers[after]))
        frontier = fresh
    sources, labels, targets = np.array(edges, dtype=np.int64).reshape(-1, 3).T
    return SpanningTree(
        actions=tuple(action.name for action in actions),
        rules=tuple(action.rule for action in actions),
        states=sum(levels),
        levels=tuple(levels),
        parents=np.array(parents, dtype=np.int64),
        reached_by=np.array(reached_by, dtype=np.int64),
        sources=sources,
        labels=labels,
        targets=targets,
        exhausted=not frontier,
    )


def replay_edges(sides: Sides, tree: SpanningTree) -> Replayed:
    """Replay every edge of a tree in this process; raises the nearest Disagreement."""
    return joined(sides, tree, [walk(sides, stretch) for stretch in tree.stretches(1)])
