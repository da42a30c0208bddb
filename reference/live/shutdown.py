"""Controlled shutdown of live brokers: the request over the wire, asked by one broker and handled by another.

A broker that is told to stop reads from ZooKeeper which broker is controller and where that one listens, sends it a
ControlledShutdown on a connection of its own, and asks again after a while where it gets no answer, or no good one. The
controller handles one such request at a time, on the thread of its connection, and takes the controller lock for each
partition anew.

Kafka 0.10.2.2: `KafkaServer.controlledShutdown`, `KafkaApis.handleControlledShutdownRequest`,
`KafkaController.shutdownBroker`. PROTOCOL.md sections 7.2 and 9.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Final, TypeAlias

from reference.broker_events.controlled_shutdown import (
    AnswerShutdown,
    Departure,
    RequestShutdown,
    answer_shutdown,
    begin_shutdown,
    move_partition,
)
from reference.controller.controller import KafkaController
from reference.live.frames import Address, connect, receive_frame, send_frame
from reference.live.zkclient import ZkClient
from reference.procedures import Procedure
from reference.scripts import broker_path, parsed, read_data
from spec.errors import MalformedInput
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import NO_LEADER, V0102, KafkaVersion
from spec.formats.request_schemas import ApiKey, ControlledShutdownRequest, ControlledShutdownResponse, api_version
from spec.formats.requests import RequestHeader, decode_response, encode_request
from spec.formats.znodes import BrokerPayload
from spec.variants import Switch

MAX_RETRIES: Final = 3
"""How often a broker asks (`controlled.shutdown.max.retries`)."""
BACK_OFF_SECONDS: Final = 1.0
"""How long it waits before it asks again (`controlled.shutdown.retry.backoff.ms`, 5 s by default)."""
SOCKET_TIMEOUT_SECONDS: Final = 10.0
"""How long it waits for an answer (`controller.socket.timeout.ms`, 30 s by default)."""

Run: TypeAlias = Callable[[Callable[[KafkaController], Procedure[None]]], None]
"""Runs a handler of the controller to its end, under its lock."""


def depart(broker_id: int, zookeeper: ZkClient, protocol: KafkaVersion = V0102) -> bool:
    """Ask until the controller lets the broker go; false, or MalformedInput, where it stops without being let go."""
    departure = Departure(MAX_RETRIES)
    while not departure.has_ended:
        controller_id = zookeeper.carry_out(RequestShutdown())
        if controller_id == NO_LEADER:
            return False
        header = _header(broker_id, MAX_RETRIES - departure.tries, protocol)
        departure = departure.asking(controller_id)
        departure = departure.answered(_ask(header, broker_id, _address_of(controller_id, zookeeper)))
        if not departure.may_go:
            time.sleep(BACK_OFF_SECONDS)
    return departure.may_go


def _address_of(broker_id: int, zookeeper: ZkClient) -> Address | None:
    """Where a broker listens; None if it is not registered."""
    node = zookeeper.run(read_data(broker_path(broker_id)))
    if node is None:
        return None
    payload = parsed(BrokerPayload, broker_path(broker_id), node.data)
    return payload.host or "", payload.port


def _header(broker_id: int, number: int, protocol: KafkaVersion) -> RequestHeader:
    """What stands before a broker's request; that of version 0 does not name the client."""
    version = api_version(ApiKey.CONTROLLED_SHUTDOWN, protocol)
    return RequestHeader(ApiKey.CONTROLLED_SHUTDOWN, version, number, str(broker_id) if version else None)


def _ask(header: RequestHeader, broker_id: int, address: Address | None) -> ControlledShutdownResponse | None:
    """The answer of whoever listens there; None if there is none."""
    if address is None:
        return None
    try:
        with connect(address, SOCKET_TIMEOUT_SECONDS) as connection:
            send_frame(connection, encode_request(header, ControlledShutdownRequest(broker_id)))
            _, response = decode_response(receive_frame(connection), ApiKey.CONTROLLED_SHUTDOWN, header.api_version)
    except (EOFError, MalformedInput):
        return None
    return response if isinstance(response, ControlledShutdownResponse) else None


@dataclass(frozen=True)
class ShutdownHandler:
    """What a broker does with the ControlledShutdown requests that it gets; `run` and `lock` are its controller's."""

    controller: KafkaController
    lock: threading.Lock
    run: Run
    zookeeper: ZkClient
    random: Random
    _one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    def handle(self, request: ControlledShutdownRequest) -> ControlledShutdownResponse:
        """`shutdownBroker`: what the broker still leads, once all of its partitions have been handled."""
        with self.lock:
            if not self.controller.is_active:
                return ControlledShutdownResponse(begin_shutdown(self.controller, request.broker_id))
        with self._one_at_a_time:
            with self.lock:
                refusal = begin_shutdown(self.controller, request.broker_id)
            if refusal is not ErrorCode.NONE:
                return ControlledShutdownResponse(refusal)
            while (work := self.controller.shutdown) is not None and work.to_move:
                self.run(partial(move_partition, partition=self.random.choice(sorted(work.to_move))))
            with self.lock:
                asks = self.controller.fixes(Switch.FENCED_ANSWERS)
                return answer_shutdown(self.controller, self.zookeeper.carry_out(AnswerShutdown()) if asks else None)
