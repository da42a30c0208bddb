"""The file `zookeeper.jsonl` of a recording: one transaction a line, in zxid order, read back strictly.

What `Transaction.to_line` writes, this reads, and nothing else: an unknown type, a field that is missing, left over or
of the wrong kind, a number that is not in its canonical form, a gap in the zxids are errors that name the line and the
field. Recordings of real clusters in this form are read by the same rules as our own.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from reference.zookeeper import transactions as log

Kind = TypeVar("Kind")


LONG: Final = 1 << 63
"""Beyond this no number of ZooKeeper's goes: the largest are Java's `long`."""


class RecordingError(ValueError):
    """A line that is no transaction of a recording: which line and field, and what is wrong there."""


class _Fields:
    """The fields of a line, each taken once and by its kind."""

    def __init__(self, fields: object) -> None:
        if not isinstance(fields, dict):
            raise RecordingError(f"an object of fields was expected, not {json.dumps(fields)}")
        self._left: log.Json = dict(fields)

    def take(self, name: str, kind: type[Kind]) -> Kind:
        """A field of a kind, which bool is not for int."""
        if name not in self._left:
            raise RecordingError(f"field {name!r} is missing")
        value = self._left.pop(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise RecordingError(f"field {name!r} is {json.dumps(value)}, not of kind {kind.__name__}")
        if isinstance(value, int) and not -LONG <= value < LONG:
            raise RecordingError(f"field {name!r} is {value}, which takes more than 64 bits")
        return value

    def hexadecimal(self, name: str) -> int:
        """A number as ZooKeeper prints session ids and zxids."""
        text = self.take(name, str)
        try:
            number = int(text, 16)
        except ValueError:
            number = -1
        if hex(number) != text or not 0 <= number < 2 * LONG:
            raise RecordingError(f"field {name!r} is {text[:40]!r}, not a number of 64 bits like 0x1f")
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
                except ValueError as error:  # no base64, or not even ASCII
                    raise RecordingError(f"field 'data' is not base64: {error}") from error
            case other:
                raise RecordingError(f"field 'data' is {json.dumps(other)}, neither text, null nor base64")

    def owner(self) -> int:
        """The session that owns a znode, 0 when it is persistent."""
        if self._left.get("ephemeralOwner") == 0:
            return self.take("ephemeralOwner", int)
        return self.session("ephemeralOwner")

    def paths(self, name: str) -> tuple[str, ...]:
        """A list of paths."""
        paths = self.take(name, list)
        if not all(isinstance(path, str) for path in paths):
            raise RecordingError(f"field {name!r} must list paths")
        return tuple(paths)

    def value(self, name: str, form: log.Form) -> Any:
        """A field of a change."""
        match form:
            case log.Form.DATA:
                return self.data()
            case log.Form.OWNER:
                return self.owner()
            case log.Form.PATHS:
                return self.paths(name)
            case log.Form.TEXT:
                return self.take(name, str)
            case _:
                return self.take(name, int)

    def finish(self) -> None:
        """Refuse what nobody took."""
        if self._left:
            raise RecordingError(f"field {next(iter(self._left))!r} is unknown")


def _change_of(fields: _Fields) -> log.Change:
    kind = fields.take("type", str)
    if kind == log.MULTI:
        return log.MultiChange(tuple(_finished(_Fields(change)) for change in fields.take("operations", list)))
    if kind not in log.FIELDS:
        raise RecordingError(f"field 'type' is {kind!r}; known are {', '.join(sorted({*log.FIELDS, log.MULTI}))}")
    change = log.change_of(kind, [fields.value(name, form) for name, form in log.recorded_fields(kind).items()])
    if isinstance(change, log.WriteRefused) and (name := fields.take("error", str)) != change.name:
        raise RecordingError(f"field 'error' is {name!r}, but {change.code} is {change.name!r}")
    return change


def _finished(fields: _Fields) -> log.Change:
    change = _change_of(fields)
    fields.finish()
    return change


def parse_transaction(line: str) -> log.Transaction:
    """The transaction that a line of zookeeper.jsonl tells; raises RecordingError that names the wrong field."""
    try:
        content: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise RecordingError(f"not JSON: {error}") from error
    except ValueError as error:  # an integer of more digits than Python reads
        raise RecordingError(f"cannot be read: {error}") from error
    fields = _Fields(content)
    zxid, time_ms, utc = fields.hexadecimal("zxid"), fields.take("time", int), fields.take("utc", str)
    session, cxid = fields.session("session"), fields.take("cxid", int)
    transaction = log.Transaction(zxid, time_ms, session, cxid, _finished(fields))
    try:
        expected = transaction.to_json()["utc"]
    except OverflowError as error:
        raise RecordingError(f"field 'time' is {time_ms}, which no calendar has") from error
    if expected != utc:
        raise RecordingError(f"field 'utc' is {utc!r}, but 'time' says {expected!r}")
    return transaction


def read_recording(lines: Iterable[str]) -> Iterator[log.Transaction]:
    """The transactions of a zookeeper.jsonl, without a gap; the first zxid may be any.

    RecordingError names the line, from 1, and the fault.
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


def write_recording(file: Path, transactions: Iterable[log.Transaction]) -> None:
    """Write a zookeeper.jsonl."""
    file.write_text("".join(f"{transaction.to_line()}\n" for transaction in transactions), encoding="utf-8")
