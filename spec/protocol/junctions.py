"""Junctions: where a step is done, and what follows depends on the handler that it was done for.

The steps that several handlers share (partitions go online, replicas go Offline, a reassignment runs) do not know who
began them. At their end they `proceed` to what that handler does next, and so does an exception. What that is stands in
one table, spec/protocol/handlers.py, which alone knows all parts.
"""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from spec.language.records import ALWAYS, PerScope
from spec.language.rules import take, when
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.state.cluster import State
from spec.state.enumerations import Handler


class Junction(enum.Enum):
    """What is done."""

    VISITS_DONE = "every partition that was to go Online has been visited"
    REMOVALS_DONE = "every replica that was to go Offline has been, as far as that goes"
    REASSIGNMENTS_DONE = "no partition is due any more to be reassigned"
    ELECTION_REQUEST_READ = "a failover has read the request for elections"
    DELETIONS_READ = "a failover has read /admin/delete_topics"
    EXCEPTION = "something that the handler has called raised"


@dataclass(frozen=True)
class Then:
    """A continuation: what a handler does next, in the models that are asked for.

    `run` takes the state, the model and the controller; behind removals it may take the partition of the last, too.
    Where there is a continuation that `follows`, `run` returns whether it comes next. It is done once, for all handlers
    that lead to it; it has no `follows` of its own, and is in every model.
    """

    run: Callable[..., Value | None]
    where: PerScope[bool] = ALWAYS
    of_partition: bool = False
    follows: "Then | None" = None

    def is_in(self, m: Model) -> bool:
        """Whether it is asked for in a model."""
        return self.where.of(m, None)

    def __call__(self, s: State, m: Model, c: int, p: int) -> Value | None:
        """Do it; where there is one that follows, this returns whether it comes next."""
        return self.run(s, m, c, p) if self.of_partition else self.run(s, m, c)


Column = Mapping[Handler, tuple[Then, ...]]
"""What follows a junction, by handler: the first continuation that the model has; a handler without one never comes."""

_TABLE: dict[Junction, Column] = {}


def row(handler: Handler, junction: Junction) -> str:
    """The id of a row of the table: what a handler does next behind a junction."""
    return f"H-{handler.name}-{junction.name}".replace("_", "-")


def follow(table: Mapping[Junction, Column]) -> None:
    """Take this for the table of what follows what; LookupError where a continuation that follows has conditions."""
    every = [then for column in table.values() for thens in column.values() for then in thens]
    for one in (then.follows for then in every if then.follows is not None):
        if one.follows is not None or one.where is not ALWAYS:
            raise LookupError(f"{one.run.__name__} follows others, so it is in every model, and nothing follows it")
    _TABLE.update(table)


def proceed(junction: Junction, s: State, m: Model, c: int, *, p: int = 0, handler: Handler | None = None) -> None:
    """Go on with what the controller's handler, or the one that is named, does next; p is the partition at hand.

    Only those handlers are told apart that come there in this model. The step takes the handler's row of the table.
    """
    if not _TABLE:
        raise LookupError("spec.protocol.handlers, which fills the table of what follows what, is not loaded")
    found = {one: next((then for then in thens if then.is_in(m)), None) for one, thens in _TABLE[junction].items()}
    if handler is not None:
        named = found[handler]
        if named is None:
            raise LookupError(f"nothing follows {junction.name} of {handler.name}")
        due = {named: flag(True)}
        take(row(handler, junction), condition=True)
    else:
        running = s.controllers[c].handler
        due = _by_handler(running, found)
        for one, then in found.items():
            if then is not None:
                take(row(one, junction), running == one)
    begun = [then for then in due if then.follows is not None]
    for then in begun:
        with when(due[then]):
            comes = then(s, m, c, p)
            if then.follows is None or comes is None:
                raise LookupError(f"{then.run.__name__} does not say whether anything follows")
            due[then.follows] = either(due.get(then.follows, flag(False)), both(due[then], comes))
    for then, is_due in due.items():
        if then not in begun:
            with when(is_due):
                then(s, m, c, p)


def _by_handler(running: Value, found: Mapping[Handler, Then | None]) -> dict[Then, Value]:
    """Each continuation, and whether it is the running handler's."""
    handlers: dict[Then, list[Handler]] = {}
    for one, then in found.items():
        if then is not None:
            handlers.setdefault(then, []).append(one)
    due = {}
    for then, ones in handlers.items():
        others = [one for other, shared in handlers.items() if other != then for one in shared]
        due[then] = _is_one_of(running, ones, others)
    return due


def _is_one_of(running: Value, ones: Sequence[Handler], others: Sequence[Handler]) -> Value:
    """Whether the handler is one of these and not of those, asked by the fewer comparisons."""
    if len(ones) > len(others):
        return ~either(*(running == one for one in others))
    return either(*(running == one for one in ones))
