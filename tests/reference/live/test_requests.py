"""The broker's socket: requests by their bytes, carried out and logged; what is none ends the connection."""

import errno
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from reference.brokers.broker import Broker
from reference.live.fetching import Fetch, Followed, encode_fetch
from reference.live.frames import receive_frame, send_frame
from reference.live.logs import Logs
from reference.live.requests import Listeners, RequestServer
from reference.zookeeper.api import NoNode
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
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
from spec.logs.log_entries import LogEntry, read_entries
from spec.logs.request_log_lines import REQUEST_LOG, RequestCompleted, RequestReceived
from spec.logs.wire_records import WIRE_LOG, FrameAnswered, FrameReceived, WireRecord, parse_record
from tests.leaderships import led

LEADER_AND_ISR = LeaderAndIsrRequest(2, 5, (PartitionLeadership("t", 0, led(1, 3, (1, 2), 5, 4), (1, 2)),), ())
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
        return [REQUEST_LOG.parse(one.message) for one in entries if isinstance(one, LogEntry)]

    def wired(self) -> list[WireRecord]:
        return [parse_record(line) for line in (self.folder / WIRE_LOG).read_text(encoding="utf-8").splitlines()]

    def serves_another(self) -> None:
        """A new connection is served as if nothing had been."""
        with socket.create_connection(self.server.address, 10) as another:
            self.connection = another
            assert self.ask(METADATA, 3) == UpdateMetadataResponse(ErrorCode.NONE)


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
    assert served.broker.partition(TopicPartition("t", 0)).leadership.leader_epoch == 3
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
    served.serves_another()


HEAD = "00000007 0001 63"
"""Correlation id 7, client id "c"."""
FOREIGN = {
    "ApiVersions, key 18": f"0012 0000 {HEAD}",
    "Metadata, key 3, of all topics": f"0003 0000 {HEAD} 00000000",
    "Produce, key 0": f"0000 0000 {HEAD} 0001 000003e8 00000000",
}
TOO_NEW = {
    "LeaderAndIsr of version 1 (1.0), which says whether a replica is new": (
        f"0004 0001 {HEAD} 00000002 00000005"
        "00000001 0001 74 00000000 00000005 00000001 00000003"
        "00000002 00000001 00000002 00000004 00000002 00000001 00000002 01 00000000"
    ),
    "StopReplica of version 1 (2.2), with a broker epoch": f"0005 0001 {HEAD} 00000002 00000005 {'00' * 8} 00 00000000",
    "UpdateMetadata of version 4 (1.0)": f"0006 0004 {HEAD} 00000002 00000005 00000000 00000000",
    "ControlledShutdown of version 2 (2.2)": f"0007 0002 {HEAD} 00000001 {'00' * 8}",
    "LeaderAndIsr of version -1": f"0004 ffff {HEAD}",
}


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> list[threading.ExceptHookArgs]:
    """What a thread ended with, which would end the process."""
    ended: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", ended.append)
    return ended


@pytest.mark.parametrize(("name", "is_known"), [*((one, False) for one in FOREIGN), *((one, True) for one in TOO_NEW)])
def test_a_foreign_request_ends_its_connection_and_only_the_wire_tells_of_it(
    served: Served, failures: list[threading.ExceptHookArgs], name: str, is_known: bool
) -> None:
    """Kafka's own controller and clients send these; the wire has what is of a key between controller and brokers."""
    data = bytes.fromhex((FOREIGN | TOO_NEW)[name])
    served.ask(LEADER_AND_ISR, 0)
    broker, logged, wired = vars(served.broker).copy(), len(served.logged()), len(served.wired())
    partitions = dict(served.broker.partitions)
    send_frame(served.connection, data)
    with pytest.raises(EOFError):
        receive_frame(served.connection)
    assert (vars(served.broker), served.broker.partitions) == (broker, partitions)
    assert len(served.logged()) == logged
    new = served.wired()[wired:]
    assert [one.data for one in new if isinstance(one, FrameReceived)] == [data] * is_known
    assert len(new) == is_known
    served.serves_another()
    assert failures == []


