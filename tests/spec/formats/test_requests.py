"""Requests and answers: recorded ones come back unchanged, bytes are those of the protocol, bad ones are refused."""

import gzip
from collections import Counter
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.errors import MalformedInput, Where
from spec.formats.error_codes import ErrorCode, for_stale_leader_epoch
from spec.formats.json_requests import response_from_json, response_to_json
from spec.formats.kafka_types import KafkaVersion, TopicPartition
from spec.formats.request_schemas import (
    ApiKey,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    EndPoint,
    LeaderAndIsrRequest,
    LiveBroker,
    LiveLeader,
    PartitionError,
    PartitionLeadership,
    PartitionsResponse,
    Request,
    Response,
    StopReplicaRequest,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
    api_version,
    api_versions,
)
from spec.formats.requests import (
    RequestHeader,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    parse_request,
    print_request,
)
from tests import strategies
from tests.leaderships import led

RECORDED = Path(__file__).parents[2] / "data" / "kafka-0.10.2.2-requests.txt.gz"


def test_every_recorded_request_prints_as_it_stood_and_survives_the_wire() -> None:
    counts: Counter[tuple[int, int]] = Counter()
    with gzip.open(RECORDED, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            text = line.removesuffix("\n")
            header, request = parse_request(text)
            assert print_request(header, request) == text
            assert decode_request(encode_request(header, request)) == (header, request)
            counts[header.api_key, header.api_version] += 1
    assert counts == {(4, 0): 996, (5, 0): 534, (6, 3): 520, (7, 1): 9}  # counted by grep in the file


@given(strategies.headed_requests())
def test_a_request_reads_back_as_it_was_in_both_notations(headed: tuple[RequestHeader, Request]) -> None:
    assert decode_request(encode_request(*headed)) == headed
    assert parse_request(print_request(*headed)) == headed


@given(st.sampled_from(ApiKey), strategies.int32s, st.data())
def test_an_answer_reads_back_as_it_was(key: ApiKey, correlation_id: int, data: st.DataObject) -> None:
    response = data.draw(strategies.responses_of(key))
    for version in api_versions(key):
        encoded = encode_response(correlation_id, response, key, version)
        assert decode_response(encoded, key, version) == (correlation_id, response)
        told = response_to_json(response, key, version)
        assert response_from_json(told, key, version, Where("answer")) == response


def text(value: str) -> bytes:
    return pack(">h", len(value)) + value.encode()


LEADERSHIP = PartitionLeadership("t", 1, led(3, 4, (3, 5), 2, 6), (5, 3))
LEADERSHIP_BYTES = text("t") + pack(">4i", 1, 2, 3, 4) + pack(">3i", 2, 3, 5) + pack(">i", 6) + pack(">3i", 2, 5, 3)
SENDER = pack(">2i", 1, 7)
ONE = pack(">i", 1)

BYTES: list[tuple[ApiKey, int, Request, bytes]] = [
    (
        ApiKey.LEADER_AND_ISR,
        0,
        LeaderAndIsrRequest(1, 7, (LEADERSHIP,), (LiveLeader(3, "h", 9092),)),
        SENDER + ONE + LEADERSHIP_BYTES + ONE + pack(">i", 3) + text("h") + pack(">i", 9092),
    ),
    (
        ApiKey.STOP_REPLICA,
        0,
        StopReplicaRequest(1, 7, delete_partitions=True, partitions=(TopicPartition("t", 1),)),
        SENDER + b"\1" + ONE + text("t") + pack(">i", 1),
    ),
    (
        ApiKey.UPDATE_METADATA,
        0,
        UpdateMetadataRequest(1, 7, (LEADERSHIP,), (LiveBroker(3, "h", 9092),)),
        SENDER + ONE + LEADERSHIP_BYTES + ONE + pack(">i", 3) + text("h") + pack(">i", 9092),
    ),
    (
        ApiKey.UPDATE_METADATA,
        1,
        UpdateMetadataRequest(1, 7, (), (LiveBroker(3, end_points=(EndPoint(9092, "h"),)),)),
        SENDER + pack(">i", 0) + ONE + pack(">3i", 3, 1, 9092) + text("h") + pack(">h", 0),
    ),
    (
        ApiKey.UPDATE_METADATA,
        2,
        UpdateMetadataRequest(1, 7, (), (LiveBroker(3, end_points=(EndPoint(9092, "h"),), rack="r"),)),
        SENDER + pack(">i", 0) + ONE + pack(">3i", 3, 1, 9092) + text("h") + pack(">h", 0) + text("r"),
    ),
    (
        ApiKey.UPDATE_METADATA,
        3,
        UpdateMetadataRequest(1, 7, (), (LiveBroker(3, end_points=(EndPoint(9092, "h", "L", 1),)),)),
        SENDER + pack(">i", 0) + ONE + pack(">3i", 3, 1, 9092) + text("h") + text("L") + pack(">2h", 1, -1),
    ),
    (ApiKey.CONTROLLED_SHUTDOWN, 0, ControlledShutdownRequest(3), pack(">i", 3)),
    (ApiKey.CONTROLLED_SHUTDOWN, 1, ControlledShutdownRequest(3), pack(">i", 3)),
]


@pytest.mark.parametrize(("key", "version", "request_", "body"), BYTES)
def test_the_bytes_are_those_that_the_protocol_says(key: ApiKey, version: int, request_: Request, body: bytes) -> None:
    client_id = None if (key, version) == (ApiKey.CONTROLLED_SHUTDOWN, 0) else "c"
    header = RequestHeader(key, version, 9, client_id)
    assert encode_request(header, request_) == pack(">2hi", key, version, 9) + (text("c") if client_id else b"") + body


def test_a_controlled_shutdown_of_version_0_has_no_client_id() -> None:
    encoded = bytes.fromhex("0007 0000 00000009 00000003")
    assert decode_request(encoded) == (RequestHeader(7, 0, 9), ControlledShutdownRequest(3))


ANSWERS: list[tuple[ApiKey, Response, bytes]] = [
    (ApiKey.UPDATE_METADATA, UpdateMetadataResponse(ErrorCode.STALE_CONTROLLER_EPOCH), pack(">ih", 9, 11)),
    (ApiKey.STOP_REPLICA, PartitionsResponse(ErrorCode.STALE_CONTROLLER_EPOCH), pack(">ihi", 9, 11, 0)),
    (
        ApiKey.LEADER_AND_ISR,
        PartitionsResponse(ErrorCode.NONE, (PartitionError("t", 1, ErrorCode.UNKNOWN),)),
        pack(">ih", 9, 0) + ONE + text("t") + pack(">ih", 1, -1),
    ),
    (
        ApiKey.CONTROLLED_SHUTDOWN,
        ControlledShutdownResponse(ErrorCode.NONE, (TopicPartition("t", 1),)),
        pack(">ih", 9, 0) + ONE + text("t") + pack(">i", 1),
    ),
]


@pytest.mark.parametrize(("key", "response", "encoded"), ANSWERS)
def test_the_bytes_of_an_answer_are_those_that_the_protocol_says(
    key: ApiKey, response: Response, encoded: bytes
) -> None:
    assert encode_response(9, response, key, 0) == encoded


def test_each_release_sends_its_newest_version() -> None:
    table = {key: [api_version(key, release) for release in KafkaVersion] for key in ApiKey}
    assert table == {
        ApiKey.LEADER_AND_ISR: [0, 0, 0, 0, 0],
        ApiKey.STOP_REPLICA: [0, 0, 0, 0, 0],
        ApiKey.UPDATE_METADATA: [0, 1, 2, 2, 3],
        ApiKey.CONTROLLED_SHUTDOWN: [0, 1, 1, 1, 1],
    }
    assert [for_stale_leader_epoch(release) for release in KafkaVersion] == [13, 13, 11, 11, 11]


STOP = encode_request(RequestHeader(5, 0, 9, "c"), StopReplicaRequest(1, 7, False, (TopicPartition("t", 1),)))
"""2+2+4 bytes of header, 3 of client id, 8 of sender, 1 of flag, 4 of count, 3 of topic, 4 of partition: 31."""

REFUSED_BYTES = [
    (b"", "header", "needs 2 more, 0 are left"),
    (STOP[:10], "header.client_id", "needs 1 more, 0 are left"),
    (STOP[:-1], "partitions[0].partition", "needs 4 more, 3 are left"),
    (STOP + b"\0\0", "", "2 too many at the end"),
    (STOP[:19] + b"\2" + STOP[20:], "delete_partitions", "expected the byte 0 or 1, found 2"),
    (STOP[:20] + pack(">i", -1), "partitions", "-1 is no count of elements"),
    (STOP[:20] + pack(">i", 2**31 - 1) + STOP[24:], "partitions[1].topic", "needs 2 more, 0 are left"),
    (STOP[:24] + pack(">h", -1) + STOP[27:], "partitions[0].topic", "-1 is no length of a string"),
    (STOP[:24] + text("/") + STOP[27:], "partitions[0].topic", "expected the name of a topic, found '/'"),
    (STOP[:26] + b"\xff" + STOP[27:], "partitions[0].topic", "not UTF-8"),
    (STOP[:8] + pack(">h", -2) + STOP[10:], "header.client_id", "-2 is no length of a string"),
    (pack(">h", 3) + STOP[2:], "api_key", "3 is none of 4 LEADER_AND_ISR, 5 STOP_REPLICA, 6"),
    (pack(">2h", 5, 1) + STOP[4:], "api_version", "STOP_REPLICA has the versions 0 to 0, not 1"),
    (pack(">2h", 6, -1) + STOP[4:], "api_version", "UPDATE_METADATA has the versions 0 to 3, not -1"),
]


@pytest.mark.parametrize(("data", "field", "reason"), REFUSED_BYTES)
def test_malformed_bytes_are_refused_with_the_field(data: bytes, field: str, reason: str) -> None:
    assert len(STOP) == 31
    with pytest.raises(MalformedInput) as refusal:
        decode_request(data, "frame 3")
    assert (refusal.value.source, refusal.value.field) == ("frame 3", field)
    assert refusal.value.reason.startswith(reason)


@given(strategies.headed_requests(), st.data())
def test_no_request_cut_short_or_continued_is_read(headed: tuple[RequestHeader, Request], data: st.DataObject) -> None:
    encoded = encode_request(*headed)
    cut = data.draw(st.integers(0, len(encoded) - 1))
    for wrong in (encoded[:cut], encoded + b"\0"):
        with pytest.raises(MalformedInput):
            decode_request(wrong)


def test_malformed_answers_are_refused_with_the_field() -> None:
    with pytest.raises(MalformedInput, match="answer: error_code: 12 is no error code of this protocol"):
        decode_response(pack(">ih", 9, 12), ApiKey.UPDATE_METADATA, 3)
    with pytest.raises(MalformedInput, match="answer: correlation_id: needs 4 more, 3 are left"):
        decode_response(b"\0\0\0", ApiKey.UPDATE_METADATA, 3)
    with pytest.raises(MalformedInput, match="answer: 1 too many at the end"):
        decode_response(pack(">ihb", 9, 0, 0), ApiKey.UPDATE_METADATA, 3)
    with pytest.raises(MalformedInput, match="api_version: UPDATE_METADATA has the versions 0 to 3, not 4"):
        decode_response(pack(">ih", 9, 0), ApiKey.UPDATE_METADATA, 4)


HEADER = "{api_key=5,api_version=0,correlation_id=9,client_id=c} -- "
BODY = "{controller_id=1,controller_epoch=7,delete_partitions=false,partitions=[{topic=t,partition=1}]}"
SHUTDOWN = "Name: ControlledShutdownRequest; Version: 1; CorrelationId: 0;ClientId:Some(3); BrokerId: 3"

REFUSED_TEXTS = [
    ("", "header", "expected '{' at character 0"),
    (HEADER, "", "expected '{'"),
    (HEADER + BODY[:-1], "", "expected '}'"),
    (HEADER + BODY + " ", "", "1 too many at the end"),
    (HEADER.replace(" -- ", " - ") + BODY, "", "expected ' -- '"),
    (HEADER + BODY.replace("=1,", "=01,", 1), "controller_id", "expected a number, found '01'"),
    (HEADER + BODY.replace("=7", "=2147483648"), "controller_epoch", "expected a number of 32 bits, found 2147483648"),
    (HEADER + BODY.replace("false", "no"), "delete_partitions", "expected true or false, found 'no'"),
    (HEADER + BODY.replace("epoch", "age"), "controller_epoch", "expected ',controller_epoch=' at character 74"),
    (HEADER + BODY.replace("=t,", "=,"), "partitions[0].topic", "expected the name of a topic, found ''"),
    (HEADER + BODY.replace("}]", "},]"), "partitions[1]", "expected '{'"),
    (HEADER.replace("=5", "=1") + BODY, "api_key", "1 is none of"),
    (SHUTDOWN.replace("Some(3)", "None"), "client_id", "version 1 has one"),
    (SHUTDOWN.replace("Version: 1", "Version: 0"), "client_id", "version 0 has none"),
    (SHUTDOWN.replace("Version: 1", "Version: 2"), "api_version", "CONTROLLED_SHUTDOWN has the versions 0 to 1"),
    (SHUTDOWN + " ", "header", "expected '{'"),
]


@pytest.mark.parametrize(("wrong", "field", "reason"), REFUSED_TEXTS)
def test_malformed_texts_are_refused_with_the_field(wrong: str, field: str, reason: str) -> None:
    with pytest.raises(MalformedInput) as refusal:
        parse_request(wrong, "line 3")
    assert (refusal.value.source, refusal.value.field) == ("line 3", field)
    assert refusal.value.reason.startswith(reason)


UNWRITABLE: list[tuple[RequestHeader, Any, str]] = [
    (RequestHeader(5, 0, 9, "c"), ControlledShutdownRequest(3), "expected a StopReplicaRequest"),
    (RequestHeader(7, 0, 9, "c"), ControlledShutdownRequest(3), "client_id: version 0 has none"),
    (RequestHeader(7, 1, 9), ControlledShutdownRequest(3), "client_id: version 1 has one"),
    (RequestHeader(7, 1, 9, "c"), ControlledShutdownRequest(2**31), "broker_id: expected a number of 32 bits"),
    (
        RequestHeader(5, 0, 9, "c"),
        StopReplicaRequest(1, 7, False, (TopicPartition("", 0),)),
        "topic: expected the name",
    ),
    (
        RequestHeader(6, 1, 9, "c"),
        UpdateMetadataRequest(1, 7, (), (LiveBroker(3, rack="r"),)),
        r"live_brokers\[0\].rack: version 1 cannot carry 'r'",
    ),
    (
        RequestHeader(6, 0, 9, "c"),
        UpdateMetadataRequest(1, 7, (), (LiveBroker(3, "h"),)),
        r"live_brokers\[0\].port: expected a number of 32 bits, found None",
    ),
    (
        RequestHeader(6, 3, 9, "c"),
        UpdateMetadataRequest(1, 7, (), (LiveBroker(3, end_points=(EndPoint(1, "h"),)),)),
        r"live_brokers\[0\].end_points\[0\].listener_name: expected a string, found None",
    ),
]


@pytest.mark.parametrize(("header", "request_", "message"), UNWRITABLE)
def test_what_a_version_cannot_carry_is_not_written(header: RequestHeader, request_: Request, message: str) -> None:
    with pytest.raises(MalformedInput, match=message):
        encode_request(header, request_)


def test_a_name_that_the_text_cannot_hold_is_not_printed() -> None:
    for name in ("a,b", "a}", "null"):
        with pytest.raises(MalformedInput, match="would not be the same when read again"):
            print_request(RequestHeader(5, 0, 9, name), StopReplicaRequest(1, 7, False, ()))
