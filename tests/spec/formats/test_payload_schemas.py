"""The schemas of payloads: what Kafka wrote is valid, and what no writer of the era writes is not."""

import gzip
import json
from pathlib import Path as File
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from spec.formats import znode_paths as paths
from spec.formats.payload_schemas import payload_schema
from spec.formats.znode_paths import KINDS, Path, PathKind
from spec.formats.znodes import PAYLOADS, EmptyPayload, JsonPayload, Payload
from tests import strategies

RECORDED = File(__file__).parents[2] / "data" / "kafka-0.10.2.2-znodes.jsonl.gz"
VALIDATORS = {kind: Draft202012Validator(payload_schema(PAYLOADS.get(kind, EmptyPayload))) for kind in KINDS}


def is_valid(kind: PathKind, data: str | None) -> bool:
    """Whether the data of a znode, which may be none, are as its schema says."""
    return bool(VALIDATORS[kind].is_valid(json.loads(data) if data else None))


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_each_is_a_schema(kind: PathKind) -> None:
    Draft202012Validator.check_schema(VALIDATORS[kind].schema)


def test_what_kafka_wrote_is_valid() -> None:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        recorded = [json.loads(line) for line in lines]
    assert len(recorded) == 2656
    for path, data in recorded:
        assert is_valid(Path.parse(path).kind, data), path


@given(strategies.znodes_of_any_kind)
def test_what_we_write_is_valid_and_lacks_no_key_that_must_be_there(znode: tuple[Path, Payload]) -> None:
    path, payload = znode
    if path.kind == paths.CONTROLLER and str(payload).lstrip("-").isdecimal():
        return  # the bare id of before 0.8
    assert is_valid(path.kind, str(payload))
    if isinstance(payload, JsonPayload):
        written = json.loads(str(payload))
        for key in written:
            rest = {name: value for name, value in written.items() if name != key}
            assert is_valid(path.kind, json.dumps(rest)) == (key == "rack"), key
            assert not is_valid(path.kind, json.dumps({**written, key: 1.5})), key


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (paths.STATE, {"isr": [-1]}),
        (paths.STATE, {"leader": -2}),
        (paths.STATE, {"leader_epoch": -1}),
        (paths.STATE, {"version": 2}),
        (paths.STATE, {"isr": ["1"]}),
    ],
)
def test_what_no_writer_of_the_era_writes_is_not_valid(kind: PathKind, change: dict[str, Any]) -> None:
    written: dict[str, Any] = {"controller_epoch": 1, "leader": 1, "version": 1, "leader_epoch": 0, "isr": [1, 2]}
    assert is_valid(kind, json.dumps(written))
    assert is_valid(kind, json.dumps({**written, "later": True}))
    assert not is_valid(kind, json.dumps({**written, **change}))
