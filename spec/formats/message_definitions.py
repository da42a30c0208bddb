"""The requests and answers as Kafka's message definitions, from which the generators of other languages make codecs.

Their form is that of Kafka's own `clients/src/main/resources/common/message/*.json` (from 2.2 on, README there): fields
in the order of the wire, each with its type and the versions that have it; a struct stands at the field that has it.
No version is flexible: tagged and compact fields came later. The names of fields are Kafka's, in its capitals; those
of structs are ours. Everything comes from the declarations that encode and decode requests.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from spec.formats.error_codes import ErrorCodeType
from spec.formats.request_schemas import REQUESTS, RESPONSES, ApiKey, api_versions
from spec.formats.wire import ArrayOf, Boolean, Int, String, Struct, WireType


def request_definition(key: ApiKey) -> dict[str, Any]:
    """The definition of a request, without the header that stands before it."""
    return _definition(key, "request", REQUESTS[key])


def response_definition(key: ApiKey) -> dict[str, Any]:
    """The definition of the answer to a request, without the correlation id that stands before it."""
    return _definition(key, "response", RESPONSES[key])


def message_name(key: ApiKey) -> str:
    """How Kafka calls a request: `LeaderAndIsr`."""
    return field_name(key.name.lower())


def header_definition(header: Struct, versions: Sequence[int], name: str) -> dict[str, Any]:
    """The definition of what stands before requests."""
    return _head("header", name, versions) | {"fields": list(_fields(header, versions))}


def _definition(key: ApiKey, kind: str, struct: Struct) -> dict[str, Any]:
    versions = api_versions(key)
    head = _head(kind, message_name(key) + kind.capitalize(), versions)
    return {"apiKey": int(key), **head, "fields": list(_fields(struct, versions))}


def _head(kind: str, name: str, versions: Sequence[int]) -> dict[str, Any]:
    return {"type": kind, "name": name, "validVersions": _span(versions), "flexibleVersions": "none"}


def _fields(struct: Struct, versions: Sequence[int]) -> Iterator[dict[str, Any]]:
    """The fields of a struct in the order of the wire, whichever of the versions have them."""
    having: dict[str, list[int]] = {}
    kinds: dict[str, WireType] = {}
    for version in versions:
        for name, kind in struct.members(version):
            having.setdefault(name, []).append(version)
            kinds[name] = kind
    for name in _in_order(struct, versions):
        yield _field(name, kinds[name], having[name], versions)


def _in_order(struct: Struct, versions: Sequence[int]) -> list[str]:
    """All names, so that those of each version stand in its order."""
    found: list[str] = []
    for version in reversed(versions):
        behind = 0
        for name, _ in struct.members(version):
            if name not in found:
                found.insert(behind, name)
            behind = found.index(name) + 1
    return found


def _field(name: str, kind: WireType, having: Sequence[int], versions: Sequence[int]) -> dict[str, Any]:
    inner = kind.element if isinstance(kind, ArrayOf) else kind
    field: dict[str, Any] = {
        "name": field_name(name),
        "type": ("[]" if isinstance(kind, ArrayOf) else "") + _type(inner),
        "versions": _span(having, versions),
    }
    if isinstance(inner, String) and inner.nullable:
        field["nullableVersions"] = field["versions"]
    if isinstance(inner, Struct):
        field["fields"] = list(_fields(inner, having))
    return field


def _type(kind: WireType) -> str:
    match kind:
        case Struct():
            return kind.record.cls.__name__
        case String():
            return "string"
        case Boolean():
            return "bool"
        case Int() | ErrorCodeType():
            return f"int{kind.bits}"
        case _:
            raise TypeError(f"{kind} has no name in Kafka's message definitions")


def _span(having: Sequence[int], versions: Sequence[int] = ()) -> str:
    """Versions as Kafka writes them: `0`, `1-2`; open at the end where none of all `versions` lacks from there on."""
    first, last = having[0], having[-1]
    if list(having) != list(range(first, last + 1)):
        raise ValueError(f"a field that comes and goes: {having}")
    if versions and last == versions[-1]:
        return f"{first}+"
    return str(first) if first == last else f"{first}-{last}"


@cache
def field_name(name: str) -> str:
    """How Kafka's definitions write a name: `ControllerEpoch`."""
    return "".join(word.capitalize() for word in name.split("_"))
