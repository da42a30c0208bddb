"""Specification and reference side by side: the same steps taken on both, and everything compared.

In each state the steps that the specification enables must be the choices that the reference has, both ways; a step
must lead to the state that the specification says, an observer must see of it what the specification says, and the
lines that it writes must be those that the rule says. A choice that the specification stops only for a bound of the
scope is no disagreement; it is not taken.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from model_check.explicit_state.interpreter import Machine
from model_check.refinement.abstraction.abstraction import Abstraction
from model_check.refinement.expected_observations import Demanded
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
from spec.language.rules import TransitionSystem, Variable
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

    def fork(self) -> "Pair":
        """The same once more, to go another way."""
        return Pair(self.raw, self.cluster.fork(), self.history)


class Specified:
    """The specification's side: a system, taken step by step, against which the reference's states are held."""

    def __init__(self, built: TransitionSystem) -> None:
        self.system = built
        self.machine = Machine(built)

    def enabled(self, raw: Raw) -> dict[str, Raw]:
        """The steps that the specification enables, with the states that they lead to."""
        return self.machine.enabled(raw)

    def story(self, steps: Sequence[str]) -> Trace:
        """The steps as the specification takes them, as far as it can."""
        raw = self.machine.initial
        told: list[tuple[str | None, State]] = [(None, self.machine.unpack(raw))]
        for name in steps:
            after = self.enabled(raw).get(name)
            if after is None:
                break
            raw = after
            told.append((name, self.machine.unpack(raw)))
        return Trace(tuple(told))

    def require_state(self, expected: Raw, found: Raw, steps: Sequence[str]) -> None:
        """Disagreement, which tells of each variable, if the reference is in another state than the specification."""
        if expected != found:
            every = zip(self.system.variables, expected, found, strict=True)
            raise Disagreement(steps, [_difference(*one) for one in every if one[1] != one[2]])

    def require_choices(
        self, enabled: Collection[str], possible: Collection[str], steps: Sequence[str], bounded: Collection[str] = ()
    ) -> None:
        """Disagreement unless the choices that the reference has are the steps enabled; it may have `bounded` ones."""
        reasons = [f"only the specification enables {name}" for name in enabled if name not in possible]
        extra = (name for name in possible if name not in enabled and name not in bounded)
        reasons += [f"only the reference can do {name}" for name in extra]
        if reasons:
            raise Disagreement(steps, sorted(reasons))


def _difference(variable: Variable, expected: int, found: int) -> str:
    told = f"{shown(variable, expected)} in the specification, {shown(variable, found)} in the reference"
    return f"{variable.name} is {told}"


class Sides(Specified):
    """Specification and reference of one scope under one set of switches; BadInput if the reference lacks a part.

    Their system is the one that is given, if it is `built` already.
    """

    def __init__(self, scope: Scope, switches: Switches = AS_CODED, built: TransitionSystem | None = None) -> None:
        refuse_what_lacks(scope)
        self.scope, self.switches = scope, switches
        super().__init__(built or system(scope, switches))
        model = Model(scope, switches)
        self.abstraction = Abstraction(model, {variable.name: variable.kind for variable in self.system.variables})
        self.demanded = Demanded(self.system)
        self.lines = WrittenLines(model, self.machine.names)
        self._owner = self.machine.names.index("zookeeper.controller")
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
        self.require_state(self.machine.initial, self.abstraction(cluster, settled), ())
        return Pair(self.machine.initial, cluster, settled)

    def after(self, steps: Sequence[str]) -> Pair:
        """Both after some steps; what is observed on the way is not compared. Disagreement if they cannot be taken."""
        pair = self.initial()
        for number, name in enumerate(steps):
            after = self.enabled(pair.raw).get(name)
            possible = {choice.name: choice for choice in choices(pair.cluster)}
            if after is None or name not in possible:
                side = "reference" if after is None else "specification"
                raise Disagreement(steps[:number], (f"only the {side} can do {name}",))
            pair = self.follow(pair, possible[name])
            self.require_state(after, pair.raw, steps[: number + 1])
        return pair

    def follow(self, pair: Pair, choice: Choice) -> Pair:
        """Make a choice on the reference, which is changed by it."""
        step(pair.cluster, choice)
        history = pair.history.after(choice.rule, pair.cluster)
        return Pair(self.abstraction(pair.cluster, history), pair.cluster, history)

    # -------------------------------------------------------------------------------------------------- the comparison

    def possible(self, pair: Pair, enabled: Mapping[str, Raw], steps: Sequence[str]) -> dict[str, Choice]:
        """The choices that the reference has; Disagreement unless they are the steps that are enabled."""
        found = {choice.name: choice for choice in choices(pair.cluster)}
        if enabled.keys() != found.keys():
            bounded = {name for name, overflows in self.machine.overflows if overflows(pair.raw)}
            self.require_choices(enabled, found, steps, bounded)
        return found

    def take(self, pair: Pair, choice: Choice, after: Raw, steps: Sequence[str]) -> Pair:
        """Both after a choice; Disagreement if the reference is in another state than `after`, or showed otherwise."""
        before, reached = pair.raw, self.follow(pair, choice)
        self.require_state(after, reached.raw, steps)
        observed = Observer(reached.cluster, choice.rule, before[self._owner]).observed()
        reasons = self.demanded.differences(choice.name, before, observed)
        if reasons := reasons + self.lines.differences(choice, before, reached.cluster.entries):
            raise Disagreement(steps, reasons)
        return reached
