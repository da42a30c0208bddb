"""Transactions as the lines of a recording: those of a real cluster come out as they went in, and none is guessed."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.memory.zookeeper import MemoryZookeeper
from reference.zookeeper.recording import RecordingError, parse_transaction, read_recording, write_recording
from reference.zookeeper.transactions import (
    DataSet,
    MultiChange,
    NodeCreated,
    NodeDeleted,
    OtherChange,
    SessionClosed,
    SessionCreated,
    Transaction,
    VersionChecked,
    WriteRefused,
)
from reference.zookeeper.tree import Znode
from tests.strategies import characters

DATA = Path(__file__).resolve().parents[2] / "data"


def lines_of(name: str) -> list[str]:
    return gzip.decompress((DATA / name).read_bytes()).decode().splitlines()


RECORDED = lines_of("kafka-0.10.2.2-zookeeper.jsonl.gz")

DUMPED = ("/admin", "/brokers", "/config/topics", "/controller", "/isr_change_notification")
"""What the dumps of the recorded cluster show of its tree."""


def dumped(znode: Znode) -> list[str | int]:
    owner = hex(znode.ephemeral_owner) if znode.ephemeral_owner else 0
    return [(znode.data or b"").decode(), znode.version, owner]


paths = st.text("abc/é", min_size=1).map(lambda text: f"/{text}")
sessions = st.integers(-(2**63), 2**63 - 1)
numbers = st.integers(0, 2**31 - 1)
data = st.none() | st.binary() | st.text(characters).map(str.encode)
changes = st.one_of(
    st.builds(SessionCreated, numbers),
    st.builds(SessionClosed, st.lists(paths).map(tuple)),
    st.builds(NodeCreated, paths, data, st.just(0) | sessions.filter(bool), numbers),
    st.builds(DataSet, paths, data, numbers),
    st.builds(NodeDeleted, paths),
    st.builds(VersionChecked, paths, numbers),
    st.builds(WriteRefused, st.sampled_from([-101, -110, -103, -111, -108, -112, -7777])),
    st.builds(lambda path, version: OtherChange("setACL", (("path", path), ("version", version))), paths, numbers),
    st.builds(
        lambda path, value, count: OtherChange(
            "createContainer", (("path", path), ("data", value), ("parentCversion", count))
        ),
        paths,
        data,
        numbers,
    ),
)
transactions = st.builds(
    Transaction,
    st.integers(1, 2**63 - 1),
    st.integers(0, 2**42),
    sessions,
    numbers,
    changes | st.builds(MultiChange, st.lists(changes, max_size=3).map(tuple)),
)


def test_a_real_recording_comes_out_byte_for_byte() -> None:
    assert len(RECORDED) == 82
    assert [transaction.to_line() for transaction in read_recording(RECORDED)] == RECORDED
    # All six types that a cluster makes are in it, so each is tried.
    kinds = {json.loads(line)["type"] for line in RECORDED}
    assert kinds == {"createSession", "closeSession", "create", "setData", "delete", "error"}


def test_a_real_log_replayed_gives_the_tree_that_a_client_read() -> None:
    dumps = [json.loads(line) for line in lines_of("kafka-0.10.2.2-zookeeper-trees.jsonl.gz")]
    assert len(dumps) == 4
    for dump in dumps:
        before = (transaction for transaction in read_recording(RECORDED) if transaction.time_ms <= dump["time"])
        tree = MemoryZookeeper.replay(before).tree
        shown = {path: dumped(znode) for path, znode in tree.items() if path.startswith(DUMPED)}
        assert shown == dump["znodes"]


@given(transactions)
def test_every_transaction_comes_back_from_its_line(transaction: Transaction) -> None:
    assert parse_transaction(transaction.to_line()) == transaction


def test_a_recording_is_written_as_it_is_read(tmp_path: Path) -> None:
    write_recording(tmp_path / "zookeeper.jsonl", read_recording(RECORDED))
    assert (tmp_path / "zookeeper.jsonl").read_text(encoding="utf-8").splitlines() == RECORDED


CREATE: dict[str, Any] = Transaction(5, 0, 1, 2, NodeCreated("/a", b"x", 0, 1)).to_json()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "an object of fields was expected"),
        (json.dumps({**CREATE, "zxid": "5"}), "'zxid' is '5', not a number of 64 bits like 0x1f"),
        (json.dumps({**CREATE, "zxid": "0x05"}), "'zxid' is '0x05'"),
        (json.dumps({**CREATE, "zxid": 5}), "'zxid' is 5, not of kind str"),
        (json.dumps({**CREATE, "cxid": True}), "'cxid' is true, not of kind int"),
        (json.dumps({**CREATE, "utc": "1970-01-01T00:00:00.001Z"}), "'utc' is"),
        (json.dumps({**CREATE, "type": "destroy"}), "'type' is 'destroy'; known are check, closeSession"),
        (json.dumps({**CREATE, "data": 1}), "'data' is 1, neither text, null nor base64"),
        (json.dumps({**CREATE, "data": {"base64": "x"}}), "'data' is not base64"),
        (json.dumps({**CREATE, "data": {"base64": "é"}}), "'data' is not base64"),
        (json.dumps({**CREATE, "zxid": "-0x5"}), "'zxid' is '-0x5', not a number of 64 bits"),
        (json.dumps({**CREATE, "data": "\ud800"}), "'data' is no text: surrogates not allowed"),
        (json.dumps({**CREATE, "ephemeralOwner": "0x0g"}), "'ephemeralOwner' is '0x0g'"),
        (json.dumps({**CREATE, "extra": 1}), "'extra' is unknown"),
        (json.dumps({**CREATE, "time": 1}).replace('"time": 1', f'"time": {"1" * 5000}'), "cannot be read: Exceeds"),
        (json.dumps({**CREATE, "time": 1 << 63}), "'time' is 9223372036854775808, which takes more than 64 bits"),
        (json.dumps({**CREATE, "time": -(1 << 63) - 1}), "'time' is -9223372036854775809, which takes more"),
        (json.dumps({**CREATE, "time": (1 << 63) - 1}), "'time' is 9223372036854775807, which no calendar has"),
        (json.dumps({**CREATE, "time": -(1 << 63)}), "'time' is -9223372036854775808, which no calendar has"),
        (json.dumps({**CREATE, "cxid": 1 << 63}), "'cxid' is 9223372036854775808, which takes more than 64 bits"),
        (json.dumps({**CREATE, "zxid": hex(1 << 64)}), "'zxid' is '0x10000000000000000', not a number of 64 bits"),
        (json.dumps({name: value for name, value in CREATE.items() if name != "path"}), "'path' is missing"),
        (json.dumps({**CREATE, "parentCversion": 1.5}), "'parentCversion' is 1.5"),
        (RECORDED[3].replace("NoNode", "NodeExists"), "'error' is 'NodeExists', but -101 is 'NoNode'"),
    ],
)
def test_a_line_that_is_wrong_says_which_field(line: str, problem: str) -> None:
    with pytest.raises(RecordingError, match="^line 1: .*" + problem.replace("[", r"\[")) as refusal:
        list(read_recording([line]))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("index", [1, 40, 80])
def test_a_line_that_is_missing_or_doubled_is_found(index: int) -> None:
    for lines in (RECORDED[:index] + RECORDED[index + 1 :], RECORDED[:index] + RECORDED[index - 1 :]):
        with pytest.raises(RecordingError, match=rf"^line {index + 1}: zxid .* missing or doubled"):
            list(read_recording(lines))
