"""Requests as bytes: what `reference.encode` and `reference.decode` do.

The objects are those that `BrokerFace.request` takes, and that a view has, with a header. PROTOCOL.md section 9.
"""

from reference.face.view import Json
from spec.errors import BadInput, Where
from spec.formats.json_requests import request_from_json, request_to_json
from spec.formats.requests import decode_request, encode_request


def encode(told: Json) -> bytes:
    """The bytes of a request, without the length before them."""
    return encode_request(*request_from_json(told, Where("request")))


def decode(data: bytes) -> Json:
    """The request that all the bytes are."""
    if not isinstance(data, bytes | bytearray):
        raise BadInput(f"{data!r} are no bytes")
    return request_to_json(*decode_request(bytes(data)))
