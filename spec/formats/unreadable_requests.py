"""Why Kafka cannot read some bytes, for the author of them: where, what was read until there, what is left out.

    unreadable_request(data)    LEADER_AND_ISR of version 0 in 70 bytes: live_leaders: needs 4 more, 0 are left, ...

A field that is left out moves all that follows, so the place at which reading ends is often far behind the mistake.
Therefore each field is left out in turn: where all bytes are read so, it is named, unless many would do.

PROTOCOL.md section 9.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from spec.errors import MalformedInput, Where
from spec.formats.request_schemas import ApiKey
from spec.formats.requests import HEADER, RequestHeader, header_version, schema_of
from spec.formats.wire import ArrayOf, Boolean, Source, String, Struct, WireType

SHOWN: Final = 6
"""The values read last that are shown."""
LONGEST: Final = 40
"""So many characters of a value are shown."""
BEGINNING: Final = 4
"""The bytes of key and version."""
FEW: Final = 3
"""So many fields may be the one that is left out; more say nothing."""


@dataclass(frozen=True)
class UnreadableRequest:
    """Bytes that are no request.

    `is_known`: their key and version are of the documented protocol. One of the fields `left_out` may be missing.
    """

    text: str
    is_known: bool
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass
class _Reading:
    """Bytes read value by value as leniently as Kafka does, except the member of one struct, which is left out."""

    data: bytes
    left_out: tuple[Struct, str] | None = None
    values: list[tuple[str, Any]] = field(default_factory=list)
    at: int = 0

    def read(self, *, whole: bool) -> None:
        """All of it; MalformedInput names the field that is wrong, and `values` has what came before.

        Kafka minds no bytes behind a request; where `whole`, there must be none.
        """
        source = Source(self.data, Where(""))
        number = [int.from_bytes(self.data[start : start + 2], "big", signed=True) for start in (0, 2)]
        try:
            header = self._all(HEADER, source.within(Where("").key("header")), header_version(*number))
            self._all(schema_of(RequestHeader(**header)), source.within(Where("")), number[1])
            if whole:
                source.within(Where("")).end()
        finally:
            self.at = source.at

    def _all(self, struct: Struct, source: Source, version: int) -> dict[str, Any]:
        """The values of a struct, with those within it."""
        before = len(self.values)
        for path, value in self._values(struct, source, version):
            self.values.append((path, value))
        return {path.rpartition(".")[2]: value for path, value in self.values[before:]}

    def _values(self, kind: WireType, source: Source, version: int) -> Iterator[tuple[str, Any]]:
        where = source.where
        match kind:
            case Struct():
                for name, inner in kind.members(version):
                    if self.left_out != (kind, name):
                        yield from self._values(inner, source.within(where.key(name)), version)
            case ArrayOf():
                count = kind.counted(source)
                for index in range(count):
                    yield from self._values(kind.element, source.within(where.item(index)), version)
            case Boolean():  # any byte but 0 is true
                yield where.field, source.take(1) != b"\0"
            case String(nullable=nullable):  # of any text, in which broken UTF-8 is replaced
                yield where.field, String(nullable=nullable).text(source)
            case _:
                yield where.field, kind.decode(source, version)


def unreadable_request(data: bytes) -> UnreadableRequest | None:
    """Why Kafka does not read these bytes, which `decode_request` refuses; None if it does, and we are stricter."""
    if len(data) < BEGINNING:
        text = f"{len(data)} bytes, which end before the key and version of a request"
        return UnreadableRequest(text, is_known=False)
    reading, reason = _Reading(data), ""
    try:
        reading.read(whole=False)
    except MalformedInput as error:
        reason = str(error)
    else:
        return None
    key, version = (int.from_bytes(data[start : start + 2], "big", signed=True) for start in (0, 2))
    try:
        schema = schema_of(RequestHeader(key, version, 0))
    except MalformedInput as error:
        return UnreadableRequest(f"a request in {len(data):,} bytes: {error}", is_known=False)
    until = ", ".join(f"{path}={_shown(value)}" for path, value in reading.values[-SHOWN:]) or "nothing"
    more = "..., " if len(reading.values) > SHOWN else ""
    missing = _left_out(data, schema, version)
    hint = f"; all of it can be read without {', or without '.join(missing)}: is that left out?" if missing else ""
    text = f"{ApiKey(key).name} of version {version} in {len(data):,} bytes: {reason}, at byte {reading.at}"
    return UnreadableRequest(f"{text}; read until there: {more}{until}{hint}", is_known=True, left_out=missing)


def _shown(value: Any) -> str:
    """A value in a few printable characters."""
    told = value if isinstance(value, str) and value.isprintable() else repr(value)
    return told if len(told) <= LONGEST else f"{told[:LONGEST]}..."


def _left_out(data: bytes, schema: Struct, version: int) -> tuple[str, ...]:
    """The fields without which all bytes are read, if they are few."""
    found = dict[str, None]()
    for struct in schema.structs(version):
        for name, _ in struct.members(version):
            with suppress(MalformedInput):
                _Reading(data, (struct, name)).read(whole=True)
                found[name] = None
    return tuple(found) if len(found) <= FEW else ()
