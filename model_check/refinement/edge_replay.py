"""Edge replay: every edge of a scope's state graph, executed on the reference.

Specification and reference walk the breadth-first tree of the graph together. In each state all edges are taken, each
on a fork of the reference, and compared as `lockstep.py` says; where an edge is one of the tree, the fork goes on from
there. A state that is reached in several ways must find the reference in the same condition each time, except for what
`fingerprint` leaves out.

The tree comes in stretches, each walked by itself, in whatever process. What a walk brings back is small: how many
edges of which rule it took, and the condition in which it found each state that they lead to.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from model_check.explicit_state.spanning_tree import SpanningTree, Stretch
from model_check.refinement.fingerprint import conditions, fingerprint
from model_check.refinement.lockstep import Disagreement, Pair, Sides
from spec.collector import without_collector
from spec.errors import SpecError

SIZE: Final = 500
"""States in a stretch of a large tree: about a second of work."""


@dataclass(frozen=True)
class Replayed:
    """What was replayed: distinct states, edges, and edges by rule; `complete` if that is all there is."""

    states: int
    edges: int
    depth: int
    complete: bool
    by_rule: Mapping[str, int] = field(repr=False)


@dataclass
class Walked:
    """What one walk brings back.

    `conditions` has, for each state that an edge led to, the fingerprints that were found there, and for each of them
    the first edge that found it. `disagreement` ended the walk.
    """

    states: int = 0
    by_rule: Counter[str] = field(default_factory=Counter)
    conditions: dict[int, dict[bytes, tuple[int, str]]] = field(default_factory=dict)
    disagreement: Disagreement | None = None


def walk(sides: Sides, stretch: Stretch) -> Walked:
    """Replay every edge out of the states of a stretch, until a disagreement, nearest states first."""
    walked, waiting = Walked(), dict[int, Pair]()
    try:
        for number in sorted(stretch.steps):
            pair = sides.after(stretch.ways[number]) if number in stretch.ways else waiting.pop(number)
            _expand(sides, stretch, walked, waiting, number, pair)
    except Disagreement as found:
        walked.disagreement = found
    return walked


def walk_here(
    sides: Sides, tree: SpanningTree, progress: Callable[[int], None], stop: Callable[[], bool]
) -> list[Walked] | None:
    """The walks of all stretches of a tree, one after the other in this process; None if it was stopped.

    `progress` is called with how many states are done. A fork that nobody holds is gone at once, so no collector is
    missed.
    """
    walks, done = list[Walked](), 0
    with without_collector():
        for stretch in tree.stretches(max(1, tree.states // SIZE)):
            if stop():
                return None
            walks.append(walk(sides, stretch))
            done += len(stretch.steps)
            progress(done)
    return None if stop() else walks


def _expand(sides: Sides, stretch: Stretch, walked: Walked, waiting: dict[int, Pair], number: int, pair: Pair) -> None:
    """Replay every edge out of a state; what the tree reaches from here waits for its turn."""
    enabled, steps, way = sides.enabled(pair.raw), stretch.steps[number], stretch.way(number)
    if enabled.keys() != {name for name, _ in steps}:
        raise SpecError(f"kernel and interpreter differ after {' -> '.join(way)}")
    possible = sides.possible(pair, enabled, way)
    for name, target in steps:
        choice = possible[name]
        reached = sides.take(pair.fork(), choice, enabled[name], (*way, name))
        walked.by_rule[choice.rule] += 1
        walked.conditions.setdefault(target, {}).setdefault(fingerprint(reached.cluster), (number, name))
        if stretch.parents.get(target) == (number, name):
            waiting[target] = reached
    walked.states += 1


def joined(sides: Sides, tree: SpanningTree, walks: Iterable[Walked]) -> Replayed:
    """What the walks of all stretches of a tree come to; raises the nearest Disagreement."""
    made = list(walks)
    found = [one.disagreement for one in made if one.disagreement is not None]
    found += _several_conditions(tree, made)
    if found:
        raise _explained(sides, min(found, key=lambda one: len(one.steps)))
    by_rule = {rule: sum(one.by_rule[rule] for one in made) for rule in tree.by_rule}
    states = sum(one.states for one in made)
    return Replayed(states, sum(by_rule.values()), len(tree.levels) - 1, tree.exhausted, by_rule)


class SeveralConditions(Disagreement):
    """Two ways lead to one state of the specification, but not to one condition of the reference."""


def _several_conditions(tree: SpanningTree, walks: Iterable[Walked]) -> Iterator[Disagreement]:
    """The states that find the reference in different conditions: the two ways there, the longer one first."""
    seen: dict[int, tuple[bytes, tuple[int, str]]] = {}
    for one in walks:
        for target, found in one.conditions.items():
            for condition, edge in found.items():
                first, other = seen.setdefault(target, (condition, edge))
                if condition != first:
                    ways = sorted(((*tree.way(source), name) for source, name in (edge, other)), key=len)
                    yield SeveralConditions(ways[1], ways[0])


def _explained(sides: Sides, found: Disagreement) -> Disagreement:
    """A disagreement with its reasons in words; for two conditions, both ways are taken once more."""
    if not isinstance(found, SeveralConditions):
        return found
    ways = found.steps, found.reasons
    here, there = (conditions(sides.after(way).cluster) for way in ways)
    reasons = [f"the specification is in the same state after {' -> '.join(ways[1])}, but the reference is not:"]
    reasons += sorted(f"{name} is {value!r} here" for name, value in here - there)
    reasons += sorted(f"{name} is {value!r} there" for name, value in there - here)
    return Disagreement(found.steps, reasons)
