"""Requests as bytes and as JSON, both ways, in each version; and bytes that are not one.

What Kafka 0.10.2.2 sent is among them, as its brokers logged it; one of each shape. The bytes are those of
`spec/formats/requests.py`, which a codec that knows only the message definitions makes, too (a test compares them).
"""

from collections.abc import Iterator
from typing import Any, Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import Object, since
from spec.formats.json_requests import request_to_hex, request_to_json
from spec.formats.kafka_types import KafkaVersion, TopicPartition
from spec.formats.leadership import LeaderIsrAndControllerEpoch
from spec.formats.request_schemas import (
    ApiKey,
    ControlledShutdownRequest,
    EndPoint,
    LeaderAndIsrRequest,
    LiveBroker,
    LiveLeader,
    PartitionLeadership,
    Request,
    StopReplicaRequest,
    UpdateMetadataRequest,
    api_version,
)
from spec.formats.requests import RequestHeader, header_version

SOURCE: Final = ["PROTOCOL.md section 9", "org.apache.kafka.common.protocol.Protocol 0.10.2.2"]


def _led(leader: int, leader_epoch: int, isr: tuple[int, ...], controller_epoch: int, version: int) -> Any:
    return LeaderIsrAndControllerEpoch(
        leader=leader, leader_epoch=leader_epoch, isr=isr, controller_epoch=controller_epoch, zk_version=version
    )


LED = PartitionLeadership("orders", 0, _led(2, 5, (2, 3), 7, 9), (2, 3, 1))
NOBODY = PartitionLeadership("orders", 1, _led(-1, 6, (3,), 7, 10), (3,))
DELETED = PartitionLeadership("gone", 12, _led(-2, 0, (1,), 7, 0), (1,))
UNICODE = PartitionLeadership("t", 2147483647, _led(2147483647, 2147483647, (), 1, 0), ())
OLD = (LiveBroker(1, "a", 9092), LiveBroker(2, "", -1))
V1 = (LiveBroker(1, end_points=(EndPoint(9092, "a"), EndPoint(9093, "b", None, 1))), LiveBroker(2))
V2 = (LiveBroker(1, end_points=(EndPoint(9092, "a"),), rack="rack ä"), LiveBroker(2, rack=None), LiveBroker(3, rack=""))
V3 = (LiveBroker(1, end_points=(EndPoint(9092, "a", "PLAINTEXT"), EndPoint(9093, "a", "CLIENTS", 1)), rack=None),)

REQUESTS: Final[tuple[tuple[str, int, Request], ...]] = (
    ("one partition, one leader", 0, LeaderAndIsrRequest(1, 7, (LED,), (LiveLeader(2, "b", 9092),))),
    ("of partitions with a leader and without", 0, LeaderAndIsrRequest(1, 7, (LED, NOBODY), ())),
    ("of nothing", 0, LeaderAndIsrRequest(1, 7, (), ())),
    ("the largest numbers, and empty lists", 0, LeaderAndIsrRequest(2147483647, 2147483647, (UNICODE,), ())),
    ("to stop two", 0, StopReplicaRequest(1, 7, False, (TopicPartition("orders", 0), TopicPartition("orders", 1)))),
    ("to delete one", 0, StopReplicaRequest(1, 7, True, (TopicPartition("orders", 0),))),
    ("to stop none", 0, StopReplicaRequest(1, 7, False, ())),
    ("with hosts", 0, UpdateMetadataRequest(1, 7, (LED,), OLD)),
    ("with end points", 1, UpdateMetadataRequest(1, 7, (LED, DELETED), V1)),
    ("with racks, one of them null", 2, UpdateMetadataRequest(1, 7, (LED,), V2)),
    ("with listeners by name", 3, UpdateMetadataRequest(1, 7, (LED, NOBODY), V3)),
    ("of no partition", 3, UpdateMetadataRequest(1, 7, (), V3)),
    ("without a client id", 0, ControlledShutdownRequest(3)),
    ("with one", 1, ControlledShutdownRequest(3)),
)
CLIENTS: Final = ("1", "controller ä", "")
"""The client ids of the requests, in turn."""


