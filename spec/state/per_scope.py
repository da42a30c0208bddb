"""What a scope decides of its state: the kinds of the values, the indices of the arrays, and which fields are kept."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from spec.language.records import Field, PerScope
from spec.language.terms import Kind, number
from spec.model import Model
from spec.variants import Switch

T = TypeVar("T")
K = TypeVar("K")


def per_scope(text: str, function: Callable[[Model], T]) -> PerScope[T]:
    """What a model decides."""
    return PerScope(text, function)


def per_index(text: str, function: Callable[[Model, K], T]) -> PerScope[T]:
    """What a model decides for each index of the array around the field."""
    return PerScope(text, function, indexed=True)


def has(part: str) -> PerScope[bool]:
    """Whether a part of the protocol is in the scope."""
    return per_scope(part, lambda m: m.has(part))


def fixes(switch: Switch) -> PerScope[bool]:
    """Whether a fix is switched on."""
    return per_scope(f"{switch.name} is on", lambda m: m.fixes(switch))


def budget(name: str) -> PerScope[bool]:
    """Whether a kind of fault may happen."""
    return per_scope(f"there may be {name.replace('_', ' ')}", lambda m: bool(m.scope.budget(name)))


# --------------------------------------------------------------------------------------------------- kinds of values


def _numbered(things: range, name: str) -> Kind:
    return number(max(1, len(things) - 1), name)


BROKER: PerScope[Kind] = per_scope("broker", lambda m: m.brokers.id_kind)
"""A broker id; 0, which prints as -1, is nobody."""
BROKER_SET: PerScope[Kind] = per_scope("broker set", lambda m: m.brokers.set_kind)
BROKER_LIST: PerScope[Kind] = per_scope("broker list", lambda m: m.brokers.list_kind)
NOTIFICATION_SET: PerScope[Kind] = per_scope("notification set", lambda m: m.notices.set_kind)
CONTROLLER_EPOCH: PerScope[Kind] = per_scope("controller epoch", lambda m: m.controller_epoch)
LEADER_EPOCH: PerScope[Kind] = per_scope("leader epoch", lambda m: m.leader_epoch)
VERSION: PerScope[Kind] = per_scope("data version", lambda m: m.version)
PARTITION_NUMBER: PerScope[Kind] = per_scope("partition", lambda m: _numbered(m.partitions, "partition"))
TOPIC_NUMBER: PerScope[Kind] = per_scope("topic", lambda m: _numbered(m.topics, "topic"))

# ------------------------------------------------------------------------------------------------- indices of arrays

BROKERS: PerScope[Iterable[int]] = per_scope("broker", lambda m: m.brokers.ids)
CONTROLLERS: PerScope[Iterable[int]] = per_scope("controller", lambda m: m.controllers)
PARTITIONS: PerScope[Iterable[int]] = per_scope("partition", lambda m: m.partitions)
TOPICS: PerScope[Iterable[int]] = per_scope("topic", lambda m: m.topics)
REPLICAS: PerScope[Iterable[int]] = per_index("replica", Model.assigned)
"""The brokers that may ever be assigned the partition around."""
PLACES: PerScope[Iterable[int]] = per_scope("place", lambda m: range(m.scope.callback_capacity))
"""The places of a controller's event queue, head first."""

# ----------------------------------------------------------------------------------------------------- what is kept

STOPPED_REPLICAS: PerScope[bool] = per_scope("StopReplica is sent to living brokers", lambda m: m.stops_replicas)
SEVERAL_TOPICS: PerScope[bool] = per_scope("there are several topics", lambda m: m.has_several_topics)
TOPIC_IDS: PerScope[bool] = per_scope(
    "topics have ids, and may be removed by hand", lambda m: m.removes_topics and m.fixes(Switch.TOPIC_IDS)
)
LIVE_LEADERS: PerScope[bool] = per_scope(
    "followers ask LeaderAndIsr who lives", lambda m: m.has("metadata") and m.reintroduces(Switch.TELL_ONLY_THE_NEW)
)
"""Of their new leader, and do not ask their metadata cache (D60)."""
FENCED_DELETIONS: PerScope[bool] = per_scope(
    "StopReplica has a leader epoch, and copies of it may come late",
    lambda m: bool(m.scope.budget("late_copies")) and m.fixes(Switch.STOP_REPLICA_HAS_LEADER_EPOCH),
)
ASSIGNMENTS: PerScope[bool] = has("reassignment") | has("addition")
MOVES: PerScope[bool] = per_scope("AR of a partition may change: it moves, or is edited", lambda m: m.moves_replicas)
LOST_TOPICS: PerScope[bool] = per_scope("a controller may find a topic gone that it knows", lambda m: m.loses_topics)
GIVEN: PerScope[bool] = per_scope(
    "a listener goes by what was read before it had the lock, which may be another's doing since",
    lambda m: "listeners_given_what_was" in m.features and bool(m.scope.budget("early_reads")),
)
PROVING: PerScope[bool] = per_scope("proving", lambda m: m.proving)

# ---------------------------------------------------------------------------------------------- budgets, of any system

FAULTS: PerScope[Iterable[str]] = per_scope("fault", lambda m: [name for name, limit in m.scope.budgets if limit])


def _limit(m: Model, fault: str) -> int:
    return m.scope.budget(fault)


def _number(m: Model, fault: str) -> Kind:
    return number(_limit(m, fault), "budget")


LEFT = Field(per_index("number", _number), per_index("the scope's bound", _limit))
"""How many faults of a kind may still happen."""
