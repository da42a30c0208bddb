"""What a ZooKeeper server writes to its transaction log, and the JSON lines that recordings keep of it.

A transaction is what became of one request that could have changed something: a session that began or ended, a write,
or the error that a write was refused with (its path is not logged). Reads leave no transaction, but every request of a
session, reads too, has the next `cxid`. Zxids have no gaps. The end of a session lists the ephemeral znodes that went
with it; its cxid is 0 when the server ended it because the client had fallen silent.

One line of a recording's `zookeeper.jsonl` is one transaction, its keys in the order in which `to_json` gives them.
Sessions and zxids are hexadecimal text, `ephemeralOwner` is 0 for a persistent znode. `parentCversion` counts the
creates, not the deletes, among the parent's children, and is what sequential names are made of. Data that are no
UTF-8 text become `{"base64": ...}`.

Source: `org.apache.zookeeper.txn` and `server.util.SerializeUtils`, 3.4 to 3.9.
"""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final, TypeAlias, dataclass_transform

ERROR_NAMES: Final = {
    -1: "SystemError", -2: "RuntimeInconsistency", -4: "ConnectionLoss", -5: "MarshallingError", -6: "Unimplemented",
    -7: "OperationTimeout", -8: "BadArguments", -13: "NewConfigNoQuorum", -14: "ReconfigInProgress", -100: "APIError",
    -101: "NoNode", -102: "NoAuth", -103: "BadVersion", -108: "NoChildrenForEphemerals", -110: "NodeExists",
    -111: "NotEmpty", -112: "SessionExpired", -113: "InvalidCallback", -114: "InvalidACL", -115: "AuthFailed",
    -118: "SessionMoved", -119: "NotReadOnly", -123: "ReconfigDisabled", -125: "QuotaExceeded", -127: "ThrottledOp",
}  # fmt: skip
"""ZooKeeper's error numbers by name (`KeeperException.Code`), as far as a write can be refused with them."""

Json: TypeAlias = dict[str, Any]


class Form(Enum):
    """What a field of a change holds; a recording leaves out the permissions."""

    TEXT = "a path"
    DATA = "the data of a znode, or none"
    INT = "a signed 32-bit number"
    LONG = "a signed 64-bit number"
    OWNER = "whether a znode is ephemeral; in a recording the session that owns it, or 0"
    PATHS = "several paths"
    ACL = "permissions"


MULTI: Final = "multi"
FIELDS: Final[Mapping[str, Mapping[str, Form]]] = {
    "createSession": {"timeout": Form.INT},
    "closeSession": {"deleted": Form.PATHS},
    "create": {
        "path": Form.TEXT, "data": Form.DATA, "acl": Form.ACL, "ephemeralOwner": Form.OWNER, "parentCversion": Form.INT,
    },
    "setData": {"path": Form.TEXT, "data": Form.DATA, "version": Form.INT},
    "delete": {"path": Form.TEXT},
    "error": {"err": Form.INT},
    "check": {"path": Form.TEXT, "version": Form.INT},
    "setACL": {"path": Form.TEXT, "acl": Form.ACL, "version": Form.INT},
    "createContainer": {"path": Form.TEXT, "data": Form.DATA, "acl": Form.ACL, "parentCversion": Form.INT},
    "createTTL": {
        "path": Form.TEXT, "data": Form.DATA, "acl": Form.ACL, "parentCversion": Form.INT, "ttl": Form.LONG,
    },
    "deleteContainer": {"path": Form.TEXT},
    "reconfig": {"path": Form.TEXT, "data": Form.DATA, "version": Form.INT},
}  # fmt: skip
"""The fields of each type of change, except a multi, in the order in which the server writes them."""


def recorded_fields(kind: str) -> dict[str, Form]:
    """The fields of a type of change that a recording has."""
    return {name: form for name, form in FIELDS[kind].items() if form is not Form.ACL}


@dataclass_transform(frozen_default=True)
class Change:
    """What a transaction did. Each kind is a frozen dataclass, whose fields are those of its type in FIELDS."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)

    def to_json(self) -> Json:
        """Its type and own fields."""
        kind = next(name for name, made in CLASSES.items() if made is type(self))
        return _to_json(kind, (getattr(self, one.name) for one in fields(self)))  # type: ignore[arg-type] # a kind is one


class SessionCreated(Change):
    """A session began, with the time-out in milliseconds that the server granted."""

    timeout_ms: int


class SessionClosed(Change):
    """A session ended, and these ephemeral znodes with it, in the server's order, which means nothing."""

    deleted: tuple[str, ...]


