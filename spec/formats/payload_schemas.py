"""The payloads of znodes as JSON Schemas (draft 2020-12), for the validators and generators of other languages.

A schema has what Kafka and its tools write, in each version of the era; keys that are not known may stand beside it.
Kafka's readers take more than that (`spec/formats/json_schema.py`): a key that they have a default for may lack, and
one that they do not look at may be anything. Everything comes from the declarations that read and print payloads.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from spec.formats.descriptions import payload_versions
from spec.formats.json_schema import (
    INT_MAX,
    Constant,
    Integer,
    JsonType,
    ListOf,
    MapOf,
    Milliseconds,
    NumberOrDigits,
    Record,
    Text,
)
from spec.formats.znodes import ControllerEpochPayload, JsonPayload, Payload

DIGITS: Final = "^(0|[1-9][0-9]{0,9})$"
"""A number as a text: a partition's as the key of an object, a broker's where an admin has written it so."""
ANY_TEXT: Final = Text().pattern


def payload_schema(payload: type[Payload]) -> dict[str, Any]:
    """The schema of what a znode holds, read as JSON; of null where it holds nothing."""
    if issubclass(payload, JsonPayload):
        forms = [_record(payload.schema, version) for version in payload_versions(payload)]
        return forms[0] if len(forms) == 1 else {"oneOf": forms}
    if payload is ControllerEpochPayload:
        return {"type": "integer", "minimum": 0, "maximum": INT_MAX}
    return {"type": "null"}


def _schema(one: JsonType, version: int) -> dict[str, Any]:
    return next(make(one, version) for kind, make in SCHEMAS.items() if isinstance(one, kind))


def _record(one: Record, version: int) -> dict[str, Any]:
    members = {name: (kind, required) for name, kind, required in one.members(version)}
    properties = {name: _schema(members[name][0], version) for name in one.order(version)([*members])}
    if version and "version" in properties:
        properties["version"] = {"const": version}
    required = [name for name in properties if members[name][1]]
    return {"type": "object", "properties": properties, "required": required}


def _list(one: ListOf, version: int) -> dict[str, Any]:
    return {"type": "array", "items": _schema(one.element, version)}


def _map(one: MapOf, version: int) -> dict[str, Any]:
    names = {"propertyNames": {"pattern": DIGITS}} if one.numbers else {}
    return {"type": "object", "additionalProperties": _schema(one.value, version)} | names


def _text(one: Text, _version: int) -> dict[str, Any]:
    pattern = {} if one.pattern == ANY_TEXT else {"pattern": f"^(?:{one.pattern})$"}
    return {"type": ["string", "null"] if one.nullable else "string"} | pattern


def _integer(one: Integer, _version: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": one.minimum, "maximum": one.maximum}


SCHEMAS: Final[Mapping[type[JsonType], Callable[[Any, int], dict[str, Any]]]] = {
    Record: _record,
    ListOf: _list,
    MapOf: _map,
    Text: _text,
    NumberOrDigits: lambda one, version: _integer(one, version) | {"type": ["integer", "string"], "pattern": DIGITS},
    Integer: _integer,
    Constant: lambda one, _: {"const": one.value},
    Milliseconds: lambda _one, _: {"type": "string", "pattern": "^(0|[1-9][0-9]{0,18})$"},
}
"""How each type is described; a number or its digits before the number that it is, too."""
