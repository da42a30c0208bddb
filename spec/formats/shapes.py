"""The shapes that values take in znode paths and in log lines: numbers, ids, topics, partitions, lists of brokers.

One value may have several shapes: Kafka prints a partition as `[t,p]` in some lines and as `t-p` in others, and a
list of brokers as `1,2`, `[1, 2]` or `Set(1, 2)`, according to the class that happens to hold it. Collections that name
their class are in `spec/formats/scala_collections.py`.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final, TypeVar

from spec.formats.json_schema import INT_MAX, INT_MIN
from spec.formats.kafka_types import TOPIC_PATTERN, TopicPartition
from spec.formats.templates import Shape

INT_PATTERN: Final = "(?:0|-?[1-9][0-9]{0,9})"
ID_PATTERN: Final = "(?:0|[1-9][0-9]{0,9})"
Ids = tuple[int, ...]
T = TypeVar("T")
U = TypeVar("U")


def read_int(text: str) -> int:
    """A number that fits the 32 bits of Scala's Int."""
    value = int(text)
    if not INT_MIN <= value <= INT_MAX:
        raise ValueError(f"{text} does not fit 32 bits")
    return value


def listed(name: str, item: Shape[T], separator: str, opening: str = "", closing: str = "") -> Shape[tuple[T, ...]]:
    """The shape of a list between two texts, perhaps empty."""
    one, between = f"(?:{item.pattern})", re.escape(separator)
    items = re.compile(f"({one})(?:{between}|$)")
    inner: Shape[tuple[T, ...]] = Shape(
        name,
        f"(?:{one}(?:{between}{one})*)?",
        lambda text: tuple(item.read(found[1]) for found in items.finditer(text)),
        lambda values: separator.join(map(item.write, values)),
    )
    return around(name, opening, inner, closing)


def around(name: str, opening: str, inner: Shape[T], closing: str) -> Shape[T]:
    """The shape of a value between two texts."""
    return Shape(
        name,
        re.escape(opening) + f"(?:{inner.pattern})" + re.escape(closing),
        lambda text: inner.read(text.removeprefix(opening).removesuffix(closing)),
        lambda value: opening + inner.write(value) + closing,
    )


ARROW: Final = " -> "


def paired(name: str, left: Shape[T], right: Shape[U]) -> Shape[tuple[T, U]]:
    """The shape of two values with an arrow between them, `1 -> 2` as Scala prints the entry of a map."""
    first = re.compile(f"({left.pattern}){ARROW}")

    def read(text: str) -> tuple[T, U]:
        found = first.match(text)
        if found is None:
            raise ValueError(f"{text} does not begin with {left.name}")
        return left.read(found[1]), right.read(text[found.end() :])

    def write(values: tuple[T, U]) -> str:
        return left.write(values[0]) + ARROW + right.write(values[1])

    return Shape(name, f"(?:{left.pattern}){ARROW}(?:{right.pattern})", read, write)


def partition_shape(name: str, opening: str, between: str, closing: str) -> Shape[TopicPartition]:
    """The shape of a topic-partition with these texts around its two parts."""

    def read(text: str) -> TopicPartition:
        topic, _, partition = text.removeprefix(opening).removesuffix(closing).rpartition(between)
        return TopicPartition(topic, read_int(partition))

    def write(value: TopicPartition) -> str:
        return f"{opening}{value.topic}{between}{value.partition}{closing}"

    pattern = re.escape(opening) + TOPIC_PATTERN + re.escape(between) + ID_PATTERN + re.escape(closing)
    return Shape(name, pattern, read, write)


def one_of(name: str, members: Iterable[StrEnum]) -> Shape[Any]:
    """The shape of a value that is one of a few names."""
    by_text = {str(member): member for member in members}
    return Shape(name, "|".join(map(re.escape, by_text)), by_text.__getitem__, str)


INT: Final = Shape("number", INT_PATTERN, read_int, str)
ID: Final = Shape("number, not negative", ID_PATTERN, read_int, str)
ONE_ID: Final[Shape[Ids]] = Shape("id", ID_PATTERN, lambda text: (read_int(text),), lambda ids: str(*ids))
"""A list of brokers where there can be only one."""
TOPIC: Final = Shape("topic", TOPIC_PATTERN, str, str)
BRACKETED: Final = partition_shape("[topic,partition]", "[", ",", "]")
"""`kafka.common.TopicAndPartition`, and what is written by hand in Kafka's sources."""
DASHED: Final = partition_shape("topic-partition", "", "-", "")
"""`org.apache.kafka.common.TopicPartition`, which replaced the other one class by class from 0.9.0 on."""
COMMAS: Final = listed("1,2", INT, ",")
JAVA_LIST: Final = listed("[1, 2]", INT, ", ", "[", "]")
SEQUENCE: Final = Shape("ten digits", "[0-9]{10}", read_int, "{:010d}".format)
BOOLEAN: Final = Shape("true or false", "true|false", lambda text: text == "true", lambda value: str(value).lower())
WORDS: Final = Shape("text", ".*", str, str)
