"""The oracle: a transition system explored the plain way, for every engine to be measured against.

Breadth first, a dictionary of whole states, one action after the other, in the order of the system. It is hundreds of
times slower than the native explorer and keeps everything in memory; what it says is what "states", "transitions",
"depth" and "violated" mean in this project. Left out on purpose: `recoverable` and `eventually`, which are questions
about the graph and not about its states, and every reduction.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from model_check.explicit_state.interpreter import Machine
from model_check.terms.python_code import Raw
from model_check.terms.straight_line import evaluate
from model_check.traces.trace import State, Trace
from spec.language.rules import GOALS, Action, TransitionSystem


@dataclass(frozen=True)
class Finding:
    """Where a property was violated or witnessed: in how many states or steps, and a shortest trace to one."""

    count: int
    trace: Trace


@dataclass(frozen=True)
class Exploration:
    """What there is to know of a system's reachable states.

    `levels[d]` is the number of states first reached by d steps. `fired` and `overflows` count transitions by action
    name, zeros included. `occurrences` counts states by row that is taken from them, by `sometimes` property that they
    show, and by goal that they lack; `first_depths` has the length of a shortest trace to each of these and each action
    that there is. `violations` (of `always` and `step`) and `witnesses` (of `sometimes`) hold only what was
    found. `complete` is false if a limit stopped the search; then `transitions` leave only expanded states.
    `reached` has every state found, as raw values in the order of `names`.
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    transitions: int
    expanded: int
    fired: Mapping[str, int]
    overflows: Mapping[str, int]
    occurrences: Mapping[str, int]
    first_depths: Mapping[str, int]
    violations: Mapping[str, Finding]
    witnesses: Mapping[str, Finding]
    complete: bool
    reached: Mapping[Raw, tuple[Raw | None, str | None]] = field(repr=False)

    @property
    def states(self) -> int:
        """How many distinct states were found."""
        return sum(self.levels)

    @property
    def depth(self) -> int:
        """How many steps the farthest state is away from the initial one."""
        return len(self.levels) - 1


def successors(system: TransitionSystem, state: Mapping[str, int]) -> list[tuple[Action, State]]:
    """Every enabled action with the state after it, in the system's order, by evaluating terms one by one."""
    return [
        (action, {**state, **{name: evaluate(term, state) for name, term in action.updates.items()}})
        for action in system.actions
        if evaluate(action.guard, state)
    ]


def explore_plainly(system: TransitionSystem, limit: int | None = None, *, depth: int | None = None) -> Exploration:
    """All states reachable in a system.

    No further level is begun once `limit` states are known or `depth` steps are done, so that a stopped search still
    has counts that other breadth-first engines can be compared with.
    """
    search = _Search(Oracle(system))
    frontier = [search.machine.initial]
    search.meet(search.machine.initial, None, None)
    levels = [1]
    while frontier and (limit is None or len(search.reached) < limit) and (depth is None or len(levels) <= depth):
        frontier = search.expand(frontier, len(levels))
        if frontier:
            levels.append(len(frontier))
    return search.result(tuple(levels), complete=not frontier)


class Oracle(Machine):
    """A system whose properties and rows are plain functions, too.

    An `always` property fails in a state, a `step` property on a transition; a `sometimes` property is witnessed in a
    state.
    """

    def state_conditions(self, kind: str) -> dict[str, Callable[[Raw], bool]]:
        """The properties of one kind that speak of a state, by name."""
        chosen = [one for one in self.system.properties if one.kind == kind and one.term is not None]
        return {one.name: self.condition(one.term) for one in chosen}

    def step_conditions(self) -> dict[str, list[tuple[str, Callable[[Raw], bool]]]]:
        """By action, the `step` properties that speak of it, and what each demands of the state before."""
        found: dict[str, list[tuple[str, Callable[[Raw], bool]]]] = {action.name: [] for action in self.system.actions}
        for one in self.system.properties:
            for action, term in one.terms.items():
                found[action].append((one.name, self.condition(term)))
        return found

    def row_conditions(self) -> dict[str, list[tuple[str, Callable[[Raw], bool]]]]:
        """By action, the rows of transition tables that it may take, and where it does."""
        return {
            action.name: [(row, self.condition(term)) for row, term in action.taken.items()]
            for action in self.system.actions
        }

    def check_ranges(self, raw: Raw, action: str) -> None:
        """A value that its kind does not have is a mistake of the specification; ValueError says which."""
        for one, value in zip(self.system.variables, raw, strict=True):
            if value > one.kind.maximum and not one.kind.unbounded:
                most = f"a {one.kind.name} is at most {one.kind.maximum} there"
                raise ValueError(f"{action} sets {one.name} to {value}, but {most}")


