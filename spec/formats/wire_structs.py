"""Structs of the wire, each declared once as a dataclass with versions.

The annotation of a field carries its `WireType` beside the Python type and, where the field came or went with a
version, the `Versions` that have it:

    rack: Annotated[str | None, NULLABLE_STRING, Versions(2)] = None

From that one declaration come the bytes, the reader of bytes, the text and the reader of text. A field that a version
does not have takes its default when read, and must have it when written: a value that would be lost is refused.
"""

import sys
from dataclasses import MISSING, Field, dataclass
from functools import cached_property
from typing import Any

from spec.errors import Where
from spec.formats.inner_records import Flattened, mark
from spec.formats.wire import Source, WireType


@dataclass(frozen=True)
class Versions:
    """The versions, both included, in which a field stands."""

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
