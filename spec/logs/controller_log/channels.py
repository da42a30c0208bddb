"""Requests on their way: what a batch sends, the channel manager, the send threads, and threads as such.

A request inside a line is text: each version prints its class in another way, and kafka-request.log has it better.

Kafka: `ControllerBrokerRequestBatch`, `ControllerChannelManager`, `RequestSendThread`, `ShutdownableThread`.
"""

from typing import Final

from spec.formats.kafka_types import V0100, V0102, V082, V090
from spec.logs.controller_log.parts import (
    ChannelManagerSays,
    ControllerLogLine,
    DeletionThreadSays,
    SendThreadSays,
    Speaker,
)
from spec.logs.log_lines import ByVersion


class BatchSays(ControllerLogLine, level="DEBUG", speaker=Speaker("", "ControllerBrokerRequestBatch")):
    """A line of a batch, which has no prefix."""


class StopReplicaSending(
    BatchSays, text="The stop replica request (delete = {delete:bool}) sent to broker {broker} is {replicas}"
):
    """The replicas that a broker is to stop; one line for each of the two kinds, empty or not."""

    broker: int


class LeaderNotAssigned(
    BatchSays,
    text="Leader not yet assigned for partition {partition}. Skip sending UpdateMetadataRequest.",
    level="INFO",
):
    """A partition without leadership information is left out of the metadata."""


def not_sent(text: str) -> ByVersion:
    """What could not be sent; from 0.10.0 on (0.10.0.1, that is) with what was raised."""
    return {V090: NOT_SENT + text, V0100: NOT_SENT + text + EXCEPTION}


NOT_SENT: Final = "Haven't been able to send "
EXCEPTION: Final = ". Exception message: {exception}"


class LeaderAndIsrNotSent(
    BatchSays, text=not_sent("leader and isr requests, current state of the map is {requests}"), level="ERROR"
):
    """The batch failed with LeaderAndIsr requests left in it."""


class UpdateMetadataNotSent(
    BatchSays,
    text={
        **not_sent("metadata update requests, current state of the map is {partitions:words}"),
        V0102: NOT_SENT
        + "metadata update requests to brokers {brokers:set}, current state of the partition info is {partitions:words}"
        + EXCEPTION,
    },
    level="ERROR",
):
    """The batch failed with UpdateMetadata requests left in it."""


class StopReplicaNotSent(
    BatchSays, text=not_sent("stop replica requests, current state of the map is {requests}"), level="ERROR"
):
    """The batch failed with StopReplica requests left in it."""


class RequestDropped(
    ChannelManagerSays,
    text="Not sending request {request:words} to broker {broker}, since it is offline.",
    level="WARN",
):
    """The broker has no channel, so nobody will ever get this request."""


class Connecting(
    ChannelManagerSays, text="Controller {controller} trying to connect to broker {broker}", level="DEBUG"
):
    """A channel for a new broker is made."""


class RemovalError(ChannelManagerSays, text="Error while removing broker by the controller", level="ERROR"):
    """A channel could not be closed."""


class Connected(SendThreadSays, text="Controller {controller} connected to {node} for sending state change requests"):
    """The connection is open."""


class NotConnected(
    SendThreadSays,
    text="Controller {controller}'s connection to broker {node} was unsuccessful",
    level={V082: "ERROR", V090: "WARN"},
):
    """The connection could not be made; it is tried again."""


class SendingFailed(
    SendThreadSays,
    text="Controller {controller} epoch {epoch:id} fails to send request {request:words} to broker {node}."
    " Reconnecting to broker.",
    level="WARN",
):
    """A request was perhaps sent, not answered, and will be sent again; `epoch` is the context's, 0 once resigned."""


class SendingGivenUp(
    SendThreadSays, text="Controller {controller} fails to send a request to broker {node}", level="ERROR"
):
    """The callback of an answer failed, or the thread was interrupted: the request is not sent again."""


class SendThreadStarting(SendThreadSays, text="Starting "):
    """The thread runs; the blank at the end is Kafka's."""


class SendThreadStopping(SendThreadSays, text="Shutting down"):
    """The channel is being closed."""


class SendThreadFailed(SendThreadSays, text="Error due to ", level="ERROR"):
    """The thread ends with an exception."""


class SendThreadStopped(SendThreadSays, text="Stopped "):
    """The thread has left its loop."""


class SendThreadJoined(SendThreadSays, text="Shutdown completed"):
    """The caller that closes the channel has seen the thread end."""


class DeletionThreadStarting(DeletionThreadSays, text="Starting "):
    """The thread runs; the blank at the end is Kafka's."""


class DeletionThreadStopping(DeletionThreadSays, text="Shutting down"):
    """A resignation stops the thread."""


class DeletionThreadFailed(DeletionThreadSays, text="Error due to ", level="ERROR"):
    """The thread ends with an exception, and nothing is deleted any more."""


class DeletionThreadStopped(DeletionThreadSays, text="Stopped "):
    """The thread has left its loop."""


class DeletionThreadJoined(DeletionThreadSays, text="Shutdown completed"):
    """The resigning controller has seen the thread end."""
