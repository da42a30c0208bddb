"""The broker's socket: requests by their bytes, carried out and logged; what is none ends the connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reference.broker import Broker
from reference.live.fetching import Fetch, Followed, encode_fetch
from reference.live.frames import receive_frame, send_frame
from reference.live.logs import Logs
from reference.live.requests import Listeners, RequestServer
from spec.formats.error_codes import ErrorCode
from spec.formats.request_schemas import (
    ApiKey,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    EndPoint,
    LeaderAndIsrRequest,
    LiveBroker,
    PartitionError,
    PartitionLeadership,
    PartitionsResponse,
    Request,
    Response,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from spec.formats.requests import RequestHeader, decode_response, encode_request
from spec.kafka_types import TopicPartition
from spec.logs.log_entries import LogEntry, read_entries
from spec.logs.request_log_lines import RequestCompleted, RequestReceived, parse_request_line

LEADER_AND_ISR = LeaderAndIsrRequest(2, 5, (PartitionLeadership("t", 0, 5, 1, 3, (1, 2), 4, (1, 2)),), ())
METADATA = UpdateMetadataRequest(2, 5, (), (LiveBroker(3, end_points=(EndPoint(9093, "127.0.0.1", "PLAINTEXT"),)),))


@dataclass
class Served:
    """A broker behind a socket, and a connection to it."""

    broker: Broker
    server: RequestServer
    connection: socket.socket
    fetches: list[Fetch]
    folder: Path

    def ask(self, request: Request, version: int, correlation_id: int = 7) -> Response:
        header = RequestHeader(request.api_key, version, correlation_id, "2")
        send_frame(self.connection, encode_request(header, request))
        answered, response = decode_response(receive_frame(self.connection), ApiKey(request.api_key), version)
        assert answered == correlation_id
        return response

    def logged(self) -> list[object]:
        text = (self.folder / "kafka-request.log").read_text(encoding="utf-8")
        entries = read_entries(text.splitlines(), "kafka-request.log")
        return [parse_request_line(one.message) for one in entries if isinstance(one, LogEntry)]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    logs, fetches = Logs(1, tmp_path), list[Fetch]()
    broker = Broker(1, journal=logs.journal)
    listeners = Listeners(fetches.append, lambda request: ControlledShutdownResponse(ErrorCode(8 * request.broker_id)))
    server = RequestServer(broker, threading.RLock(), logs, ("127.0.0.1", 0), listeners)
    server.start()
    with socket.create_connection(server.address, 10) as connection:
        yield Served(broker, server, connection, fetches, tmp_path)


def test_a_request_is_carried_out_answered_and_logged_twice(served: Served) -> None:
    assert served.ask(LEADER_AND_ISR, 0) == PartitionsResponse(
        ErrorCode.NONE, (PartitionError("t", 0, ErrorCode.NONE),)
    )
    assert served.broker.partition(TopicPartition("t", 0)).leader_epoch == 3
    received, completed = served.logged()
    assert isinstance(received, RequestReceived)
    assert isinstance(completed, RequestCompleted)
    assert received.logged == completed.logged
    assert (received.logged.request, received.logged.header.correlation_id) == (LEADER_AND_ISR, 7)


def test_the_metadata_cache_knows_where_brokers_are(served: Served) -> None:
    assert served.ask(METADATA, 3) == UpdateMetadataResponse(ErrorCode.NONE)
    assert served.server.addresses == {3: ("127.0.0.1", 9093)}
    assert [type(one) for one in served.logged()] == [RequestReceived]
    old = UpdateMetadataRequest(4, 4, (), ())
    assert served.ask(old, 3) == UpdateMetadataResponse(ErrorCode.STALE_CONTROLLER_EPOCH)
    assert served.server.addresses == {3: ("127.0.0.1", 9093)}


def test_a_fetch_is_told_and_answered_with_nothing(served: Served) -> None:
    fetch = Fetch(2, (Followed("t", 0, 3),))
    send_frame(served.connection, encode_fetch(fetch))
    assert receive_frame(served.connection) == b""
    assert served.fetches == [fetch]
    assert served.logged() == []


def test_a_request_to_be_shut_down_is_the_controllers_and_is_logged_twice(served: Served) -> None:
    assert served.ask(ControlledShutdownRequest(1), 1) == ControlledShutdownResponse(ErrorCode.BROKER_NOT_AVAILABLE)
    received, completed = served.logged()
    assert isinstance(received, RequestReceived)
    assert isinstance(completed, RequestCompleted)
    assert received.logged == completed.logged


def test_brokers_without_end_points_are_where_they_say(served: Served) -> None:
    """Version 0 of UpdateMetadata has no end points, but a host and a port."""
    old = UpdateMetadataRequest(2, 5, (), (LiveBroker(3, "127.0.0.1", 9093),))
    assert served.ask(old, 0) == UpdateMetadataResponse(ErrorCode.NONE)
    assert (served.server.addresses, served.broker.alive) == ({3: ("127.0.0.1", 9093)}, frozenset({3}))


@pytest.mark.parametrize("data", [b"", b"\0\4", b"\0\x63\0\0\0\0\0\7\0\0", b"\0\1\0"])
def test_what_is_no_request_ends_the_connection_and_changes_nothing(served: Served, data: bytes) -> None:
    send_frame(served.connection, data)
    with pytest.raises(EOFError):
        receive_frame(served.connection)
    assert (served.broker.partitions, served.broker.controller_epoch) == ({}, 0)
    assert served.logged() == []
    with socket.create_connection(served.server.address, 10) as another:
        served.connection = another
        assert served.ask(METADATA, 3) == UpdateMetadataResponse(ErrorCode.NONE)
