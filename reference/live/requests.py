"""The broker's side of its connections: it accepts them, reads requests, and answers each before it reads the next.

A request of a controller is logged as it arrives, carried out under the broker's lock, and logged again when it is
answered; its frames are written down, too. So is the request of a broker which is to stop, which is for the controller
module. A follower's fetch is given to the ISR manager and answered with an empty frame. Anything else ends the
connection, and nothing is changed; so does what is raised while a request is carried out, which Kafka answers with an
error.

Kafka 0.10.2.2: `SocketServer`, `KafkaApis`. PROTOCOL.md sections 9 and 10. Left out on purpose: the queue between
network and request handler threads, so `requestQueueTime` is always 0.
"""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from reference.brokers.broker import Broker
from reference.live.fetching import API_KEY, Fetch, decode_fetch
from reference.live.frames import Address, receive_frame, send_frame
from reference.live.logs import Logs
from reference.procedures import THROWABLE
from spec.formats.error_codes import ErrorCode
from spec.formats.request_schemas import (
    ApiKey,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    Request,
    Response,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from spec.formats.requests import RequestHeader, decode_request, encode_response
from spec.logs.request_log_lines import LoggedRequest, RequestCompleted, RequestReceived
from spec.logs.wire_records import FrameAnswered, FrameReceived

CONTROLLERS: Final = frozenset(int(key).to_bytes(2, "big") for key in ApiKey)
"""What a frame begins with that is between controller and brokers, even if it is of a version that nobody knows."""
BACK_OFF_SECONDS: Final = 0.1
"""How long it waits where a connection cannot be accepted, before it tries again."""


@dataclass(frozen=True)
class Listeners:
    """What to call with a follower's fetch, and with the request of a broker that is to stop."""

    on_fetch: Callable[[Fetch], None]
    on_shutdown: Callable[[ControlledShutdownRequest], ControlledShutdownResponse]


class RequestServer:
    """A socket that listens, a thread for each connection; `addresses` are of the last accepted UpdateMetadata."""

    def __init__(
        self, broker: Broker, lock: threading.RLock, logs: Logs, address: Address, listeners: Listeners
    ) -> None:
        self._broker = broker
        self._lock = lock
        self._logs = logs
        self._listeners = listeners
        self._listening = socket.create_server(address, backlog=64)
        self.addresses: dict[int, Address] = {}

    @property
    def address(self) -> Address:
        """Where it listens."""
        host, port = self._listening.getsockname()
        return host, port

    def start(self) -> None:
        """Begin to accept connections."""
        threading.Thread(target=self._accept, name="kafka-socket-acceptor", daemon=True).start()

    def _accept(self) -> None:
        """`Acceptor.run`: a connection that goes before it is taken, or one too many, is no reason to take no other."""
        while True:
            try:
                connection, peer = self._listening.accept()
            except OSError:
                time.sleep(BACK_OFF_SECONDS)
                continue
            threading.Thread(target=self._serve, args=(connection, peer), name="kafka-processor", daemon=True).start()

    def _serve(self, connection: socket.socket, peer: Address) -> None:
        with connection, suppress(EOFError, *THROWABLE):
            with suppress(OSError):  # if it is gone already, the first read tells
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            ends = "-".join(f"{host}:{port}" for host, port in (self.address, peer))
            while True:
                send_frame(connection, self._answer(receive_frame(connection), ends))

    def _answer(self, data: bytes, connection: str) -> bytes:
        if data.startswith(API_KEY):
            self._listeners.on_fetch(decode_fetch(data))
            return b""
        arrived = time.monotonic()
        if data[:2] in CONTROLLERS:
            self._logs.wire.record(FrameReceived, connection=connection, data=data)
        header, request = decode_request(data)
        self._logs.requests.write(RequestReceived(0, LoggedRequest(header, request)))
        response = self._handle(request, header.correlation_id)
        self._log_completion(header, request, connection, round(1000 * (time.monotonic() - arrived)))
        answer = encode_response(header.correlation_id, response, ApiKey(header.api_key), header.api_version)
        self._logs.wire.record(FrameAnswered, connection=connection, data=answer)
        return answer

    def _handle(self, request: Request, correlation_id: int) -> Response:
        if isinstance(request, ControlledShutdownRequest):
            return self._listeners.on_shutdown(request)
        with self._lock:
            response = self._broker.handle(request, correlation_id)
            if isinstance(request, UpdateMetadataRequest) and response == UpdateMetadataResponse(ErrorCode.NONE):
                told = {broker.id: broker.address for broker in request.live_brokers}
                self.addresses.clear()
                self.addresses.update({broker_id: address for broker_id, address in told.items() if address})
            return response

    def _log_completion(self, header: RequestHeader, request: Request, connection: str, milliseconds: int) -> None:
        """Recordings leave this line out for UpdateMetadata, which has nothing to wait for."""
        if header.api_key == ApiKey.UPDATE_METADATA:
            return
        logged, times = LoggedRequest(header, request), (milliseconds, 0, milliseconds, 0, 0, 0)
        self._logs.requests.write(
            RequestCompleted(logged, connection, *times, "PLAINTEXT", "User:ANONYMOUS", "PLAINTEXT")
        )
