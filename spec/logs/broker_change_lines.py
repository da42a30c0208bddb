"""What a broker writes to state-change.log about StopReplica and UpdateMetadata, and what all its lines share.

`controller` and `epoch` are the sender's and its controller epoch. A partition prints as `[t,p]` in older versions and
as `t-p` in newer ones; the class that holds it changed place by place (`FORMS`).

Kafka: `ReplicaManager`, `MetadataCache`. The lines about LeaderAndIsr are in `spec/logs/leader_and_isr_lines.py`.
"""

from typing import Final

from spec.formats.kafka_types import V0100, V082, TopicPartition
from spec.logs.log_lines import Line
from spec.logs.logged_values import FORMS, USUAL, VOCABULARY, PartitionInfo

CONTEXT: Final = "controller {controller} epoch {epoch:id}"

CORRELATED: Final = "correlation id {correlation_id} from " + CONTEXT


class BrokerLine(Line):
    """A line of a process in the broker's role."""

    prefix = "Broker {broker} "
    shapes, usual, forms = VOCABULARY, {**USUAL, "partition": "handled"}, FORMS

    broker: int


class RequestLine(BrokerLine):
    """A line about a request of this controller, epoch and correlation id."""

    controller: int
    epoch: int
    correlation_id: int


class PartitionLine(RequestLine):
    """A line about one partition of a request."""

    partition: TopicPartition


class StopReplicaStarted(BrokerLine, text="handling stop replica (delete={delete:bool}) for partition {partition}"):
    """A replica is about to stop, and to be deleted if the request says so."""

    delete: bool
    partition: TopicPartition


class ReplicaDoesNotExist(
    BrokerLine,
    text="ignoring stop replica (delete={delete:bool}) for partition {partition} as replica doesn't exist on broker",
):
    """There is no such replica in memory (its log may still be deleted)."""

    delete: bool
    partition: TopicPartition


class StopReplicaFinished(
    BrokerLine, text="finished handling stop replica (delete={delete:bool}) for partition {partition}"
):
    """The replica has stopped."""

    delete: bool
    partition: TopicPartition


OLD_CONTROLLER: Final = (
    "received stop replica request from an old controller epoch {epoch:int}. Latest known controller"
)


class StopReplicaFromOldController(
    BrokerLine,
    text={V082: OLD_CONTROLLER + " epoch is %d {known_epoch}", V0100: OLD_CONTROLLER + " epoch is {known_epoch}"},
    level="WARN",
):
    """The whole request is refused; up to 0.9.0 a format mark was left in the text."""

    epoch: int


FROM_UPDATE: Final = f" in response to UpdateMetadata request sent by {CONTEXT} with correlation id {{correlation_id}}"


class LeaderInfoCached(PartitionLine, text="cached leader info {info} for partition {partition:cached}" + FROM_UPDATE):
    """The broker will tell clients this leadership."""

    info: PartitionInfo


class PartitionUncached(PartitionLine, text="deleted partition {partition:cached} from metadata cache" + FROM_UPDATE):
    """The broker will tell clients that there is no such partition: its topic is being deleted."""


class UpdateMetadataFromOldController(
    BrokerLine,
    text="received update metadata request with correlation id {correlation_id} from an old controller"
    " {controller} with epoch {epoch:int}. Latest known controller epoch is {known_epoch}",
    level="WARN",
):
    """The whole request is refused."""
