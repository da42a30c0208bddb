"""Specification and reference side by side without a system being built: for wide scopes, led or walked at random.

The specification's text is run as plain Python on numbers, so that a scope costs nothing before its first step. After
each step both must be in the same state, an observer must have seen the same kinds of things of it, and the reference
must have written the kinds of lines to controller.log that a judge expects of the specification's step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from model_check.recordings.recording import Cluster
from model_check.recordings.reports import DELETION_REPORTS, REASSIGNMENT_REPORTS, REPORTS
from model_check.refinement.abstraction.cluster import Abstraction
from model_check.refinement.history import History
from model_check.refinement.observations import Observer
from model_check.stepping.open_system import NoRoom, OpenSystem
from reference.journal import Report
from reference.memory.choices import Choice
from reference.memory.scheduler import choices, step
from reference.memory.start import initial_cluster
from spec.language.views import leaves
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.log_lines import Line
from spec.model import Model
from spec.scopes import Scope
from spec.variants import AS_CODED, Switches

JUDGED = (REPORTS | DELETION_REPORTS | REASSIGNMENT_REPORTS) - {NotificationsFound}
"""The lines that are compared; that a callback of ISR changes begins, the reference does not tell."""


class SideBySide:
    """Both, settled at first; budgets are those of the scope, or these."""

    def __init__(self, scope: Scope, switches: Switches = AS_CODED, **budgets: int) -> None:
        bounds = replace(scope, budgets=tuple(budgets.items())) if budgets else scope
        self.spec = OpenSystem(Model(bounds, switches), draws_budgets=True)
        self.kinds = {one.name: one.kind for one in leaves(self.spec.layout.shape)}
        self.abstraction = Abstraction(self.spec.model, self.kinds)
        self.settle()
        partitions, brokers = self.cluster.partitions, tuple(self.spec.model.brokers.ids)
        topics = tuple(dict.fromkeys(one.topic for one in partitions))
        self.named = Cluster(brokers, topics, partitions, bounds.assigned, parts=bounds.parts)

    def settle(self) -> None:
        """Back to the start."""
        scope = self.spec.model.scope
        self.state, self.cluster = self.spec.initial, initial_cluster(scope, self.spec.model.switches)
        self.history = History() if scope.cold else History(frozenset({1}), frozenset({1}))
        self.way: list[str] = []

    def do(self, *names: str) -> list[str]:
        """Take steps by name; the kinds of what was seen of the last one."""
        seen: list[str] = []
        for name in names:
            found = {one.name: one for one in choices(self.cluster)}
            assert name in found, f"after {self.way} the reference can only do {sorted(found)}"
            seen = self._take(found[name])
        return seen

    def walk(self, random: Random, steps: int) -> Iterator[str]:
        """Take steps at random, as the reference offers them; the kinds of all that is seen."""
        self.settle()
        for _ in range(steps):
            offered = list(choices(self.cluster))
            try:
                yield from self._take(random.choice(offered)) if offered else ()
            except NoRoom:
                return

    def _take(self, choice: Choice) -> list[str]:
        owner = self["zookeeper.controller"]
        before, parameters = self.state, dict(choice.parameters)
        taken = self.spec.step(before, choice.rule, parameters)
        assert taken is not None, f"after {self.way} only the reference can do {choice.name}"
        self.way.append(choice.name)
        self.state, seen, said = taken
        step(self.cluster, choice)
        self.history = self.history.after(choice.rule, self.cluster)
        assert list(self._differences()) == [], self.way
        observed = Observer(self.cluster, choice.rule, int(owner)).observed()
        assert Counter((one.role, one.kind) for one in observed) == Counter((one.role, one.kind) for one in seen)
        if any(one.line in JUDGED for one in said) or "c" in parameters:
            assert self._written() == Counter(one.line for one in said if one.line in JUDGED), self.way
        return [one.kind for one in seen]

    def _written(self) -> Counter[type[Line]]:
        """The lines of the last step that a judge goes by."""
        told = (type(one.line) for one in self.cluster.entries if isinstance(one, Report))
        return Counter(kind for kind in told if kind in JUDGED)

    def _differences(self) -> Iterator[str]:
        flat, found = self.spec.layout.flatten(self.state), self.abstraction(self.cluster, self.history)
        for (name, kind), other in zip(self.kinds.items(), found, strict=True):
            if flat[name] != other:
                yield f"{name} is {kind.show(flat[name])} in the specification, {kind.show(other)} in the reference"

    def can(self, name: str) -> bool:
        """Whether the reference offers a step."""
        return any(one.name == name for one in choices(self.cluster))

    def __getitem__(self, name: str) -> str:
        """A variable as text."""
        return self.kinds[name].show(self.spec.layout.flatten(self.state)[name])
