"""Bytes that are no request: where reading ends, what was read until there, and which field is left out."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import (
    EndPoint,
    LeaderAndIsrRequest,
    LiveBroker,
    PartitionLeadership,
    Request,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from spec.formats.requests import HEADER, RequestHeader, decode_request, encode_request, schema_of
from spec.formats.unreadable_requests import unreadable_request
from tests.leaderships import led
from tests.left_out_fields import leaving_out, struct_with
from tests.strategies import headed_requests

STATE = PartitionLeadership("t", 0, led(1, 0, (1, 2), 1, 0), (1, 2))
ORDER = encode_request(RequestHeader(4, 0, 7, "1"), LeaderAndIsrRequest(1, 1, (STATE,), ()))


@given(headed_requests())
def test_where_fields_are_named_the_one_that_was_left_out_is_among_them(headed: tuple[RequestHeader, Request]) -> None:
    header, request = headed
    schema = schema_of(header)
    for struct in schema.structs(header.api_version):
        for name, _ in struct.members(header.api_version):
            with leaving_out(struct, name):
                data = encode_request(header, request)
            with suppress(MalformedInput):
                decode_request(data)
                continue
            found = unreadable_request(data)
            if found is not None:  # Kafka may read it, with something behind
                assert found.is_known
                assert name in found.left_out or not found.left_out


@given(headed_requests(), st.data())
def test_wherever_bytes_end_too_early_it_is_told(headed: tuple[RequestHeader, Request], data: Any) -> None:
    header, request = headed
    whole = encode_request(header, request)
    cut = data.draw(st.integers(4, len(whole) - 1))
    found = unreadable_request(whole[:cut])
    assert found is not None
    assert f" in {cut:,} bytes: " in str(found)
    assert f"{HEADER.members(0)[0][0]}={header.api_key}" in str(found) or cut > 40 or "..." in str(found)


def test_it_is_said_where_and_what_was_read_until_there() -> None:
    found = unreadable_request(ORDER[:30])
    assert str(found) == (
        "LEADER_AND_ISR of version 0 in 30 bytes: partition_states[0].controller_epoch: needs 4 more, 0 are left, at "
        "byte 30; read until there: ..., header.correlation_id=7, header.client_id=1, controller_id=1, "
        "controller_epoch=1, partition_states[0].topic=t, partition_states[0].partition=0"
    )


def test_a_rack_that_is_left_out_is_named() -> None:
    """Reading ends far behind it, in the next broker; two bytes that are 0 may be another field, too."""
    with_rack, without = (
        LiveBroker(one, end_points=(EndPoint(9092, "h", security_protocol_type=0),), rack=rack)
        for one, rack in ((1, "a"), (2, None))
    )
    header, request = RequestHeader(6, 2, 7, "1"), UpdateMetadataRequest(1, 1, (STATE,), (with_rack, without))
    whole = encode_request(header, request)
    with leaving_out(struct_with("rack", schema_of(header), 2), "rack"):
        data = encode_request(header, request)
    assert len(data) == len(whole) - 3 - 2
    found = unreadable_request(data)
    assert found is not None
    assert found.left_out == ("rack", "security_protocol_type")
    hint = "all of it can be read without rack, or without security_protocol_type: is that left out?"
    assert str(found).endswith(f"; {hint}")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\0\x63\0\0abc", "a request in 7 bytes: api_key: 99 is none of "),
        (b"", "0 bytes, which end before the key and version of a request"),
        (b"\0\4\0", "3 bytes, which end before the key and version of a request"),
        (b"\0\4\0\7abc", "a request in 7 bytes: api_version: LEADER_AND_ISR has the versions 0 to 0, not 7"),
    ],
)
def test_what_is_of_another_protocol_is_told_so(data: bytes, text: str) -> None:
    found = unreadable_request(data)
    assert found is not None
    assert (found.is_known, str(found)[: len(text)]) == (False, text)


def test_what_kafka_reads_and_we_refuse_is_no_mistake_of_the_sender() -> None:
    """Bytes behind a request, a flag that is neither 0 nor 1, and a topic of any name."""
    stop = encode_request(RequestHeader(5, 0, 7, "1"), StopReplicaRequest(1, 1, True, (TopicPartition("t", 0),)))
    flag = len(stop) - len(b"\0\0\0\1\0\1t\0\0\0\0") - 1
    for data in (ORDER + b"x", stop[:flag] + b"\2" + stop[flag + 1 :], stop.replace(b"\0\1t", b"\0\1 ")):
        with pytest.raises(MalformedInput):
            decode_request(data)
        assert unreadable_request(data) is None


@pytest.mark.parametrize("client", ["\x1b[2J\n", "x" * 32_000])
def test_what_was_sent_is_shown_in_a_few_printable_characters(client: str) -> None:
    data = encode_request(RequestHeader(4, 0, 7, client), LeaderAndIsrRequest(1, 1, (STATE,), ()))
    told = str(unreadable_request(data[: len(client) + 20]))
    assert told.isprintable()
    assert len(told) < 400
