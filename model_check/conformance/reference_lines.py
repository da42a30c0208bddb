"""Lines of logs, read and written by the formats of `spec/logs`, which the reference writes its own with."""

from collections.abc import Callable
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from model_check.conformance.reference_words import release
from model_check.conformance.vector import Object
from spec.errors import MalformedInput
from spec.formats.error_codes import ErrorCode
from spec.formats.json_requests import NAMES as KEYS
from spec.formats.kafka_types import KafkaVersion, TopicPartition
from spec.formats.leadership import NO_VERSION, LeaderIsrAndControllerEpoch
from spec.formats.message_definitions import field_name
from spec.formats.request_schemas import PartitionError, PartitionsResponse, UpdateMetadataResponse
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.controller_log.values import PartitionReplica
from spec.logs.log_entries import LogEntry, entry_of, print_time, read_entries
from spec.logs.log_lines import Line, Vocabulary
from spec.logs.logged_answers import Answer
from spec.logs.logged_values import BrokerNode, LeaderAndIsr, PartitionInfo, Role
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
    said = {name: _made(name, value) for name, value in given["fields"].items()}
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


def _node(one: BrokerNode) -> Object:
    return {name: value for name, value in vars(one).items() if value is not None}


def _answer(one: Answer) -> Object:
    response: Any = one.response
    told: Object = {"error_code": int(response.error_code)}
    if isinstance(response, PartitionsResponse):
        codes = [(_partition_name(of), int(of.error_code)) for of in response.partitions]
        told["partitions"] = [{"partition": name, "error_code": code} for name, code in codes]
    if one.api_key is not None:
        told |= {"request": field_name(one.api_key.name.lower()), "correlation_id": one.correlation_id}
    return told


PLAIN: Final[dict[type, Callable[[Any], Any]]] = {
    TopicPartition: _partition_name, PartitionReplica: lambda one: f"{_partition_name(one)}/{one.replica}",
    PartitionInfo: lambda one: _known(one.leadership) | {"replicas": [*one.replicas]},
    LeaderIsrAndControllerEpoch: _known, LeaderAndIsr: lambda one: vars(one) | {"isr": [*one.isr]},
    PartitionState: str, ReplicaState: str, Role: str, BrokerNode: _node, Answer: _answer,
}  # fmt: skip
"""What becomes of a field's value, where it is neither a number nor a text."""


def _made(name: str, told: Any) -> Any:
    """What stands in a line for what a field is told to be; KeyError, or ValueError, for what it cannot be."""
    if isinstance(told, list):
        return tuple(_made(name, _named(one) if name in LISTED and isinstance(one, str) else one) for one in told)
    if isinstance(told, dict):
        return OBJECTS[name](told)
    return NAMES[name](told) if name in NAMES else told


def _named(text: str) -> Any:
    """A state, a replica or a partition."""
    if text in STATES:
        return STATES[text]
    name, _, broker = text.partition("/")
    topic, _, number = name.rpartition("-")
    return PartitionReplica(topic, int(number), int(broker)) if broker else TopicPartition(topic, int(number))


def _leadership(told: Object) -> LeaderIsrAndControllerEpoch:
    return LeaderIsrAndControllerEpoch(**{**told, "isr": tuple(told["isr"])})


def _leader_and_isr(told: Object) -> LeaderAndIsr:
    return LeaderAndIsr(told["leader"], told["leader_epoch"], tuple(told["isr"]))


def _info(told: Object) -> PartitionInfo:
    known = {name: one for name, one in told.items() if name != "replicas"}
    return PartitionInfo(_leadership(known), tuple(told["replicas"]))


def _answered(told: Object) -> Answer:
    code = ErrorCode(told["error_code"])
    key = KEYS[told["request"]] if "request" in told else None
    if "partitions" not in told:
        return Answer(UpdateMetadataResponse(code), key, told.get("correlation_id"))
    of = [(_named(one["partition"]), ErrorCode(one["error_code"])) for one in told["partitions"]]
    errors = tuple(PartitionError(one.topic, one.partition, each) for one, each in of)
    return Answer(PartitionsResponse(code, errors), key, told.get("correlation_id"))


LISTED: Final = frozenset({"partitions", "replicas", "states", "assignment", "assignments", "reassigned", "leaders"})
"""The fields that are lists, the texts in which are names of partitions, replicas or states."""
NAMES: Final[dict[str, Callable[[str], Any]]] = {
    "partition": _named, "source": STATES.__getitem__, "target": STATES.__getitem__, "role": Role,
}  # fmt: skip
"""What a name in a field is made into."""
OBJECTS: Final[dict[str, Callable[[Object], Any]]] = {
    "leadership": _leadership, "leaders": _leadership, "value": _leader_and_isr, "leader_and_isr": _leader_and_isr,
    "state": _info, "info": _info, "node": lambda told: BrokerNode(**told), "broker": lambda told: BrokerNode(**told),
    "answer": _answered,
}  # fmt: skip
"""What an object in a field is made into."""
ASKED: Final = {"read_line": read_line, "write_line": write_line}
"""By verb."""
