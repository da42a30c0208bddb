"""The error codes that answers carry in Kafka 0.8.2 to 0.10.2, under the names of 0.10.2.

Kafka: `org.apache.kafka.common.protocol.Errors`; in 0.8.2 `kafka.common.ErrorMapping`, whose names are another
spelling of these (`StaleControllerEpochCode`) except the ones noted. Left out on purpose: the codes that no answer to
a controller or to a broker of this protocol has (consumer groups, SASL, topic administration), and those of later
releases (56 storage error, 74 fenced leader epoch, 77 stale broker epoch, 103 inconsistent topic id).
"""

from enum import IntEnum

from spec.errors import Where
from spec.formats.kafka_types import V0100, KafkaVersion
from spec.formats.wire import Int, Source


class ErrorCode(IntEnum):
    """What an answer says of the request or of one partition in it."""

    UNKNOWN = -1
    NONE = 0
    UNKNOWN_TOPIC_OR_PARTITION = 3
    """LeaderAndIsr from 0.9.0 on: the broker is not among the assigned replicas."""
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_FOR_PARTITION = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    """A controlled shutdown of a broker that is not registered."""
    REPLICA_NOT_AVAILABLE = 9
    STALE_CONTROLLER_EPOCH = 11
    """The request's controller epoch is old; from 0.10.0 on also: the leader epoch of a partition is not higher."""
    STALE_LEADER_EPOCH = 13
    """Up to 0.9.0: the leader epoch of a partition is not higher. Later a network exception, which nobody sends."""
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    CLUSTER_AUTHORIZATION_FAILED = 31
    """From 0.9.0 on."""
    UNSUPPORTED_VERSION = 35
    """From 0.10.0 on."""
    NOT_CONTROLLER = 41
    """From 0.10.1 on."""
    INVALID_REQUEST = 42
    """From 0.10.1 on."""


def for_stale_leader_epoch(version: KafkaVersion) -> ErrorCode:
    """What a broker answers for a partition whose leader epoch is not higher than its own."""
    return ErrorCode.STALE_CONTROLLER_EPOCH if version >= V0100 else ErrorCode.STALE_LEADER_EPOCH


class ErrorCodeType(Int):
    """An error code on the wire: a 16-bit number that must be a known one."""

    def decode(self, source: Source, version: int) -> ErrorCode:
        """The code."""
        return known(super().decode(source, version), source.where)

    def parse(self, source: Source, version: int) -> ErrorCode:
        """The code."""
        return known(super().parse(source, version), source.where)


def known(code: int, where: Where) -> ErrorCode:
    """The code with this number, or a refusal."""
    try:
        return ErrorCode(code)
    except ValueError:
        where.refuse(f"{code} is no error code of this protocol (known: {', '.join(str(int(c)) for c in ErrorCode)})")


ERROR_CODE = ErrorCodeType(16)
