"""What znodes hold, and requests and answers as bytes, by the formats that reference and specification share."""

import json
from typing import Any, Final

import reference
from model_check.conformance.vector import Object
from spec.errors import MalformedInput, Where
from spec.formats.json_requests import NAMES, response_from_json, response_to_json
from spec.formats.requests import decode_response as answer_of
from spec.formats.requests import encode_response as bytes_of
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


def encode_response(given: Object, _dialect: str) -> Object:
    """The bytes of the answer to a request of this kind and version."""
    key, version = NAMES[given["name"]], given["version"]
    response = response_from_json(given["body"], key, version, Where("body"))
    return {"hex": bytes_of(given["correlation_id"], response, key, version).hex()}


def decode_response(given: Object, _dialect: str) -> Object:
    """The answer that all the bytes are; its reader knows what was asked."""
    key, version = NAMES[given["name"]], given["version"]
    try:
        correlation, response = answer_of(bytes.fromhex(given["hex"]), key, version)
    except MalformedInput:
        return REFUSED
    return {"correlation_id": correlation, "body": response_to_json(response, key, version)}


ASKED: Final = {
    "read_znode": read_znode, "encode_request": encode_request, "decode_request": decode_request,
    "encode_response": encode_response, "decode_response": decode_response,
}  # fmt: skip
"""By verb."""
