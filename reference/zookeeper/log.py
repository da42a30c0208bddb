"""Reads the transaction log of a ZooKeeper server, so that a run can be recorded and judged afterwards.

A server appends every transaction to files `log.<zxid in hex>` in the folder `version-2` of its data; this module
gives them back in zxid order. A file is a header (magic `ZKLG`, version 2, a database id), then records: an Adler-32
checksum, a length, the transaction, and the byte `B`. Files are allocated ahead, so zeros follow the last record.
Since 3.6 a digest of the server's tree may follow a transaction's own fields; it is skipped.

Nothing is guessed: a wrong checksum, a record cut short, bytes left over, a transaction of an unknown type or a gap in
the zxids is an error that names file and offset. A server that runs has written whole every transaction that it has
answered. Snapshots are not read: a server that has purged its old logs gives what is left of them.

Source: `org.apache.zookeeper.server.persistence.FileTxnLog`, `server.util.SerializeUtils.deserializeTxn`, 3.4 to 3.9.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from reference.zookeeper.transactions import FIELDS, MULTI, Change, Form, MultiChange, Transaction, change_of

MAGIC: Final = b"ZKLG"
HEADER_LENGTH: Final = 16
RECORD_HEADER_LENGTH: Final = 12
END_OF_RECORD: Final = ord("B")
DIGEST_LENGTH: Final = 12
"""An int that is the digest's version, and a long."""


class ZookeeperLogError(ValueError):
    """A transaction log that cannot be read: the file, the offset in bytes, and what is wrong there."""

    def __init__(self, file: Path, offset: int, problem: str) -> None:
        super().__init__(f"{file}, offset {offset}: {problem}")
        self.file = file
        self.offset = offset


class _Malformed(Exception):
    """What a record's bytes have wrong, `offset` bytes after its start."""

    def __init__(self, problem: str, offset: int) -> None:
        super().__init__(problem)
        self.offset = offset


