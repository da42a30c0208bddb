"""Goals: what can still be reached, and what must be, once faults stop.

The graph has all states and only the steps of progress, those that draw on no fault budget. A goal P is *recoverable*
if from every state some path leads to P. It holds *eventually* if, besides, every bottom component (states that reach
each other and nothing else; a state without steps is one) consists of P states: then fair runs end up in P and stay.

A bound of the scope may have stopped a step of progress, or a limit the search. States *cut off* so have paths that the
graph lacks. What is bad only because of them is INCOMPLETE, never VIOLATED; and no goal HOLDS of a search that was not
exhausted.

Edges are one array of state numbers, four bytes each, grouped by source. `reaching` and `components` are linear except
for the sweeps of the former, which go against the order of discovery and over what is left only. Mostly every state can
come to an end, a state without steps: then the ends are all the bottom components there are, and a goal that holds in
each of them is out of no state's reach. One set of sweeps finds that out for all goals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from model_check.explicit_state.retracing import Retracer
from model_check.kernel.native import loop
from model_check.traces.trace import Trace
from spec.language.rules import Property, TransitionSystem

Numbers = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class GoalResult:
    """The verdict on a goal, a shortest trace to a state that decided it, and how many such states there are.

    For HOLDS there is no trace and the count is 0. The traces of a VIOLATED goal end in a state from which P is out of
    reach, or which stays without P for ever; those of an INCOMPLETE one in a state that only a bound makes look so.
    """

    verdict: Literal["HOLDS", "VIOLATED", "INCOMPLETE"]
    trace: Trace | None = None
    count: int = 0


@dataclass(frozen=True)
class Graph:
    """Steps of progress between states.

    The targets of state s are `targets[offsets[s]:offsets[s + 1]]`; steps from a state to itself are left out. `marks`
    has a bit for each of `goals` where its term holds, and one more where a bound stopped a step of progress. States
    from number `expanded` on were never expanded.
    """

    targets: Numbers
    degrees: npt.NDArray[np.uint16]
    marks: npt.NDArray[np.uint32]
    goals: tuple[str, ...]
    expanded: int

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each state's targets begin; one entry more than there are states."""
        begins = np.zeros(len(self.degrees) + 1, dtype=np.int64)
        np.cumsum(self.degrees, out=begins[1:])
        return begins

    def holds(self, goal: str) -> Flags:
        """By state, whether the goal's term holds in it."""
        return self._marked(self.goals.index(goal))

    @cached_property
    def cut_off(self) -> Flags:
        """By state, whether some of its steps of progress are missing."""
        cut = self._marked(len(self.goals))
        cut[self.expanded :] = True
        return cut

    def _marked(self, bit: int) -> Flags:
        flags: Flags = self.marks & np.uint32(1 << bit) != 0
        return flags

    @cached_property
    def ends(self) -> Flags:
        """By state, whether it has no steps."""
        flags: Flags = self.degrees == 0
        return flags

    @cached_property
    def can_end(self) -> bool:
        """Whether some path leads from every state to an end."""
        return bool(reaching(self, self.ends).all())

    @cached_property
    def components(self) -> Numbers:
        """By state, the number of its strongly connected component."""
        numbers: Numbers = _components(self.targets, self.offsets)
        return numbers

    @cached_property
    def settled(self) -> tuple[Flags, Flags]:
        """By state: it is in a bottom component; and some state of that component is cut off."""
        if self.can_end:
            return self.ends, self.ends & self.cut_off
        leaving, cut = _closing(self.targets, self.offsets, self.components, self.cut_off)
        return ~leaving[self.components], cut[self.components]


def judge(graph: Graph, system: TransitionSystem, retracer: Retracer) -> Mapping[str, GoalResult]:
    """The verdict on every recoverable and eventual property."""
    claims = [one for one in system.properties if one.name in graph.goals and one.term is not None]
    results: dict[str, GoalResult] = {}
    for claim in claims:
        if claim.name not in results:
            same = [one for one in claims if one.term is not None and one.term.eq(claim.term)]
            results |= _judged(graph, same, retracer)
    return {one.name: results[one.name] for one in claims}


def _judged(graph: Graph, claims: Sequence[Property], retracer: Retracer) -> dict[str, GoalResult]:
    """Verdicts on claims about one and the same goal, whose ways back are looked for once."""
    holds = graph.holds(claims[0].name)
    lost = out_of_reach(graph, holds)
    return {
        one.name: _verdict(*(astray(graph, holds, lost) if one.kind == "eventually" else lost), graph, retracer)
        for one in claims
    }


def out_of_reach(graph: Graph, holds: Flags) -> tuple[Flags, Flags]:
    """By state: no path leads to a goal; and none does, but one may that a bound cuts off."""
    if holds[graph.ends].all() and graph.can_end:
        return np.zeros_like(holds), np.zeros_like(holds)
    lost = ~reaching(graph, holds)
    open_ended = reaching(graph, holds | graph.cut_off) if lost.any() else holds
    return lost & ~open_ended, lost & open_ended


