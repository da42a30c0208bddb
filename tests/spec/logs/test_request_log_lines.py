"""Lines of kafka-request.log: a request as it arrives and as it is answered."""

import pytest

from spec.errors import MalformedInput
from spec.formats.kafka_types import V082, V090, TopicPartition
from spec.formats.request_schemas import ApiKey, StopReplicaRequest
from spec.formats.requests import RequestHeader
from spec.logs.request_log_lines import REQUEST_LOG, LoggedRequest, RequestCompleted, RequestReceived

TEXT = (
    "{api_key=5,api_version=0,correlation_id=9,client_id=1} -- {controller_id=1,controller_epoch=7,"
    "delete_partitions=false,partitions=[{topic=t,partition=1}]}"
)
LOGGED = LoggedRequest(
    RequestHeader(ApiKey.STOP_REPLICA, 0, 9, "1"), StopReplicaRequest(1, 7, False, (TopicPartition("t", 1),))
)
ARRIVED = f"Processor 2 received request : {TEXT}"
ANSWERED = (
    f"Completed request:{TEXT} from connection 127.0.0.1:9092-127.0.0.1:56284;totalTime:9,requestQueueTime:2,"
    "localTime:6,remoteTime:0,responseQueueTime:1,sendTime:3,securityProtocol:PLAINTEXT,principal:User:ANONYMOUS"
)


def test_an_arrival_and_an_answer_read_and_print() -> None:
    """The texts of `RequestChannel.Request` at 0.10.2.2 and, without the listener, at 0.9.0.1."""
    arrived = REQUEST_LOG.parse(ARRIVED)
    assert arrived == RequestReceived(2, LOGGED)
    assert (str(arrived), arrived.logger) == (ARRIVED, "kafka.network.RequestChannel$")
    connection = "127.0.0.1:9092-127.0.0.1:56284"
    answered = RequestCompleted(LOGGED, connection, 9, 2, 6, 0, 1, 3, "PLAINTEXT", "User:ANONYMOUS", "PLAINTEXT")
    assert REQUEST_LOG.parse(ANSWERED + ",listener:PLAINTEXT") == answered
    assert (str(answered), answered.logger) == (ANSWERED + ",listener:PLAINTEXT", "kafka.request.logger")
    assert str(REQUEST_LOG.parse(ANSWERED, V090)) == ANSWERED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ARRIVED.replace("api_key=5", "api_key=1"), "line 3: logged: api_key: 1 is none of 4 LEADER_AND_ISR"),
        (ARRIVED.replace("epoch=7", "epoch=x"), "line 3: logged: controller_epoch: expected a number, found 'x'"),
        (ARRIVED[:-1], r"line 3: logged: expected '}' at character"),
        (ANSWERED, "line 3: no line of Kafka 0.10.2: expected ',listener:' at character"),
    ],
)
def test_another_request_is_refused(text: str, message: str) -> None:
    with pytest.raises(MalformedInput, match=message):
        REQUEST_LOG.parse(text, source="line 3")


def test_0_8_2_logged_requests_in_another_form() -> None:
    with pytest.raises(MalformedInput, match=r"Kafka 0\.8\.2 logs no line of this kind"):
        REQUEST_LOG.parse(ARRIVED, V082)
