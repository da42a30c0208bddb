"""Delayed operations, reference against specification: every step of a purgatory's scope, taken on the reference.

In every state that the specification reaches, the pieces of the reference that can run must be the steps that are
enabled, and each must lead to the state that the specification says. A generator cannot be copied, so each state is
reached by its shortest way, again for each of the steps to it.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from model_check.explicit_state.spanning_tree import SpanningTree
from model_check.refinement.edge_replay import Replayed
from model_check.refinement.lockstep import Disagreement, Specified
from model_check.refinement.purgatory.race import Race
from model_check.terms.python_code import Raw
from spec.model import Model
from spec.system import system


class Replay(Specified):
    """A purgatory's scope under some switches, on both sides."""

    def __init__(self, m: Model) -> None:
        self.m = m
        super().__init__(system(m.scope, m.switches))

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
        self.require_state(raw, tuple(one.kind.encode(found[one.name]) for one in self.system.variables), way)
        return race

    def run(
        self,
        tree: SpanningTree,
        progress: Callable[[int], None] = lambda _: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Replayed | None:
        """Take every step out of the tree's states on both sides; None if it was stopped."""
        raws, by_rule = [self.machine.initial], Counter[str]()
        rules = {action.name: action.rule for action in self.system.actions}
        for number in range(tree.states):
            if stop():
                return None
            way = tree.way(number)
            if number:
                raws.append(self._stepped(raws[int(tree.parents[number])], way))
            enabled = self.enabled(raws[number])
            self.require_choices(enabled, self.compare(raws[number], way).choices(), way)
            for name, after in enabled.items():
                self.compare(after, (*way, name))
                by_rule[rules[name]] += 1
            progress(number + 1)
        counts = {rule: by_rule[rule] for rule in tree.rules}
        return Replayed(tree.states, by_rule.total(), len(tree.levels) - 1, tree.exhausted, counts)

    def _stepped(self, raw: Raw, way: Sequence[str]) -> Raw:
        after = self.enabled(raw).get(way[-1])
        if after is None:
            raise Disagreement(way[:-1], [f"only the explorer can do {way[-1]}"])
        return after
