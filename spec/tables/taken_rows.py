"""Taken rows: how an action carries out rows of the two transition tables.

Kafka's `handleStateChange` asks the table, does what the row says, and sets the state. In the specification the action
around a move has asked already and does it; what is left is to set the state, and to say which row that was (`take`),
so that a search can tell of every row whether, how often and how early it is taken. Rows that change nothing, as from
Online to Online, leave no other trace.

One call of Kafka's may take several rows at once, as from Offline by way of ReplicaDeletionStarted to NonExistent.
A row on the way that the table refuses is passed over, as there: it is logged, and the next one is asked for.

Not moves: the states that a failover begins with, and what is forgotten with a controller's context.
"""

from functools import cache
from typing import Any, Final, TypeVar

from spec.language.records import Keyed
from spec.language.rules import take
from spec.language.terms import either
from spec.tables.partition_states import PARTITION_TRANSITIONS, PartitionState
from spec.tables.replica_states import REPLICA_TRANSITIONS, ReplicaState
from spec.tables.table import KafkaState, Table, Transition, find, transitions

K = TypeVar("K")

TABLES: Final[tuple[Table[Any], ...]] = (PARTITION_TRANSITIONS, REPLICA_TRANSITIONS)
ROWS: Final = {row.id: row for table in TABLES for row in transitions(table)}
"""Every row of both tables by its id, in the order they are written."""


DELETED_AT_ONCE: Final = (ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL, ReplicaState.NON_EXISTENT)
"""Where a reassignment sends an old replica, one right behind the other: no answer to its StopReplica is waited for."""


def move(states: Keyed[K], key: K, *targets: KafkaState) -> None:
    """Set `states[key]` to the last of the targets, by the rows through the others, where the table lets it be so."""
    state = states[key]
    for row, sources in rows_by(targets).items():
        take(row, either(*(state == source for source in sources)))
    states[key] = targets[-1]


@cache
def rows_by(targets: tuple[KafkaState, ...]) -> dict[str, tuple[KafkaState, ...]]:
    """The rows that are taken on the way through some targets to the last, each with the states to begin in for it."""
    found: dict[str, tuple[KafkaState, ...]] = {}
    table: Table[Any] = PARTITION_TRANSITIONS if isinstance(targets[-1], PartitionState) else REPLICA_TRANSITIONS
    for source in table:
        for row in _way(table, source, targets):
            found[row.id] = (*found.get(row.id, ()), source)
    return found


def _way(table: Table[Any], state: KafkaState, targets: tuple[KafkaState, ...]) -> list[Transition[Any]]:
    """The rows from a state through some targets; none if that does not end at the last of them."""
    way = []
    for target in targets:
        if row := find(table, state, target):
            way.append(row)
            state = target
    return way if state is targets[-1] else []