def request_cases() -> Iterator[Case]:
    """Each request, both ways; then what is not one."""
    for number, (words, version, request) in enumerate(REQUESTS):
        header = _header(request.api_key, version, number)
        told, digits = request_to_json(header, request), request_to_hex(header, request)
        title = f"{told['name']} {version}, {words}"
        tags = ["bytes", told["name"], f"version-{version}"]
        dialects = since(min(one for one in KafkaVersion if api_version(request.api_key, one) >= version))
        yield Case("encode_request", f"{title}, is encoded", told, [{"hex": digits}], SOURCE, tags, dialects)
        yield Case("decode_request", f"{title}, is decoded", {"hex": digits}, [told], SOURCE, tags, dialects)
        for damage, bad in _damaged(digits):
            yield Case(
                "decode_request", f"{title}, {damage}, is no request", {"hex": bad}, [{"refused": True}], SOURCE,
                [*tags, "hostile"], dialects,
            )  # fmt: skip
        yield Case(
            "decode_request", f"{title}, with a byte too many, which Kafka passes over, is no request",
            {"hex": digits + "00"}, [{"refused": True}, told], SOURCE, [*tags, "hostile"], dialects,
        )  # fmt: skip
        later, taken = digits[:4] + "0063" + digits[8:], _taken_later(request.api_key, version)
        yield Case(
            "decode_request", f"{title}, of version 99,{' which Kafka takes,' if taken else ''} is no request",
            {"hex": later}, [{"refused": True}, *taken], SOURCE, [*tags, "hostile"],
            tuple(one for one in dialects if one != "as-coded-0.8.2"),
        )  # fmt: skip


def _taken_later(key: ApiKey, version: int) -> list[Object]:
    """What a broker makes of a later version: `ControlledShutdownRequest.readFrom` reads each after 0 as 1."""
    return [{"name": "ControlledShutdown", "version": 99}] if (key, version) == (ApiKey.CONTROLLED_SHUTDOWN, 1) else []


def _header(key: ApiKey, version: int, number: int) -> RequestHeader:
    client = CLIENTS[number % len(CLIENTS)] if header_version(key, version) else None
    return RequestHeader(key, version, 2**31 - 1 - number, client)


def _damaged(digits: str) -> Iterator[tuple[str, str]]:
    """The bytes cut off, by one and by half."""
    yield "cut off by a byte", digits[:-2]
    yield "cut off by half", digits[: len(digits) // 4 * 2]


def hostile_cases() -> Iterator[Case]:
    """Counts and lengths that cannot be, in a StopReplica."""
    header = _header(ApiKey.STOP_REPLICA, 0, 0)
    digits = request_to_hex(header, StopReplicaRequest(1, 7, False, (TopicPartition("t", 0),)))
    head, count, length, rest = digits[:-22], digits[-22:-14], digits[-14:-10], digits[-10:]
    assert (count, length, rest) == ("00000001", "0001", "7400000000")  # noqa: S101 - the layout of the request
    taken: list[Object] = [{"refused": True}, {"name": "StopReplica"}]
    for words, bad, then in (
        ("a negative count of partitions", head + "fffffffe" + length + rest, taken[:1]),
        ("a count that the bytes do not have", head + "7fffffff" + length + rest, taken[:1]),
        ("a negative length of a topic", head + count + "fffe" + rest, taken[:1]),
        ("a topic that is no UTF-8, which Kafka takes,", head + count + length + "ff" + rest[2:], taken),
        ("a flag that is neither 0 nor 1, which Kafka takes,", head[:-2] + "02" + count + length + rest, taken),
    ):
        given: Object = {"hex": bad}
        title, tags = f"StopReplica 0 with {words} is no request", ["bytes", "StopReplica", "version-0", "hostile"]
        yield Case("decode_request", title, given, then, SOURCE, tags)
