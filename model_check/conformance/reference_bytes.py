"""What znodes hold, and requests as bytes, by the formats that the reference shares with the specification."""

import json
from typing import Any, Final

import reference
from model_check.conformance.vector import Object
from spec.errors import MalformedInput
from spec.formats.znodes import EmptyPayload, parse_payload

REFUSED: Final[Object] = {"refused": True}


def read_znode(given: Object, _dialect: str) -> Object:
    """What a znode holds, as Kafka's reader takes it."""
    try:
        payload = parse_payload(given["path"], given["data"])
    except MalformedInput:
        return REFUSED
    if isinstance(payload, EmptyPayload):
        return {"value": None}
    told: Any = json.loads(str(payload))
    return {"value": {"brokerid": told} if given["path"] == "/controller" and isinstance(told, int) else told}


def encode_request(given: Object, _dialect: str) -> Object:
    """The bytes of a request."""
    return {"hex": reference.encode(given).hex()}


def decode_request(given: Object, _dialect: str) -> Object:
    """The request that all the bytes are."""
    try:
        told: Object = reference.decode(bytes.fromhex(given["hex"]))
    except MalformedInput:
        return REFUSED
    return told


ASKED: Final = {"read_znode": read_znode, "encode_request": encode_request, "decode_request": decode_request}
"""By verb."""
