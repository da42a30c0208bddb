"""ZooKeeper as a Kafka controller of the ZooKeeper era sees it: the operations, their results, and what goes wrong.

A client holds a session and issues one operation at a time; each is answered or refused. Reads may leave a watch, which
fires at most once and carries no data, so whoever is woken reads again before it goes on. The in-memory server
(`memory.zookeeper`) and a real one (`live.zookeeper`) take these same values and give these same values back, and are
tested to agree.

Left out on purpose, since no controller of that time used them: access control lists (every znode is open), multi
operations, containers and nodes with a time to live, quotas, `sync`, and the clock times of a znode. The reserved tree
`/zookeeper` can be read, not written.

Names are ZooKeeper's own (`org.apache.zookeeper`: CreateMode, KeeperException.Code, Watcher.Event, data.Stat, 3.4).

The errors::

    ZookeeperError
    ├── OperationRefused             the server answered: nothing was changed
    │   ├── NoNode                   the znode, or the parent of one to be created, is not there
    │   ├── NodeExists               a znode to be created is there already
    │   ├── BadVersion               the expected data version is not the znode's
    │   ├── NotEmpty                 a znode to be deleted has children
    │   └── NoChildrenForEphemerals  the parent of a znode to be created is ephemeral
    └── SessionTrouble               there was no answer
        ├── SessionExpired           the session is over; this operation was not carried out
        └── ConnectionLoss           the operation may have been carried out, or not; the session may live on
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Final, Generic, TypeAlias, TypeVar

ANY_VERSION: Final = -1
"""As the expected version of a conditional write: whatever the version is."""

Result_co = TypeVar("Result_co", covariant=True)

# In Java a character beyond U+FFFF is two surrogates, which are refused.
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\U0010ffff]")


class CreateMode(Enum):
    """How long a znode lives, and whether ZooKeeper completes its name."""

    PERSISTENT = "PERSISTENT"
    EPHEMERAL = "EPHEMERAL"
    PERSISTENT_SEQUENTIAL = "PERSISTENT_SEQUENTIAL"
    EPHEMERAL_SEQUENTIAL = "EPHEMERAL_SEQUENTIAL"

    @property
    def is_ephemeral(self) -> bool:
        """Whether the znode goes with the session that created it."""
        return self in {CreateMode.EPHEMERAL, CreateMode.EPHEMERAL_SEQUENTIAL}

    @property
    def is_sequential(self) -> bool:
        """Whether the parent's counter, ten digits wide, is appended to the path."""
        return self in {CreateMode.PERSISTENT_SEQUENTIAL, CreateMode.EPHEMERAL_SEQUENTIAL}


def check_path(path: str) -> None:
    """Raise ValueError unless ZooKeeper would take this path (`PathUtils.validatePath`)."""
    if not path.startswith("/"):
        raise ValueError(f"ZooKeeper path {path!r} must start with '/'")
    parts = path[1:].split("/") if path != "/" else []
    if any(part in {"", ".", ".."} for part in parts):
        raise ValueError(f"ZooKeeper path {path!r} has an empty or relative component")
    if _FORBIDDEN.search(path):
        raise ValueError(f"ZooKeeper path {path!r} contains a character that ZooKeeper refuses")


def _check_writable(path: str) -> None:
    check_path(path)
    if path in {"/", "/zookeeper"} or path.startswith("/zookeeper/"):
        raise ValueError(f"ZooKeeper path {path!r} is the server's own; it can be read, not written")


def parent_path(path: str) -> str:
    """The path of the znode that holds this one: `/a` for `/a/b`, `/` for `/a`."""
    return path.rpartition("/")[0] or "/"


# ---------------------------------------------------------------------------------------------------------- operations


@dataclass(frozen=True)
class Operation(Generic[Result_co]):
    """What a session asks of ZooKeeper about one path; the type parameter is what it gets when it is not refused."""

    path: str

    def __post_init__(self) -> None:
        check_path(self.path)


@dataclass(frozen=True)
class Create(Operation[str]):
    """Create a znode, and give its completed path; refused with NoNode, NodeExists or NoChildrenForEphemerals."""

    data: bytes | None = b""
    mode: CreateMode = CreateMode.PERSISTENT

    def __post_init__(self) -> None:
        # A sequential path may end in "/": the counter then is the whole name.
        _check_writable(self.path + "0" if self.mode.is_sequential else self.path)


