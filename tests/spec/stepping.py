"""A system led by the hand: actions taken by name, with what an observer saw of them, and variables as text."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from model_check.terms.straight_line import Program, Valuation
from spec.language.rules import Action, TransitionSystem
from spec.scopes import Scope
from spec.system import system
from spec.variants import AS_CODED, Switches


@cache
def built(bounds: Scope, switches: Switches) -> TransitionSystem:
    """A system; examples of one scope share it."""
    return system(bounds, switches)


class Run:
    """A system in some state; `do` takes an action by name and keeps what an observer saw of it."""

    def __init__(self, bounds: Scope, switches: Switches = AS_CODED, **budgets: int) -> None:
        self.system = built(replace(bounds, budgets=tuple(budgets.items())), switches)
        self.state = {one.name: one.initial for one in self.system.variables}
        self._actions = {one.name: one for one in self.system.actions}
        self._kinds = {one.name: one.kind for one in self.system.variables}
        self._program = Program()

    def can(self, name: str) -> bool:
        """Whether an action is enabled."""
        return bool(self._now()(self._actions[name].guard))

    def do(self, *names: str) -> list[tuple[Any, ...]]:
        """Take actions, one after the other; what was seen of the last one: its kind, then its fields in order."""
        seen: list[tuple[Any, ...]] = []
        for name in names:
            value = self._now()
            action = self._actions[name]
            assert value(action.guard), f"{name} is not enabled; enabled are {self.enabled()}"
            seen = self._observed(action, value)
            self.state = {**self.state, **{path: value(term) for path, term in action.updates.items()}}
        return seen

    def drain(self, *marks: str) -> None:
        """Take every action whose name has one of these marks, until none is enabled."""
        while steps := [name for name in self.enabled() if any(mark in name for mark in marks)]:
            self.do(steps[0])

    def holds(self, claim: str, step: str = "") -> bool:
        """Whether a claim about states holds now, or a step, which is enabled, keeps one about steps."""
        named = self.system.property_named(claim)
        assert not step or self.can(step)
        return bool(self._now()(named.terms[step] if step else named.term))

    def enabled(self) -> list[str]:
        """The names of all enabled actions."""
        return [name for name in self._actions if self.can(name)]

    def _now(self) -> Valuation:
        return Valuation(self.state, self._program)

    def _observed(self, action: Action, value: Valuation) -> list[tuple[Any, ...]]:
        return [
            (event.kind, *(field.kind.show(value(field.term)) for field in event.fields.values()))
            for event in action.events
            if value(event.condition)
        ]

    def __getitem__(self, name: str) -> str:
        """A variable as text."""
        return self._kinds[name].show(self.state[name])

    def leadership(self, path: str) -> tuple[str, ...]:
        """Leader, ISR and leader epoch at a path: of a znode, of a cache, of a broker."""
        return self[f"{path}.leader"], self[f"{path}.isr"], self[f"{path}.leader_epoch"]

    def differs_from(self, earlier: Mapping[str, int], prefix: str) -> set[str]:
        """The variables under a path that are not as they were."""
        return {name for name, raw in self.state.items() if name.startswith(prefix) and raw != earlier[name]}
