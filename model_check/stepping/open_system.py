"""The open system: the protocol without bounds, taken one step at a time on states of numbers.

An explorer needs a scope small enough to be exhausted, and makes all of its actions beforehand. A recording of a real
cluster has any number of brokers, topics and epochs, and needs only the steps that it shows. So here nothing is made
beforehand: `step` runs a rule, for given parameters, on a given state. Capacities are wide, faults draw on no budget.

What a rule does is what the specification's text says (`plain_rules`), so whatever is judged here is judged by the very
relation that is enumerated and proved elsewhere.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

from model_check.stepping.plain_rules import NotEnabled, Said, Seen, plain_rules, run
from model_check.stepping.plain_state import EMPTY, Draft, Layout, PlainState, part
from spec.language.rules import Rule
from spec.model import Model
from spec.scopes import BUDGETS, Scope
from spec.state.cluster import shape
from spec.state.start import running
from spec.system import is_in_scope
from spec.variants import AS_CODED, Switches

JUDGED = frozenset({
    "partitions", "connections", "metadata", "creation", "notifications", "notification_reads", "failed_removals",
    "dead_replicas",
})  # fmt: skip
"""The parts of the protocol that any recording is judged by; `recordings/cluster.py` says which others one has."""

RECREATION, ADDITION = "recreation", "addition"
"""Parameters of a step that are none of its rule's: with which of the later assignments a topic is created again, and
which partitions are added to it.
"""

A_FEW: Final = 4
"""The places, or fewer, by which a queue may grow in a step before that is taken once more with a whole scope's."""
ANY_NUMBER = 0
"""Of tries: no required file tells what `controlled.shutdown.max.retries` is, nor of a try that reaches nobody."""


class Step(NamedTuple):
    """The state after a step, what is seen of it, and what Kafka writes to its logs."""

    after: PlainState
    seen: tuple[Seen, ...]
    said: tuple[Said, ...]


class Taken(NamedTuple):
    """What a `step` claim asks of the action of a step."""

    rule: str
    parameters: Mapping[str, int]


class NoRoom(Exception):
    """A step is possible, but a capacity of the scope is too small for it: the scope must be widened."""


