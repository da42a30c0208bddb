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

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

ERROR_NAMES: Final = {
    -1: "SystemError",
    -2: "RuntimeInconsistency",
    -4: "ConnectionLoss",
    -5: "MarshallingError",
    -6: "Unimplemented",
    -7: "OperationTimeout",
    -8: "BadArguments",
    -13: "NewConfigNoQuorum",
    -14: "ReconfigInProgress",
    -100: "APIError",
    -101: "NoNode",
    -102: "NoAuth",
    -103: "BadVersion",
    -108: "NoChildrenForEphemerals",
    -110: "NodeExists",
    -111: "NotEmpty",
    -112: "SessionExpired",
    -113: "InvalidCallback",
    -114: "InvalidACL",
    -115: "AuthFailed",
    -118: "SessionMoved",
    -119: "NotReadOnly",
    -123: "ReconfigDisabled",
    -125: "QuotaExceeded",
    -127: "ThrottledOp",
}
"""ZooKeeper's error numbers by name (`KeeperException.Code`), as far as a write can be refused with them."""

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class SessionCreated:
    """A session began, with the time-out in milliseconds that the server granted."""

    timeout_ms: int

    def to_json(self) -> Json:
        """Its type and own fields."""
        return {"type": "createSession", "timeout": self.timeout_ms}


@dataclass(frozen=True)
class SessionClosed:
    """A session ended, and these ephemeral znodes with it, in the server's order, which means nothing."""

    deleted: tuple[str, ...]

    def to_json(self) -> Json:
        """Its type and own fields."""
        return {"type": "closeSession", "deleted": list(self.deleted)}


@dataclass(frozen=True)
class NodeCreated:
    """A znode was created; `ephemeral_owner` is 0 or the session, `parent_cversion` the parent's creates so far."""

    path: str
    data: bytes | None
    ephemeral_owner: int
    parent_cversion: int

    def to_json(self) -> Json:
        """Its type and own fields."""
        owner = hex_of(self.ephemeral_owner) if self.ephemeral_owner else 0
        return {
            "type": "create",
            "path": self.path,
            "data": _data_to_json(self.data),
            "ephemeralOwner": owner,
            "parentCversion": self.parent_cversion,
        }


@dataclass(frozen=True)
class DataSet:
    """A znode's data were written; `version` is the data version after it."""

    path: str
    data: bytes | None
    version: int

    def to_json(self) -> Json:
        """Its type and own fields."""
        return {"type": "setData", "path": self.path, "data": _data_to_json(self.data), "version": self.version}


@dataclass(frozen=True)
class NodeDeleted:
    """A znode was deleted by a client; one that goes with its session is in SessionClosed."""

    path: str

    def to_json(self) -> Json:
        """Its type and own fields."""
        return {"type": "delete", "path": self.path}


@dataclass(frozen=True)
class WriteRefused:
    """A write changed nothing; ZooKeeper's number says why."""

    code: int

    def to_json(self) -> Json:
        """Its type and own fields."""
        return {"type": "error", "err": self.code, "error": ERROR_NAMES.get(self.code, "Unknown")}


@dataclass(frozen=True)
class VersionChecked:
    """A part of a multi that changed nothing: the znode had the version that was asked for, one less than `version`."""

    path: str
    version: int

    def to_json(self) -> Json:
        """Its type and own fields."""
        return {"type": "check", "path": self.path, "version": self.version}


@dataclass(frozen=True)
class OtherChange:
    """A change that no controller of the era makes, kept so that a log of any server reads whole.

    `type` is one of setACL, createContainer, createTTL, deleteContainer and reconfig.
    """

    type: str
    fields: tuple[tuple[str, str | int | bytes | None], ...]

    def to_json(self) -> Json:
        """Its type and own fields."""
        shown = {name: _data_to_json(value) if isinstance(value, bytes) else value for name, value in self.fields}
        return {"type": self.type, **shown}


@dataclass(frozen=True)
class MultiChange:
    """Several changes that were made together; or none of them, if one is a WriteRefused."""

    changes: tuple[Change, ...]

    @property
    def refused(self) -> WriteRefused | None:
        """Why nothing was changed, if so: what the part met that failed, for the server does not try those after it."""
        return next((one for one in self.changes if isinstance(one, WriteRefused) and one.code), None)

    def to_json(self) -> Json:
        """Its type and own fields."""
        return {"type": "multi", "operations": [change.to_json() for change in self.changes]}


Change: TypeAlias = (
    SessionCreated
    | SessionClosed
    | NodeCreated
    | DataSet
    | NodeDeleted
    | WriteRefused
    | VersionChecked
    | OtherChange
    | MultiChange
)


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