@pytest.mark.parametrize(
    "sent",
    ["", "0000", "00000010 0004 0000", "ffffffff", "7fffffff 0004", "00000000"],
    ids=["nothing", "half a size", "a torn frame", "a negative size", "a size beyond all", "an empty frame"],
)
def test_what_is_no_frame_ends_its_connection_and_is_told_nowhere(
    served: Served, failures: list[threading.ExceptHookArgs], sent: str
) -> None:
    served.connection.sendall(bytes.fromhex(sent))
    with suppress(OSError):  # it may be gone by now
        served.connection.shutdown(socket.SHUT_WR)
    with pytest.raises(EOFError):
        receive_frame(served.connection)
    assert (served.broker.partitions, served.broker.controller_epoch) == ({}, 0)
    assert (served.logged(), served.wired()) == ([], [])
    served.serves_another()
    assert failures == []


def test_a_connection_that_is_reset_is_gone_like_one_that_is_closed(
    served: Served, failures: list[threading.ExceptHookArgs]
) -> None:
    served.ask(METADATA, 3)
    served.connection.sendall(b"\0\0")
    served.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    served.connection.close()
    served.serves_another()
    assert failures == []


def test_the_wire_has_every_frame_between_controller_and_brokers_with_its_answer(served: Served) -> None:
    served.ask(METADATA, 3)
    send_frame(served.connection, encode_fetch(Fetch(2, ())))
    receive_frame(served.connection)
    served.ask(ControlledShutdownRequest(1), 1)
    received = [one.data[:4].hex(" ", 2) for one in served.wired() if isinstance(one, FrameReceived)]
    answered = [one.data.hex(" ", 2) for one in served.wired() if isinstance(one, FrameAnswered)]
    assert received == ["0006 0003", "0007 0001"]
    assert answered == ["0000 0007 0000", "0000 0007 0008 0000 0000"]
    assert [type(one) for one in served.wired()] == [FrameReceived, FrameAnswered] * 2
    host, port = served.server.address
    mine = ":".join(map(str, served.connection.getsockname()))
    assert {one.connection for one in served.wired() if isinstance(one, FrameReceived)} == {f"{host}:{port}-{mine}"}


class Unsteady:
    """A socket that listens, but whose `accept` fails for these reasons first."""

    def __init__(self, listening: socket.socket, *reasons: int) -> None:
        self._listening = listening
        self._reasons = list(reasons)

    def accept(self) -> tuple[socket.socket, object]:
        if self._reasons:
            raise OSError(self._reasons.pop(0), "not now")
        return self._listening.accept()

    def getsockname(self) -> object:
        return self._listening.getsockname()


def test_an_accept_that_fails_for_a_moment_is_tried_again(
    tmp_path: Path, failures: list[threading.ExceptHookArgs]
) -> None:
    logs = Logs(1, tmp_path)
    listeners = Listeners(lambda _: None, lambda _: ControlledShutdownResponse(ErrorCode.NONE))
    server = RequestServer(Broker(1, journal=logs.journal), threading.RLock(), logs, ("127.0.0.1", 0), listeners)
    server._listening = Unsteady(server._listening, errno.ECONNABORTED, errno.EMFILE)  # type: ignore[assignment]
    server.start()
    with socket.create_connection(server.address, 10) as connection:
        served = Served(Broker(1), server, connection, [], tmp_path)
        assert served.ask(METADATA, 3) == UpdateMetadataResponse(ErrorCode.NONE)
    assert failures == []


def test_what_a_fetch_raises_ends_its_connection_only(tmp_path: Path, failures: list[threading.ExceptHookArgs]) -> None:
    """As where somebody has removed what the leader writes to ZooKeeper; Kafka answers with an error."""

    def refuse(_: Fetch) -> None:
        raise NoNode("/brokers")

    logs = Logs(1, tmp_path)
    listeners = Listeners(refuse, lambda _: ControlledShutdownResponse(ErrorCode.NONE))
    server = RequestServer(Broker(1, journal=logs.journal), threading.RLock(), logs, ("127.0.0.1", 0), listeners)
    server.start()
    with socket.create_connection(server.address, 10) as connection:
        send_frame(connection, encode_fetch(Fetch(2, ())))
        with pytest.raises(EOFError):
            receive_frame(connection)
        Served(Broker(1), server, connection, [], tmp_path).serves_another()
    assert failures == []
