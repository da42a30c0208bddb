"""Delayed operations, reference against specification: every step of a purgatory's scope, taken on the reference.

In every state that the specification reaches, the pieces of the reference that can run must be the steps that are
enabled, and each must lead to the state that the specification says. A generator cannot be copied, so each state is
reached by its shortest way, again for each of the steps to it.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from model_check.explicit_state.interpreter import Machine
from model_check.explicit_state.spanning_tree import SpanningTree
from model_check.refinement.edge_replay import Replayed
from model_check.refinement.lockstep import Disagreement
from model_check.refinement.purgatory.race import Race
from model_check.terms.python_code import Raw
from model_check.traces.trace import State, Trace, shown
from spec.model import Model
from spec.system import system


class Replay:
    """A purgatory's scope under some switches, on both sides."""

    def __init__(self, m: Model) -> None:
        self.m = m
        self.system = system(m.scope, m.switches)
        self.machine = Machine(self.system)

    def after(self, way: Sequence[str]) -> Race:
        """The reference after some steps; Disagreement if it cannot take one of them."""
        race = Race(self.m)
        for number, name in enumerate(way):
            choices = race.choices()
            if name not in choices:
                raise Disagreement(way[:number], [f"only the specification enables {name}"])
            choices[name]()
        return race

    def compare(self, raw: Raw, way: Sequence[str]) -> Race:
        """The reference after some steps; Disagreement if its state is not the specification's."""
        race = self.after(way)
        found = race.state()
        reasons = []
        for variable, expected in zip(self.system.variables, raw, strict=True):
            actual = variable.kind.encode(found[variable.name])
            if actual != expected:
                told = f"{shown(variable, expected)} in the specification, {shown(variable, actual)} in the reference"
                reasons.append(f"{variable.name} is {told}")
        if reasons:
            raise Disagreement(way, reasons)
        return race

    def run(
        self,
        tree: SpanningTree,
        progress: Callable[[int], None] = lambda _: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Replayed | None:
        """Take every step out of the tree's states on both sides; None if it was stopped."""
        raws, by_rule = [self.machine.initial], Counter[str]()
        taken = {action.name: step for action, step in self.machine.steps}
        rules = {action.name: action.rule for action in self.system.actions}
        for number in range(tree.states):
            if stop():
                return None
            way = tree.way(number)
            if number:
                raws.append(self._stepped(taken[way[-1]], raws[int(tree.parents[number])], way))
            possible = self.compare(raws[number], way).choices().keys()
            enabled = {name: after for name, step in taken.items() if (after := step(raws[number])) is not None}
            if possible != enabled.keys():
                reasons = [f"only the specification enables {name}" for name in enabled.keys() - possible]
                reasons += [f"only the reference can do {name}" for name in possible - enabled.keys()]
                raise Disagreement(way, sorted(reasons))
            for name, after in enabled.items():
                self.compare(after, (*way, name))
                by_rule[rules[name]] += 1
            progress(number + 1)
        counts = {rule: by_rule[rule] for rule in tree.rules}
        return Replayed(tree.states, by_rule.total(), len(tree.levels) - 1, tree.exhausted, counts)

    def _stepped(self, step: Callable[[Raw], Raw | None], raw: Raw, way: Sequence[str]) -> Raw:
        after = step(raw)
        if after is None:
            raise Disagreement(way[:-1], [f"only the explorer can do {way[-1]}"])
        return after

    def story(self, steps: Sequence[str]) -> Trace:
        """The steps as the specification takes them, as far as it can."""
        taken = {action.name: step for action, step in self.machine.steps}
        raw = self.machine.initial
        found: list[tuple[str | None, State]] = [(None, self.machine.unpack(raw))]
        for name in steps:
            after = taken[name](raw) if name in taken else None
            if after is None:
                break
            raw = after
            found.append((name, self.machine.unpack(raw)))
        return Trace(tuple(found))
