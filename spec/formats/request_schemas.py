"""The four requests between controller and brokers and their answers, each declared once for all its versions.

The controller sends LeaderAndIsr, UpdateMetadata and StopReplica; a broker that wants to stop asks the controller for a
ControlledShutdown. Field names and order are Kafka's own.

| Kafka | LeaderAndIsr | StopReplica | UpdateMetadata | ControlledShutdown |
|---|---|---|---|---|
| 0.8.2 | 0 | 0 | 0 | 0 |
| 0.9.0 | 0 | 0 | 0-1 | 0-1 |
| 0.10.0, 0.10.1 | 0 | 0 | 0-2 | 0-1 |
| 0.10.2 | 0 | 0 | 0-3 | 0-1 |

Nothing is negotiated: each side sends the newest version that its configured inter-broker protocol has.

Kafka: `org.apache.kafka.common.protocol.Protocol`, 0.10.2.2; in 0.8.2 `kafka.api.LeaderAndIsrRequest` and its like,
whose bytes are those of version 0. Left out on purpose: later versions (is_new, broker epochs, tagged fields).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Annotated, ClassVar, Final

from spec.formats.error_codes import ERROR_CODE, ErrorCode
from spec.formats.kafka_types import V0100, V0102, V082, V090, KafkaVersion, PartitionId, Topic, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.wire import BOOLEAN, INT16, INT32, NULLABLE_STRING, STRING, ArrayOf, Struct, Versions


class ApiKey(IntEnum):
    """The number that says which request follows."""

    LEADER_AND_ISR = 4
    STOP_REPLICA = 5
    UPDATE_METADATA = 6
    CONTROLLED_SHUTDOWN = 7


NEWEST_VERSION: Final[Mapping[ApiKey, Mapping[KafkaVersion, int]]] = {
    ApiKey.LEADER_AND_ISR: {V082: 0},
    ApiKey.STOP_REPLICA: {V082: 0},
    ApiKey.UPDATE_METADATA: {V082: 0, V090: 1, V0100: 2, V0102: 3},
    ApiKey.CONTROLLED_SHUTDOWN: {V082: 0, V090: 1},
}
"""The newest version of each request, by the release that brought it."""


def api_version(key: ApiKey, version: KafkaVersion) -> int:
    """The version of a request that a controller or broker of this release sends."""
    return max(number for release, number in NEWEST_VERSION[key].items() if release <= version)


def api_versions(key: ApiKey) -> range:
    """Every version that the documented controller's releases know of a request."""
    return range(max(NEWEST_VERSION[key].values()) + 1)


I16 = Annotated[int, INT16]
I32 = Annotated[int, INT32]
I32s = Annotated[tuple[int, ...], ArrayOf(INT32)]
Text = Annotated[str, STRING]
Partitions = Annotated[tuple[TopicPartition, ...], ArrayOf(Struct(TopicPartition))]
Code = Annotated[ErrorCode, ERROR_CODE]


class Request:
    """A request to a broker, or to the controller; `api_key` says which."""

    api_key: ClassVar[ApiKey]

    def carried_by(self, _version: int) -> "Request":
        """The request as a version carries it: the same, except UpdateMetadata."""
        return self


class Response:
    """An answer; which request it answers, only the asker's correlation id tells."""


@dataclass(frozen=True)
class PartitionLeadership:
    """The leadership of one partition, perhaps not of the sender's epoch, and the assigned replicas."""

    topic: Topic
    partition: PartitionId
    leadership: LeaderIsrAndControllerEpoch
    replicas: I32s

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition that this is about."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True)
class LiveLeader:
    """Where a broker listens that leads one of the request's partitions."""

    id: I32
    host: Text
    port: I32


@dataclass(frozen=True)
class LeaderAndIsrRequest(Request):
    """Become leader or follower of these partitions."""

    api_key = ApiKey.LEADER_AND_ISR
    controller_id: I32
    controller_epoch: I32
    partition_states: Annotated[tuple[PartitionLeadership, ...], ArrayOf(Struct(PartitionLeadership))]
    live_leaders: Annotated[tuple[LiveLeader, ...], ArrayOf(Struct(LiveLeader))]


