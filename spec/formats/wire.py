"""Kafka's wire types, each in two notations: bytes on a connection, and the text that brokers log.

Numbers are big endian; a string is an i16 length and UTF-8; an array an i32 count and its elements. Both readers are
strict: what is too short, too long, negative where a count stands or not of the type is refused by field.

The text is that of `org.apache.kafka.common.protocol.types.Struct.toString`: `{name=value,...}` and `[a,b]`. It has no
quotes, so a string ends at the first `,`, `}` or `]`, and the string "null" cannot be told from null: it reads as null.

Left out on purpose: compact and tagged fields (2.4 on), null arrays, and the bytes and record types of other requests.
"""

import re
import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NoReturn

from spec.errors import Where

ENDS = re.compile(r"[,\]}]|\Z")


@dataclass
class Source:
    """What is left to read of some bytes or of a text, and the field that is being read."""

    data: Any
    where: Where
    at: int = 0

    def take(self, count: int) -> Any:
        """The next `count` bytes or characters."""
        if self.at + count > len(self.data):
            self.refuse(f"needs {count} more, {len(self.data) - self.at} are left")
        self.at += count
        return self.data[self.at - count : self.at]

    def expect(self, text: str) -> None:
        """Read this text, or refuse."""
        if not self.data.startswith(text, self.at):
            self.refuse(f"expected {text!r} at character {self.at}, found {self.data[self.at :][:20]!r}")
        self.at += len(text)

    def word(self) -> str:
        """The text up to the next `,`, `]`, `}` or the end."""
        end = ENDS.search(self.data, self.at)
        assert end is not None  # noqa: S101 - the pattern finds the end, if nothing before it
        word: str = self.take(end.start() - self.at)
        return word

    def at_text(self, text: str) -> bool:
        """Whether this text comes next."""
        found: bool = self.data.startswith(text, self.at)
        return found

    def end(self) -> None:
        """Refuse if anything is left."""
        if left := len(self.data) - self.at:
            self.refuse(f"{left} too many at the end")

    def within(self, where: Where) -> "Source":
        """The same source, while it reads another field."""
        self.where = where
        return self

    def refuse(self, reason: str) -> NoReturn:
        """Raise MalformedInput for the field that is being read."""
        self.where.refuse(reason)


class WireType(ABC):
    """One type of the protocol in its two notations; every method refuses with MalformedInput."""

    @abstractmethod
    def encode(self, value: Any, version: int, where: Where) -> bytes:
        """The bytes of a value."""

    @abstractmethod
    def decode(self, source: Source, version: int) -> Any:
        """The value at the start of some bytes."""

    @abstractmethod
    def print(self, value: Any, version: int, where: Where) -> str:
        """The text of a value."""

    @abstractmethod
    def parse(self, source: Source, version: int) -> Any:
        """The value at the start of a text."""


