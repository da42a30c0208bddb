"""The transaction log of a real server, read: whole, in the form of the recordings, and strict about any damage.

That the transactions themselves are right is tested where the in-memory server's log is compared with a real one's
(`test_memory_zookeeper`); here a server makes one log with every kind of transaction that Kafka's ZooKeeper made, and
files are built by hand for the kinds that it did not.
"""

import gzip
import json
import struct
import zlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient

from reference.live.zookeeper import LiveZookeeper
from reference.zookeeper.api import Create, CreateMode, Delete, OperationRefused, SetData
from reference.zookeeper.log import ZookeeperLogError, read_log_file, read_transaction_log
from reference.zookeeper.recording import parse_transaction
from reference.zookeeper.server import ZookeeperServer
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
from tests.files import written_anew

pytestmark = pytest.mark.xdist_group("zookeeper")

RECORDED = Path(__file__).resolve().parents[2] / "data" / "kafka-0.10.2.2-zookeeper.jsonl.gz"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a server that saw each kind of transaction, and was started twice."""
    folder = tmp_path_factory.mktemp("zookeeper")
    with ZookeeperServer(folder) as server, LiveZookeeper(server.address) as client:
        for operation in (
            Create("/consumers", None),
            Create("/epoch", b"1"),
            Create("/epoch", b"1"),
            SetData("/epoch", b"2", version=0),
            SetData("/epoch", b"3", version=0),
            Create("/é", "ä".encode(), CreateMode.PERSISTENT_SEQUENTIAL),
            Create("/binary", b"\xff\x00"),
            Delete("/nowhere"),
            Delete("/binary"),
            Create("/controller", b"{}", CreateMode.EPHEMERAL),
        ):
            with suppress(OperationRefused):
                client.execute(operation)
    with ZookeeperServer(folder) as server:
        client = KazooClient(server.address)
        client.start()
        for last in ("/consumers", "/nowhere"):
            multi = client.transaction()
            multi.create("/together", b"t")
            multi.check("/epoch", 1)
            multi.delete(last)
            multi.commit()
        client.stop()
        client.close()
    return folder


def test_a_log_is_read_whole(log: Path) -> None:
    transactions = list(read_transaction_log(log))
    first, second = transactions[0].session, transactions[-1].session
    assert [
        (transaction.zxid, transaction.session, transaction.cxid, transaction.change) for transaction in transactions
    ] == [
        (1, first, 0, SessionCreated(6000)),
        (2, first, 1, NodeCreated("/consumers", None, 0, 1)),
        (3, first, 2, NodeCreated("/epoch", b"1", 0, 2)),
        (4, first, 3, WriteRefused(-110)),
        (5, first, 4, DataSet("/epoch", b"2", 1)),
        (6, first, 5, WriteRefused(-103)),
        (7, first, 6, NodeCreated("/é0000000002", "ä".encode(), 0, 3)),
        (8, first, 7, NodeCreated("/binary", b"\xff\x00", 0, 4)),
        (9, first, 8, WriteRefused(-101)),
        (10, first, 9, NodeDeleted("/binary")),
        (11, first, 10, NodeCreated("/controller", b"{}", first, 5)),
        (12, first, 11, SessionClosed(("/controller",))),
        (13, second, 0, SessionCreated(10000)),
        (
            14,
            second,
            1,
            MultiChange((NodeCreated("/together", b"t", 0, 6), VersionChecked("/epoch", 2), NodeDeleted("/consumers"))),
        ),
        (15, second, 2, MultiChange((WriteRefused(-110), WriteRefused(-2), WriteRefused(-2)))),
        (16, second, 3, SessionClosed(())),
    ]
    times = [transaction.time_ms for transaction in transactions]
    assert times == sorted(times)
    assert len(list((log / "version-2").glob("log.*"))) == 2
    assert list(read_transaction_log(log / "version-2")) == transactions


def shapes(lines: list[str]) -> dict[str, set[tuple[tuple[str, type], ...]]]:
    """For each type, the fields in their order and the kinds of their values."""
    found = defaultdict(set)
    for line in lines:
        fields: dict[str, Any] = json.loads(line)
        found[fields["type"]].add(tuple((name, type(value)) for name, value in fields.items()))
    return found


def test_lines_have_the_shapes_of_the_recorded_ones(log: Path) -> None:
    ours = [transaction for transaction in read_transaction_log(log) if not isinstance(transaction.change, MultiChange)]
    binary = [transaction for transaction in ours if "base64" in transaction.to_line()]
    assert len(binary) == 1  # no recording has data that are no text
    lines = [transaction.to_line() for transaction in ours if transaction not in binary]
    recorded = gzip.decompress(RECORDED.read_bytes()).decode().splitlines()
    assert shapes(lines) == shapes(recorded)
    assert [parse_transaction(transaction.to_line()) for transaction in ours] == ours


# ---------------------------------------------------------------------------------------------------- logs made by hand

HEADER = b"ZKLG" + struct.pack("!iq", 2, 0)


def text(value: str) -> bytes:
    return struct.pack("!i", len(value.encode())) + value.encode()


def record(zxid: int, kind: int, fields: bytes) -> bytes:
    content = struct.pack("!qiqqi", 7, 3, zxid, 99, kind) + fields
    return struct.pack("!qi", zlib.adler32(content), len(content)) + content + b"B"


def read(folder: Path, content: bytes, name: str = "log.1") -> list[Transaction]:
    return list(read_log_file(written_anew(folder / name, content)))


ACL = struct.pack("!ii", 1, 31) + text("world") + text("anyone")
NUMBER = struct.pack("!i", 4)
DIGEST = bytes(range(12))


@pytest.mark.parametrize(
    ("kind", "fields", "change"),
    [
        (-11, b"", SessionClosed(())),  # before 3.6
        (-11, struct.pack("!i", -1), SessionClosed(())),
        (15, text("/a") + text("x") + ACL + b"\0" + NUMBER, NodeCreated("/a", b"x", 0, 4)),
        (1, text("/a") + struct.pack("!i", -1) + ACL + b"\1" + NUMBER, NodeCreated("/a", None, 7, 4)),
        (7, text("/a") + ACL + NUMBER, OtherChange("setACL", (("path", "/a"), ("version", 4)))),
        (
            19,
            text("/a") + text("x") + ACL + NUMBER,
            OtherChange("createContainer", (("path", "/a"), ("data", b"x"), ("parentCversion", 4))),
        ),
        (
            21,
            text("/a") + text("x") + ACL + NUMBER + struct.pack("!q", 60),
            OtherChange("createTTL", (("path", "/a"), ("data", b"x"), ("parentCversion", 4), ("ttl", 60))),
        ),
        (20, text("/a"), OtherChange("deleteContainer", (("path", "/a"),))),
        (
            16,
            text("/a") + text("x") + NUMBER,
            OtherChange("reconfig", (("path", "/a"), ("data", b"x"), ("version", 4))),
        ),
    ],
)
def test_kinds_that_kafka_does_not_cause(tmp_path: Path, kind: int, fields: bytes, change: object) -> None:
    # A server old enough not to tell what went with a session makes no digests either.
    for after in (b"", DIGEST) if fields else (b"",):
        (transaction,) = read(tmp_path, HEADER + record(1, kind, fields + after) + bytes(100))
        assert transaction == Transaction(1, 99, 7, 3, change)  # type: ignore[arg-type]
        assert parse_transaction(transaction.to_line()) == transaction


GOOD = record(1, -1, NUMBER)


@pytest.mark.parametrize(
    ("content", "offset", "problem"),
    [
        (b"", 0, "does not begin with ZKLG"),
        (b"ZKSN" + HEADER[4:], 0, "does not begin with ZKLG"),
        (b"ZKLG" + struct.pack("!iq", 3, 0), 4, "log version 3, only 2 is known"),
        (HEADER + GOOD + b"\1\2\3", 16 + len(GOOD), "the file ends within a record"),
        (HEADER + GOOD[:-1], 16, "does not fit into the file"),
        (HEADER + struct.pack("!qi", 0, -5) + bytes(9), 16, "a record of -5 bytes does not fit"),
        (HEADER + GOOD[:-1] + b"C", 16 + len(GOOD) - 1, "does not end with 'B'"),
        (HEADER + GOOD + record(2, 99, b""), 16 + len(GOOD) + 12 + 28, "transaction type 99 is unknown"),
        (HEADER + record(1, -1, NUMBER + b"xyz"), 16 + 12 + 36, "3 bytes are left over after the transaction"),
        (HEADER + record(1, -1, b"\0"), 16 + 12 + 32, "a field of 4 bytes, but 1 are left"),
        (HEADER + record(1, 2, struct.pack("!i", 2) + b"\xff\xff"), 16 + 12 + 32, "a string is not UTF-8"),
        (HEADER + record(1, -11, struct.pack("!i", -2)), 16 + 12 + 32, "a vector of -2 elements"),
        (
            HEADER + record(1, 1, text("/a") + text("") + struct.pack("!i", 0) + b"\2" + NUMBER),
            16 + 12 + 32 + 6 + 4 + 4,
            "a flag is 0 or 1, not 2",
        ),
        (
            HEADER + record(1, 14, struct.pack("!iii", 1, 2, 8) + text("/a") + b"!!"),
            16 + 12 + 32 + 4,
            "2 bytes are left over in an operation of a multi",
        ),
    ],
)
def test_damage_is_told_with_file_and_offset(tmp_path: Path, content: bytes, offset: int, problem: str) -> None:
    with pytest.raises(ZookeeperLogError) as refusal:
        read(tmp_path, content)
    assert refusal.value.offset == offset
    assert str(refusal.value).startswith(f"{tmp_path / 'log.1'}, offset {offset}: ")
    assert problem in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_any_changed_byte_of_a_real_log_is_noticed(log: Path) -> None:
    """Every byte of the records is covered: by the checksum, by itself, or by the type and length that it tells."""
    content = (log / "version-2" / "log.1").read_bytes()
    end = len(content.rstrip(b"\0"))
    content = content[: end + 50]
    whole = list(read_log_file(log / "version-2" / "log.1"))
    damaged = log / "log.damaged"
    for position in [*range(8), *range(16, end)]:
        written_anew(damaged, content[:position] + bytes([content[position] ^ 0x55]) + content[position + 1 :])
        with pytest.raises(ZookeeperLogError):
            list(read_log_file(damaged))
    written_anew(damaged, content)
    assert list(read_log_file(damaged)) == whole


def test_a_log_that_is_cut_anywhere_but_between_records_is_noticed(log: Path, tmp_path: Path) -> None:
    content = (log / "version-2" / "log.1").read_bytes()
    end = len(content.rstrip(b"\0"))
    whole = list(read_log_file(log / "version-2" / "log.1"))
    cut = 0
    for length in range(16, end + 1):
        with suppress(ZookeeperLogError):
            shorter = read(tmp_path, content[:length])
            assert shorter == whole[: len(shorter)]
            cut += 1
    # Good places to cut are the end of the header and those of the records; and the zeros that a record begins with, as
    # free space does: a checksum has 32 bits in a field of 64, so there are at least four.
    assert cut == 1 + len(whole) + sum(leading_zeros(content[start:]) for start in record_starts(content, end))


def record_starts(content: bytes, end: int) -> Iterator[int]:
    """Where records begin: behind a header of 16 bytes, a checksum of 8, a length of 4, the record, and one byte."""
    start = 16
    while start < end:
        yield start
        start += 8 + 4 + int.from_bytes(content[start + 8 : start + 12]) + 1


def leading_zeros(content: bytes) -> int:
    return len(content) - len(content.lstrip(b"\0"))


def test_missing_files_and_gaps(tmp_path: Path) -> None:
    with pytest.raises(ZookeeperLogError, match="no transaction log here"):
        list(read_transaction_log(tmp_path))
    (tmp_path / "log.1").write_bytes(HEADER + GOOD + record(2, -1, NUMBER))
    (tmp_path / "log.10").write_bytes(HEADER + record(4, -1, NUMBER))
    with pytest.raises(ZookeeperLogError, match=r"log\.10, .* zxid 0x4 follows 0x2: transactions are missing"):
        list(read_transaction_log(tmp_path))
    # Hexadecimal names sort by their numbers, and a new leader's epoch begins a new count.
    (tmp_path / "log.3").write_bytes(HEADER + record(3, -1, NUMBER) + bytes(50))
    (tmp_path / "log.100000001").write_bytes(HEADER + record(0x1_0000_0001, -1, NUMBER))
    assert [transaction.zxid for transaction in read_transaction_log(tmp_path)] == [1, 2, 3, 4, 0x1_0000_0001]
    (tmp_path / "log.old").write_bytes(HEADER)
    with pytest.raises(ZookeeperLogError, match=r"named log\.<zxid in hexadecimal>"):
        list(read_transaction_log(tmp_path))
