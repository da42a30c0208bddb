"""Structs of the wire, each declared once as a dataclass with versions.

The annotation of a field carries its `WireType` beside the Python type and, where the field came or went with a
version, the `Versions` that have it:

    rack: Annotated[str | None, NULLABLE_STRING, Versions(2)] = None

From that one declaration come the bytes, the reader of bytes, the text and the reader of text. A field that a version
does not have takes its default when read, and must have it when written: a value that would be lost is refused.
"""

from __future__ import annotations

import sys
from dataclasses import MISSING, dataclass
from functools import cached_property
from typing import Any

from spec.errors import Where
from spec.formats.inner_records import Declared, Flattened
from spec.formats.wire import Source, WireType


@dataclass(frozen=True)
class Versions:
    """The versions, both included, in which a field stands."""

    first: int = 0
    last: int = sys.maxsize

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last


EVERY = Versions()


@dataclass(frozen=True)
class Member:
    """A field of a struct, with its wire type and the versions that have it."""

    field: Declared
    wire_type: WireType
    versions: Versions

    @property
    def name(self) -> str:
        """Its name on the wire."""
        return self.field.field.name


class Struct(WireType):
    """A dataclass as a struct: its fields in order, each with its wire type."""

    def __init__(self, cls: type[Any]) -> None:
        self.record = Flattened(cls)

    @cached_property
    def _members(self) -> tuple[Member, ...]:
        return tuple(map(_member, self.record))

    def members(self, version: int) -> list[tuple[str, WireType]]:
        """Name and type of the fields that stand in this version."""
        return [(one.name, one.wire_type) for one in self._standing(version)]

    def _standing(self, version: int) -> list[Member]:
        return [one for one in self._members if version in one.versions]

    def encode(self, value: Any, version: int, where: Where) -> bytes:
        """The fields, one after the other."""
        self._check_nothing_is_lost(value, version, where)
        return b"".join(
            one.wire_type.encode(one.field.of(value), version, where.key(one.name)) for one in self._standing(version)
        )

    def decode(self, source: Source, version: int) -> Any:
        """The struct."""
        where = source.where
        values = {
            name: wire_type.decode(source.within(where.key(name)), version) for name, wire_type in self.members(version)
        }
        return self.record.made(values)

    def print(self, value: Any, version: int, where: Where) -> str:
        """The fields as `name=value` between braces."""
        self._check_nothing_is_lost(value, version, where)
        texts = (
            f"{one.name}={one.wire_type.print(one.field.of(value), version, where.key(one.name))}"
            for one in self._standing(version)
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

    def _check_nothing_is_lost(self, value: Any, version: int, where: Where) -> None:
        for one in self._members:
            if version not in one.versions and (given := one.field.of(value)) != one.field.field.default:
                where.key(one.name).refuse(f"version {version} cannot carry {given!r}")


def _member(one: Declared) -> Member:
    """Wire type and versions of a field."""
    field, metadata = one.field, getattr(one.hint, "__metadata__", ())
    wire_type = next((item for item in metadata if isinstance(item, WireType)), None)
    versions = next((item for item in metadata if isinstance(item, Versions)), EVERY)
    if wire_type is None:
        raise TypeError(f"{field.name} has no wire type in its annotation")
    if versions != EVERY and field.default is MISSING:
        raise TypeError(f"{field.name} can be absent, so it needs a default")
    return Member(one, wire_type, versions)