@dataclass(frozen=True)
class OpenSystem:
    """A model whose rules are run one by one. `draws_budgets` is for comparing with engines that count faults.

    A topic may be created again with other replicas: `recreations` are the assignments of all partitions that such a
    step goes by. `additions` are those of the partitions that are added to a topic at once (of others, nothing).
    """

    model: Model
    draws_budgets: bool = False
    recreations: tuple[tuple[tuple[int, ...], ...], ...] = ()
    additions: tuple[tuple[tuple[int, ...], ...], ...] = ()

    @cached_property
    def layout(self) -> Layout:
        """The variables."""
        return Layout(shape(self.model))

    def model_for(self, parameters: Mapping[str, int], *states: PlainState) -> Model:
        """The model by which a step goes, or is judged: that of the new topic, or of the partitions that are added.

        For certain states its queues have a few places more than they fill there: going through all of them takes long.
        """
        capacity = max(map(self._capacity, states)) if states else None
        return self._models(parameters.get(RECREATION), parameters.get(ADDITION), capacity)

    def _capacity(self, state: PlainState) -> int:
        """The places that are enough for the longest queue; it is asked for many steps from one state."""
        last, capacity = self._last_capacity[0]
        if last is not state:
            queues = [queue for one in part(state, "connections").values() for queue in one.values()]
            queues += [part(one, "callbacks") for one in part(state, "controllers").values()]
            capacity = max(map(len, queues), default=0) // A_FEW * A_FEW + A_FEW
            self._last_capacity[0] = state, capacity
        return capacity

    @cached_property
    def _last_capacity(self) -> list[tuple[PlainState, int]]:
        return [(EMPTY, A_FEW)]

    @cached_property
    def _models(self) -> Callable[[int | None, int | None, int | None], Model]:
        return cache(self._model)

    def _model(self, recreation: int | None, addition: int | None, capacity: int | None) -> Model:
        scope = self.model.scope
        if recreation is not None:
            scope = replace(scope, assigned=self.recreations[recreation])
        if addition is not None:
            assigned = self.additions[addition]
            scope = replace(scope, assigned=assigned, added=tuple(p for p, replicas in enumerate(assigned) if replicas))
        if capacity is not None:
            connections, callbacks = (
                min(capacity, one) for one in (scope.connection_capacity, scope.callback_capacity)
            )
            scope = replace(scope, connection_capacity=connections, callback_capacity=callbacks)
        return replace(self.model, scope=scope)

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """The rules that the scope has the parts for, by name."""
        return {name: rule for name, rule in plain_rules().items() if is_in_scope(rule, self.model)}

    @cached_property
    def initial(self) -> PlainState:
        """Where the scope starts: with nothing running, which is what every variable says at first, or settled."""
        if self.model.scope.cold:
            return EMPTY
        return self.layout.unflatten({one.name: one.initial for one in running(self.model, self.layout.shape)})

    def step(self, state: PlainState, rule: str, parameters: Mapping[str, int]) -> Step | None:
        """The step of a rule with these parameters, None where it is not enabled; NoRoom where a capacity stops it."""
        chosen = self.rules[rule]
        given = {name: value for name, value in parameters.items() if name not in {RECREATION, ADDITION}}
        for model in (self.model_for(parameters, state), self.model_for(parameters)):
            draft: Any = self._draft(state)
            if self.draws_budgets and chosen.budget is not None:
                left = draft.budget[chosen.budget]
                if not left.raw:
                    return None
                draft.budget[chosen.budget] = left.plus(-1)
            try:
                leaves_behind = run(chosen, draft, model, given)
            except NotEnabled:
                return None
            if leaves_behind.fits:
                return Step(draft.finished(), tuple(leaves_behind.seen), tuple(leaves_behind.said))
        raise NoRoom(f"{rule}({', '.join(f'{name}={value}' for name, value in parameters.items())})")

    def _draft(self, state: PlainState) -> Draft:
        """A draft of a state: the one that the last rule was given, if that is of the same state and was not written.

        Most rules are not enabled in a state, and say so before they assign; all of them read much the same.
        """
        last = self._last_draft
        if not last or not last[0].is_still(state):
            last[:] = [Draft(self.layout, state)]
        return last[0]

    @cached_property
    def _last_draft(self) -> list[Draft]:
        return []

    def view(self, state: PlainState) -> Any:
        """A state to be read as a rule or a claim reads it."""
        return Draft(self.layout, state)


def open_system(
    brokers: int,
    assigned: tuple[tuple[int, ...], ...],
    topic_of: tuple[int, ...],
    *,
    controller_epochs: int,
    switches: Switches = AS_CODED,
    parts: frozenset[str] = frozenset(),
    requests: tuple[tuple[tuple[int, ...], ...], ...] = (),
) -> OpenSystem:
    """The whole protocol for these brokers, all of them eligible, and these partitions; nothing runs at first.

    All that is `JUDGED` is in, and the other `parts` that are asked for; every fault may happen any number of times.
    Versions count as far as ZooKeeper does; of controller epochs there are as many as asked for, since the
    specification remembers for each whether somebody has acted in it. `requests` are the reassignments that may be
    asked for, each the RAR of every partition (empty: not named).
    """
    scope = Scope(
        name="open",
        statement="Any cluster, as recorded.",
        brokers=brokers,
        controllers=brokers,
        assigned=assigned,
        topic_of=topic_of,
        requests=requests,
        parts=JUDGED | parts,
        budgets=tuple((name, 1) for name in BUDGETS),
        connection_capacity=64,
        callback_capacity=32,
        notification_capacity=16,
        controller_epochs=controller_epochs,
        versions=2**31 - 1,
        shutdown_tries=ANY_NUMBER,
        cold=True,
        reads_rearm=True,
        fires_by_hash=True,
    )
    return OpenSystem(Model(scope, switches))
