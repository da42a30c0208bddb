"""What the controller's znodes hold: each payload declared once, read and printed byte for byte as Kafka does.

    payload = parse_payload("/brokers/topics/t/partitions/0/state", data)      # a PartitionStatePayload
    data = payload.encode()                                                   # the bytes that Kafka 0.10.2 writes

Reading knows more forms than one version writes: a pre-0.8 `/controller`, broker registrations of versions 1 to 4. The
value keeps which form it had, so it prints as it was. The order of keys comes from Scala's maps, that of partitions
and list elements is the value's own.

What others write is read as Kafka 0.10.2 reads it (`kafka.utils.Json`, and the code that looks at what it gives): most
payloads' version is not looked at, nor are keys that are not known, so what later releases add is passed over. Only the
version of a topic's configuration must be 1, and that of a registration at least 1. What is no JSON at all is NotJson,
which most of Kafka's readers take for nothing.

Kafka, reading: `KafkaController.parseControllerId`, `Broker.createBroker`, `ReplicationUtils.parseLeaderAndIsr`,
`ZkUtils.getReplicaAssignmentForTopics` and `parsePartitionReassignmentData`, `AdminUtils.fetchEntityConfig`,
`IsrChangeNotificationListener.getTopicAndPartition`.

Kafka, writing: `ZkUtils.leaderAndIsrZkData`, `replicaAssignmentZkData` and `formatAsReassignmentJson`,
`ZookeeperLeaderElector.elect`, `Broker.toJson`, `ReplicationUtils.generateIsrChangeJson` and
`AdminUtils.writeEntityConfig`.

Left out on purpose: what Kafka would take though no release writes it, and the spec has no meaning for, such as a
negative epoch, a topic of an illegal name, data in a znode whose name is its message, or text in a topic's own lists.
Such a payload is refused, with the path and the field. A partition that an admin's order names twice is let through, as
are lists of replicas that are empty, name one twice (the ISR of a topic that is created so does, too), or have text in
the place of a number: whoever reads them knows what Kafka makes of that.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Final, Self

from spec.errors import MalformedInput, NotJson, Where
from spec.formats import znode_paths as paths
from spec.formats.json_schema import (
    INT_MAX,
    MAY_LACK,
    TEXT,
    UNREAD,
    Constant,
    Integer,
    ListOf,
    MapOf,
    Milliseconds,
    NumberOrDigits,
    Record,
    Text,
    Versions,
    decode_json,
    shown,
)
from spec.formats.kafka_types import BROKER_ID as ID
from spec.formats.kafka_types import BrokerId, KafkaVersion, PartitionId, Topic, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.scala_order import immutable_map_order, mutable_map_order
from spec.formats.znode_paths import Path, PathKind

UNCLEAN: Final = "unclean.leader.election.enable"
"""What a topic's configuration may say of elections, in place of the brokers' own."""

Version1 = Annotated[int, Constant(1), UNREAD]


class Payload(ABC):
    """What a znode holds. `str` gives the text, `encode` the bytes, exactly as Kafka writes them."""

    @classmethod
    @abstractmethod
    def parse(cls, text: str, where: Where) -> Self:
        """The payload that the text is; MalformedInput with path, field and reason if it is not one."""

    def encode(self) -> bytes | None:
        """The znode's data; None where Kafka leaves it null."""
        return str(self).encode()


class JsonPayload(Payload):
    """A payload that is a JSON object; `schema` derives both directions from the fields of the class."""

    schema: ClassVar[Record]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.schema = Record(cls, cls.key_order)

    @classmethod
    def key_order(cls, version: int) -> Any:
        """How Kafka's map of a payload of this version orders its keys."""
        del version
        return immutable_map_order

    @classmethod
    def parse(cls, text: str, where: Where) -> Self:
        """The payload that the JSON text is."""
        payload: Self = cls.schema.read(decode_json(text, where), where)
        return payload

    def __str__(self) -> str:
        return self.schema.write(self, Where(type(self).__name__))


