"""Transition tables: the vocabulary that both state machines of the controller are written in.

The controller keeps one state for each partition and one for each replica of it, in memory only, and moves them in
batches (`handleStateChanges`). Which moves are legal is all that a table says, together with what the documentation
promises each move does. A table is a plain literal: a dict of states, each with a dict of its targets, each with a
`Row`, of which a `Transition` is made. Every state is a key, so a state that nothing leaves would be an empty row
instead of being forgotten; Kafka's two machines have none, for both run in a circle through NonExistent.

Everything else reads the tables: the reference's state machines, the predicate that z3 gets, diagrams, documentation
and test vectors. None of them may list states or moves of its own.

Left out on purpose: guards. A row that exists is *permitted*; whether it is then carried out depends on ZooKeeper, on
the live brokers and on the election, and is the business of the actions. A move without a row is refused before any
of that is looked at, is logged, and changes nothing. Kafka writes the same knowledge backwards, as the states that may
precede a target (`PartitionStateMachine.scala` and `ReplicaStateMachine.scala`, `handleStateChange`, 0.8.2 to 0.10.2);
`valid_previous_states` is that reading.
"""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, NamedTuple, Self, TypeVar

from spec.errors import SpecError, UnknownName


class TableError(SpecError):
    """A table contradicts itself; the message names the table's row."""


class KafkaState(enum.StrEnum):
    """A state that prints and compares as the name in Kafka's logs, and carries the byte that Kafka gives it."""

    code: int

    def __new__(cls, kafka_name: str, code: int) -> Self:
        """Make a member from the name in the logs and the byte code."""
        member = str.__new__(cls, kafka_name)
        member._value_ = kafka_name
        member.code = code
        return member


S = TypeVar("S", bound=KafkaState)


class Row(NamedTuple):
    """What a row of a literal says beside its place: what the documentation says the move does, where Kafka does it."""

    effect: str
    citation: str


@dataclass(frozen=True, slots=True)
class Transition(Generic[S]):
    """One row: a permitted move, what the documentation says it does, and where Kafka does it.

    `id` has the kind (P: partition, R: replica) and the two names, which never change: traces and coverage refer to it.
    """

    id: str
    source: S
    target: S
    effect: str
    citation: str

    def __str__(self) -> str:
        return f"{self.id}: {self.source} -> {self.target}"


Table = Mapping[S, Mapping[S, Transition[S]]]


def table_from(kind: str, states: type[S], rows: Mapping[S, Mapping[S, Row]]) -> Table[S]:
    """Make the table of a literal, read-only; TableError for a state that has no place in it."""
    if missing := [state for state in states if state not in rows]:
        raise TableError(f"{states.__name__} has no row for {', '.join(missing)}; write an empty one out")
    return MappingProxyType({source: MappingProxyType(dict(_row(kind, source, row))) for source, row in rows.items()})


def _row(kind: str, source: S, row: Mapping[S, Row]) -> Iterator[tuple[S, Transition[S]]]:
    for target, (effect, citation) in row.items():
        names = (one.name.replace("_", "") for one in (source, target))
        yield target, Transition("-".join((kind, *names)), source, target, effect, citation)


def transitions(table: Table[S]) -> Iterator[Transition[S]]:
    """Walk all rows in the order they are written."""
    for row in table.values():
        yield from row.values()


def require_state(table: Table[S], state: KafkaState) -> None:
    """Raise UnknownName unless the table is about this state: a partition's and a replica's New are not the same."""
    if state not in table:
        raise UnknownName("state of this table", str(state), table)


def find(table: Table[S], previous: S, target: S) -> Transition[S] | None:
    """Give the row from `previous` to `target`, or None where the table has none; UnknownName for a stranger."""
    require_state(table, previous)
    require_state(table, target)
    return table[previous].get(target)


def valid_previous_states(table: Table[S], target: S) -> frozenset[S]:
    """Give the states that may precede `target`, as Kafka's own `validPreviousStates` lists do."""
    return frozenset(previous for previous in table if find(table, previous, target) is not None)


def initial_state(table: Table[S]) -> S:
    """Give the state of an entry that nobody has touched yet: NonExistent, in both machines."""
    return next(state for state in table if state.name == "NON_EXISTENT")
