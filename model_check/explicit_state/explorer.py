"""Exact breadth-first exploration: every reachable state, complete, with a shortest way to each.

States are numbered in order of discovery, so a level is a range of numbers and the smallest number is the shortest
trace. For each state only the number of the state it was first reached from is kept; which action that was is found
again when a trace is printed. Properties are predicates like guards: asked when a state is expanded, counted, and the
first state remembered, so they cost a few instructions for a block of states, and a violation does not end the search,
unless the first is all that is asked for.

Left out on purpose: reductions and approximations. What is counted here is what the tests count plainly.
"""

import os
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate

import numpy as np

from model_check.explicit_state import exploration
from model_check.explicit_state.graph import Graph, judge
from model_check.explicit_state.memory import free_memory
from model_check.explicit_state.populating import Growing, Populating
from model_check.explicit_state.retracing import Retracer
from model_check.explicit_state.search import Edges, Known, Marks, Reach, Recording, Work, mark, search
from model_check.explicit_state.visited import Visited, reserved, tile
from model_check.kernel.expansion import ask, make_tally
from model_check.kernel.kernel import Kernel, load_kernel
from model_check.kernel.predicates import FIRSTS, Kind
from model_check.kernel.slicing import BLOCK
from model_check.traces.trace import LateTrace
from spec.language.rules import TransitionSystem

MARKS = 32
"""Bits of a state's mark: one for each goal, and one for what a bound cuts off."""

SHARE = 64 * BLOCK
"""States expanded between two looks at the clock, the limit and whoever wants to stop."""

FEW = 4_000_000
"""Where fewer states are to be found, the kernel is left as tables: the search takes three times as long, still
less than to compile.
"""