@dataclass(frozen=True)
class GetData(Operation["NodeData"]):
    """Read a znode's data; the watch fires when they change or it goes. Refused with NoNode, no watch set."""

    watch: bool = False


@dataclass(frozen=True)
class SetData(Operation["Stat"]):
    """Write a znode's data if it has the expected version, and give its Stat. Refused with NoNode or BadVersion."""

    data: bytes | None
    version: int = ANY_VERSION

    def __post_init__(self) -> None:
        _check_writable(self.path)


@dataclass(frozen=True)
class Delete(Operation[None]):
    """Delete a znode without children, of the expected version. Refused with NoNode, BadVersion or NotEmpty."""

    version: int = ANY_VERSION

    def __post_init__(self) -> None:
        _check_writable(self.path)


@dataclass(frozen=True)
class Exists(Operation["Stat | None"]):
    """Give a znode's Stat, None if it is not there; never refused. The watch fires when it comes, changes or goes."""

    watch: bool = False


@dataclass(frozen=True)
class GetChildren(Operation["Children"]):
    """List a znode's children; the watch fires when they change, or it goes. Refused with NoNode, no watch set."""

    watch: bool = False


AnyOperation: TypeAlias = Create | GetData | SetData | Delete | Exists | GetChildren


# ------------------------------------------------------------------------------------------------------------- results


@dataclass(frozen=True)
class Stat:
    """What ZooKeeper tells about a znode beside its data.

    `version` counts the writes of its data (0 after the create), `cversion` the creates and deletes of its children.
    The zxids are those of its create, of the last write of its data, and of the last create or delete of a child.
    `ephemeral_owner` is the owner's session id, 0 for a persistent znode; `data_length` is in bytes, 0 also for None.
    """

    czxid: int
    mzxid: int
    pzxid: int
    version: int
    cversion: int
    ephemeral_owner: int
    data_length: int
    num_children: int


@dataclass(frozen=True)
class NodeData:
    """A znode's data, None when it was written with none, and its Stat at the same moment."""

    data: bytes | None
    stat: Stat


@dataclass(frozen=True)
class Children:
    """The names of a znode's children, sorted (ZooKeeper itself promises no order), and its Stat at the same moment."""

    names: tuple[str, ...]
    stat: Stat


class EventType(Enum):
    """What a watch tells (`Watcher.Event.EventType`)."""

    NODE_CREATED = "NodeCreated"
    NODE_DELETED = "NodeDeleted"
    NODE_DATA_CHANGED = "NodeDataChanged"
    NODE_CHILDREN_CHANGED = "NodeChildrenChanged"


@dataclass(frozen=True)
class WatchEvent:
    """A watch that fired. A session hears of one change of one path once, however many of its watches that fires."""

    type: EventType
    path: str


# -------------------------------------------------------------------------------------------------------------- errors


class ZookeeperError(Exception):
    """An operation on `path` that did not succeed; two of the same kind about the same path are equal."""

    code: ClassVar[int]
    """ZooKeeper's number of this error (`KeeperException.Code`)."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{type(self).__name__} for {self.path}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZookeeperError) and (type(other), other.path) == (type(self), self.path)

    def __hash__(self) -> int:
        return hash((type(self), self.path))


class OperationRefused(ZookeeperError):
    """The server answered, and nothing was changed."""


class NoNode(OperationRefused):
    """The znode, or the parent of one to be created, is not there."""

    code = -101


class BadVersion(OperationRefused):
    """The expected data version is not the znode's."""

    code = -103


class NoChildrenForEphemerals(OperationRefused):
    """The parent of a znode to be created is ephemeral."""

    code = -108


class NodeExists(OperationRefused):
    """A znode to be created is there already."""

    code = -110


class NotEmpty(OperationRefused):
    """A znode to be deleted has children."""

    code = -111


class SessionTrouble(ZookeeperError):
    """There was no answer."""


class ConnectionLoss(SessionTrouble):
    """The operation may have been carried out, or not; the session may live on."""

    code = -4


class SessionExpired(SessionTrouble):
    """The session is over; this operation was not carried out."""

    code = -112


REFUSALS: Final[dict[int, type[OperationRefused]]] = {
    refusal.code: refusal for refusal in (NoNode, BadVersion, NoChildrenForEphemerals, NodeExists, NotEmpty)
}
"""The refusals by ZooKeeper's number."""
