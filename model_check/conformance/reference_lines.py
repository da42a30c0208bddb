"""Lines of logs, read and written by the formats of `spec/logs`, which the reference writes its own with."""

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from model_check.conformance.reference_words import release
from model_check.conformance.vector import Object
from spec.errors import MalformedInput
from spec.formats.kafka_types import KafkaVersion, TopicPartition
from spec.formats.leadership import NO_VERSION, LeaderIsrAndControllerEpoch
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.controller_log.values import PartitionReplica
from spec.logs.log_entries import LogEntry, entry_of, print_time, read_entries
from spec.logs.log_lines import Line, Vocabulary
from spec.logs.logged_values import LeaderAndIsr, PartitionInfo, Role
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState

LOGS: Final[dict[str, Vocabulary]] = {"state-change.log": STATE_CHANGE_LOG, "controller.log": CONTROLLER_LOG}
STATES: Final = {str(one): one for one in (*PartitionState, *ReplicaState)}


def _version(dialect: str) -> KafkaVersion:
    return next(one for one in KafkaVersion if str(one).startswith(release(dialect)))


def read_line(given: Object, dialect: str) -> Object:
    """What a line of a log says, as a release writes it."""
    entries = list(read_entries([given["entry"] + "\n"], given["log"]))
    if len(entries) != 1 or not isinstance(entries[0], LogEntry):
        return {"refused": True}
    entry = entries[0]
    try:
        line = LOGS[given["log"]].parse(entry.message, _version(dialect))
    except MalformedInput:
        return {"refused": True}
    said = {one.name: getattr(line, one.name) for one in fields(line) if one.name != "version"}
    return {
        "kind": type(line).__name__, "time": print_time(entry.time), "level": entry.level, "logger": entry.logger,
        "fields": {name: _plain(value) for name, value in said.items() if value is not None},
    }  # fmt: skip


def write_line(given: Object, dialect: str) -> Object:
    """The line that says so, as a release writes it."""
    (kind,) = (one for one in LOGS[given["log"]].kinds if one.__name__ == given["kind"])
    said = {name: TYPES.get(name, _as_it_is)(value) for name, value in given["fields"].items()}
    line: Line = kind(**said, version=_version(dialect))
    return {"entry": str(entry_of(line, datetime.fromisoformat(given["time"])))}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return PLAIN.get(type(value), lambda one: one)(value)


def _partition_name(one: Any) -> str:
    return f"{one.topic}-{one.partition}"


def _known(one: LeaderIsrAndControllerEpoch) -> Object:
    told = vars(one) | {"isr": [*one.isr]}
    return {name: value for name, value in told.items() if (name, value) != ("zk_version", NO_VERSION)}


PLAIN: Final[dict[type, Callable[[Any], Any]]] = {
    TopicPartition: _partition_name, PartitionReplica: lambda one: f"{_partition_name(one)}/{one.replica}",
    PartitionInfo: lambda one: _known(one.leadership) | {"replicas": [*one.replicas]},
    LeaderIsrAndControllerEpoch: _known, LeaderAndIsr: lambda one: vars(one) | {"isr": [*one.isr]},
    PartitionState: str, ReplicaState: str, Role: str,
}  # fmt: skip
"""What becomes of a field's value, where it is neither a number nor a text."""


def _as_it_is(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _partition(name: str) -> TopicPartition:
    topic, _, number = name.rpartition("-")
    return TopicPartition(topic, int(number))


def _replica(name: str) -> PartitionReplica:
    partition, _, broker = name.partition("/")
    named = _partition(partition)
    return PartitionReplica(named.topic, named.partition, int(broker))


def _leadership(told: Object) -> LeaderIsrAndControllerEpoch:
    return LeaderIsrAndControllerEpoch(**{name: _as_it_is(one) for name, one in told.items() if name != "replicas"})


def _leader_and_isr(told: Object) -> LeaderAndIsr:
    return LeaderAndIsr(told["leader"], told["leader_epoch"], tuple(told["isr"]))


TYPES: Final[dict[str, Callable[[Any], Any]]] = {
    "partition": _partition, "partitions": lambda told: tuple(map(_partition, told)),
    "replicas": lambda told: tuple(map(_replica, told)), "source": STATES.__getitem__, "target": STATES.__getitem__,
    "role": Role, "leadership": _leadership, "value": _leader_and_isr, "leader_and_isr": _leader_and_isr,
    "state": lambda told: PartitionInfo(_leadership(told), tuple(told["replicas"])),
}  # fmt: skip
"""What a field's value is made into, where it is neither a number, a text nor a list of numbers."""
ASKED: Final = {"read_line": read_line, "write_line": write_line}
"""By verb."""
