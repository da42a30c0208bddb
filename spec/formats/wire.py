"""Kafka's wire types, each in two notations: bytes on a connection, and the text that brokers log.

Numbers are big endian; a string is an i16 length and UTF-8; an array an i32 count and its elements. Both readers are
strict: what is too short, too long, negative in the place of a count or not of the type is refused by field.

A struct is a dataclass with versions. The annotation of a field carries its `WireType` beside the Python type, and the
`Versions` that have it, where it came or went with one:

    rack: Annotated[str | None, NULLABLE_STRING, Versions(2)] = None

A field that a version does not have takes its default when read, and must have it when written: a value that would be
lost is refused.

The text is that of `org.apache.kafka.common.protocol.types.Struct.toString`: `{name=value,...}` and `[a,b]`. It has no
quotes, so a string ends at the first `,`, `}` or `]`, and the string "null" cannot be told apart from null: it reads as
null.

Left out on purpose: compact and tagged fields (2.4 on), null arrays, and the bytes and record types of other requests.
"""

import re
import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass
from functools import cached_property
from typing import Any, NoReturn

from spec.errors import Where
from spec.formats.inner_records import Flattened, mark

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

    def structs(self, version: int) -> Iterator["Struct"]:
        """The structs that a value has in it."""
        del version
        yield from ()


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
        data = self._data(source)
        if data is None:
            return None
        try:
            return self._checked(data.decode(), source.where)
        except UnicodeDecodeError as error:
            source.refuse(f"not UTF-8: {error}")

    def text(self, source: Source) -> str | None:
        """The string, as Kafka takes it: any text, in which what is no UTF-8 is replaced."""
        data = self._data(source)
        return None if data is None else data.decode(errors="replace")

    def _data(self, source: Source) -> bytes | None:
        (length,) = struct.unpack(">h", source.take(2))
        if length < 0:
            if length == -1 and self.nullable:
                return None
            source.refuse(f"{length} is no length of a string")
        return bytes(source.take(length))

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
        indices = range(self.counted(source))
        return tuple(self.element.decode(source.within(where.item(index)), version) for index in indices)

    def structs(self, version: int) -> Iterator["Struct"]:
        """The structs that an element has in it."""
        return self.element.structs(version)

    def counted(self, source: Source) -> int:
        """How many elements follow."""
        (count,) = struct.unpack(">i", source.take(4))
        if count < 0:
            source.refuse(f"{count} is no count of elements")
        return int(count)

    def print(self, value: Any, version: int, where: Where) -> str:
        """The elements between brackets."""
        items = (self.element.print(item, version, where.item(index)) for index, item in enumerate(value))
        return "[" + ",".join(items) + "]"

    def parse(self, source: Source, version: int) -> tuple[Any, ...]:
        """The elements."""
        where = source.where
        source.expect("[")
        elements: list[Any] = []
        while not source.data.startswith("]", source.at):
            if elements:
                source.expect(",")
            elements.append(self.element.parse(source.within(where.item(len(elements))), version))
        source.within(where).expect("]")
        return tuple(elements)


INT16, INT32, BOOLEAN = Int(16), Int(32), Boolean()
STRING, NULLABLE_STRING = String(), String(nullable=True)


@dataclass(frozen=True)
class Versions:
    """The versions that have a field, both included."""

    first: int = 0
    last: int = sys.maxsize

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last


EVERY = Versions()
Member = tuple[str, WireType, Versions, object]


class Struct(WireType):
    """A dataclass as a struct: its fields in order, each with its wire type."""

    def __init__(self, cls: type[Any]) -> None:
        self.record = Flattened(cls)

    @cached_property
    def _members(self) -> tuple[Member, ...]:
        return tuple(_member(field, hint) for field, hint in self.record.declared())

    def members(self, version: int) -> list[tuple[str, WireType]]:
        """Name and type of the fields that stand in this version."""
        return [(name, wire_type) for name, wire_type, versions, _ in self._members if version in versions]

    def structs(self, version: int) -> Iterator["Struct"]:
        """The struct itself, and those within it."""
        yield self
        for _, kind in self.members(version):
            yield from kind.structs(version)

    def encode(self, value: Any, version: int, where: Where) -> bytes:
        """The fields, one after the other."""
        values = self._carried(value, version, where)
        return b"".join(
            wire_type.encode(values[name], version, where.key(name)) for name, wire_type in self.members(version)
        )

    def decode(self, source: Source, version: int) -> Any:
        """The struct."""
        where = source.where
        return self.record.made(
            {
                name: wire_type.decode(source.within(where.key(name)), version)
                for name, wire_type in self.members(version)
            }
        )

    def print(self, value: Any, version: int, where: Where) -> str:
        """The fields as `name=value` between braces."""
        values = self._carried(value, version, where)
        texts = (
            f"{name}={wire_type.print(values[name], version, where.key(name))}"
            for name, wire_type in self.members(version)
        )
        return "{" + ",".join(texts) + "}"

    def parse(self, source: Source, version: int) -> Any:
        """The struct."""
        where = source.where
        values: dict[str, Any] = {}
        source.expect("{")
        for name, wire_type in self.members(version):
            source.within(where.key(name)).expect(f"{',' if values else ''}{name}=")
            values[name] = wire_type.parse(source, version)
        source.within(where).expect("}")
        return self.record.made(values)

    def _carried(self, value: Any, version: int, where: Where) -> dict[str, Any]:
        """The values of the fields, none of which this version would lose."""
        values = self.record.values(value)
        for name, _, versions, default in self._members:
            if version not in versions and values[name] != default:
                where.key(name).refuse(f"version {version} cannot carry {values[name]!r}")
        return values


def _member(field: Field[Any], hint: Any) -> Member:
    """Name, wire type, versions and default of a field."""
    wire_type, versions = mark(hint, WireType), mark(hint, Versions) or EVERY
    if wire_type is None:
        raise TypeError(f"{field.name} has no wire type in its annotation")
    if versions != EVERY and field.default is MISSING:
        raise TypeError(f"{field.name} can be absent, so it needs a default")
    return field.name, wire_type, versions, field.default
