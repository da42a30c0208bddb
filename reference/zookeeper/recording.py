"""The file `zookeeper.jsonl` of a recording: one transaction a line, in zxid order, read back strictly.

What `Transaction.to_line` writes, this reads, and nothing else: an unknown type, a field that is missing, left over or
of the wrong kind, a number that is not in its canonical form, a gap in the zxids are errors that name the line and the
field. Recordings of real clusters in this form are read by the same rules as our own.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from reference.zookeeper.transactions import (
    Change,
    DataSet,
    Json,
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

Kind = TypeVar("Kind")

_OTHER_FIELDS: Final = {
    "setACL": ("path", "version"),
    "createContainer": ("path", "data", "parentCversion"),
    "createTTL": ("path", "data", "parentCversion", "ttl"),
    "deleteContainer": ("path",),
    "reconfig": ("path", "data", "version"),
}


class RecordingError(ValueError):
    """A line that is no transaction of a recording: which line and field, and what is wrong there."""


class _Fields:
    """The fields of a line, each taken once and by its kind."""

    def __init__(self, fields: object) -> None:
        if not isinstance(fields, dict):
            raise RecordingError(f"an object of fields was expected, not {json.dumps(fields)}")
        self._left: Json = dict(fields)

    def take(self, name: str, kind: type[Kind]) -> Kind:
        """A field of a kind, which bool is not for int."""
        if name not in self._left:
            raise RecordingError(f"field {name!r} is missing")
        value = self._left.pop(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise RecordingError(f"field {name!r} is {json.dumps(value)}, not of kind {kind.__name__}")
        return value

    def hexadecimal(self, name: str) -> int:
        """A number as ZooKeeper prints session ids and zxids."""
        text = self.take(name, str)
        try:
            number = int(text, 16)
        except ValueError:
            number = -1
        if hex(number) != text:
            raise RecordingError(f"field {name!r} is {text!r}, not a number like 0x1f")
        return number

    def session(self, name: str) -> int:
        """A session id, which is signed in ZooKeeper and printed unsigned."""
        number = self.hexadecimal(name)
        return number - (1 << 64) if number >> 63 else number

    def data(self) -> bytes | None:
        """The data of a znode: text, null, or what is no text in base64."""
        match self.take("data", object):
            case None:
                return None
            case str(text):
                try:
                    return text.encode()
                except UnicodeEncodeError as error:
                    raise RecordingError(f"field 'data' is no text: {error.reason}") from error
            case {"base64": str(text), **rest} if not rest:
                try:
                    return base64.b64decode(text, validate=True)
                except binascii.Error as error:
                    raise RecordingError(f"field 'data' is not base64: {error}") from error
            case other:
                raise RecordingError(f"field 'data' is {json.dumps(other)}, neither text, null nor base64")

    def owner(self) -> int:
        """The session that owns a znode, 0 when it is persistent."""
        if self._left.get("ephemeralOwner") == 0:
            return self.take("ephemeralOwner", int)
        return self.session("ephemeralOwner")

    def finish(self) -> None:
        """Refuse what nobody took."""
        if self._left:
            raise RecordingError(f"field {next(iter(self._left))!r} is unknown")


def _refused(fields: _Fields) -> WriteRefused:
    refused = WriteRefused(fields.take("err", int))
    if (name := fields.take("error", str)) != refused.to_json()["error"]:
        raise RecordingError(f"field 'error' is {name!r}, but {refused.code} is {refused.to_json()['error']!r}")
    return refused


def _closed(fields: _Fields) -> SessionClosed:
    paths = fields.take("deleted", list)
    if not all(isinstance(path, str) for path in paths):
        raise RecordingError("field 'deleted' must list paths")
    return SessionClosed(tuple(paths))


_CHANGES: Final[dict[str, Callable[[_Fields], Change]]] = {
    "createSession": lambda fields: SessionCreated(fields.take("timeout", int)),
    "closeSession": _closed,
    "create": lambda fields: NodeCreated(
        fields.take("path", str), fields.data(), fields.owner(), fields.take("parentCversion", int)
    ),
    "setData": lambda fields: DataSet(fields.take("path", str), fields.data(), fields.take("version", int)),
    "check": lambda fields: VersionChecked(fields.take("path", str), fields.take("version", int)),
    "delete": lambda fields: NodeDeleted(fields.take("path", str)),
    "error": _refused,
    "multi": lambda fields: MultiChange(
        tuple(_finished(_Fields(change)) for change in fields.take("operations", list))
    ),
}


def _other_field(fields: _Fields, name: str) -> str | int | bytes | None:
    match name:
        case "data":
            return fields.data()
        case "path":
            return fields.take(name, str)
        case _:
            return fields.take(name, int)


def _change_of(fields: _Fields) -> Change:
    kind = fields.take("type", str)
    if kind in _OTHER_FIELDS:
        return OtherChange(kind, tuple((name, _other_field(fields, name)) for name in _OTHER_FIELDS[kind]))
    if kind not in _CHANGES:
        raise RecordingError(f"field 'type' is {kind!r}; known are {', '.join(sorted({*_CHANGES, *_OTHER_FIELDS}))}")
    return _CHANGES[kind](fields)


def _finished(fields: _Fields) -> Change:
    change = _change_of(fields)
    fields.finish()
    return change


def parse_transaction(line: str) -> Transaction:
    """The transaction that a line of zookeeper.jsonl tells; raises RecordingError that names the wrong field."""
    try:
        content: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise RecordingError(f"not JSON: {error}") from error
    fields = _Fields(content)
    zxid, time_ms, utc = fields.hexadecimal("zxid"), fields.take("time", int), fields.take("utc", str)
    session, cxid = fields.session("session"), fields.take("cxid", int)
    transaction = Transaction(zxid, time_ms, session, cxid, _finished(fields))
    if (expected := transaction.to_json()["utc"]) != utc:
        raise RecordingError(f"field 'utc' is {utc!r}, but 'time' says {expected!r}")
    return transaction


def read_recording(lines: Iterable[str]) -> Iterator[Transaction]:
    """The transactions of a zookeeper.jsonl; raises RecordingError that names the line, counted from 1, and the fault.

    Zxids must follow each other without a gap; the first may be any.
    """
    previous: int | None = None
    for number, line in enumerate(lines, start=1):
        try:
            transaction = parse_transaction(line)
        except RecordingError as error:
            raise RecordingError(f"line {number}: {error}") from error
        if previous is not None and transaction.zxid != previous + 1:
            gap = f"zxid {transaction.zxid:#x} follows {previous:#x}: transactions are missing or doubled"
            raise RecordingError(f"line {number}: {gap}")
        yield transaction
        previous = transaction.zxid


def write_recording(file: Path, transactions: Iterable[Transaction]) -> None:
    """Write a zookeeper.jsonl."""
    file.write_text("".join(f"{transaction.to_line()}\n" for transaction in transactions), encoding="utf-8")
