"""Edge replay: every edge of a scope's state graph, executed on the reference.

The specification and the reference start in the same state and walk its graph together, breadth first. In each state
the steps that the specification enables must be the choices that the reference has, both ways; each of them, taken on a
fork of the reference, must lead to the state that the specification says, and an observer must see of it what the
specification says. A state that is reached in two ways must find the reference in the same condition both times, but
for what `fingerprint` leaves out.

A choice that the specification stops only for a bound of the scope is no disagreement; it is not taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from model_check.abstraction import Abstraction, History
from model_check.fingerprint import fingerprint
from model_check.interpreter import Machine
from model_check.observations import Demanded, Observer
from model_check.python_code import Raw
from model_check.traces import shown
from reference.memory_cluster import MemoryCluster
from reference.memory_scheduler import Choice, choices, step
from reference.memory_start import initial_cluster
from spec.errors import SpecError
from spec.language import TransitionSystem
from spec.model import Model
from spec.scopes import Scope
from spec.system import system
from spec.variants import AS_CODED, Switches


class Disagreement(SpecError):
    """Specification and reference part ways; `steps` lead there from the initial state."""

    def __init__(self, steps: Sequence[str], reasons: Sequence[str]) -> None:
        super().__init__(steps, reasons)
        self.steps, self.reasons = tuple(steps), tuple(reasons)

    def __str__(self) -> str:
        where = " -> ".join(self.steps) or "the initial state"
        return "\n  ".join((f"specification and reference disagree after {where}:", *self.reasons))


@dataclass(frozen=True)
class Replayed:
    """What was replayed: distinct states, edges, and edges by rule; `complete` unless a depth or limit ended it."""

    states: int
    edges: int
    depth: int
    complete: bool
    by_rule: Mapping[str, int] = field(repr=False)


@dataclass(frozen=True)
class Pair:
    """A state of the specification, the reference in that state, and the history beside it."""

    raw: Raw
    cluster: MemoryCluster
    history: History


class EdgeReplay:
    """Specification and reference of one scope under one set of switches, side by side."""

    def __init__(self, scope: Scope, switches: Switches = AS_CODED) -> None:
        self.scope, self.switches = scope, switches
        self.system: TransitionSystem = system(scope, switches)
        self.machine = Machine(self.system)
        self.abstraction = Abstraction(
            Model(scope, switches), {variable.name: variable.kind for variable in self.system.variables}
        )
        self.demanded = Demanded(self.system)
        self._owner = self.machine.names.index("zookeeper.controller")
        self._overflows = dict(self.machine.overflows)
        self._ways: dict[Raw, tuple[Raw, str] | None] = {}
        self._fingerprints: dict[Raw, int] = {}
        self._by_rule: dict[str, int] = {}

    def run(self, *, depth: int | None = None, limit: int | None = None) -> Replayed:
        """Replay every edge out of the states up to a depth, or until so many are known; raises Disagreement."""
        start = self.initial()
        self._meet(start, None)
        frontier, levels = [start], 0
        while frontier and (depth is None or levels < depth) and (limit is None or len(self._ways) < limit):
            frontier = [new for pair in frontier for new in self.expand(pair)]
            levels += bool(frontier)
        edges = sum(self._by_rule.values())
        return Replayed(len(self._ways), edges, levels, not frontier, dict(self._by_rule))

    def initial(self) -> Pair:
        """Both at the start; Disagreement if that is not the same state."""
        cluster = initial_cluster(self.scope, self.switches)
        settled = History() if self.scope.cold else History(frozenset({1}), frozenset({1}))
        pair = Pair(self.machine.initial, cluster, settled)
        found = self.abstraction(cluster, settled)
        if found != pair.raw:
            raise Disagreement((), list(self._differences(pair.raw, found)))
        return pair

    def expand(self, pair: Pair) -> Iterator[Pair]:
        """Replay every edge out of a state; yield the states that were not known before."""
        enabled = self.enabled(pair.raw)
        possible = self.possible(pair, enabled, self.steps_to(pair.raw))
        for name, after in enabled.items():
            choice = possible[name]
            reached = self.follow(replace(pair, cluster=pair.cluster.fork()), choice)
            if reasons := self.departures(pair.raw, choice, after, reached):
                raise Disagreement((*self.steps_to(pair.raw), name), reasons)
            self._by_rule[choice.rule] = self._by_rule.get(choice.rule, 0) + 1
            if self._meet(reached, (pair.raw, name)):
                yield reached

    def enabled(self, raw: Raw) -> dict[str, Raw]:
        """The steps that the specification enables, with the states that they lead to."""
        return {action.name: after for action, run in self.machine.steps if (after := run(raw)) is not None}

    def possible(self, pair: Pair, enabled: Mapping[str, Raw], steps: Sequence[str]) -> dict[str, Choice]:
        """The choices that the reference has; Disagreement unless they are the steps that are enabled."""
        found = {choice.name: choice for choice in choices(pair.cluster)}
        if enabled.keys() != found.keys():
            bounded = {name for name, overflows in self._overflows.items() if overflows(pair.raw)}
            reasons = [f"only the specification enables {name}" for name in enabled.keys() - found.keys()]
            extra = found.keys() - enabled.keys() - bounded
            reasons += [f"only the reference can do {name}" for name in extra]
            if reasons:
                raise Disagreement(steps, sorted(reasons))
        return found

    def departures(self, before: Raw, choice: Choice, after: Raw, reached: Pair) -> list[str]:
        """How the reference's step departs from the specification's: in the state it leads to, or in what is seen."""
        if after != reached.raw:
            return list(self._differences(after, reached.raw))
        observed = Observer(reached.cluster, choice.rule, before[self._owner]).observed()
        return self.demanded.differences(choice.name, before, observed)

    def follow(self, pair: Pair, choice: Choice) -> Pair:
        """Make a choice on the reference, which is changed by it."""
        step(pair.cluster, choice)
        history = pair.history.after(choice.rule, pair.cluster.entries)
        return Pair(self.abstraction(pair.cluster, history), pair.cluster, history)

    def steps_to(self, raw: Raw) -> tuple[str, ...]:
        """The steps by which a state was first reached."""
        steps = []
        way = self._ways.get(raw)
        while way is not None:
            before, name = way
            steps.append(name)
            way = self._ways[before]
        return tuple(reversed(steps))

    def _meet(self, pair: Pair, way: tuple[Raw, str] | None) -> bool:
        """Remember a state; whether it was not known. A known one must find the reference in the same condition."""
        condition = hash(fingerprint(pair.cluster))
        if pair.raw not in self._ways:
            self._ways[pair.raw], self._fingerprints[pair.raw] = way, condition
            return True
        if condition != self._fingerprints[pair.raw] and way is not None:
            earlier = " -> ".join(self.steps_to(pair.raw))
            reason = f"the reference is in another condition than after {earlier or 'nothing'}"
            raise Disagreement((*self.steps_to(way[0]), way[1]), (reason,))
        return False

    def _differences(self, expected: Raw, found: Raw) -> Iterator[str]:
        for variable, one, other in zip(self.system.variables, expected, found, strict=True):
            if one != other:
                told = f"{shown(variable, one)} in the specification, {shown(variable, other)} in the reference"
                yield f"{variable.name} is {told}"


__all__ = ["Disagreement", "EdgeReplay", "Pair", "Replayed"]
