"""The answers to the four requests as bytes and as JSON, both ways, in each version; and bytes that are not one.

The bytes are packed here from what PROTOCOL.md section 9 says of each answer, number by number, without the formats of
`spec/formats`, which the reference uses.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import pack
from typing import Final

from model_check.conformance.making.cases import Case
from model_check.conformance.vector import Object, since
from spec.formats.kafka_types import V0100, V0102, V082, V090, KafkaVersion

SOURCE: Final = ["PROTOCOL.md section 9", "org.apache.kafka.common.protocol.Protocol 0.10.2.2"]
SINCE: Final[dict[tuple[str, int], KafkaVersion]] = {
    ("UpdateMetadata", 1): V090, ("UpdateMetadata", 2): V0100, ("UpdateMetadata", 3): V0102,
    ("ControlledShutdown", 1): V090,
}  # fmt: skip
"""The release that brought a version of a request, of those that 0.8.2 does not have."""
REFUSED: Final[Object] = {"refused": True}
Coded = tuple[str, int, int]


@dataclass(frozen=True)
class Answer:
    """An answer: its code, and its partitions with a code each, or without; None where it has no list of them."""

    name: str
    version: int
    words: str
    code: int
    partitions: tuple[tuple[str, int] | Coded, ...] | None = None


ANSWERS: Final = (
    Answer("LeaderAndIsr", 0, "of one partition that was accepted", 0, (("orders", 0, 0),)),
    Answer("LeaderAndIsr", 0, "of three, two of them refused", 0, (("orders", 0, 0), ("orders", 1, 11), ("a-b", 7, 3))),
    Answer("LeaderAndIsr", 0, "of an old controller, without partitions", 11, ()),
    Answer("LeaderAndIsr", 0, "of an error nobody foresaw", -1, (("orders", 2147483647, -1),)),
    Answer("StopReplica", 0, "of two that have stopped", 0, (("orders", 0, 0), ("more", 3, 0))),
    Answer("StopReplica", 0, "of a log that cannot be deleted", 0, (("orders", 0, -1),)),
    Answer("StopReplica", 0, "of an old controller, without partitions", 11, ()),
    *(Answer("UpdateMetadata", version, "that is obeyed", 0) for version in range(4)),
    Answer("UpdateMetadata", 0, "of an error nobody foresaw", -1),
    Answer("UpdateMetadata", 3, "of an old controller", 11),
    Answer("ControlledShutdown", 0, "of which nothing remains", 0, ()),
    Answer("ControlledShutdown", 1, "of which nothing remains", 0, ()),
    Answer("ControlledShutdown", 1, "of which two remain", 0, (("orders", 0), ("a.b_c", 12))),
    Answer("ControlledShutdown", 0, "of which one remains", 0, (("orders", 0),)),
    Answer("ControlledShutdown", 1, "of a broker that is not registered", 8, ()),
    Answer("ControlledShutdown", 1, "of a broker that is not the controller", 11, ()),
)
"""What brokers and controllers answer; each version of each, and the codes that come."""
CORRELATIONS: Final = (0, 7, 2147483647, -1)
"""The correlation ids of the answers, in turn."""


def response_cases() -> Iterator[Case]:
    """Each answer, both ways, and cut off; then the hostile ones."""
    for number, answer in enumerate(ANSWERS):
        correlation = CORRELATIONS[number % len(CORRELATIONS)]
        asked: Object = {"name": answer.name, "version": answer.version}
        told = {"correlation_id": correlation, "body": _body(answer)}
        title = f"The answer to {answer.name} {answer.version}, {answer.words},"
        tags, data = ["bytes", answer.name, f"version-{answer.version}"], _bytes(answer, correlation)
        dialects = since(SINCE.get((answer.name, answer.version), V082))
        yield Case(
            "encode_response", f"{title} is encoded", asked | told, [{"hex": data.hex()}], SOURCE, tags, dialects
        )  # fmt: skip
        yield Case(
            "decode_response", f"{title} is decoded", asked | {"hex": data.hex()}, [told], SOURCE, tags, dialects
        )  # fmt: skip
        cut = asked | {"hex": data[:-1].hex()}
        yield Case(
            "decode_response", f"{title} cut off by a byte, is none", cut, [REFUSED], SOURCE, [*tags, "hostile"],
            dialects,
        )  # fmt: skip
    yield from _hostile_cases()


def _body(answer: Answer) -> Object:
    if answer.partitions is None:
        return {"ErrorCode": answer.code}
    name = "PartitionsRemaining" if answer.name == "ControlledShutdown" else "Partitions"
    keys = ("Topic", "Partition", "ErrorCode")
    return {"ErrorCode": answer.code, name: [dict(zip(keys, one, strict=False)) for one in answer.partitions]}


def _bytes(answer: Answer, correlation: int) -> bytes:
    data = pack(">ih", correlation, answer.code)
    if answer.partitions is None:
        return data
    data += pack(">i", len(answer.partitions))
    for topic, partition, *code in answer.partitions:
        data += (
            pack(">h", len(topic)) + topic.encode() + pack(">i", partition) + b"".join(pack(">h", *code) for _ in code)
        )
    return data


HEAD: Final = pack(">ih", 7, 0)
"""Correlation id and code."""
ENTRY: Final = pack(">hBih", 1, ord("t"), 0, 0)
"""A partition in the answer to LeaderAndIsr."""
TAKEN: Final[list[Object]] = [REFUSED, {"correlation_id": 7}]
"""Kafka's client takes it; a client that refuses it is as right."""


def _hostile_cases() -> Iterator[Case]:
    """Counts, lengths and codes that cannot be, and bytes behind the end; 0.8.2 takes a negative count for none."""
    led, moved, told = ("LeaderAndIsr", 0), ("ControlledShutdown", 1), ("UpdateMetadata", 3)
    for asked, words, data, then in (
        (led, "a negative count of partitions", HEAD + pack(">i", -2) + ENTRY, [REFUSED]),
        (led, "a count that the bytes do not have", HEAD + pack(">i", 2147483647) + ENTRY, [REFUSED]),
        (led, "one partition fewer than it counts", HEAD + pack(">i", 2) + ENTRY, [REFUSED]),
        (led, "a negative length of a topic", HEAD + pack(">ihBih", 1, -2, ord("t"), 0, 0), [REFUSED]),
        (led, "a topic longer than the rest", HEAD + pack(">ihBih", 1, 32767, ord("t"), 0, 0), [REFUSED]),
        (led, "a topic that is no UTF-8, which Kafka takes,", HEAD + pack(">ihBih", 1, 1, 255, 0, 0), TAKEN),
        (led, "a code that nobody knows, which Kafka takes,", pack(">ihi", 7, 999, 0), TAKEN),
        (led, "a byte behind its end, which Kafka passes over,", HEAD + pack(">i", 0) + b"\0", TAKEN),
        (led, "no count", HEAD, [REFUSED]),
        (moved, "partitions with a code each", HEAD + pack(">i", 1) + ENTRY, TAKEN),
        (moved, "a negative count of partitions", HEAD + pack(">i", -2), [REFUSED]),
        (told, "half a code", pack(">ib", 7, 0), [REFUSED]),
        (told, "half a correlation id", b"\0\0", [REFUSED]),
        (told, "nothing", b"", [REFUSED]),
    ):
        name, version = asked
        given: Object = {"name": name, "version": version, "hex": data.hex()}
        yield Case(
            "decode_response", f"An answer to {name} {version} with {words} is none", given, then, SOURCE,
            ["bytes", name, f"version-{version}", "hostile"], since(SINCE.get(asked, V090)),
        )  # fmt: skip
