"""A system led by the hand: actions taken by name, with what an observer saw of them, and variables as text.

The specification's text is run as plain Python on numbers, so that an example costs its steps and no system of terms.
That both mean the same is what `tests/model_check/stepping/test_open_system.py` is about; and in a deep run every step
that is taken or tried here is held against its terms, too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, ClassVar

from model_check.stepping.open_system import NoRoom, OpenSystem, Step, Taken
from model_check.stepping.plain_rules import Seen
from model_check.stepping.plain_state import PlainState
from model_check.terms.straight_line import Program, Valuation
from spec.language.rules import leaves
from spec.language.terms import Kind, Value
from spec.model import Model
from spec.properties import claim_named, claims
from spec.scopes import Scope
from spec.variants import AS_CODED, Switches
from tests.spec.on_demand import OnDemand, by_name


class Played(OpenSystem):
    """A scope's system, budgets and capacities included, whose actions have names."""

    @cached_property
    def named(self) -> Mapping[str, Taken]:
        """Every action by its name, in the system's order."""
        return {name: Taken(*one) for name, one in by_name(self.rules.values(), self.model).items()}

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """What each variable may be."""
        return {one.name: one.kind for one in leaves(self.layout.shape)}

    @cached_property
    def terms(self) -> OnDemand:
        """The same as terms."""
        return OnDemand(self.model.scope, self.model.switches)

    @cached_property
    def program(self) -> Program:
        """The terms that were read so far."""
        return Program()

    def require_the_same_of_terms(self, name: str, before: PlainState, step: Step | None) -> None:
        """An action's terms say of a state what its text did: whether it is enabled, and what it changes and shows."""
        flat, action = self.layout.flatten(before), self.terms.action(name)
        value = Valuation(flat, self.program)
        assert bool(value(action.guard)) == (step is not None), name
        if step is not None:
            assert self.layout.flatten(step.after) == value.after(action.updates), name
            shown = [
                (one.kind, *map(value, (field.term for field in one.fields.values())))
                for one in action.events
                if value(one.condition)
            ]
            assert [(one.kind, *(field.raw for field in one.fields.values())) for one in step.seen] == shown, name


@cache
def played(bounds: Scope, switches: Switches) -> Played:
    """A system; examples of one scope share it."""
    return Played(Model(bounds, switches), draws_budgets=True)


class Run:
    """A system in some state; `do` takes an action by name and keeps what an observer saw of it."""

    terms_too: ClassVar = False
    """Whether each step is held against its terms."""

    def __init__(self, bounds: Scope, switches: Switches = AS_CODED, **budgets: int) -> None:
        self.system = played(replace(bounds, budgets=tuple(budgets.items())), switches)
        self.now = self.system.initial

    @property
    def state(self) -> Mapping[str, int]:
        """All raw values by variable name."""
        return self.system.layout.flatten(self.now)

    @state.setter
    def state(self, values: Mapping[str, int]) -> None:
        self.now = self.system.layout.unflatten(values)

    def can(self, name: str) -> bool:
        """Whether an action is enabled."""
        return self._step(name) is not None

    def _step(self, name: str) -> Step | None:
        rule, parameters = self.system.named[name]
        try:
            step = self.system.step(self.now, rule, parameters)
        except NoRoom:
            step = None
        if self.terms_too:
            self.system.require_the_same_of_terms(name, self.now, step)
        return step

    def do(self, *names: str) -> list[tuple[Any, ...]]:
        """Take actions, one after the other; what was seen of the last one: its kind, then its fields in order."""
        seen: tuple[Seen, ...] = ()
        for name in names:
            step = self._step(name)
            assert step is not None, f"{name} is not enabled; enabled are {self.enabled()}"
            self.now, seen, _ = step
        return [(one.kind, *(value.kind.show(value.raw) for value in one.fields.values())) for one in seen]

    def drain(self, *marks: str) -> None:
        """Take every action whose name has one of these marks, until none is enabled."""
        while step := next(self._enabled(marks), None):
            self.do(step)

    def enabled(self, *marks: str) -> list[str]:
        """The names of all enabled actions, or of those that have one of these marks."""
        return list(self._enabled(marks or ("",)))

    def _enabled(self, marks: Sequence[str]) -> Iterator[str]:
        return (name for name in self.system.named if any(mark in name for mark in marks) and self.can(name))

    def holds(self, claim: str, step: str = "") -> bool:
        """Whether a claim about states holds now, or a step, which is enabled, keeps one about steps."""
        said = self._said(claim, step)
        assert said is not None, f"{claim} says nothing of this"
        return bool(said.raw)

    def _said(self, claim: str, step: str) -> Value | None:
        before, model = self.system.view(self.now), self.system.model
        assert model.is_about(claim_named(claim).parts)
        if not step:
            return claim_named(claim).function(before, model)
        taken = self._step(step)
        assert taken is not None, f"{step} is not enabled"
        return claim_named(claim).function(before, self.system.view(taken.after), model, self.system.named[step])

    def broken(self, step: str) -> set[str]:
        """The claims about steps that a step, which is enabled, breaks."""
        names = [one.name for one in claims() if one.kind == "step" and self.system.model.is_about(one.parts)]
        said = {name: self._said(name, step) for name in names}
        return {name for name, value in said.items() if value is not None and not value.raw}

    def __getitem__(self, name: str) -> str:
        """A variable as text."""
        return self.system.kinds[name].show(self.state[name])

    def leadership(self, path: str) -> tuple[str, ...]:
        """Leader, ISR and leader epoch at a path: of a znode, of a cache, of a broker."""
        return self[f"{path}.leader"], self[f"{path}.isr"], self[f"{path}.leader_epoch"]

    def differs_from(self, earlier: Mapping[str, int], prefix: str) -> set[str]:
        """The variables under a path that are not as they were."""
        return {name for name, raw in self.state.items() if name.startswith(prefix) and raw != earlier[name]}