@dataclass(frozen=True)
class StopReplicaRequest(Request):
    """Stop fetching these partitions, and delete their logs if it says so."""

    api_key = ApiKey.STOP_REPLICA
    controller_id: I32
    controller_epoch: I32
    delete_partitions: Annotated[bool, BOOLEAN]
    partitions: Partitions


@dataclass(frozen=True)
class EndPoint:
    """Where a broker listens for one security protocol (0 is PLAINTEXT)."""

    port: I32
    host: Text
    listener_name: Annotated[str | None, STRING, Versions(3)] = None
    security_protocol_type: I16 = 0


@dataclass(frozen=True)
class LiveBroker:
    """A registered broker: host and port in version 0, its end points from 1 on, its rack from 2 on."""

    id: I32
    host: Annotated[str | None, STRING, Versions(0, 0)] = None
    port: Annotated[int | None, INT32, Versions(0, 0)] = None
    end_points: Annotated[tuple[EndPoint, ...], ArrayOf(Struct(EndPoint)), Versions(1)] = ()
    rack: Annotated[str | None, NULLABLE_STRING, Versions(2)] = None

    @property
    def address(self) -> tuple[str, int] | None:
        """Where it listens first; None if it does not say."""
        if self.end_points:
            return self.end_points[0].host, self.end_points[0].port
        return None if self.host is None or self.port is None else (self.host, self.port)

    def carried_by(self, version: int) -> "LiveBroker":
        """The broker without what this version of UpdateMetadata has no place for."""
        if version == 0:
            host, port = self.address or ("", -1)
            return LiveBroker(self.id, host, port)
        named = self.end_points if version >= 3 else tuple(replace(one, listener_name=None) for one in self.end_points)
        return LiveBroker(self.id, end_points=named, rack=self.rack if version >= 2 else None)


@dataclass(frozen=True)
class UpdateMetadataRequest(Request):
    """Tell clients this leadership of these partitions; the registered brokers replace those known before."""

    api_key = ApiKey.UPDATE_METADATA
    controller_id: I32
    controller_epoch: I32
    partition_states: Annotated[tuple[PartitionLeadership, ...], ArrayOf(Struct(PartitionLeadership))]
    live_brokers: Annotated[tuple[LiveBroker, ...], ArrayOf(Struct(LiveBroker))]

    def carried_by(self, version: int) -> "UpdateMetadataRequest":
        """The request as a version carries it, which may tell less of brokers than this one does."""
        return replace(self, live_brokers=tuple(broker.carried_by(version) for broker in self.live_brokers))


@dataclass(frozen=True)
class ControlledShutdownRequest(Request):
    """A broker asks the controller to move its leadership away before it stops."""

    api_key = ApiKey.CONTROLLED_SHUTDOWN
    broker_id: I32


@dataclass(frozen=True)
class PartitionError:
    """What became of one partition."""

    topic: Topic
    partition: PartitionId
    error_code: Code


@dataclass(frozen=True)
class PartitionsResponse(Response):
    """The answer to LeaderAndIsr and to StopReplica; no partitions if the request as a whole was refused."""

    error_code: Code
    partitions: Annotated[tuple[PartitionError, ...], ArrayOf(Struct(PartitionError))] = ()


@dataclass(frozen=True)
class UpdateMetadataResponse(Response):
    """The answer to UpdateMetadata."""

    error_code: Code


@dataclass(frozen=True)
class ControlledShutdownResponse(Response):
    """The partitions that the broker still leads."""

    error_code: Code
    partitions_remaining: Partitions = ()


REQUESTS: Final[Mapping[ApiKey, Struct]] = {
    cls.api_key: Struct(cls)
    for cls in (LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest, ControlledShutdownRequest)
}
RESPONSES: Final[Mapping[ApiKey, Struct]] = {
    ApiKey.LEADER_AND_ISR: Struct(PartitionsResponse),
    ApiKey.STOP_REPLICA: Struct(PartitionsResponse),
    ApiKey.UPDATE_METADATA: Struct(UpdateMetadataResponse),
    ApiKey.CONTROLLED_SHUTDOWN: Struct(ControlledShutdownResponse),
}
