"""What a broker writes to kafka-request.log: each request as it arrives, and again once it is answered.

    [2026-11-20 18:55:01,447] TRACE Processor 0 received request : {..} -- {..} (kafka.network.RequestChannel$)

An arrival is a delivery: a request that was sent twice arrives twice. The answer itself is not printed, only how long
it took. The requests of clients are in this file, too; they are not of the protocol and are refused.

Kafka: `RequestChannel.Request`, 0.9.0 on. Left out on purpose: 0.8.2, which prints requests in another form.
"""

from dataclasses import dataclass
from typing import Final

from spec.errors import MalformedInput
from spec.formats.kafka_types import V0102, V090
from spec.formats.request_schemas import Request
from spec.formats.requests import RequestHeader, parse_request, print_request
from spec.formats.shapes import ID, INT, WORDS
from spec.formats.templates import Shape, Shapes
from spec.logs.log_lines import Line, Vocabulary


@dataclass(frozen=True)
class LoggedRequest:
    """A request with its header."""

    header: RequestHeader
    request: Request


def _read_request(text: str) -> LoggedRequest:
    try:
        return LoggedRequest(*parse_request(text))
    except MalformedInput as error:
        raise ValueError(": ".join(filter(None, (error.field, error.reason)))) from error


SHAPES: Final[Shapes] = {
    "id": ID,
    "int": INT,
    "word": Shape("word", r"[^\s;,()]+", str, str),
    "principal": WORDS,
    "request": Shape(
        "request", r"(?:\{|Name: ).*", _read_request, lambda logged: print_request(logged.header, logged.request)
    ),
}
ANSWERED: Final = (
    "Completed request:{logged:request} from connection {connection:word};totalTime:{total_time:int},requestQueueTime:"
    "{request_queue_time:int},localTime:{local_time:int},remoteTime:{remote_time:int},responseQueueTime:"
    "{response_queue_time:int},sendTime:{send_time:int},securityProtocol:{security_protocol:word},principal:{principal}"
)


class RequestReceived(Line, text={V090: "Processor {processor:id} received request : {logged:request}"}):
    """A request has been read from its connection, before anything looked at it."""

    shapes = SHAPES
    loggers = "kafka.network.RequestChannel$"

    logged: LoggedRequest


class RequestCompleted(Line, text={V090: ANSWERED, V0102: ANSWERED + ",listener:{listener:word}"}):
    """The answer to a request has been sent; times in milliseconds."""

    shapes = SHAPES
    loggers = "kafka.request.logger"

    logged: LoggedRequest


REQUEST_LOG: Final = Vocabulary((RequestReceived, RequestCompleted))