class NodeCreated(Change):
    """A znode was created; `ephemeral_owner` is 0 or the session, `parent_cversion` the parent's creates so far."""

    path: str
    data: bytes | None
    ephemeral_owner: int
    parent_cversion: int


class DataSet(Change):
    """A znode's data were written; `version` is the data version after it."""

    path: str
    data: bytes | None
    version: int


class NodeDeleted(Change):
    """A znode was deleted by a client; one that goes with its session is in SessionClosed."""

    path: str


class WriteRefused(Change):
    """A write changed nothing; ZooKeeper's number says why."""

    code: int

    @property
    def name(self) -> str:
        """The number's name."""
        return ERROR_NAMES.get(self.code, "Unknown")

    def to_json(self) -> Json:
        """Its type and own fields, and the name beside the number."""
        return {**super().to_json(), "error": self.name}


class VersionChecked(Change):
    """A part of a multi that changed nothing: the znode had the version that was asked for, one less than `version`."""

    path: str
    version: int


class OtherChange(Change):
    """A change of a type that no controller of the era makes, kept so that a log of any server reads whole."""

    type: str
    fields: tuple[tuple[str, str | int | bytes | None], ...]

    def to_json(self) -> Json:
        """Its type and own fields."""
        return _to_json(self.type, (value for _, value in self.fields))


class MultiChange(Change):
    """Several changes that were made together; or none of them, if one is a WriteRefused."""

    changes: tuple[Change, ...]

    @property
    def refused(self) -> WriteRefused | None:
        """Why nothing was changed, if so: what the part met that failed, for the server does not try those after it."""
        return next((one for one in self.changes if isinstance(one, WriteRefused) and one.code), None)

    def to_json(self) -> Json:
        """Its type and the changes."""
        return {"type": MULTI, "operations": [change.to_json() for change in self.changes]}


CLASSES: Final[Mapping[str, Callable[..., Change]]] = {
    "createSession": SessionCreated,
    "closeSession": SessionClosed,
    "create": NodeCreated,
    "setData": DataSet,
    "delete": NodeDeleted,
    "error": WriteRefused,
    "check": VersionChecked,
}
"""The types of change that controllers make; what is not here is an OtherChange."""


def change_of(kind: str, values: Iterable[Any]) -> Change:
    """A change of a type, from the values of its fields in a recording."""
    made = CLASSES.get(kind)
    return OtherChange(kind, tuple(zip(recorded_fields(kind), values, strict=True))) if made is None else made(*values)


def _to_json(kind: str, values: Iterable[Any]) -> Json:
    pairs = zip(recorded_fields(kind).items(), values, strict=True)
    return {"type": kind, **{name: _value_to_json(form, value) for (name, form), value in pairs}}


def _value_to_json(form: Form, value: Any) -> Any:
    match form:
        case Form.DATA:
            return _data_to_json(value)
        case Form.OWNER:
            return hex_of(value) if value else 0
        case Form.PATHS:
            return list(value)
        case _:
            return value


@dataclass(frozen=True)
class Transaction:
    """One entry of the log: its zxid, the server's clock in milliseconds, the session's request, and what it did."""

    zxid: int
    time_ms: int
    session: int
    cxid: int
    change: Change

    def to_json(self) -> Json:
        """The fields of a line of zookeeper.jsonl, in the order of the recordings."""
        return {
            "zxid": hex(self.zxid),
            "time": self.time_ms,
            "utc": _utc(self.time_ms),
            "session": hex_of(self.session),
            "cxid": self.cxid,
            **self.change.to_json(),
        }

    def to_line(self) -> str:
        """A line of zookeeper.jsonl, without its end."""
        return json.dumps(self.to_json())


def hex_of(session: int) -> str:
    """A session id as ZooKeeper prints it: 64 bits, unsigned, hexadecimal."""
    return hex(session & 0xFFFF_FFFF_FFFF_FFFF)


def _utc(time_ms: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time_ms)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _data_to_json(data: bytes | None) -> str | Json | None:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}
