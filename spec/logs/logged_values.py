"""The values that Kafka's classes print into log lines, in the forms of their versions.

Leadership as the controller prints it, partition states as brokers receive and cache them, the brokers that answer.
Each class keeps what is said, whichever form said it; the forms are shapes for `spec/logs/state_change_lines.py` and
the two files of the broker's lines.

Kafka: `LeaderIsrAndControllerEpoch`, `LeaderAndIsr`, `PartitionStateInfo` and `Broker` (kafka), `PartitionState` and
`Node` (org.apache.kafka.common).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Self

from spec.formats.kafka_types import V0100, V0102, V082, V090
from spec.formats.leadership import NO_VERSION, LeaderIsrAndControllerEpoch
from spec.formats.scala_collections import SET
from spec.formats.shapes import BOOLEAN, BRACKETED, COMMAS, DASHED, ID, INT, JAVA_LIST, ONE_ID, WORDS, one_of
from spec.formats.templates import Shape, Shapes, Template, record
from spec.logs.log_lines import ByVersion
from spec.logs.logged_answers import SCALA_ANSWER, STRUCT_ANSWER
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState


class Role(StrEnum):
    """What a LeaderAndIsr tells a broker to become."""

    LEADER = "become-leader"
    FOLLOWER = "become-follower"


def printed(leadership: LeaderIsrAndControllerEpoch) -> LeaderIsrAndControllerEpoch:
    """What `LeaderIsrAndControllerEpoch.toString` has of a leadership: all but the data version."""
    return replace(leadership, zk_version=NO_VERSION)


@dataclass(frozen=True)
class LeaderAndIsr:
    """Leader, leader epoch and ISR, which print as JSON."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]

    @classmethod
    def of(cls, leadership: LeaderIsrAndControllerEpoch) -> Self:
        """These of a leadership."""
        return cls(leadership.leader, leadership.leader_epoch, leadership.isr)


@dataclass(frozen=True)
class PartitionInfo:
    """What a broker is sent of a partition; one of the two forms leaves the zkVersion out."""

    leadership: LeaderIsrAndControllerEpoch
    replicas: tuple[int, ...]

    @property
    def replication_factor(self) -> int:
        """The number of assigned replicas."""
        return len(self.replicas)


@dataclass(frozen=True)
class BrokerNode:
    """A broker as the far end of a connection; racks are printed from 0.10.0 on."""

    id: int
    host: str
    port: int
    rack: str | None = None


NUMBERS: Final[Shapes] = {
    "int": INT,
    "id": ID,
    "ids": COMMAS,
    "list": JAVA_LIST,
    "host": Shape("host", r"[^\s,()]+", str, str),
    "rack": Shape("rack", r"[^()]*", lambda text: None if text == "null" else text, lambda rack: rack or "null"),
}
LEADERSHIP_TEXT = (
    "(Leader:{leader:int},ISR:{isr:ids},LeaderEpoch:{leader_epoch:int},ControllerEpoch:{controller_epoch:int})"
)
INFO_TEXT = "(LeaderAndIsrInfo:{leadership},ReplicationFactor:{replication_factor:id}),AllReplicas:{replicas:ids})"
"""The parentheses are as unbalanced as Kafka ships them."""
FIELDS_TEXT = (
    "controllerEpoch={controller_epoch:int}, leader={leader:int}, leaderEpoch={leader_epoch:int},"
    " isr={isr:list}, zkVersion={zk_version:int}"
)
STATE_TEXT = "PartitionState({leadership:fields}, replicas={replicas:list})"
JSON_TEXT = '{{"leader":{leader:int},"leader_epoch":{leader_epoch:int},"isr":[{isr:ids}]}}'

LEADERSHIP = record("leadership", LeaderIsrAndControllerEpoch, Template(LEADERSHIP_TEXT, NUMBERS))
FIELDS = record("fields of a leadership", LeaderIsrAndControllerEpoch, Template(FIELDS_TEXT, NUMBERS))
JSON_LEADERSHIP = record("leader and ISR as JSON", LeaderAndIsr, Template(JSON_TEXT, NUMBERS))
INFO = record("PartitionStateInfo", PartitionInfo, Template(INFO_TEXT, {**NUMBERS, "leadership": LEADERSHIP}))
STATE = record("PartitionState(..)", PartitionInfo, Template(STATE_TEXT, {**NUMBERS, "fields": FIELDS}))
NODE_082 = record("id:1,host:h,port:p", BrokerNode, Template("id:{id:id},host:{host},port:{port:int}", NUMBERS))
NODE_090 = record("Node(1, h, p)", BrokerNode, Template("Node({id:id}, {host}, {port:int})", NUMBERS))
NODE_0100 = record("h:p (id: 1 rack: r)", BrokerNode, Template("{host}:{port:int} (id: {id:id} rack: {rack})", NUMBERS))

VOCABULARY: Final[Shapes] = {
    **NUMBERS,
    "bool": BOOLEAN,
    "words": WORDS,
    "one": ONE_ID,
    "set": SET,
    "[t,p]": BRACKETED,
    "t-p": DASHED,
    "role": one_of("become-leader or become-follower", Role),
    "partition_state": one_of("a state of a partition", PartitionState),
    "new": one_of("NewPartition", [PartitionState.NEW]),
    "online": one_of("OnlinePartition", [PartitionState.ONLINE]),
    "without_leader": one_of("a state without leader", [PartitionState.OFFLINE, PartitionState.NON_EXISTENT]),
    "replica_state": one_of("a state of a replica", ReplicaState),
    "leadership": LEADERSHIP,
    "json": JSON_LEADERSHIP,
    "info": INFO,
    "state": STATE,
    "hash": Shape("hash of an object", "[0-9a-f]{1,8}", str, str),
    "node082": NODE_082,
    "node090": NODE_090,
    "node": NODE_0100,
    "scala_answer": SCALA_ANSWER,
    "answer": STRUCT_ANSWER,
}
"""The shapes that the lines of state-change.log are made of, by the names that their templates use."""

USUAL: Final[Mapping[str, str]] = {
    **dict.fromkeys(("broker", "controller", "replica"), "id"),
    **dict.fromkeys(("controller_epoch", "correlation_id", "known_epoch", "leader", "leader_epoch"), "int"),
    **dict.fromkeys(("assigned_replicas", "isr", "new_replicas"), "ids"),
    **dict.fromkeys(("data", "exception", "path", "reason", "requests"), "words"),
    "partition": "[t,p]",
}
"""The shapes of holes that name none, in all lines but those of kafka-request.log."""

FORMS: Final[Mapping[str, ByVersion]] = {
    "answer": {V082: "scala_answer", V090: "answer"},
    "node": {V082: "node082", V090: "node090", V0100: "node"},
    "state": {V082: "info", V0100: "state"},
    "handled": {V082: "[t,p]", V0102: "t-p"},
    "cached": {V082: "[t,p]", V0100: "t-p"},
}
"""The shapes of what is printed by another class in some versions.

A partition that a broker handles, or that is in its metadata cache, is held by another class from some version on; what
arrives, and what is refused, is not.
"""
