"""The words that payloads, requests and log lines share: versions of Kafka, topics, partitions, broker ids.

Left out on purpose: releases before 0.8.2 and after 0.10.2, and patch releases; where the texts of 0.10.0.0 and
0.10.0.1 differ, the line says so.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Final

from spec.errors import UnknownName
from spec.formats.json_schema import Integer, ListOf, Text
from spec.formats.wire import INT32, ArrayOf, String

NO_LEADER: Final = -1
"""`LeaderAndIsr.NoLeader`: no replica leads."""
LEADER_DURING_DELETE: Final = -2
"""`LeaderAndIsr.LeaderDuringDelete`: the topic is being deleted; only ever sent, never stored."""

TOPIC_PATTERN: Final = r"(?!\.{1,2}(?![a-zA-Z0-9._-]))[a-zA-Z0-9._-]{1,255}"
"""A legal name of a topic (`kafka.common.Topic`, 0.8.2; 0.10.2 allows 249 characters only), not `.` or `..`."""


class KafkaVersion(IntEnum):
    """A release line of the documented controller, in order; prints as it is written."""

    V082 = 82
    V090 = 90
    V0100 = 100
    V0101 = 101
    V0102 = 102

    def __str__(self) -> str:
        return {82: "0.8.2", 90: "0.9.0", 100: "0.10.0", 101: "0.10.1", 102: "0.10.2"}[self]


V082, V090, V0100, V0101, V0102 = KafkaVersion


def release_named(name: str) -> KafkaVersion:
    """The release line of a release, `0.10.2` or `0.10.2.2`; UnknownName lists those that there are."""
    found = next((one for one in KafkaVersion if f"{name}.".startswith(f"{one}.")), None)
    if found is None:
        raise UnknownName("release", name, map(str, KafkaVersion))
    return found


BROKER_ID = Integer(0)
BrokerId = Annotated[int, BROKER_ID]

# Each of these has one spelling in JSON and one on the wire, so that a record that is made of them serves for both.
Topic = Annotated[str, Text(TOPIC_PATTERN, "the name of a topic"), String(TOPIC_PATTERN, "the name of a topic")]
PartitionId = Annotated[int, Integer(0), INT32]
Leader = Annotated[int, Integer(NO_LEADER), INT32]
Epoch = Annotated[int, Integer(0), INT32]
BrokerIds = Annotated[tuple[int, ...], ListOf(BROKER_ID), ArrayOf(INT32)]


@dataclass(frozen=True, order=True, slots=True)
class TopicPartition:
    """One partition of one topic; prints as the controller of the era prints it, `[topic,partition]`."""

    topic: Topic
    partition: PartitionId

    def __str__(self) -> str:
        return f"[{self.topic},{self.partition}]"
