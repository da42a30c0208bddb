"""Specification and reference side by side: the same steps taken on both, and everything compared.

In each state the steps that the specification enables must be the choices that the reference has, both ways; a step
must lead to the state that the specification says, an observer must see of it what the specification says, and the
lines that it writes must be those that the rule says. A choice that the specification stops only for a bound of the
scope is no disagreement; it is not taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from model_check.explicit_state.interpreter import Machine
from model_check.refinement.abstraction.cluster import Abstraction
from model_check.refinement.expected_observations import Demanded
from model_check.refinement.fingerprint import memory
from model_check.refinement.history import History
from model_check.refinement.observations import Observer
from model_check.refinement.written_lines import WrittenLines
from model_check.terms.python_code import Raw
from model_check.traces.trace import State, Trace, shown
from reference.memory.choices import Choice
from reference.memory.cluster import MemoryCluster, lacking
from reference.memory.scheduler import choices, step
from reference.memory.start import initial_cluster
from spec.errors import BadInput, SpecError
from spec.language.rules import TransitionSystem
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


def refuse_what_lacks(scope: Scope) -> None:
    """BadInput if the reference lacks a part of a scope."""
    if lacking(scope):
        raise BadInput(
            f"the reference cluster has no {lacking(scope)}, so {scope.name} cannot run on it; "
            f"explore it (`kcheck explore {scope.name}`), or name a scope without"
        )


@dataclass(frozen=True)
class Pair:
    """A state of the specification, the reference in that state, and the history beside it."""

    raw: Raw
    cluster: MemoryCluster
    history: History

    def fork(self) -> Pair:
        """The same once more, to go another way."""
        return replace(self, cluster=self.cluster.fork())


class Sides:
    """Specification and reference of one scope under one set of switches; BadInput if the reference lacks a part."""

    def __init__(self, scope: Scope, switches: Switches = AS_CODED) -> None:
        refuse_what_lacks(scope)
        self.scope, self.switches = scope, switches
        self.system: TransitionSystem = system(scope, switches)
        self.machine = Machine(self.system)
        model = Model(scope, switches)
        self.abstraction = Abstraction(model, {variable.name: variable.kind for variable in self.system.variables})
        self.demanded = Demanded(self.system)
        self.lines = WrittenLines(model)
        self._steps = {action.name: run for action, run in self.machine.steps}
        self._owner = self.machine.names.index("zookeeper.controller")
        self._overflows = dict(self.machine.overflows)
        self._read: dict[bytes, Any] = {}
        self._start: Pair | None = None

    # ------------------------------------------------------------------------------------------------------- the steps

    def initial(self) -> Pair:
        """Both at the start, once more each time; Disagreement if that is not the same state."""
        if self._start is None:
            self._start = self._settled()
        return self._start.fork()

    def _settled(self) -> Pair:
        cluster = initial_cluster(self.scope, self.switches)
        settled = History() if self.scope.cold else History(frozenset({1}), frozenset({1}))
        pair = Pair(self.machine.initial, cluster, settled)
        found = self.abstract(cluster, settled)
        if found != pair.raw:
            raise Disagreement((), self._differences(pair.raw, found))
        return pair

    def after(self, steps: Sequence[str]) -> Pair:
        """Both after some steps; what is observed on the way is not compared. Disagreement if they cannot be taken."""
        pair = self.initial()
        for number, name in enumerate(steps):
            after = self._steps[name](pair.raw)
            possible = {choice.name: choice for choice in choices(pair.cluster)}
            if after is None or name not in possible:
                side = "reference" if after is None else "specification"
                raise Disagreement(steps[:number], (f"only the {side} can do {name}",))
            pair = self.follow(pair, possible[name])
            if pair.raw != after:
                raise Disagreement(steps[: number + 1], self._differences(after, pair.raw))
        return pair

    def follow(self, pair: Pair, choice: Choice) -> Pair:
        """Make a choice on the reference, which is changed by it."""
        step(pair.cluster, choice)
        history = pair.history.after(choice.rule, pair.cluster)
        return Pair(self.abstract(pair.cluster, history), pair.cluster, history)

    def abstract(self, cluster: MemoryCluster, history: History) -> Raw:
        """The specification's state; of a process whose memory was seen before, what was read of it then."""
        unread = [process for process in cluster.processes.values() if self.abstraction not in process.remembered]
        digests = [memory(cluster, process).digest for process in unread]
        for process, digest in zip(unread, digests, strict=True):
            if digest in self._read:
                process.remembered[self.abstraction] = self._read[digest]
        found = self.abstraction(cluster, history)
        self._read.update(
            (digest, one.remembered[self.abstraction]) for one, digest in zip(unread, digests, strict=True)
        )
        return found

    def story(self, steps: Sequence[str]) -> Trace:
        """The steps as the specification takes them, as far as it can."""
        raw = self.machine.initial
        told: list[tuple[str | None, State]] = [(None, self.machine.unpack(raw))]
        for name in steps:
            after = self._steps[name](raw) if name in self._steps else None
            if after is None:
                break
            raw = after
            told.append((name, self.machine.unpack(raw)))
        return Trace(tuple(told))

    # -------------------------------------------------------------------------------------------------- the comparison

    def enabled(self, raw: Raw) -> dict[str, Raw]:
        """The steps that the specification enables, with the states that they lead to."""
        return {name: after for name, run in self._steps.items() if (after := run(raw)) is not None}

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

    def compare(self, before: Raw, choice: Choice, after: Raw, reached: Pair, steps: Sequence[str]) -> None:
        """Disagreement if the reference's step led to another state than the specification's, or showed otherwise."""
        if after != reached.raw:
            raise Disagreement(steps, self._differences(after, reached.raw))
        observed = Observer(reached.cluster, choice.rule, before[self._owner]).observed()
        reasons = self.demanded.differences(choice.name, before, observed)
        values = dict(zip(self.machine.names, before, strict=True))
        if reasons := reasons + self.lines.differences(choice, values, reached.cluster.entries):
            raise Disagreement(steps, reasons)

    def _differences(self, expected: Raw, found: Raw) -> list[str]:
        return list(self._each_difference(expected, found))

    def _each_difference(self, expected: Raw, found: Raw) -> Iterator[str]:
        for variable, one, other in zip(self.system.variables, expected, found, strict=True):
            if one != other:
                told = f"{shown(variable, one)} in the specification, {shown(variable, other)} in the reference"
                yield f"{variable.name} is {told}"