def astray(graph: Graph, holds: Flags, lost: tuple[Flags, Flags]) -> tuple[Flags, Flags]:
    """By state, with those that are lost: it is in a bottom component without the goal; and only a bound makes it."""
    bottom, cut = graph.settled
    settled = bottom & ~holds
    return lost[0] | settled & ~cut, lost[1] | settled & cut


def _verdict(broken: Flags, unclear: Flags, graph: Graph, retracer: Retracer) -> GoalResult:
    if broken.any():
        return GoalResult("VIOLATED", retracer.trace(int(broken.argmax())), int(broken.sum()))
    if unclear.any():
        return GoalResult("INCOMPLETE", retracer.trace(int(unclear.argmax())), int(unclear.sum()))
    return GoalResult("HOLDS" if graph.expanded == len(graph.degrees) else "INCOMPLETE")


def reaching(graph: Graph, seeds: Flags) -> Flags:
    """By state, whether some path leads to a seed: sweeps from the last state to the first until nothing changes."""
    reached = seeds.copy()
    left = _first_sweep(graph.targets, graph.degrees, reached)
    while len(left) and (count := _sweep(graph.targets, graph.offsets, reached, left)) < len(left):
        left = left[:count]
    return reached


@loop
def _first_sweep(targets: Numbers, degrees: npt.NDArray[np.uint16], reached: Flags) -> Numbers:
    """Mark the states with a reached target, from the last to the first; those that stay unreached, in this order."""
    left = np.empty(degrees.shape[0], dtype=np.uint32)
    kept, begin = 0, targets.shape[0]
    for state in range(degrees.shape[0] - 1, -1, -1):
        end = begin
        begin -= degrees[state]
        for edge in range(begin, end):
            if reached[state]:
                break
            reached[state] = reached[targets[edge]]
        if not reached[state]:
            left[kept] = state
            kept += 1
    return left[:kept]


@loop
def _sweep(targets: Numbers, offsets: npt.NDArray[np.int64], reached: Flags, left: Numbers) -> int:
    """The same once more for those that are left; those that stay unreached move to the front, in their order."""
    kept = 0
    for position in range(left.shape[0]):
        state = left[position]
        for edge in range(offsets[state], offsets[state + 1]):
            if reached[targets[edge]]:
                reached[state] = True
                break
        if not reached[state]:
            left[kept] = state
            kept += 1
    return kept


@loop
def _components(targets: Numbers, offsets: npt.NDArray[np.int64]) -> Numbers:
    """Pearce's variant of Tarjan's algorithm, without recursion.

    `found[s]` is 0 for a state not visited; while s is open, the smallest visiting number that it reaches; in the end,
    its component, numbered downwards from the top, so that the two uses never meet.
    """
    states = offsets.shape[0] - 1
    found = np.zeros(states, dtype=np.uint32)
    path = np.empty(states, dtype=np.uint32)
    cursor = np.empty(states, dtype=np.uint16)
    number = np.empty(states, dtype=np.uint32)
    waiting = np.empty(states, dtype=np.uint32)
    deep, waits, visited, component = 0, 0, 1, states
    for start in range(states):
        if found[start]:
            continue
        path[0], cursor[0], number[0], found[start] = start, 0, visited, visited
        deep, visited = 1, visited + 1
        while deep:
            state = path[deep - 1]
            edge = offsets[state] + cursor[deep - 1]
            if edge < offsets[state + 1]:
                target = targets[edge]
                if not found[target]:
                    path[deep], cursor[deep], number[deep], found[target] = target, 0, visited, visited
                    deep, visited = deep + 1, visited + 1
                    continue
                found[state] = min(found[state], found[target])
                cursor[deep - 1] += 1
                continue
            deep -= 1
            if found[state] != number[deep]:
                waiting[waits] = state
                waits += 1
                continue
            visited -= 1
            while waits and found[waiting[waits - 1]] >= found[state]:
                waits -= 1
                visited -= 1
                found[waiting[waits]] = component
            found[state] = component
            component -= 1
    return found


@loop
def _closing(
    targets: Numbers, offsets: npt.NDArray[np.int64], components: Numbers, cut_off: Flags
) -> tuple[Flags, Flags]:
    """By component: an edge leaves it; a state of it is cut off."""
    leaving = np.zeros(components.shape[0] + 1, dtype=np.bool_)
    cut = np.zeros(components.shape[0] + 1, dtype=np.bool_)
    for state in range(components.shape[0]):
        if cut_off[state]:
            cut[components[state]] = True
        for edge in range(offsets[state], offsets[state + 1]):
            if components[targets[edge]] != components[state]:
                leaving[components[state]] = True
    return leaving, cut
