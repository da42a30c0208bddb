"""What people name and write: partitions by Kafka's names, data of znodes as JSON."""

import json

from reference.face.view import Json
from spec.errors import BadInput
from spec.formats.kafka_types import TopicPartition


def partition_named(name: str) -> TopicPartition:
    """The partition of a name such as `orders-0`; BadInput if it is none."""
    topic, _, number = name.rpartition("-")
    if not topic or not number.isdecimal():
        raise BadInput(f"{name!r} is no partition; expected a topic and a number, as in orders-0")
    return TopicPartition(topic, int(number))


def data_of(data: Json) -> bytes:
    """The data of a znode: a text as it is, and anything else as JSON without blanks."""
    text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return text.encode()
