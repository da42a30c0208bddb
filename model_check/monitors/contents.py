"""What znodes hold, read as leniently as a stranger's payload deserves: what is not known is passed over.

The specification's own reading (`spec/formats/znodes.py`) refuses unknown keys and higher versions. Here the writer may
be a controller of a later release or of another make, whose payloads say more; only what brokers and controllers of the
era need must be there, and be of its kind. What cannot be read so is `Unreadable`, which is a break of its own.

Left out on purpose: registrations, whose contents no claim speaks of.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from spec.formats import znode_paths as paths
from spec.formats.kafka_types import NO_LEADER, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.znode_paths import Path as ZnodePath
from spec.formats.znode_paths import PathKind

DIGITS: Final = 10
"""Of a partition's number, at most."""

MOVES, ELECTIONS = str(paths.REASSIGN_PARTITIONS), str(paths.PREFERRED_REPLICA_ELECTION)
"""Where admins ask for reassignments, and for elections."""

Brokers: TypeAlias = tuple[int, ...]
State: TypeAlias = LeaderIsrAndControllerEpoch
"""A partition's leadership, as a state znode has it; its data version is the write's."""


@dataclass(frozen=True)
class Assignment:
    """A topic's AR by partition; `moving` are those that a later release (2.4.0) marks as being reassigned.

    `is_later`: such a release wrote it, marks or not; so requests may have come to it that are in no znode.
    """

    replicas: Mapping[int, Brokers] = field(hash=False)
    moving: frozenset[int] = frozenset()
    is_later: bool = False


@dataclass(frozen=True)
class Elected:
    """The controller's id."""

    broker: int


@dataclass(frozen=True)
class ControllerEpoch:
    """The epoch of the last controller elected."""

    epoch: int


@dataclass(frozen=True)
class Moves:
    """The reassignments that are not finished: RAR by partition."""

    replicas: Mapping[TopicPartition, Brokers] = field(hash=False)


@dataclass(frozen=True)
class Elections:
    """The partitions that a request for elections names."""

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True)
class Announced:
    """The partitions whose ISR a leader has changed."""

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True)
class Configuration:
    """What a topic overrides."""

    values: Mapping[str, str] = field(hash=False)


@dataclass(frozen=True)
class Unreadable:
    """What is not one of the payloads that must be there, and why."""

    reason: str


@dataclass(frozen=True)
class Plain:
    """A znode whose content no claim speaks of."""


Content: TypeAlias = (
    State | Assignment | Elected | ControllerEpoch | Moves | Elections | Announced | Configuration | Unreadable | Plain
)


def is_in_sync(content: Content | None, broker: int) -> bool:
    """Whether a znode tells that a broker is in an ISR."""
    return isinstance(content, State) and broker in content.isr


def read_content(path: ZnodePath | None, data: bytes | None) -> Content:
    """What a znode holds."""
    read = READERS.get(path.kind) if path is not None else None
    if read is None:
        return Plain()
    if not data:
        return Unreadable("it has no data")
    try:
        return read(data.decode())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Unreadable(_why(error))


def _why(error: Exception) -> str:
    """What is wrong with a payload, in words."""
    match error:
        case KeyError(args=(name, *_)):
            return f"it has no {name}"
        case json.JSONDecodeError():
            return f"it is no JSON: {error}"
        case UnicodeDecodeError():
            return "it is no UTF-8"
        case RecursionError():
            return "it is nested too deeply"
        case ValueError() if "digits" in str(error):
            return "a number in it has too many digits"
        case _:
            return str(error)


def _state(text: str) -> State:
    given = _object(text)
    state = State(
        leader=_number(given["leader"]),
        leader_epoch=_number(given["leader_epoch"]),
        controller_epoch=_number(given["controller_epoch"]),
        isr=_brokers(given["isr"]),
    )
    if state.leader < NO_LEADER or min(state.leader_epoch, state.controller_epoch, *state.isr, 0) < 0:
        raise ValueError("a number in it is below what it may be")
    return state


def _assignment(text: str) -> Assignment:
    given = _object(text)
    marked = (given.get("adding_replicas") or {}, given.get("removing_replicas") or {})
    moving = frozenset(_key(number) for one in marked for number, replicas in _entries(one) if replicas)
    replicas = {_key(number): _brokers(one) for number, one in _entries(given["partitions"])}
    return Assignment(replicas, moving, is_later="adding_replicas" in given)


def _elected(text: str) -> Elected:
    given = json.loads(text)
    return Elected(_number(given["brokerid"] if isinstance(given, dict) else given))


def _epoch(text: str) -> ControllerEpoch:
    if not text.isdecimal():
        raise ValueError(f"{text[:40]!r} is no decimal number")
    return ControllerEpoch(int(text))


def _moves(text: str) -> Moves:
    return Moves({_partition(one): _brokers(one["replicas"], _asked) for one in _list(_object(text)["partitions"])})


def _elections(text: str) -> Elections:
    return Elections(_named(text))


def _announced(text: str) -> Announced:
    return Announced(_named(text))


def _named(text: str) -> tuple[TopicPartition, ...]:
    return tuple(map(_partition, _list(_object(text)["partitions"])))


def _configuration(text: str) -> Configuration:
    return Configuration({str(key): str(value) for key, value in _entries(_object(text).get("config", {}))})


def _object(text: str) -> Mapping[str, Any]:
    given = json.loads(text)
    if not isinstance(given, dict):
        raise TypeError("it is no JSON object")
    return given


def _entries(given: object) -> Collection[tuple[str, Any]]:
    """What an object has, by its names."""
    if not isinstance(given, dict):
        raise TypeError(f"{json.dumps(given)} is no object")
    return given.items()


def _list(given: object) -> list[Any]:
    if not isinstance(given, list):
        raise TypeError(f"{json.dumps(given)} is no list")
    return given


def _key(name: str) -> int:
    """A partition's number, as the name of its entry."""
    if not (name.isascii() and name.isdecimal() and len(name) <= DIGITS):
        raise ValueError(f"{name[:40]!r} is no partition's number")
    return int(name)


def _number(given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{json.dumps(given)} is no whole number")
    return given


def _partition(given: object) -> TopicPartition:
    if not isinstance(given, dict):
        raise TypeError(f"{json.dumps(given)} is no object with a topic and a partition")
    return TopicPartition(str(given["topic"]), _number(given["partition"]))


def _brokers(given: object, read: Callable[[object], int] = _number) -> Brokers:
    if not isinstance(given, list):
        raise TypeError(f"{json.dumps(given)} is no list of brokers")
    return tuple(map(read, given))


def _asked(given: object) -> int:
    """Text in the place of a number is no broker; Kafka takes it, and refuses it later (section 8)."""
    return NO_LEADER if isinstance(given, str) else _number(given)


READERS: Final[Mapping[PathKind, Callable[[str], Content]]] = {
    paths.STATE: _state,
    paths.BROKER_TOPIC: _assignment,
    paths.CONTROLLER: _elected,
    paths.CONTROLLER_EPOCH: _epoch,
    paths.REASSIGN_PARTITIONS: _moves,
    paths.PREFERRED_REPLICA_ELECTION: _elections,
    paths.ISR_CHANGE: _announced,
    paths.TOPIC_CONFIG: _configuration,
}
