"""What a process of the reference sends and writes as one of an older release would."""

from typing import Any

import pytest

from reference.controller.effects import RegisterBroker
from reference.live.shutdown import _header
from reference.procedures import AskSession, SessionView
from reference.zookeeper.api import Create
from spec.formats.kafka_types import V0100, V0101, V0102, V082, V090, KafkaVersion
from spec.formats.request_schemas import ApiKey, EndPoint, LiveBroker, UpdateMetadataRequest, api_version
from spec.formats.requests import RequestHeader, decode_request, encode_request
from spec.formats.znodes import BrokerPayload, parse_payload

BROKER = LiveBroker(3, end_points=(EndPoint(9092, "h", "PLAINTEXT"),), rack="r")
TOLD = {
    V082: LiveBroker(3, "h", 9092),
    V090: LiveBroker(3, end_points=(EndPoint(9092, "h"),)),
    V0100: LiveBroker(3, end_points=(EndPoint(9092, "h"),), rack="r"),
    V0101: LiveBroker(3, end_points=(EndPoint(9092, "h"),), rack="r"),
    V0102: BROKER,
}
"""What each release tells of a broker: 0.8.2 host and port, racks since 0.10.0, names of listeners since 0.10.2."""


@pytest.mark.parametrize("release", list(KafkaVersion))
def test_a_broker_is_told_as_the_release_tells_it(release: KafkaVersion) -> None:
    version = api_version(ApiKey.UPDATE_METADATA, release)
    request = UpdateMetadataRequest(1, 7, (), (BROKER,)).carried_by(version)
    header = RequestHeader(ApiKey.UPDATE_METADATA, version, 5, "1")
    assert decode_request(encode_request(header, request))[1] == UpdateMetadataRequest(1, 7, (), (TOLD[release],))


def test_only_0_8_2_does_not_name_who_asks_to_be_let_go() -> None:
    headers = [_header(2, 0, release) for release in KafkaVersion]
    assert [(one.api_version, one.client_id) for one in headers] == [(0, None), *[(1, "2")] * 4]


@pytest.mark.parametrize(("release", "version"), [(V082, 1), (V090, 2), (V0100, 3), (V0101, 3), (V0102, 4)])
def test_a_broker_registers_in_the_form_of_its_release(release: KafkaVersion, version: int) -> None:
    script: Any = RegisterBroker(2, "h", 9092, release).script()
    assert isinstance(next(script), AskSession)
    created = script.send(SessionView(1, 0))
    created = getattr(created, "operation", created)
    assert isinstance(created, Create)
    payload = parse_payload("/brokers/ids/2", created.data)
    assert isinstance(payload, BrokerPayload)
    assert (payload.version, payload.host, payload.port) == (version, "h", 9092)
    assert (payload.endpoints is None) == (version == 1)
    assert (payload.listener_security_protocol_map is None) == (version < 4)
