"""Requests and answers as JSON: objects by the names of the message definitions (`kcheck show requests --json`)."""

from typing import Any, Final

from spec.errors import Where
from spec.formats.message_definitions import field_name
from spec.formats.request_schemas import REQUESTS, RESPONSES, ApiKey, Request, Response
from spec.formats.requests import HEADER, RequestHeader, decode_request, encode_request, header_version
from spec.formats.wire import ArrayOf, Struct, WireType

NAMES: Final = {field_name(one.name.lower()): one for one in ApiKey}
"""The requests by name: `LeaderAndIsr`."""


def request_to_json(header: RequestHeader, request: Request) -> dict[str, Any]:
    """What a request says, and what stands before it."""
    key = ApiKey(header.api_key)
    return {
        "name": field_name(key.name.lower()),
        "version": header.api_version,
        "header": _to_json(HEADER, header, header_version(key, header.api_version)),
        "body": _to_json(REQUESTS[key], request, header.api_version),
    }


def body_to_json(request: Request, version: int) -> dict[str, Any]:
    """What a request of a version says, without what stands before it."""
    return {"name": field_name(request.api_key.name.lower()), "version": version} | {
        "body": _to_json(REQUESTS[request.api_key], request, version)
    }


def response_to_json(response: Response, key: ApiKey, version: int) -> dict[str, Any]:
    """What the answer to a request of this kind and version says."""
    told: dict[str, Any] = _to_json(RESPONSES[key], response, version)
    return told


def response_from_json(given: Any, key: ApiKey, version: int, where: Where) -> Response:
    """The answer to a request of this kind and version that such an object is; MalformedInput names what is wrong."""
    response: Response = _from_json(RESPONSES[key], given, version, where)
    return response


def request_from_json(given: Any, where: Where) -> tuple[RequestHeader, Request]:
    """The request that such an object is; MalformedInput names the key that is wrong."""
    told = _object(given, where)
    key = NAMES.get(told.get("name", ""))
    if key is None:
        where.key("name").refuse(f"expected one of {', '.join(NAMES)}")
    version = told.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        where.key("version").refuse("expected a number")
    header: RequestHeader = _from_json(HEADER, told.get("header"), header_version(key, version), where.key("header"))
    request: Request = _from_json(REQUESTS[key], told.get("body"), version, where.key("body"))
    return header, request


def request_to_hex(header: RequestHeader, request: Request) -> str:
    """The bytes of a request, without the length before them, as hexadecimal digits."""
    return encode_request(header, request).hex()


def request_from_hex(digits: str) -> tuple[RequestHeader, Request]:
    """The request that these bytes are; MalformedInput if they are not one."""
    return decode_request(bytes.fromhex(digits))


def _to_json(kind: WireType, value: Any, version: int) -> Any:
    if isinstance(kind, ArrayOf):
        return [_to_json(kind.element, one, version) for one in value]
    if isinstance(kind, Struct):
        values = kind.record.values(value)
        return {field_name(name): _to_json(inner, values[name], version) for name, inner in kind.members(version)}
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _from_json(kind: WireType, given: Any, version: int, where: Where) -> Any:
    if isinstance(kind, ArrayOf):
        if not isinstance(given, list):
            where.refuse("expected a list")
        return tuple(_from_json(kind.element, one, version, where.item(n)) for n, one in enumerate(given))
    if isinstance(kind, Struct):
        told, values = _object(given, where), {}
        for name, inner in kind.members(version):
            if field_name(name) not in told:
                where.key(field_name(name)).refuse("missing")
            values[name] = _from_json(inner, told[field_name(name)], version, where.key(field_name(name)))
        return kind.record.made(values)
    return given


def _object(given: Any, where: Where) -> dict[str, Any]:
    if not isinstance(given, dict):
        where.refuse("expected an object")
    return given
