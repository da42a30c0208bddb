"""The controller's channels on real connections: one sender thread for each broker, which re-sends until answered.

The controller puts requests on the queues of its channel manager, under its lock. After each of its steps the queues
are brought in line with the threads here: a new queue gets a thread, what was queued is handed over, and a queue that
is gone has its channel closed. A sender has one request in flight. Where the connection breaks, or what comes is no
answer to it, it connects again and sends the same request once more, under a new correlation id, for as long as the
channel is open.

Closing a channel waits for the request in flight, under the controller lock, as Kafka does (PROTOCOL.md section 7.1).

Kafka 0.10.2.2: `ControllerChannelManager`, `RequestSendThread`. PROTOCOL.md section 9.
"""

import queue
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from reference.controller.controller import KafkaController
from reference.live.frames import connect, receive_frame, send_frame
from reference.requests.connections import QueuedRequest
from spec.errors import MalformedInput
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.formats.request_schemas import ApiKey, Request, Response, api_version
from spec.formats.requests import RequestHeader, decode_response, encode_request
from spec.logs.controller_request_lines import ResponseReceived
from spec.logs.logged_answers import Answer
from spec.logs.logged_values import BrokerNode

SOCKET_TIMEOUT_SECONDS: Final = 10.0
"""How long a sender waits for an answer (`controller.socket.timeout.ms`, 30 s by default)."""
BACK_OFF_SECONDS: Final = 0.1
_CLOSED: Final = None


@dataclass(frozen=True)
class Sender:
    """The sender: a controller's id, the release of its requests, and what its threads do with each answer."""

    controller_id: int
    protocol: KafkaVersion
    on_answer: Callable[[QueuedRequest, Response, BrokerNode], None]


class Channel:
    """A connection to one broker, its queue and its thread."""

    def __init__(self, sender: Sender, broker: BrokerNode) -> None:
        self._sender = sender
        self._broker = broker
        self._queue: queue.SimpleQueue[QueuedRequest | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._socket: socket.socket | None = None
        self._correlation_id = 0
        name = f"Controller-{sender.controller_id}-to-broker-{broker.id}-send-thread"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def put(self, queued: QueuedRequest) -> None:
        """Queue a request behind the others."""
        self._queue.put(queued)

    def close(self) -> None:
        """Drop what is queued, once the request in flight is answered or its connection gone."""
        self._closing.set()
        self._queue.put(_CLOSED)
        self._thread.join()
        self._disconnect()

    def _run(self) -> None:
        while not self._closing.is_set():
            queued = self._queue.get()
            while queued is not None and not self._closing.is_set():
                try:
                    response = self._send_and_receive(queued.request)
                except (EOFError, MalformedInput):
                    self._disconnect()
                    self._closing.wait(BACK_OFF_SECONDS)
                else:
                    self._sender.on_answer(queued, response, self._broker)
                    break

    def _send_and_receive(self, request: Request) -> Response:
        if self._socket is None:
            self._socket = connect((self._broker.host, self._broker.port), SOCKET_TIMEOUT_SECONDS)
        key = request.api_key
        version = api_version(key, self._sender.protocol)
        header = RequestHeader(key, version, self._correlation_id, str(self._sender.controller_id))
        self._correlation_id += 1
        send_frame(self._socket, encode_request(header, request.carried_by(version)))
        correlation_id, response = decode_response(receive_frame(self._socket), ApiKey(key), header.api_version)
        if correlation_id != header.correlation_id:
            raise EOFError(f"answer {correlation_id} to request {header.correlation_id}")
        return response

    def _disconnect(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.close()
            self._socket = None


class Channels:
    """The open channels of a controller, each with the queue that it empties.

    `call_back` is what a sender calls with the answer that a request's callback is for. It takes the controller lock,
    so whoever closes the channel just then waits for ever (D50).
    """

    def __init__(
        self,
        controller: KafkaController,
        call_back: Callable[[QueuedRequest, Response, int], None] = lambda *_: None,
        protocol: KafkaVersion = V0102,
    ) -> None:
        self._controller = controller
        self._call_back = call_back
        self._sender = Sender(controller.broker_id, protocol, self._on_answer)
        self._open: list[tuple[list[QueuedRequest], Channel]] = []

    def follow(self) -> None:
        """Bring the threads in line with the controller's queues; it holds the lock."""
        manager = self._controller.context.controller_channel_manager
        wanted = list(self._controller.abandoned.items())
        wanted += list(manager.queues.items()) if manager is not None else []
        for known in list(self._open):
            if not any(queued is known[0] for _, queued in wanted):
                self._open.remove(known)
                known[1].close()
        for broker_id, queued in wanted:
            channel = self._channel(broker_id, queued)
            while queued:
                channel.put(queued.pop(0))

    def _channel(self, broker_id: int, queued: list[QueuedRequest]) -> Channel:
        for known, channel in self._open:
            if known is queued:
                return channel
        payload = self._controller.context.live_brokers[broker_id].payload
        channel = Channel(self._sender, BrokerNode(broker_id, payload.host or "", payload.port))
        self._open.append((queued, channel))
        return channel

    def _on_answer(self, queued: QueuedRequest, response: Response, broker: BrokerNode) -> None:
        self._controller.log_state_change(ResponseReceived, answer=Answer(response), broker=broker)
        if queued.calls_back:
            self._call_back(queued, response, broker.id)
