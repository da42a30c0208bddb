"""The message definitions suffice to write a codec: one that knows nothing else makes the same bytes."""

import gzip
from dataclasses import fields, is_dataclass
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.formats.message_definitions import header_definition, message_name, request_definition, response_definition
from spec.formats.request_schemas import ApiKey, Request, api_versions
from spec.formats.requests import HEADER, RequestHeader, encode_request, encode_response, header_version, parse_request
from tests import strategies

RECORDED = Path(__file__).parents[2] / "data" / "kafka-0.10.2.2-requests.txt.gz"
REQUESTS = {key: request_definition(key) for key in ApiKey}
RESPONSES = {key: response_definition(key) for key in ApiKey}
HEADERS = header_definition(HEADER, range(2), "RequestHeader")
NUMBERS = {"int16": ">h", "int32": ">i", "bool": ">?"}


def has(versions: str, version: int) -> bool:
    """Whether a version is among those that a definition names: `0`, `1-2`, `2+`."""
    first, _, last = versions.partition("-")
    if versions.endswith("+"):
        return version >= int(versions[:-1])
    return int(first) <= version <= int(last or first)


def encoded(definition: dict[str, Any], values: dict[str, Any], version: int) -> bytes:
    """The bytes of a struct, by its definition alone."""
    of_version = [one for one in definition["fields"] if has(one["versions"], version)]
    return b"".join(_encoded(one, str(one["type"]), values[one["name"]], version) for one in of_version)


def _encoded(field: dict[str, Any], kind: str, value: Any, version: int) -> bytes:
    if kind.startswith("[]"):
        return pack(">i", len(value)) + b"".join(_encoded(field, kind[2:], one, version) for one in value)
    if kind in NUMBERS:
        return pack(NUMBERS[kind], value)
    if kind == "string":
        if value is None:
            assert has(field["nullableVersions"], version)
            return pack(">h", -1)
        return pack(">h", len(value.encode())) + bytes(value.encode())
    return encoded(field, value, version)


def plain(value: Any) -> Any:
    """A message as maps and lists, by the names of the definitions, and records within records laid flat."""
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if not is_dataclass(value) or isinstance(value, type):
        return value
    found: dict[str, Any] = {}
    for one in fields(value):
        inner = plain(getattr(value, one.name))
        name = "".join(word.capitalize() for word in one.name.split("_"))
        found |= inner if isinstance(inner, dict) else {name: inner}
    return found


def test_the_recorded_requests_are_encoded_so() -> None:
    with gzip.open(RECORDED, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            header, request = parse_request(line.removesuffix("\n"))
            assert of_definitions(header, request) == encode_request(header, request)


@given(strategies.headed_requests())
def test_any_request_is_encoded_so(headed: tuple[RequestHeader, Request]) -> None:
    assert of_definitions(*headed) == encode_request(*headed)


def of_definitions(header: RequestHeader, request: Request) -> bytes:
    """The bytes of a request with its header."""
    first = encoded(HEADERS, plain(header), header_version(header.api_key, header.api_version))
    return first + encoded(REQUESTS[ApiKey(header.api_key)], plain(request), header.api_version)


@given(st.sampled_from(ApiKey), st.data())
def test_any_answer_is_encoded_so(key: ApiKey, data: st.DataObject) -> None:
    response = data.draw(strategies.responses_of(key))
    for version in api_versions(key):
        assert pack(">i", 7) + encoded(RESPONSES[key], plain(response), version) == encode_response(
            7, response, key, version
        )


@pytest.mark.parametrize("key", ApiKey)
def test_a_definition_has_the_form_of_kafkas(key: ApiKey) -> None:
    newest = api_versions(key)[-1]
    assert REQUESTS[key]["apiKey"] == key
    assert (REQUESTS[key]["name"], RESPONSES[key]["name"]) == (
        f"{message_name(key)}Request",
        f"{message_name(key)}Response",
    )
    assert REQUESTS[key]["validVersions"] == ("0" if newest == 0 else f"0-{newest}")


def test_fields_say_which_versions_have_them() -> None:
    """A broker's host and port went with version 1; its end points, its rack, and a listener's name came one by one."""
    (live,) = (one for one in REQUESTS[ApiKey.UPDATE_METADATA]["fields"] if one["name"] == "LiveBrokers")
    told = {one["name"]: (one["type"], one["versions"]) for one in live["fields"]}
    assert told == {
        "Id": ("int32", "0+"), "Host": ("string", "0"), "Port": ("int32", "0"),
        "EndPoints": ("[]EndPoint", "1+"), "Rack": ("string", "2+"),
    }  # fmt: skip
    (points,) = (one for one in live["fields"] if one["name"] == "EndPoints")
    assert {one["name"]: one["versions"] for one in points["fields"]} == {
        "Port": "1+", "Host": "1+", "ListenerName": "3+", "SecurityProtocolType": "1+",
    }  # fmt: skip