@dataclass(frozen=True)
class ControllerPayload(JsonPayload):
    """The controller, and since when in milliseconds; before 0.8 the bare id (`timestamp` None)."""

    version: Version1 = 1
    brokerid: BrokerId = field(kw_only=True)
    timestamp: Annotated[int | None, Milliseconds(), UNREAD] = field(default=None, kw_only=True)

    @classmethod
    def parse(cls, text: str, where: Where) -> Self:
        """The payload of either form (`KafkaController.parseControllerId`)."""
        try:
            return super().parse(text, where)
        except NotJson:
            if not re.fullmatch(r"-?[0-9]{1,10}", text):
                raise
            return cls(brokerid=ID.read(int(text), where), timestamp=None)

    def __str__(self) -> str:
        return str(self.brokerid) if self.timestamp is None else super().__str__()


@dataclass(frozen=True)
class ControllerEpochPayload(Payload):
    """The epoch of the last controller elected, as a decimal number that is no JSON document to Kafka."""

    controller_epoch: int

    @classmethod
    def parse(cls, text: str, where: Where) -> Self:
        """The epoch."""
        if not re.fullmatch(r"0|[1-9][0-9]{0,9}", text) or int(text) > INT_MAX:
            where.refuse(f"expected an epoch in decimal digits, found {shown(text)}")
        return cls(int(text))

    def __str__(self) -> str:
        return str(self.controller_epoch)


@dataclass(frozen=True)
class BrokerPayload(JsonPayload):
    """A broker's registration: v1 up to 0.8.2, v2 in 0.9.0 (adds endpoints), v3 in 0.10.0 and 0.10.1 (adds rack), v4.

    `host` and `port` are those of the PLAINTEXT endpoint, null and -1 if there is none.
    """

    version: Annotated[int, Integer(1, 4)]
    host: Annotated[str | None, Text(nullable=True), UNREAD] = None
    port: Annotated[int, Integer(-1, 65535), UNREAD] = -1
    endpoints: Annotated[tuple[str, ...] | None, ListOf(TEXT), Versions(2)] = field(default=None, kw_only=True)
    jmx_port: Annotated[int, Integer(-1, 65535), UNREAD] = -1
    timestamp: Annotated[int, Milliseconds(), UNREAD] = field(default=0, kw_only=True)
    rack: Annotated[str | None, Text(nullable=True), Versions(3, required=False)] = field(default=None, kw_only=True)
    listener_security_protocol_map: Annotated[Mapping[str, str] | None, MapOf(TEXT), Versions(4), MAY_LACK] = field(
        default=None, kw_only=True, hash=False
    )

    @classmethod
    def parse(cls, text: str, where: Where) -> Self:
        """The payload; of version 1, the only one whose host and port Kafka reads, it must have both."""
        payload, given = super().parse(text, where), decode_json(text, where)
        for key in ("host", "port"):
            if payload.version == 1 and isinstance(given, dict) and key not in given:
                where.key(key).refuse("missing")
        return payload

    @classmethod
    def key_order(cls, version: int) -> Any:
        """`Broker.toJson` of 0.10.2 fills a mutable map, `ZkUtils.registerBrokerInZk` before it an immutable one."""
        return mutable_map_order if version >= 4 else immutable_map_order


def registration_version(version: KafkaVersion) -> int:
    """The version of the registration that a broker writes whose inter.broker.protocol.version is its own."""
    return {82: 1, 90: 2, 100: 3, 101: 3, 102: 4}[version]


@dataclass(frozen=True)
class TopicPayload(JsonPayload):
    """The assigned replicas (AR) of every partition of a topic, in order of preference."""

    version: Version1 = 1
    partitions: Annotated[Mapping[int, tuple[int, ...]], MapOf(ListOf(ID), numbers=True), MAY_LACK] = field(
        default_factory=dict, kw_only=True, hash=False
    )


@dataclass(frozen=True)
class PartitionStatePayload(JsonPayload):
    """The leader of a partition, its leader epoch, the ISR, and the controller that decided so."""

    version: Version1 = 1
    leadership: LeaderIsrAndControllerEpoch = field(kw_only=True)


