"""The bytes between controller and brokers, byte by byte, as each release of Kafka sends them.

They are written down here field by field from Kafka's schemas (`org.apache.kafka.common.protocol.Protocol` 0.10.2.2;
`kafka.api` for 0.8.2), not taken from an encoder: what the reference's controller and its stopping broker put on a
connection, and what its broker answers, must be just these.
"""

import socket
import threading
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reference.brokers.broker import Broker
from reference.controller.context import Registration
from reference.controller.controller import Configuration, KafkaController
from reference.journal import Entry, StateChange
from reference.live.channels import Channels
from reference.live.logs import Logs
from reference.live.requests import Listeners, RequestServer
from reference.live.shutdown import _ask, _header
from reference.requests.connections import ControllerChannelManager, QueuedRequest
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import V0100, V0101, V0102, V082, V090, KafkaVersion, TopicPartition
from spec.formats.request_schemas import (
    ControlledShutdownResponse,
    EndPoint,
    LeaderAndIsrRequest,
    LiveBroker,
    LiveLeader,
    PartitionLeadership,
    Request,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from spec.formats.znodes import BrokerPayload
from tests.leaderships import led

TIMEOUT = 10

# --------------------------------------------------------------------------------------------------- by Kafka's schemas

SENDER = (
    "00000001",  # controller_id: INT32
    "00000007",  # controller_epoch: INT32
)
PARTITION_STATES = (
    "00000001",  # partition_states: ARRAY
    "0001 74",  # .topic: STRING, "t"
    "00000000",  # .partition: INT32
    "00000006",  # .controller_epoch: INT32, that of the last decision
    "00000002",  # .leader: INT32
    "00000003",  # .leader_epoch: INT32
    "00000002 00000002 00000001",  # .isr: ARRAY of INT32
    "00000004",  # .zk_version: INT32
    "00000002 00000001 00000002",  # .replicas: ARRAY of INT32
)
LEADER_AND_ISR_0 = (
    "0004",  # api_key: INT16
    "0000",  # api_version: INT16
    "00000000",  # correlation_id: INT32
    "0001 31",  # client_id: NULLABLE_STRING, the controller's id as text
    *SENDER,
    *PARTITION_STATES,
    "00000001",  # live_leaders: ARRAY
    "00000002",  # .id: INT32
    "0001 68",  # .host: STRING, "h"
    "00002384",  # .port: INT32, 9092
)
STOP_REPLICA_0 = (
    "0005",  # api_key
    "0000",  # api_version
    "00000000",  # correlation_id
    "0001 31",  # client_id
    *SENDER,
    "01",  # delete_partitions: INT8
    "00000001",  # partitions: ARRAY
    "0001 74",  # .topic: STRING
    "00000000",  # .partition: INT32
)
UPDATE_METADATA_0 = (
    "0006",  # api_key
    "0000",  # api_version
    "00000000",  # correlation_id
    "0001 31",  # client_id
    *SENDER,
    *PARTITION_STATES,
    "00000001",  # live_brokers: ARRAY
    "00000002",  # .id: INT32
    "0001 68",  # .host: STRING
    "00002384",  # .port: INT32
)
UPDATE_METADATA_1 = (
    "0006",  # api_key
    "0001",  # api_version
    "00000000",  # correlation_id
    "0001 31",  # client_id
    *SENDER,
    *PARTITION_STATES,
    "00000001",  # live_brokers: ARRAY
    "00000002",  # .id: INT32
    "00000001",  # .end_points: ARRAY
    "00002384",  # ..port: INT32, before the host
    "0001 68",  # ..host: STRING
    "0000",  # ..security_protocol_type: INT16, PLAINTEXT
)
UPDATE_METADATA_2 = (
    "0006",  # api_key
    "0002",  # api_version
    "00000000",  # correlation_id
    "0001 31",  # client_id
    *SENDER,
    *PARTITION_STATES,
    "00000001",  # live_brokers: ARRAY
    "00000002",  # .id: INT32
    "00000001",  # .end_points: ARRAY
    "00002384",  # ..port: INT32
    "0001 68",  # ..host: STRING
    "0000",  # ..security_protocol_type: INT16
    "0001 72",  # .rack: NULLABLE_STRING, "r"
)
UPDATE_METADATA_3 = (
    "0006",  # api_key
    "0003",  # api_version
    "00000000",  # correlation_id
    "0001 31",  # client_id
    *SENDER,
    *PARTITION_STATES,
    "00000001",  # live_brokers: ARRAY
    "00000002",  # .id: INT32
    "00000001",  # .end_points: ARRAY
    "00002384",  # ..port: INT32
    "0001 68",  # ..host: STRING
    "0009 504c41494e54455854",  # ..listener_name: STRING, "PLAINTEXT"
    "0000",  # ..security_protocol_type: INT16
    "0001 72",  # .rack: NULLABLE_STRING
)
CONTROLLED_SHUTDOWN_0 = (
    "0007",  # api_key: `kafka.api.ControlledShutdownRequest` of 0.8.2, which has no client id
    "0000",  # api_version
    "00000000",  # correlation_id
    "00000002",  # broker_id: INT32
)
CONTROLLED_SHUTDOWN_1 = (
    "0007",  # api_key
    "0001",  # api_version
    "00000000",  # correlation_id
    "0001 32",  # client_id: the broker's id as text
    "00000002",  # broker_id: INT32
)

PARTITIONS_ANSWER = (
    "00000000",  # correlation_id: INT32
    "0000",  # error_code: INT16
    "00000001",  # partitions: ARRAY
    "0001 74",  # .topic: STRING
    "00000000",  # .partition: INT32
    "0000",  # .error_code: INT16
)
UPDATE_METADATA_ANSWER = (
    "00000000",  # correlation_id
    "0000",  # error_code: INT16
)
CONTROLLED_SHUTDOWN_ANSWER = (
    "00000000",  # correlation_id
    "0000",  # error_code: INT16
    "00000001",  # partitions_remaining: ARRAY
    "0001 74",  # .topic: STRING
    "00000000",  # .partition: INT32
)

Fields = tuple[str, ...]


def framed(fields: Iterable[str]) -> bytes:
    """The fields behind their size, an INT32."""
    data = bytes.fromhex("".join(fields))
    return bytes.fromhex(f"{len(data):08x}") + data


# ------------------------------------------------------------------------------------------------- what is said by them

STATES = (PartitionLeadership("t", 0, led(2, 3, (2, 1), 6, 4), (1, 2)),)
BROKERS = (LiveBroker(2, end_points=(EndPoint(9092, "h", "PLAINTEXT"),), rack="r"),)
LEADER_AND_ISR = LeaderAndIsrRequest(1, 7, STATES, (LiveLeader(2, "h", 9092),))
STOP_REPLICA = StopReplicaRequest(1, 7, delete_partitions=True, partitions=(TopicPartition("t", 0),))
UPDATE_METADATA = UpdateMetadataRequest(1, 7, STATES, BROKERS)
SHUTDOWN_ANSWER = ControlledShutdownResponse(ErrorCode.NONE, (TopicPartition("t", 0),))

SENT: list[tuple[KafkaVersion, Request, Fields, Fields]] = [
    *((release, LEADER_AND_ISR, LEADER_AND_ISR_0, PARTITIONS_ANSWER) for release in KafkaVersion),
    *((release, STOP_REPLICA, STOP_REPLICA_0, PARTITIONS_ANSWER) for release in KafkaVersion),
    (V082, UPDATE_METADATA, UPDATE_METADATA_0, UPDATE_METADATA_ANSWER),
    (V090, UPDATE_METADATA, UPDATE_METADATA_1, UPDATE_METADATA_ANSWER),
    (V0100, UPDATE_METADATA, UPDATE_METADATA_2, UPDATE_METADATA_ANSWER),
    (V0101, UPDATE_METADATA, UPDATE_METADATA_2, UPDATE_METADATA_ANSWER),
    (V0102, UPDATE_METADATA, UPDATE_METADATA_3, UPDATE_METADATA_ANSWER),
]
TOLD = {
    PARTITIONS_ANSWER: "{error_code=0,partitions=[{topic=t,partition=0,error_code=0}]}",
    UPDATE_METADATA_ANSWER: "{error_code=0}",
}


def received(connection: socket.socket, size: int) -> bytes:
    """So many bytes, or what came before the end."""
    connection.settimeout(TIMEOUT)
    return connection.recv(size, socket.MSG_WAITALL)


@pytest.mark.parametrize(("release", "request_", "sent", "answer"), SENT)
def test_a_controller_sends_the_bytes_of_its_release_and_reads_their_answer(
    release: KafkaVersion, request_: Request, sent: Fields, answer: Fields
) -> None:
    journal: list[Entry] = []
    controller = KafkaController(Configuration(1), journal.append)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        payload = BrokerPayload(4, "127.0.0.1", listening.getsockname()[1], timestamp=0)
        controller.context.live_brokers = {2: Registration(payload, 0)}
        manager = ControllerChannelManager.started(controller.context.live_brokers, controller.metrics)
        controller.context.controller_channel_manager = manager
        manager.send_request(2, QueuedRequest(request_, 0, 0))
        Channels(controller, protocol=release).follow()
        connection, _ = listening.accept()
        with connection:
            assert received(connection, len(framed(sent))).hex(" ", 2) == framed(sent).hex(" ", 2)
            connection.sendall(framed(answer))
            deadline = time.monotonic() + TIMEOUT
            while not journal:
                assert time.monotonic() < deadline, "the answer is not read"
                time.sleep(0.01)
    (line,) = [str(one.line) for one in journal if isinstance(one, StateChange)]
    assert f"received response {TOLD[answer]} for a request sent to broker" in line


@pytest.mark.parametrize("release", list(KafkaVersion))
def test_a_broker_that_is_to_stop_sends_the_bytes_of_its_release_and_reads_their_answer(release: KafkaVersion) -> None:
    sent = framed(CONTROLLED_SHUTDOWN_0 if release == V082 else CONTROLLED_SHUTDOWN_1)
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor() as pool:
        asking = pool.submit(_ask, _header(2, 0, release), 2, listening.getsockname())
        connection, _ = listening.accept()
        with connection:
            assert received(connection, len(sent)).hex(" ", 2) == sent.hex(" ", 2)
            connection.sendall(framed(CONTROLLED_SHUTDOWN_ANSWER))
        assert asking.result(TIMEOUT) == SHUTDOWN_ANSWER


ANSWERED: list[tuple[Fields, Fields]] = [
    (LEADER_AND_ISR_0, PARTITIONS_ANSWER),
    (STOP_REPLICA_0, PARTITIONS_ANSWER),
    (UPDATE_METADATA_0, UPDATE_METADATA_ANSWER),
    (UPDATE_METADATA_1, UPDATE_METADATA_ANSWER),
    (UPDATE_METADATA_2, UPDATE_METADATA_ANSWER),
    (UPDATE_METADATA_3, UPDATE_METADATA_ANSWER),
    (CONTROLLED_SHUTDOWN_0, CONTROLLED_SHUTDOWN_ANSWER),
    (CONTROLLED_SHUTDOWN_1, CONTROLLED_SHUTDOWN_ANSWER),
]


@pytest.mark.parametrize(("request_", "answer"), ANSWERED)
def test_a_broker_answers_the_bytes_of_every_release(tmp_path: Path, request_: Fields, answer: Fields) -> None:
    logs = Logs(2, tmp_path)
    listeners = Listeners(lambda _: None, lambda _: SHUTDOWN_ANSWER)
    server = RequestServer(Broker(2, journal=logs.journal), threading.RLock(), logs, ("127.0.0.1", 0), listeners)
    server.start()
    with socket.create_connection(server.address, TIMEOUT) as connection:
        connection.sendall(framed(request_))
        assert received(connection, len(framed(answer))).hex(" ", 2) == framed(answer).hex(" ", 2)
        if request_[0] == "0006":
            assert server.addresses == {2: ("h", 9092)}