def explore(  # noqa: PLR0913 - an option is a parameter
    system: TransitionSystem,
    *,
    limit: int | None = None,
    expected: int = 0,
    likely: int = 0,
    memory_bytes: int | None = None,
    graph: bool = False,
    until_violated: bool = False,
    progress: Callable[[exploration.Progress], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> exploration.Exploration:
    """All reachable states of a system.

    No further level is begun once `limit` states are known. The table is made for `expected` states at once; it grows
    for more. Where few are expected, or else likely, the kernel is not compiled. `memory_bytes` bounds what states,
    table and edges take (default: four fifths of what the machine has free). `progress` and `stop` are called several
    times a second. `graph=True` also keeps the steps of progress and judges the `recoverable` and `eventually`
    properties. `until_violated=True` ends the search soon after some `always` or `step` property is violated: the trace
    is the same, for what is found first is nearest.
    """
    started = time.perf_counter()
    kernel = load_kernel(system, tables=0 < (expected or likely) < FEW)
    explorer = Explorer(kernel, memory_bytes or free_memory() * 4 // 5, graph=graph)
    explorer.make_room(expected)
    explorer.seconds["load"] = time.perf_counter() - started
    explorer.run(limit, progress or (lambda _: None), stop or (lambda: False), until_violated=until_violated)
    return explorer.result()


class Explorer:
    """The arrays of one exploration and how far it is."""

    def __init__(self, kernel: Kernel, memory_bytes: int, *, graph: bool) -> None:
        self.kernel = kernel
        self.seconds: dict[str, float] = {}
        self.expanded = 0
        self.edges_used = 0
        self.levels = [1]
        self.stopped = ""
        self._limit_bytes = memory_bytes
        self._scratch = kernel.make_scratch()
        self._worst = len(self._scratch.parents)
        self.tally = make_tally(len(kernel.predicates))
        capacity = memory_bytes // (kernel.words * 8) + self._worst
        self.visited = Visited(kernel.words, capacity)
        self._parents = reserved(capacity, 0, np.uint32)
        self._recording = self._graph_arrays(capacity if graph else 0)
        self._work = Work(self._scratch, self.tally, tile(), np.empty(self._worst, dtype=np.uint32))
        self.visited.add(kernel.packing.initial.reshape(1, -1))

    def _graph_arrays(self, capacity: int) -> Recording:
        kinds = [one.kind for one in self.kernel.predicates]
        first, last = kinds.index(Kind.CUT_OFF) - kinds.count(Kind.GOAL), kinds.index(Kind.CUT_OFF) + 1
        progress = np.array([action.budget is None for action in self.kernel.system.actions], dtype=np.uint8)
        most = self._limit_bytes // 4 + self._worst if capacity else 0
        if last - first > MARKS:
            raise exploration.SpecificationError(
                f"{last - first - 1} goals are more than there are marks of a state for"
            )
        bits, degrees = (reserved(capacity, 0, kind)[:capacity] for kind in (np.uint32, np.uint16))
        targets = reserved(most, 0, np.uint32)[:most]
        return Recording(Marks(bits, first, last), Edges(targets, degrees, progress, np.zeros(BLOCK, dtype=np.int64)))

    def make_room(self, expected: int) -> None:
        """Make the table for so many states at once, if the memory allows; a block more may be on its way."""
        self.visited.make_room(expected + self._worst, self.affordable_bytes)

    # ------------------------------------------------------------------------------------------------- the search

    def run(
        self,
        limit: int | None,
        progress: Callable[[exploration.Progress], None],
        stop: Callable[[], bool],
        *,
        until_violated: bool,
    ) -> None:
        """Search until everything is expanded, or something stops it."""
        started, user = time.perf_counter(), os.times().user
        with Populating(self._growing()) as populating:
            while self.expanded < self.visited.count and not self.stopped:
                if limit is not None and self.visited.count >= limit:
                    self.stopped = "limit"
                    break
                for _ in self._level(self.visited.count):
                    populating.advance()
                    now, depth = time.perf_counter() - started, len(self.levels) - 1
                    progress(exploration.Progress(self.visited.count, self.expanded, depth, now, self.memory_bytes))
                    if stop():
                        self.stopped = "stop"
                    elif until_violated and (self._firsts(Kind.VIOLATED) or self._firsts(Kind.BROKEN)):
                        self.stopped = "violation"
                    if self.stopped:
                        break
                found = self.visited.count - sum(self.levels)
                self.levels += [found] if found else []
        self.seconds |= {"search": time.perf_counter() - started, "user": os.times().user - user}
        self._look_at_the_rest()

    def _level(self, end: int) -> Iterator[None]:
        """Expand the states up to number `end`, a share at a time."""
        while self.expanded < end:
            self.visited.make_room(self._worst, self.affordable_bytes)
            room = min(self.visited.room, self._affordable()) - self._worst
            if self.visited.count > room:
                self.stopped = "memory"
                return
            share = min(end, self.expanded + SHARE)
            reach = Reach(self.expanded, self.visited.count, self.edges_used)
            self.expanded, self.visited.count, self.edges_used = search(
                self.kernel.program, self._work, self._known(), self._recording, reach, share, room
            )
            yield

    def _growing(self) -> list[Growing]:
        """What the search fills from its beginning on."""
        marks, edges = self._recording
        return [
            (self.visited.rows, lambda: self.visited.count),
            (self._parents, lambda: self.visited.count),
            (marks.bits, lambda: self.expanded),
            (edges.degrees, lambda: self.expanded),
            (edges.targets, lambda: self.edges_used),
        ]

    def _known(self) -> Known:
        # Made for each call, for it keeps the table alive.
        return Known(self.visited.table, self.visited.rows, 0, self._parents)

    def _affordable(self) -> int:
        """How many states the memory allows for, beside the table and the edges as they are."""
        fixed = self.visited.table.nbytes + 4 * self.edges_used
        a_state = (self.memory_bytes - fixed) // self.visited.count
        return int(self._limit_bytes - fixed) // a_state

    @property
    def affordable_bytes(self) -> int:
        """Memory that is not in use yet."""
        return self._limit_bytes - self.memory_bytes

    def _look_at_the_rest(self) -> None:
        """Ask states that were found but not expanded what holds in them; their steps are not taken."""
        tally = make_tally(len(self.kernel.predicates))
        for start in range(self.expanded, self.visited.count, BLOCK):
            valid = min(BLOCK, self.visited.count - start)
            ask(self.kernel.program, self.visited.rows, start, valid, self._scratch, tally)
            if len(self._recording.marks.bits):
                mark(self._scratch.masks, self._recording.marks, start, valid)
        for number, one in enumerate(self.kernel.predicates):
            if one.kind in (Kind.VIOLATED, Kind.WITNESSED, Kind.LACKED, Kind.OUT_OF_RANGE):
                self.tally.counts[number] += tally.counts[number]
                if self.tally.first[number] < 0:
                    self.tally.first[number] = tally.first[number]

    @property
    def memory_bytes(self) -> int:
        """Memory in use: states, table, parents, edges."""
        return self.visited.memory_bytes + 4 * self.visited.count + self.edge_bytes

    @property
    def edge_bytes(self) -> int:
        """Memory in use for the graph: edges, their number by state, marks."""
        return 4 * self.edges_used + 6 * self.visited.count if len(self._recording.edges.targets) else 0

    # ------------------------------------------------------------------------------------------------- the result

    def result(self) -> exploration.Exploration:
        """Everything found, frozen; SpecificationError if a value was out of range."""
        retracer = Retracer(self.kernel, self.visited.rows, self._parents)
        for _, number in self._firsts(Kind.OUT_OF_RANGE):
            exploration.refuse_out_of_range(self.kernel.system, retracer.trace(number))
        started = time.perf_counter()
        graph = self._graph()
        goals = judge(graph, self.kernel.system, retracer) if graph else {}
        self.seconds["goals"] = time.perf_counter() - started
        started = time.perf_counter()
        violated = {name: retracer.trace(number) for name, number in self._firsts(Kind.VIOLATED)}
        violated |= {name: retracer.trace_breaking(name, number) for name, number in self._firsts(Kind.BROKEN)}
        depths = dict(self._first_depths())
        witnessed = {
            name: LateTrace(depths[name], partial(retracer.trace, number))
            for name, number in self._firsts(Kind.WITNESSED)
        }
        self.seconds["traces"] = time.perf_counter() - started
        return exploration.Exploration(
            **exploration.tallied(self.kernel.predicates, self.tally.counts),
            states=self.visited.count,
            expanded=self.expanded,
            levels=tuple(self.levels),
            first_depths=depths,
            violated=violated,
            witnessed=witnessed,
            goals=goals,
            exhausted=self.expanded == self.visited.count,
            stopped=self.stopped,
            seconds=self.seconds,
            memory_bytes=self.memory_bytes - self.edge_bytes,
            edge_bytes=self.edge_bytes,
            graph=graph,
            retracer=retracer,
        )

    def _graph(self) -> Graph | None:
        if not len(self._recording.edges.targets):
            return None
        count = self.visited.count
        goals = [one.name for one in self.kernel.predicates if one.kind is Kind.GOAL]
        targets = self._recording.edges.targets[: self.edges_used]
        return Graph(
            targets,
            self._recording.edges.degrees[:count],
            self._recording.marks.bits[:count],
            tuple(goals),
            self.expanded,
        )

    def _firsts(self, kind: Kind) -> list[tuple[str, int]]:
        pairs = zip(self.kernel.predicates, self.tally.first, strict=True)
        return [(one.name, int(number)) for one, number in pairs if one.kind is kind and number >= 0]

    def _first_depths(self) -> Iterator[tuple[str, int]]:
        known = list(accumulate(self.levels))
        for kind, steps in FIRSTS.items():
            for name, number in self._firsts(kind):
                yield name, bisect_right(known, number) + steps
