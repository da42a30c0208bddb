"""The crash matrix: a handler, a fault between each pair of its effects, and whether the cluster recovers from it.

For each fault the system with just that fault is explored to the end, from where the handler begins. A place *violates*
a safety claim if some behaviour breaks it after the fault came there; it is *stuck* short of a goal if from some state
after the fault no path leads to it, or the cluster may settle without it; what only a bound of the scope leaves open is
*open*; otherwise the cluster *recovers*, in every order in which its parts may move. The row `none` is the handler
without a fault, to compare with.

Traces are those of the scope itself: the monitor is taken off again, so that `kcheck replay` takes them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_check.explicit_state.exploration import Exploration
from model_check.explicit_state.explorer import explore
from model_check.explicit_state.graph import Flags, Graph, astray, out_of_reach
from model_check.kernel.predicates import Kind
from model_check.matrix import fault_injection as injection
from model_check.matrix.cells import Cell, Matrix
from model_check.traces.trace import Trace
from spec.errors import EnvironmentFailure
from spec.language.rules import TransitionSystem
from spec.language.terms import enumeration
from spec.matrix_plans import FAULTS, MatrixPlan
from spec.model import Model
from spec.scopes import Scope
from spec.state.enumerations import At
from spec.system import system
from spec.variants import Switches

EXPECTED = 100_000
"""About as many states follow one fault; so few that most of the time is the kernel's."""


def matrix(
    scope: Scope,
    plan: MatrixPlan,
    switches: Switches,
    faults: tuple[str, ...] = FAULTS,
    tell: Callable[[int, str], None] = lambda _tried, _fault: None,
    stop: Callable[[], bool] = lambda: False,
) -> Matrix:
    """The matrix of a handler, for some faults; `tell` hears how many were tried and what comes, `stop` may end it."""
    built, m = system(scope, switches), Model(scope, switches)
    way = injection.triggered(built, plan.trigger)
    handler = _Handler(built, m, way, plan.controller, stop)
    tell(0, "none")
    quiet = injection.Injection("none", plan.controller, (injection.LAST,))
    calm = handler.explored(quiet)
    places = handler.places(calm)
    cells = [] if stop() else [*handler.cells(quiet, calm)]
    for tried, fault in enumerate((one for one in faults if one != "none"), start=1):
        if not stop():
            tell(tried, fault)
            one = injection.Injection(fault, plan.controller, places)
            found = handler.explored(one)
            cells += () if stop() else handler.cells(one, found)
    return Matrix(scope.name, built, places, tuple(cells), stop())


@dataclass(frozen=True)
class _Handler:
    """A handler about to begin: the system, and the way there."""

    system: TransitionSystem
    model: Model
    way: Trace
    controller: int
    stop: Callable[[], bool]

    def explored(self, one: injection.Injection) -> Exploration:
        """Everything that may happen with a fault."""
        whole = injection.injected(self.system, self.model, self.way.last, one)
        return explore(whole, expected=EXPECTED, graph=True, stop=self.stop)

    def places(self, found: Exploration) -> tuple[str, ...]:
        """Where the handler may be without any fault, in the order of the first time, and behind its end."""
        running = _values(found, injection.PHASE) == injection.RUNNING
        at, turns = (_values(found, name)[running] for name in (f"controllers[{self.controller}].at", injection.TURNS))
        seen, first = np.unique(np.stack((at, turns)), axis=1, return_index=True)
        kind = enumeration(At)
        named = [injection.place_named(kind.show(int(value)), int(left)) for value, left in seen.T]
        return (*(named[one] for one in np.argsort(first)), injection.LAST)

    def cells(self, one: injection.Injection, found: Exploration) -> Iterator[Cell]:
        """The cells of one fault."""
        if not found.exhausted:
            raise EnvironmentFailure(
                f"the memory ended after {found.states:,} states of what follows a {one.fault}: no cell is known",
                "give it more memory",
            )
        phases, lost = _values(found, injection.PHASE), _lost(found)
        groups = {"none": phases <= injection.PAST} if one.fault == "none" else dict(self._groups(one, phases))
        for place, here in groups.items():
            stuck, undecided = {}, set()
            for goal, (bad, unclear) in lost.items():
                name = goal.removeprefix("eventually_")
                if (bad & here).any():
                    stuck[name] = self._told(found.trace(int((bad & here).argmax())))
                elif (unclear & here).any():
                    undecided.add(name)
            violated = {name: self._told(trace) for name, trace in _violated(found, here)}
            yield Cell(one.fault, place, int(here.sum()), violated, stuck, frozenset(undecided))

    def _groups(self, one: injection.Injection, phases: npt.NDArray[np.int64]) -> Iterator[tuple[str, Flags]]:
        for number, place in enumerate(one.places):
            yield place, np.isin(phases, [one.phase(number, done=done) for done in (False, True)])

    def _told(self, trace: Trace) -> Trace:
        """The whole way, without the monitor."""
        steps = [
            (name, {key: value for key, value in state.items() if key not in injection.MONITOR})
            for name, state in trace.steps[1:]
        ]
        return Trace((*self.way.steps, *steps))


def _violated(found: Exploration, here: Flags) -> Iterator[tuple[str, Trace]]:
    """By claim, a shortest trace to where it is broken in some of the states, or by a step out of them."""
    kernel, numbers = found.retracer.kernel, np.flatnonzero(here)
    first = kernel.expand(found.visited[numbers]).tally.first
    for predicate, row in zip(kernel.predicates, first.tolist(), strict=True):
        if row >= 0 and predicate.kind is Kind.VIOLATED:
            yield predicate.name, found.trace(int(numbers[row]))
        elif row >= 0 and predicate.kind is Kind.BROKEN:
            yield predicate.name, found.retracer.trace_breaking(predicate.name, int(numbers[row]))


def _values(found: Exploration, variable: str) -> npt.NDArray[np.int64]:
    """A variable's value in every state."""
    place = found.retracer.kernel.packing.places[variable]
    column = found.visited[:, place.word] & np.uint64(place.mask)
    values: npt.NDArray[np.int64] = (column >> np.uint64(place.shift)).astype(np.int64)
    return values


def _lost(found: Exploration) -> dict[str, tuple[Flags, Flags]]:
    """By goal: the states from which some run does not come to it, and those that a bound leaves undecided."""
    graph: Graph | None = found.graph
    if graph is None:
        return {}
    held = {goal: graph.holds(goal) for goal in graph.goals if goal.startswith("eventually_")}
    return {goal: astray(graph, holds, out_of_reach(graph, holds)) for goal, holds in held.items()}