@dataclass(frozen=True)
class Int(WireType):
    """A signed big-endian number, printed in decimal."""

    bits: int

    def encode(self, value: Any, _version: int, where: Where) -> bytes:
        """Its two's complement."""
        return self._checked(value, where).to_bytes(self.bits // 8, "big", signed=True)

    def decode(self, source: Source, _version: int) -> int:
        """The number."""
        return int.from_bytes(source.take(self.bits // 8), "big", signed=True)

    def print(self, value: Any, _version: int, where: Where) -> str:
        """Its decimal digits."""
        return str(int(self._checked(value, where)))

    def parse(self, source: Source, _version: int) -> int:
        """The number."""
        word = source.word()
        if not re.fullmatch("0|-?[1-9][0-9]{0,18}", word):
            source.refuse(f"expected a number, found {word!r}")
        return self._checked(int(word), source.where)

    def _checked(self, value: Any, where: Where) -> int:
        if not isinstance(value, int) or not -(1 << self.bits - 1) <= value < 1 << self.bits - 1:
            where.refuse(f"expected a number of {self.bits} bits, found {value!r}")
        return value


@dataclass(frozen=True)
class Boolean(WireType):
    """One byte, 0 or 1."""

    def encode(self, value: Any, _version: int, _where: Where) -> bytes:
        """The byte."""
        return struct.pack("?", value)

    def decode(self, source: Source, _version: int) -> bool:
        """The flag."""
        byte = source.take(1)
        if byte not in (b"\0", b"\1"):
            source.refuse(f"expected the byte 0 or 1, found {byte[0]}")
        return bool(byte[0])

    def print(self, value: Any, _version: int, _where: Where) -> str:
        """The word."""
        return "true" if value else "false"

    def parse(self, source: Source, _version: int) -> bool:
        """The flag."""
        word = source.word()
        if word not in ("true", "false"):
            source.refuse(f"expected true or false, found {word!r}")
        return word == "true"


@dataclass(frozen=True)
class String(WireType):
    """A string that fits a pattern; a nullable one has the length -1 when it is null."""

    pattern: str = "(?s:.*)"
    what: str = "a string"
    nullable: bool = False

    def encode(self, value: Any, _version: int, where: Where) -> bytes:
        """Its length and its bytes."""
        if self._checked(value, where) is None:
            return b"\xff\xff"
        data: bytes = value.encode()
        if len(data) >= 1 << 15:
            where.refuse(f"{len(data)} bytes are too long for a string")
        return struct.pack(">h", len(data)) + data

    def decode(self, source: Source, _version: int) -> str | None:
        """The string."""
        (length,) = struct.unpack(">h", source.take(2))
        if length < 0:
            if length == -1 and self.nullable:
                return None
            source.refuse(f"{length} is no length of a string")
        try:
            return self._checked(source.take(length).decode(), source.where)
        except UnicodeDecodeError as error:
            source.refuse(f"not UTF-8: {error}")

    def print(self, value: Any, _version: int, where: Where) -> str:
        """The string as it is."""
        text = self._checked(value, where)
        if text is not None and (re.search(r"[,\]}]", text) or (self.nullable and text == "null")):
            where.refuse(f"{text!r} would not be the same when read again")
        return "null" if text is None else text

    def parse(self, source: Source, _version: int) -> str | None:
        """The string."""
        word = source.word()
        return None if self.nullable and word == "null" else self._checked(word, source.where)

    def _checked(self, value: Any, where: Where) -> str | None:
        if value is None and self.nullable:
            return None
        if not isinstance(value, str) or not re.fullmatch(self.pattern, value):
            where.refuse(f"expected {self.what}, found {value!r}")
        return value


@dataclass(frozen=True)
class ArrayOf(WireType):
    """A count and as many elements, a tuple in Python."""

    element: WireType

    def encode(self, value: Any, version: int, where: Where) -> bytes:
        """The count and the elements."""
        items = (self.element.encode(item, version, where.item(index)) for index, item in enumerate(value))
        return struct.pack(">i", len(value)) + b"".join(items)

    def decode(self, source: Source, version: int) -> tuple[Any, ...]:
        """The elements."""
        where = source.where
        (count,) = struct.unpack(">i", source.take(4))
        if count < 0:
            source.refuse(f"{count} is no count of elements")
        return tuple(self.element.decode(source.within(where.item(index)), version) for index in range(count))

    def print(self, value: Any, version: int, where: Where) -> str:
        """The elements between brackets."""
        items = (self.element.print(item, version, where.item(index)) for index, item in enumerate(value))
        return "[" + ",".join(items) + "]"

    def parse(self, source: Source, version: int) -> tuple[Any, ...]:
        """The elements."""
        where = source.where
        source.expect("[")
        elements: list[Any] = []
        while not source.at_text("]"):
            if elements:
                source.expect(",")
            elements.append(self.element.parse(source.within(where.item(len(elements))), version))
        source.within(where).expect("]")
        return tuple(elements)


INT16, INT32, BOOLEAN = Int(16), Int(32), Boolean()
STRING, NULLABLE_STRING = String(), String(nullable=True)
