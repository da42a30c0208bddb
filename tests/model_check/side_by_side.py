"""Specification and reference side by side without a system being built: for wide scopes, led or walked at random.

The specification's text is run as plain Python on numbers, so that a scope costs nothing before its first step. After
each step both must be in the same state, an observer must have seen of it what the rules say, and the reference must
have written the lines that they say (`refinement/written_lines.py`). On a walk both must offer the same steps, too.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from random import Random

from model_check.refinement.abstraction.abstraction import Abstraction
from model_check.refinement.expected_observations import Shown, departures
from model_check.refinement.history import History
from model_check.refinement.observations import Observer
from model_check.refinement.written_lines import WrittenLines
from model_check.stepping.enabled import Candidate, Guards
from model_check.stepping.open_system import NoRoom, OpenSystem
from model_check.stepping.plain_rules import Seen
from model_check.stepping.plain_state import PlainState
from reference.memory.choices import Choice
from reference.memory.scheduler import choices, step
from reference.memory.start import initial_cluster
from spec.language.views import leaves
from spec.model import Model
from spec.scopes import Scope
from spec.system import instances
from spec.variants import AS_CODED, Switches


class SideBySide:
    """Both, settled at first; budgets are those of the scope, or these."""

    def __init__(self, scope: Scope, switches: Switches = AS_CODED, **budgets: int) -> None:
        bounds = replace(scope, budgets=tuple(budgets.items())) if budgets else scope
        self.spec = OpenSystem(Model(bounds, switches), draws_budgets=True)
        self.kinds = {one.name: one.kind for one in leaves(self.spec.layout.shape)}
        self.abstraction = Abstraction(self.spec.model, self.kinds)
        self.lines = WrittenLines(self.spec.model, tuple(self.kinds))
        self.settle()

    def settle(self) -> None:
        """Back to the start."""
        scope = self.spec.model.scope
        self._move_to(self.spec.initial)
        self.cluster = initial_cluster(scope, self.spec.model.switches)
        self.history = History() if scope.cold else History(frozenset({1}), frozenset({1}))
        self.way: list[str] = []
        assert list(self._differences()) == [], "at the start"

    def _move_to(self, state: PlainState) -> None:
        """The specification is in a state; the values of its variables are looked up once."""
        self.state, self.flat = state, self.spec.layout.flatten(state)

    def do(self, *names: str) -> list[str]:
        """Take steps by name; the kinds of what was seen of the last one."""
        seen: list[str] = []
        for name in names:
            found = {one.name: one for one in choices(self.cluster)}
            assert name in found, f"after {self.way} the reference can only do {sorted(found)}"
            seen = self._take(found[name])
        return seen

    def walk(self, random: Random, steps: int) -> Iterator[str]:
        """Take steps at random, as both offer them; the kinds of all that is seen."""
        self.settle()
        for _ in range(steps):
            offered = list(choices(self.cluster))
            more = self._not_among(offered)
            assert not more, f"after {self.way} only the specification can do {more}"
            try:
                yield from self._take(random.choice(offered)) if offered else ()
            except NoRoom:
                return

    def _not_among(self, offered: Iterable[Choice]) -> list[Candidate]:
        """The steps that the specification enables, and has room for, without these."""
        named = {(one.rule, one.parameters) for one in offered}
        left = [one for one in self._guards.holding(self.state) if (one[0], tuple(one[1].items())) not in named]
        return [one for one in left if self._is_enabled(*one)]

    def _is_enabled(self, rule: str, parameters: Mapping[str, int]) -> bool:
        try:
            return self.spec.step(self.state, rule, parameters) is not None
        except NoRoom:
            return False

    @cached_property
    def _guards(self) -> Guards:
        rules, model = self.spec.rules.values(), self.spec.model
        return Guards(self.spec, ((rule.name, one) for rule in rules for one in instances(rule, model)))

    def _take(self, choice: Choice) -> list[str]:
        owner, before = self["zookeeper.controller"], self.flat
        taken = self.spec.step(self.state, choice.rule, dict(choice.parameters))
        assert taken is not None, f"after {self.way} only the reference can do {choice.name}"
        self.way.append(choice.name)
        self._move_to(taken.after)
        step(self.cluster, choice)
        self.history = self.history.after(choice.rule, self.cluster)
        assert list(self._differences()) == [], self.way
        observed = Observer(self.cluster, choice.rule, int(owner)).observed()
        reasons = departures(map(_shown, taken.seen), observed)
        reasons += self.lines.differences(choice, tuple(before[name] for name in self.kinds), self.cluster.entries)
        assert not reasons, f"after {self.way}: {reasons}"
        return [one.kind for one in taken.seen]

    def _differences(self) -> Iterator[str]:
        found = self.abstraction(self.cluster, self.history)
        for (name, kind), other in zip(self.kinds.items(), found, strict=True):
            if (one := self.flat[name]) != other:
                yield f"{name} is {kind.show(one)} in the specification, {kind.show(other)} in the reference"

    def can(self, name: str) -> bool:
        """Whether the reference offers a step."""
        return any(one.name == name for one in choices(self.cluster))

    def __getitem__(self, name: str) -> str:
        """A variable as text."""
        return self.kinds[name].show(self.flat[name])


def _shown(seen: Seen) -> Shown:
    return Shown(seen.role, seen.kind, {name: (value.kind, value.raw) for name, value in seen.fields.items()})
