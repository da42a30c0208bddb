"""What the controller writes to state-change.log about requests and their answers, and what all its lines share.

`epoch` is the controller epoch that the process holds, which for a controller that lost its session is an old one.
There is no line for StopReplica: the controller tells of it in controller.log only.

Kafka: `KafkaController`, `ControllerChannelManager`.
"""

from typing import Final

from spec.formats.kafka_types import V0102, V082, V090, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.logs.log_lines import Line
from spec.logs.logged_answers import Answer
from spec.logs.logged_values import FORMS, USUAL, VOCABULARY, BrokerNode


class ControllerLine(Line):
    """A line of a process in the controller's role."""

    prefix = "Controller {controller} epoch {epoch:id} "
    shapes, usual, forms = VOCABULARY, USUAL, FORMS

    controller: int
    epoch: int


SENDING_LEADER_AND_ISR: Final = "sending {role} LeaderAndIsr request {leadership} "


class LeaderAndIsrSending(
    ControllerLine,
    text={
        V082: SENDING_LEADER_AND_ISR
        + "with correlationId {correlation_id} to broker {broker} for partition {partition}",
        V090: SENDING_LEADER_AND_ISR + "to broker {broker} for partition {partition}",
    },
):
    """A partition of a LeaderAndIsr that is being put on a broker's queue; only 0.8.2 prints the correlation id."""

    leadership: LeaderIsrAndControllerEpoch
    broker: int


SENDING_UPDATE_METADATA: Final = "sending UpdateMetadata request {leadership} "


class UpdateMetadataSending(
    ControllerLine,
    text={
        V082: SENDING_UPDATE_METADATA
        + "with correlationId {correlation_id} to broker {brokers:one} for partition {partition}",
        V090: SENDING_UPDATE_METADATA + "to broker {brokers:one} for partition {partition:t-p}",
        V0102: SENDING_UPDATE_METADATA + "to brokers {brokers:set} for partition {partition:t-p}",
    },
):
    """A partition of an UpdateMetadata; up to 0.10.1 there is a line for each broker, in 0.10.2 one for all of them."""

    leadership: LeaderIsrAndControllerEpoch
    brokers: tuple[int, ...]
    partition: TopicPartition


class ReassignmentSent(
    ControllerLine,
    text="sent LeaderAndIsr request {leadership} with new assigned replica list {assigned_replicas}"
    " to leader {leader} for partition being reassigned {partition}",
):
    """The leader of a reassigned partition was sent the new assigned replicas, with a higher leader epoch."""

    leadership: LeaderIsrAndControllerEpoch

    @property
    def leader(self) -> int:
        """The leader that was sent it."""
        return self.leadership.leader


class ReassignmentNotSent(
    ControllerLine,
    text="failed to send LeaderAndIsr request with new assigned replica list {assigned_replicas} to leader for"
    " partition being reassigned {partition}",
    level="ERROR",
):
    """The leader epoch of a reassigned partition could not be raised."""


class ResponseReceived(ControllerLine, text="received response {answer} for a request sent to broker {broker:node}"):
    """A broker answered the request that was in flight to it."""

    answer: Answer
    broker: BrokerNode
