"""Requests and answers as they travel and as brokers log them, read strictly and printed exactly.

    data = encode_request(RequestHeader(ApiKey.LEADER_AND_ISR, 0, 7, "1"), request)     # without the size before it
    header, request = decode_request(data)
    text = print_request(header, request)      # {api_key=4,api_version=0,correlation_id=7,client_id=1} -- {...}
    header, request = parse_request(text)

A header names the request's kind, its version, a correlation id that the answer repeats, and the client: a controller's
id as text. A ControlledShutdown of version 0 has no client id, and is logged in a form of its own in every version,
because `kafka.api.ControlledShutdownRequest` stayed in Scala while the others moved to `Struct` in 0.9.0.

Kafka: `RequestHeader`, `ResponseHeader`, `RequestChannel.Request.requestDesc`. Left out on purpose: the Scala texts in
which 0.8.2 logged all four (`Name:LeaderAndIsrRequest;Version:0;...`); no recording has them.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated, Any, Final

from spec.errors import Where
from spec.formats.request_schemas import (
    I16,
    I32,
    REQUESTS,
    RESPONSES,
    ApiKey,
    ControlledShutdownRequest,
    Request,
    Response,
    api_versions,
)
from spec.formats.shapes import INT
from spec.formats.templates import Shape, Template
from spec.formats.wire import NULLABLE_STRING, Source, Struct, Versions

BARE_HEADER, FULL_HEADER = range(2)


@dataclass(frozen=True)
class RequestHeader:
    """What stands before every request."""

    api_key: I16
    api_version: I16
    correlation_id: I32
    client_id: Annotated[str | None, NULLABLE_STRING, Versions(FULL_HEADER)] = None


HEADER: Final = Struct(RequestHeader)


def header_version(api_key: int, api_version: int) -> int:
    """Whether the header of this request has a client id."""
    return BARE_HEADER if (api_key, api_version) == (ApiKey.CONTROLLED_SHUTDOWN, 0) else FULL_HEADER


def encode_request(header: RequestHeader, request: Request) -> bytes:
    """The bytes of a request, header first; MalformedInput if its version cannot carry what it says."""
    where = Where(_name(header))
    schema = _schema(header, request, where)
    prefix = HEADER.encode(header, header_version(header.api_key, header.api_version), where.key("header"))
    return prefix + schema.encode(request, header.api_version, where)


def decode_request(data: bytes, source: str = "request") -> tuple[RequestHeader, Request]:
    """The request that all the bytes are; MalformedInput names the field that is wrong."""
    where = Where(source)
    reader = Source(data, where.key("header"))
    header: RequestHeader = HEADER.decode(reader, _peek_header_version(data, where))
    schema = _known_schema(header, where)
    request: Request = schema.decode(reader.within(where), header.api_version)
    reader.within(where).end()
    return header, request


def print_request(header: RequestHeader, request: Request) -> str:
    """The text of a request in kafka-request.log, from 0.9.0 on."""
    where = Where(_name(header))
    schema = _schema(header, request, where)
    if isinstance(request, ControlledShutdownRequest):
        return SHUTDOWN_TEXT.write(SimpleNamespace(**vars(header), **vars(request)))
    prefix = HEADER.print(header, FULL_HEADER, where.key("header"))
    return f"{prefix} -- {schema.print(request, header.api_version, where)}"


def parse_request(text: str, source: str = "request") -> tuple[RequestHeader, Request]:
    """The request that the whole text is; MalformedInput names the field that is wrong."""
    where = Where(source)
    if (values := SHUTDOWN_TEXT.read(text, where)) is not None:
        shutdown = ControlledShutdownRequest(values.pop("broker_id"))
        header = RequestHeader(ApiKey.CONTROLLED_SHUTDOWN, **values)
        _schema(header, shutdown, where)
        return header, shutdown
    reader = Source(text, where.key("header"))
    header = HEADER.parse(reader, FULL_HEADER)
    schema = _known_schema(header, where)
    reader.within(where).expect(" -- ")
    request: Request = schema.parse(reader, header.api_version)
    reader.end()
    return header, request


def encode_response(correlation_id: int, response: Response, api_key: ApiKey, api_version: int) -> bytes:
    """The bytes of an answer: the correlation id of its request, then the answer."""
    where = Where(f"answer to {api_key.name}")
    schema = _known_schema(RequestHeader(api_key, api_version, correlation_id), where, RESPONSES)
    _check_class(schema, response, where)
    return correlation_id.to_bytes(4, "big", signed=True) + schema.encode(response, api_version, where)


def decode_response(data: bytes, api_key: ApiKey, api_version: int, source: str = "answer") -> tuple[int, Response]:
    """Correlation id and answer; the asker knows what it had asked."""
    where = Where(source)
    reader = Source(data, where.key("correlation_id"))
    correlation_id = int.from_bytes(reader.take(4), "big", signed=True)
    schema = _known_schema(RequestHeader(api_key, api_version, correlation_id), where, RESPONSES)
    response: Response = schema.decode(reader.within(where), api_version)
    reader.within(where).end()
    return correlation_id, response


OPTION: Final[Shape[str | None]] = Shape(
    "Some(id) or None",
    r"None|Some\((?s:.*)\)",
    lambda text: None if text == "None" else text[5:-1],
    lambda value: "None" if value is None else f"Some({value})",
)
"""The shape of a Scala Option."""

SHUTDOWN_TEXT: Final = Template(
    "Name: ControlledShutdownRequest; Version: {api_version:int}; CorrelationId: {correlation_id:int};"
    "ClientId:{client_id:option}; BrokerId: {broker_id:int}",
    {"int": INT, "option": OPTION},
)
"""The text of a ControlledShutdown, header and request in one."""


def _peek_header_version(data: bytes, where: Where) -> int:
    """Which header follows, by key and version, its first four bytes."""
    peek = Source(data, where.key("header"))
    return header_version(*(int.from_bytes(peek.take(2), "big", signed=True) for _ in range(2)))


def _known_schema(header: RequestHeader, where: Where, schemas: Any = REQUESTS) -> Struct:
    """The schema of a request or answer, if this key and version are of the documented controller's protocol."""
    keys = {int(key) for key in ApiKey}
    if header.api_key not in keys:
        where.key("api_key").refuse(f"{header.api_key} is none of {', '.join(f'{int(k)} {k.name}' for k in ApiKey)}")
    key = ApiKey(header.api_key)
    versions = api_versions(key)
    if header.api_version not in versions:
        where.key("api_version").refuse(f"{key.name} has the versions 0 to {versions[-1]}, not {header.api_version}")
    schema: Struct = schemas[key]
    return schema


def schema_of(header: RequestHeader) -> Struct:
    """What follows a header; MalformedInput if its key or version is not of the documented protocol."""
    return _known_schema(header, Where(""))


def _schema(header: RequestHeader, request: Request, where: Where) -> Struct:
    schema = _known_schema(header, where)
    _check_class(schema, request, where)
    # A ControlledShutdown names its client exactly from version 1 on, others may leave it null.
    if header.api_key == ApiKey.CONTROLLED_SHUTDOWN and (header.client_id is None) != (header.api_version == 0):
        where.key("client_id").refuse(f"version {header.api_version} has {'one' if header.api_version else 'none'}")
    return schema


def _check_class(schema: Struct, value: object, where: Where) -> None:
    if type(value) is not schema.record.cls:
        where.refuse(f"expected a {schema.record.cls.__name__}, got a {type(value).__name__}")


def _name(header: RequestHeader) -> str:
    known = header.api_key in {int(key) for key in ApiKey}
    return ApiKey(header.api_key).name if known else f"request {header.api_key}"