@dataclass(frozen=True)
class PartitionReassignment:
    """One partition to be reassigned, and RAR in order of preference, whose type holds of a list without text."""

    topic: Topic
    partition: PartitionId
    replicas: Annotated[tuple[int, ...], ListOf(NumberOrDigits(0))]


@dataclass(frozen=True)
class ReassignPartitionsPayload(JsonPayload):
    """The reassignments that are not finished; the tool writes all of them, the controller what remains."""

    version: Version1 = 1
    partitions: Annotated[tuple[PartitionReassignment, ...], ListOf(Record(PartitionReassignment)), MAY_LACK] = field(
        default=(), kw_only=True
    )


@dataclass(frozen=True)
class PartitionsPayload(JsonPayload):
    """A list of partitions: those to elect the preferred replica for, or those whose ISR a leader changed."""

    version: Version1 = 1
    partitions: Annotated[tuple[TopicPartition, ...], ListOf(Record(TopicPartition))] = field(kw_only=True)


@dataclass(frozen=True)
class TopicConfigPayload(JsonPayload):
    """The configuration that a topic overrides, the one payload whose version Kafka insists on."""

    version: Annotated[int, Constant(1)] = 1
    config: Annotated[Mapping[str, str], MapOf(TEXT)] = field(kw_only=True, hash=False)

    def is_unclean(self, *, default: bool) -> bool:
        """Whether the topic may elect who is not in sync (`LogConfig.fromProps`); MalformedInput: it says neither."""
        value = self.config.get(UNCLEAN, str(default)).strip().lower()
        if value not in {"true", "false"}:
            raise MalformedInput("config", UNCLEAN, "is neither true nor false")
        return value == "true"


@dataclass(frozen=True)
class ClusterIdPayload(JsonPayload):
    """The id that the first broker of a cluster drew (0.10.1 on); its version is a string, unlike all others."""

    version: Annotated[str, Text("1", 'the string "1"'), UNREAD] = "1"
    id: Annotated[str, TEXT] = field(kw_only=True)


@dataclass(frozen=True)
class EmptyPayload(Payload):
    """No content: the node itself is the message, or only a parent. Kafka creates it with null data or with none."""

    null: bool = True

    @classmethod
    def parse(cls, text: str, where: Where) -> Self:
        """Nothing, which must be nothing."""
        if text:
            where.refuse(f"expected no data, found {shown(text)}")
        return cls(null=False)

    def __str__(self) -> str:
        return ""

    def encode(self) -> bytes | None:
        """Null, or no bytes."""
        return None if self.null else b""


PAYLOADS: Final[Mapping[PathKind, type[Payload]]] = {
    paths.CONTROLLER: ControllerPayload,
    paths.CONTROLLER_EPOCH: ControllerEpochPayload,
    paths.BROKER: BrokerPayload,
    paths.BROKER_TOPIC: TopicPayload,
    paths.STATE: PartitionStatePayload,
    paths.REASSIGN_PARTITIONS: ReassignPartitionsPayload,
    paths.PREFERRED_REPLICA_ELECTION: PartitionsPayload,
    paths.ISR_CHANGE: PartitionsPayload,
    paths.TOPIC_CONFIG: TopicConfigPayload,
    paths.CLUSTER_ID: ClusterIdPayload,
}
"""The payload of each kind of path; the others are empty."""


def parse_payload(path: Path | str, data: bytes | str | None) -> Payload:
    """What a znode holds, or MalformedInput that names its path, the field and the reason."""
    where = Where(str(path))
    kind = (Path.parse(path) if isinstance(path, str) else path).kind
    payload = PAYLOADS.get(kind, EmptyPayload)
    if data is None:
        return EmptyPayload() if payload is EmptyPayload else where.refuse("the node has no data")
    if isinstance(data, bytes):
        try:
            data = data.decode()
        except UnicodeDecodeError as error:
            where.refuse(f"not UTF-8: {error}")
    return payload.parse(data, where)