class _Search:
    """The bookkeeping of one exploration."""

    def __init__(self, machine: Oracle) -> None:
        self.machine = machine
        self.always = machine.state_conditions("always")
        self.sometimes = machine.state_conditions("sometimes")
        self.demands = machine.step_conditions()
        self.reached: dict[Raw, tuple[Raw | None, str | None]] = {}
        self.fired = {action.name: 0 for action, _ in machine.steps}
        self.overflows = {action.name: 0 for action, _ in machine.steps}
        self.rows = machine.row_conditions()
        self.goals = {name: holds for kind in GOALS for name, holds in machine.state_conditions(kind).items()}
        some = (*(row for rows in self.rows.values() for row, _ in rows), *self.sometimes, *self.goals)
        self.occurrences = dict.fromkeys(some, 0)
        self.first_depths: dict[str, int] = {}
        self.violations: dict[str, Finding] = {}
        self.witnesses: dict[str, Finding] = {}
        self.expanded = 0

    def meet(self, raw: Raw, before: Raw | None, action: str | None, depth: int = 0) -> None:
        """A state is seen for the first time: remember how, and ask what holds in it."""
        self.machine.check_ranges(raw, action or "the initial state")
        self.reached[raw] = (before, action)
        for name, holds in self.always.items():
            if not holds(raw):
                self._found(self.violations, name, raw)
        for name, holds in self.sometimes.items():
            if holds(raw):
                self._found(self.witnesses, name, raw)
                self._occurs(name, depth)
        for name, holds in self.goals.items():
            if not holds(raw):
                self._occurs(name, depth)

    def _occurs(self, name: str, depth: int) -> None:
        self.occurrences[name] += 1
        self.first_depths.setdefault(name, depth)

    def expand(self, frontier: list[Raw], depth: int) -> list[Raw]:
        """Take every enabled action in every state of a level; the states not seen before are the next, at `depth`."""
        fresh = []
        for raw in frontier:
            self.expanded += 1
            taken = set()
            for action, step in self.machine.steps:
                after = step(raw)
                if after is None:
                    continue
                self.fired[action.name] += 1
                self.first_depths.setdefault(action.name, depth)
                taken |= {row for row, is_taken in self.rows[action.name] if is_taken(raw)}
                if after not in self.reached:
                    self.meet(after, raw, action.name, depth)
                    fresh.append(after)
                for name, holds in self.demands[action.name]:
                    if not holds(raw):
                        self._found(self.violations, name, raw, (action.name, after))
            for row in taken:
                self._occurs(row, depth)
            for action_name, overflows in self.machine.overflows:
                self.overflows[action_name] += overflows(raw)
        return fresh

    def _found(self, findings: dict[str, Finding], name: str, raw: Raw, last: tuple[str, Raw] | None = None) -> None:
        earlier = findings.get(name)
        trace = earlier.trace if earlier else self.trace_to(raw, last)
        findings[name] = Finding(1 + (earlier.count if earlier else 0), trace)

    def trace_to(self, raw: Raw, last: tuple[str, Raw] | None = None) -> Trace:
        """The way in which a state was first reached, and perhaps one step more."""
        steps: list[tuple[str | None, State]] = [(last[0], self.machine.unpack(last[1]))] if last else []
        current: Raw | None = raw
        while current is not None:
            before, action = self.reached[current]
            steps.append((action, self.machine.unpack(current)))
            current = before
        return Trace(tuple(reversed(steps)))

    def result(self, levels: tuple[int, ...], *, complete: bool) -> Exploration:
        """Everything found so far, frozen."""
        return Exploration(
            names=self.machine.names,
            levels=levels,
            transitions=sum(self.fired.values()),
            expanded=self.expanded,
            fired=self.fired,
            overflows=self.overflows,
            occurrences=self.occurrences,
            first_depths=self.first_depths,
            violations=self.violations,
            witnesses=self.witnesses,
            complete=complete,
            reached=self.reached,
        )
