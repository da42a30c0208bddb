"""The guards of the controller's two state machines: a move that the tables do not permit is refused here.

Kafka asks its tables in `assertValidPreviousStates`, inside the handling of each single partition or replica, so that
one refused move is logged (`initiated state change for partition ... failed` in state-change.log) while the others of
the same call go on. Here the question is put to a python-statemachine chart. Its states, events and transitions are
made from the rows of the tables, so there is nothing to keep in step by hand. The events are named after their target,
because that is all that Kafka's callers say (`handleStateChanges(partitions, OnlinePartition)`): `to_online`.

There is one chart for each kind, not one for each partition: it is set to the previous state and sent the event. The
controller's context keeps the states, and carries out what a move does. A thread has charts of its own, since a chart
that is being asked remembers the previous state.

Kafka: `PartitionStateMachine` and `ReplicaStateMachine`, `assertValidPreviousStates`, 0.8.2 to 0.10.2. Left out on
purpose: that a partition's refusal is an IllegalStateException there and a replica's an AssertionError, which nobody
can tell apart from outside.
"""

import threading
from typing import Any, Final, Literal, overload

from statemachine import StateChart
from statemachine.exceptions import TransitionNotAllowed
from statemachine.io import create_machine_class_from_definition

from spec.errors import IllegalTransition
from spec.tables.partition_states import PARTITION_TRANSITIONS, PartitionState
from spec.tables.replica_states import REPLICA_TRANSITIONS, ReplicaState
from spec.tables.table import KafkaState, S, Table, initial_state, require_state, valid_previous_states

TableKind = Literal["partition", "replica"]
Chart = type[StateChart[Any]]


class InvalidTransition(IllegalTransition):
    """A move of `subject` (`[t,0]`, or `1 of [t,0]`) that its table has no row for; nothing has changed."""

    def __init__(self, kind: TableKind, subject: str, previous: KafkaState, target: KafkaState) -> None:
        super().__init__(str(previous), event_to(target), str(target))
        self.kind, self.subject = kind, subject
        self.permitted = valid_previous_states(TABLES[kind], target)
        self.args = (kind, subject, previous, target)  # what a pickled refusal is made from again

    def __str__(self) -> str:
        permitted = ", ".join(sorted(self.permitted))
        return f"{self.kind} {self.subject}: {self.target} may follow only {permitted}; it is still {self.source}"


def event_to(target: KafkaState) -> str:
    """Name the event that asks for `target`: `to_online`."""
    return f"to_{target.name.lower()}"


def chart_of(name: str, table: Table[S]) -> Chart:
    """Make a chart class from a table: a state for each key, an event for each target, a transition for each row."""
    start = initial_state(table)
    states: dict[str, Any] = {
        source.name.lower(): {
            "name": str(source),
            "value": source,
            "initial": source is start,
            "on": {event_to(target): [{"target": target.name.lower()}] for target in row},
        }
        for source, row in table.items()
    }
    chart = create_machine_class_from_definition(
        name,
        states,
        allow_event_without_transition=False,  # the default swallows an event that no row answers
        catch_errors_as_events=False,  # and an error on the way
        atomic_configuration_update=True,  # a refusal leaves the old state, never none
        __doc__=f"The chart made from the {name} table.",
    )
    chart.__module__, chart.__qualname__ = __name__, name  # so that it can be pickled
    return chart


PartitionChart: Final = chart_of("PartitionChart", PARTITION_TRANSITIONS)
ReplicaChart: Final = chart_of("ReplicaChart", REPLICA_TRANSITIONS)
TABLES: Final[dict[TableKind, Table[Any]]] = {"partition": PARTITION_TRANSITIONS, "replica": REPLICA_TRANSITIONS}


class Charts(threading.local):
    """One chart of each kind for the thread that asks."""

    def __init__(self) -> None:
        self.of: dict[TableKind, StateChart[Any]] = {"partition": PartitionChart(), "replica": ReplicaChart()}


CHARTS: Final = Charts()


@overload
def check_transition(
    kind: Literal["partition"], subject: str, previous: PartitionState, target: PartitionState
) -> None: ...
@overload
def check_transition(kind: Literal["replica"], subject: str, previous: ReplicaState, target: ReplicaState) -> None: ...
def check_transition(kind: TableKind, subject: str, previous: KafkaState, target: KafkaState) -> None:
    """Return if `subject` may move from `previous` to `target`, or raise InvalidTransition.

    `subject` is only for the message. UnknownName is raised for a state of the other kind. Nothing is changed by
    either outcome: the caller keeps the state, and sets it after the move is done.
    """
    require_state(TABLES[kind], previous)
    require_state(TABLES[kind], target)
    chart = CHARTS.of[kind]
    chart.current_state_value = previous
    try:
        chart.send(event_to(target))
    except TransitionNotAllowed:
        raise InvalidTransition(kind, subject, previous, target) from None
