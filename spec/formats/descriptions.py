"""The formats of znodes and requests in words, for programs in other languages that write or read them.

Everything comes from the declarations that read and print them: there is nothing here to be kept up with those. Keys of
a payload stand in the order in which Kafka 0.10.2 writes them, fields of a struct in that of the wire.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from spec.formats.error_codes import ErrorCodeType
from spec.formats.json_schema import INT_MAX, Constant, Integer, JsonType, ListOf, MapOf, Milliseconds, Record, Text
from spec.formats.wire import ArrayOf, Boolean, Int, String, Struct, WireType
from spec.formats.znodes import JsonPayload, Payload


def described(one: JsonType | WireType, version: int) -> str:
    """A type in words, as it is in this version of a payload or request."""
    return next(words(one, version) for kind, words in WORDS.items() if isinstance(one, kind))


def _record(one: Record, version: int) -> str:
    """A JSON object; a key that may be absent has a `?`, and where there are several versions it is known which."""
    keys = {name: (kind, "" if required else "?") for name, kind, required in one.members(version)}
    types = {name: described(keys[name][0], version) for name in one.order(version)([*keys])}
    if version and "version" in types:
        types["version"] = str(version)
    return "{" + ", ".join(f'"{name}"{keys[name][1]}: {words}' for name, words in types.items()) + "}"


def _struct(one: Struct, version: int) -> str:
    return "{" + ", ".join(f"{name}: {described(kind, version)}" for name, kind in one.members(version)) + "}"


def _list(one: ListOf, version: int) -> str:
    return f"[{described(one.element, version)}, ...]"


def _map(one: MapOf, version: int) -> str:
    return f"{{{'a partition number' if one.numbers else 'a string'}: {described(one.value, version)}, ...}}"


def _text(one: Text | String, _version: int) -> str:
    return one.what + (" or null" if one.nullable else "")


WORDS: Final[Mapping[type[JsonType | WireType], Callable[[Any, int], str]]] = {
    Record: _record,
    Struct: _struct,
    ListOf: _list,
    MapOf: _map,
    ArrayOf: lambda one, version: f"array of {described(one.element, version)}",
    Text: _text,
    String: _text,
    Integer: lambda one, _: f"number {one.minimum}..{'' if one.maximum == INT_MAX else one.maximum}",
    Constant: lambda one, _: str(one.value),
    Milliseconds: lambda _one, _: "milliseconds as a string of digits",
    ErrorCodeType: lambda one, _: f"error code (int{one.bits})",
    Int: lambda one, _: f"int{one.bits}",
    Boolean: lambda _one, _: "boolean",
}
"""How each type is described; an error code before the number that it is, too."""


def payload_forms(payload: type[Payload]) -> Iterator[str]:
    """The JSON objects that a znode may hold, one for each version; none where it holds no JSON."""
    if issubclass(payload, JsonPayload):
        yield from (described(payload.schema, one) for one in payload_versions(payload))


def payload_versions(payload: type[JsonPayload]) -> Sequence[int]:
    """The versions of a payload; only 0 where there is one."""
    kinds = {name: kind for name, kind, _ in payload.schema.members(0)}
    version = kinds["version"]
    return range(version.minimum, version.maximum + 1) if isinstance(version, Integer) else (0,)