class _Fields:
    """A cursor over a record's bytes in ZooKeeper's jute encoding: big-endian, a length before each content."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.offset = 0

    @property
    def left(self) -> int:
        """How many bytes have not been read."""
        return len(self._content) - self.offset

    def _take(self, count: int) -> bytes:
        if count < 0 or count > self.left:
            raise _Malformed(f"a field of {count} bytes, but {self.left} are left of the record", self.offset)
        taken = self._content[self.offset : self.offset + count]
        self.offset += count
        return taken

    def number(self) -> int:
        """A signed 32-bit number."""
        return int.from_bytes(self._take(4), signed=True)

    def long(self) -> int:
        """A signed 64-bit number."""
        return int.from_bytes(self._take(8), signed=True)

    def flag(self) -> bool:
        """One byte, 0 or 1."""
        value = self._take(1)[0]
        if value > 1:
            raise _Malformed(f"a flag is 0 or 1, not {value}", self.offset - 1)
        return bool(value)

    def buffer(self) -> bytes | None:
        """Bytes, or null."""
        length = self.number()
        return None if length == -1 else self._take(length)

    def text(self) -> str:
        """A UTF-8 string; null reads as empty."""
        start = self.offset
        try:
            return (self.buffer() or b"").decode()
        except UnicodeDecodeError as error:
            raise _Malformed("a string is not UTF-8", start) from error

    def count(self) -> int:
        """How many elements a vector has; null reads as none."""
        start = self.offset
        count = self.number()
        if count < -1:
            raise _Malformed(f"a vector of {count} elements", start)
        return max(count, 0)

    def paths(self) -> tuple[str, ...]:
        """Several strings; none at all where nothing is left, as before 3.6, which did not log what a session took."""
        return tuple(self.text() for _ in range(self.count())) if self.left else ()

    def permissions(self) -> list[tuple[int, str, str]]:
        """A vector of permissions, scheme and id."""
        return [(self.number(), self.text(), self.text()) for _ in range(self.count())]


# ------------------------------------------------------------------------------------------------ transactions by type

_TYPES: Final = {
    -11: "closeSession", -10: "createSession", -1: "error", 1: "create", 2: "delete", 5: "setData", 7: "setACL",
    13: "check", 14: MULTI, 15: "create", 16: "reconfig", 19: "createContainer", 20: "deleteContainer", 21: "createTTL",
}  # fmt: skip
"""The types of change by `ZooDefs.OpCode`; 15 is create2, which answers with a Stat."""

_READERS: Final[dict[Form, Callable[[_Fields], Any]]] = {
    Form.TEXT: _Fields.text,
    Form.DATA: _Fields.buffer,
    Form.INT: _Fields.number,
    Form.LONG: _Fields.long,
    Form.OWNER: _Fields.flag,
    Form.PATHS: _Fields.paths,
    Form.ACL: _Fields.permissions,
}


def _read_change(code: int, fields: _Fields, session: int, start: int) -> Change:
    kind = _TYPES.get(code)
    if kind is None:
        raise _Malformed(f"transaction type {code} is unknown", start)
    if kind == MULTI:
        return _read_multi(fields, session)
    read = [(form, _READERS[form](fields)) for form in FIELDS[kind].values()]
    owned = [(form, (session if value else 0) if form is Form.OWNER else value) for form, value in read]
    return change_of(kind, [value for form, value in owned if form is not Form.ACL])


def _read_multi(fields: _Fields, session: int) -> Change:
    changes = []
    for _ in range(fields.count()):
        start = fields.offset
        kind, content = fields.number(), _Fields(fields.buffer() or b"")
        change = _read_change(kind, content, session, start)
        if content.left:
            raise _Malformed(f"{content.left} bytes are left over in an operation of a multi", start)
        changes.append(change)
    return MultiChange(tuple(changes))


def _read_transaction(content: bytes) -> Transaction:
    fields = _Fields(content)
    session, cxid, zxid, time_ms = fields.long(), fields.number(), fields.long(), fields.long()
    start = fields.offset
    change = _read_change(fields.number(), fields, session, start)
    if fields.left not in {0, DIGEST_LENGTH}:
        raise _Malformed(f"{fields.left} bytes are left over after the transaction", fields.offset)
    return Transaction(zxid, time_ms, session, cxid, change)


# ---------------------------------------------------------------------------------------------------------------- files


def read_log_file(file: Path) -> Iterator[Transaction]:
    """The transactions of one file in order; raises ZookeeperLogError where it is damaged."""
    content = file.read_bytes()
    if len(content) < HEADER_LENGTH or content[:4] != MAGIC:
        raise ZookeeperLogError(file, 0, "not a ZooKeeper transaction log: it does not begin with ZKLG")
    if (version := int.from_bytes(content[4:8])) != 2:
        raise ZookeeperLogError(file, 4, f"log version {version}, only 2 is known")
    for transaction, _ in _read_records(file, content, HEADER_LENGTH):
        yield transaction


def _read_records(file: Path, content: bytes, offset: int) -> Iterator[tuple[Transaction, int]]:
    """The transactions from an offset on, each with the offset behind it."""
    while record := _next_record(file, content, offset):
        try:
            transaction = _read_transaction(record)
        except _Malformed as malformed:
            where = offset + RECORD_HEADER_LENGTH + malformed.offset
            raise ZookeeperLogError(file, where, str(malformed)) from malformed
        offset += RECORD_HEADER_LENGTH + len(record) + 1
        yield transaction, offset


def _next_record(file: Path, content: bytes, offset: int) -> bytes | None:
    """The bytes of the record at an offset, checked; None where only the zeros of the allocation are left."""
    head = content[offset : offset + RECORD_HEADER_LENGTH]
    if not any(head) and content.count(0, offset) == len(content) - offset:
        return None
    if len(head) < RECORD_HEADER_LENGTH:
        raise ZookeeperLogError(file, offset, "the file ends within a record")
    checksum, length = struct.unpack("!qi", head)
    start, end = offset + RECORD_HEADER_LENGTH, offset + RECORD_HEADER_LENGTH + length
    if length <= 0 or end >= len(content):
        raise ZookeeperLogError(file, offset, f"a record of {length} bytes does not fit into the file")
    if (actual := zlib.adler32(content[start:end])) != checksum:
        raise ZookeeperLogError(file, offset, f"checksum {actual:#x}, but {checksum:#x} was written: damaged")
    if content[end] != END_OF_RECORD:
        raise ZookeeperLogError(file, end, "the record does not end with 'B'")
    return content[start:end]


def read_transaction_log(folder: Path) -> Iterator[Transaction]:
    """All transactions in a server's data folder, or its `version-2`; ZookeeperLogError if none, damaged, or a gap."""
    ordered = _log_files(folder)
    if not ordered:
        raise ZookeeperLogError(folder, 0, "no transaction log here: no file log.<zxid>")
    previous: Transaction | None = None
    for file in ordered:
        for transaction in read_log_file(file):
            if previous is not None and not _follows(previous.zxid, transaction.zxid):
                gap = f"zxid {transaction.zxid:#x} follows {previous.zxid:#x}: transactions are missing or doubled"
                raise ZookeeperLogError(file, 0, gap)
            yield transaction
            previous = transaction


class LogTail:
    """The log of a server that runs, read on from where it was read last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._offsets: dict[Path, int] = {}

    def until(self, zxid: int) -> Iterator[Transaction]:
        """The next ones, up to one that is answered: what follows may be half written. ZookeeperLogError if damaged."""
        for file in _log_files(self._folder):
            offset = self._offsets.get(file, HEADER_LENGTH)
            content = file.read_bytes()
            for transaction, behind in _read_records(file, content, offset):
                if transaction.zxid > zxid:
                    return
                self._offsets[file] = behind
                yield transaction
                if transaction.zxid == zxid:
                    return


def _log_files(folder: Path) -> list[Path]:
    """The files of a log, the oldest first."""
    inner = folder / "version-2"
    return sorted((inner if inner.is_dir() else folder).glob("log.*"), key=_first_zxid)


def _first_zxid(file: Path) -> int:
    try:
        return int(file.name.removeprefix("log."), 16)
    except ValueError as error:
        raise ZookeeperLogError(file, 0, "a transaction log is named log.<zxid in hexadecimal>") from error


def _follows(before: int, after: int) -> bool:
    """Whether a zxid is the next one: its low half counts within the epoch of a leader, its high half, the epochs."""
    return after == before + 1 or (after >> 32) > (before >> 32)
