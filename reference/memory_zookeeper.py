"""A ZooKeeper server in memory, deterministic: the same calls give the same answers, zxids, watches and log.

It stands for a single server of `org.apache.zookeeper` and follows its order of work. A request that could change
something is first *prepared* against the tree (`PrepRequestProcessor`): it becomes a change, or an error; either takes
the next zxid and a place in the log. Then the change is *applied* (`DataTree.processTxn`) and fires watches. So a log,
of this server or of a real one, can be replayed into an empty tree.

Nothing happens by itself: sessions begin, end and expire by explicit calls, and a watch that fires is put into its
session's queue, in zxid order, where it stays until the caller takes it. A queue outlives its session, since what was
on its way when the session ended may still arrive; nothing is added to it then, so a session never hears of the end of
its own ephemeral znodes (nor did the Kafka brokers whose sessions expired while they were stopped).

Left out on purpose: time-outs (the caller chooses when a session expires), connections (an operation is answered at
once; losing the answer is the caller's to play), and what `zookeeper_api` leaves out. The order of the ephemeral znodes
that go with a session is unspecified in ZooKeeper; here it is that of their paths.

Tested to answer as a real server does, to the zxid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, TypeVar

from reference.zookeeper_api import (
    ANY_VERSION,
    BadVersion,
    Children,
    Create,
    Delete,
    EventType,
    Exists,
    GetChildren,
    GetData,
    NoChildrenForEphemerals,
    NodeData,
    NodeExists,
    NoNode,
    NotEmpty,
    Operation,
    OperationRefused,
    SessionExpired,
    SetData,
    Stat,
    WatchEvent,
    parent_path,
)
from reference.zookeeper_transactions import (
    Change,
    DataSet,
    NodeCreated,
    NodeDeleted,
    SessionClosed,
    SessionCreated,
    Transaction,
    WriteRefused,
)

FIRST_SESSION: Final = 0x1_0000_0000_0000_00
"""The first session's id; the next ones follow. A real server puts its own number and the clock into the upper bits."""

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Znode:
    """A node of the tree.

    `child_creates` counts the children ever created, which sequential names are made of; the `cversion` of its Stat
    counts their deletes as well.
    """

    data: bytes | None = b""
    czxid: int = 0
    mzxid: int = 0
    pzxid: int = 0
    version: int = 0
    child_creates: int = 0
    ephemeral_owner: int = 0
    children: frozenset[str] = frozenset()

    @property
    def stat(self) -> Stat:
        """The znode's Stat as ZooKeeper reports it (`DataNode.copyStat`)."""
        return Stat(
            czxid=self.czxid,
            mzxid=self.mzxid,
            pzxid=self.pzxid,
            version=self.version,
            cversion=2 * self.child_creates - len(self.children),
            ephemeral_owner=self.ephemeral_owner,
            data_length=len(self.data or b""),
            num_children=len(self.children),
        )


class WatchKind(Enum):
    """What a watch looks at: a znode itself, there or not, or the set of its children."""

    NODE = "node"
    CHILDREN = "children"


@dataclass
class _Session:
    """What the server knows of a client: whether it lives, its last request, its watches, and the events to send it."""

    live: bool = True
    cxid: int = 0
    watches: set[tuple[WatchKind, str]] = field(default_factory=set)
    events: list[WatchEvent] = field(default_factory=list)


def _initial_tree() -> dict[str, Znode]:
    return {
        "/": Znode(children=frozenset({"zookeeper"})),
        "/zookeeper": Znode(children=frozenset({"config", "quota"})),
        "/zookeeper/config": Znode(),
        "/zookeeper/quota": Znode(),
    }


class MemoryZookeeper:
    """The server: a tree, sessions with their watches and queues of events, and the log of its transactions."""

    def __init__(self) -> None:
        self.time_ms = 0
        """The clock that stamps transactions, in milliseconds; whoever drives the server moves it."""
        self.zxid = 0
        """The zxid of the last transaction."""
        self.transactions: list[Transaction] = []
        """The log: every session's begin and end, every write, and every refusal of one."""
        self._tree = _initial_tree()
        self._sessions: dict[int, _Session] = {}

    # ------------------------------------------------------------------------------------------------------- sessions

    def open_session(self, timeout_ms: int = 6000) -> int:
        """Begin a session and give its id."""
        session = FIRST_SESSION + len(self._sessions)
        self._sessions[session] = _Session()
        self._commit(session, 0, SessionCreated(timeout_ms))
        return session

    def close_session(self, session: int) -> None:
        """End a session at its client's request; its ephemeral znodes go, and its watches."""
        state = self._live_session(session, "/")
        state.cxid += 1
        self._end_session(session, state.cxid)

    def expire_session(self, session: int) -> None:
        """End a session whose client has fallen silent; its ephemeral znodes go, and its watches."""
        self._live_session(session, "/")
        self._end_session(session, 0)

    def is_live(self, session: int) -> bool:
        """Whether a session has neither been closed nor expired."""
        return self._sessions[session].live

    def _live_session(self, session: int, path: str) -> _Session:
        state = self._sessions[session]
        if not state.live:
            raise SessionExpired(path)
        return state

    def _end_session(self, session: int, cxid: int) -> None:
        state = self._sessions[session]
        state.live = False
        state.watches.clear()
        owned = sorted(path for path, znode in self._tree.items() if znode.ephemeral_owner == session)
        self._commit(session, cxid, SessionClosed(tuple(owned)))

    # ----------------------------------------------------------------------------------------------------- operations

    def execute(self, session: int, operation: Operation[Answer]) -> Answer:
        """Carry out an operation of a session, or raise the OperationRefused or SessionExpired that it meets."""
        state = self._live_session(session, operation.path)
        state.cxid += 1
        answer: Any
        match operation:
            case Create() | SetData() | Delete():
                answer = self._write(session, state.cxid, operation)
            case Exists(path=path, watch=watch):
                if watch:
                    state.watches.add((WatchKind.NODE, path))
                answer = self._tree[path].stat if path in self._tree else None
            case GetData(path=path, watch=watch):
                znode = self._existing(path)
                if watch:
                    state.watches.add((WatchKind.NODE, path))
                answer = NodeData(znode.data, znode.stat)
            case GetChildren(path=path, watch=watch):
                znode = self._existing(path)
                if watch:
                    state.watches.add((WatchKind.CHILDREN, path))
                answer = Children(tuple(sorted(znode.children)), znode.stat)
            case _:
                raise TypeError(f"{operation!r} is no operation of ZooKeeper's")
        return answer  # type: ignore[no-any-return]  # each operation's own type of answer, as the cases show

    def _write(self, session: int, cxid: int, operation: Create | SetData | Delete) -> str | Stat | None:
        try:
            change = self._prepare(session, operation)
        except OperationRefused as refusal:
            self._commit(session, cxid, WriteRefused(refusal.code))
            raise
        self._commit(session, cxid, change)
        match change:
            case NodeCreated(path=path):
                return path
            case DataSet(path=path):
                return self._tree[path].stat
            case _:
                return None

    def _existing(self, path: str, asked: str | None = None) -> Znode:
        if path not in self._tree:
            raise NoNode(asked or path)
        return self._tree[path]

    # ---------------------------------------------------------------------------------------------- prepare and apply

    def _prepare(self, session: int, operation: Create | SetData | Delete) -> Change:
        """The change that a write makes of the present tree, or the refusal; checks are in the real server's order."""
        path = operation.path
        match operation:
            case Create():
                return self._prepare_create(session, operation)
            case SetData(data=data, version=expected):
                version = self._existing(path).version
                if expected not in {ANY_VERSION, version}:
                    raise BadVersion(path)
                return DataSet(path, data, version + 1)
            case Delete(version=expected):
                znode = self._existing(path)
                if expected not in {ANY_VERSION, znode.version}:
                    raise BadVersion(path)
                if znode.children:
                    raise NotEmpty(path)
                return NodeDeleted(path)

    def _prepare_create(self, session: int, operation: Create) -> NodeCreated:
        path, mode = operation.path, operation.mode
        parent = self._existing(parent_path(path), asked=path)
        if mode.is_sequential:
            path += f"{parent.child_creates:010d}"
        if path in self._tree:
            raise NodeExists(operation.path)
        if parent.ephemeral_owner:
            raise NoChildrenForEphemerals(operation.path)
        owner = session if mode.is_ephemeral else 0
        return NodeCreated(path, operation.data, owner, parent.child_creates + 1)

    def _commit(self, session: int, cxid: int, change: Change) -> None:
        """Give a change the next zxid, log it, and apply it."""
        self.zxid += 1
        self.transactions.append(Transaction(self.zxid, self.time_ms, session, cxid, change))
        self._apply(change)

    def _apply(self, change: Change) -> None:
        match change:
            case NodeCreated(path=path):
                self._add(change)
                self._fire({WatchKind.NODE}, path, EventType.NODE_CREATED)
                self._fire({WatchKind.CHILDREN}, parent_path(path), EventType.NODE_CHILDREN_CHANGED)
            case DataSet(path=path, data=data, version=version):
                self._tree[path] = replace(self._tree[path], data=data, version=version, mzxid=self.zxid)
                self._fire({WatchKind.NODE}, path, EventType.NODE_DATA_CHANGED)
            case NodeDeleted(path=path):
                self._remove(path)
            case SessionClosed(deleted=paths):
                for path in paths:
                    self._remove(path)
            case SessionCreated() | WriteRefused():
                pass
            case _:
                raise TypeError(f"{change!r} is no change that this server makes")

    def _add(self, created: NodeCreated) -> None:
        above, name = parent_path(created.path), created.path.rpartition("/")[2]
        parent = self._tree[above]
        self._tree[above] = replace(
            parent, children=parent.children | {name}, child_creates=created.parent_cversion, pzxid=self.zxid
        )
        self._tree[created.path] = Znode(
            created.data, czxid=self.zxid, mzxid=self.zxid, pzxid=self.zxid, ephemeral_owner=created.ephemeral_owner
        )

    def _remove(self, path: str) -> None:
        del self._tree[path]
        above, name = parent_path(path), path.rpartition("/")[2]
        parent = self._tree[above]
        self._tree[above] = replace(parent, children=parent.children - {name}, pzxid=self.zxid)
        self._fire({WatchKind.NODE, WatchKind.CHILDREN}, path, EventType.NODE_DELETED)
        self._fire({WatchKind.CHILDREN}, above, EventType.NODE_CHILDREN_CHANGED)

    # -------------------------------------------------------------------------------------------------------- watches

    def _fire(self, kinds: set[WatchKind], path: str, event: EventType) -> None:
        """Use up the watches of these kinds on a path; each session that had any hears once."""
        watched = {(kind, path) for kind in kinds}
        for state in self._sessions.values():
            if state.watches & watched:
                state.watches -= watched
                state.events.append(WatchEvent(event, path))

    def take_watch_events(self, session: int) -> tuple[WatchEvent, ...]:
        """Drain a session's queue: the events that were fired for it and not yet taken, oldest first."""
        events = tuple(self._sessions[session].events)
        self._sessions[session].events.clear()
        return events

    def watches(self, session: int) -> frozenset[tuple[WatchKind, str]]:
        """The watches of a session that have not fired yet."""
        return frozenset(self._sessions[session].watches)

    # -------------------------------------------------------------------------------------------------------- the whole

    @property
    def tree(self) -> Mapping[str, Znode]:
        """Every znode by its path, a live view."""
        return MappingProxyType(self._tree)

    def fork(self) -> MemoryZookeeper:
        """A second server in the same state, from which the two go their own ways."""
        twin = MemoryZookeeper()
        twin.time_ms, twin.zxid = self.time_ms, self.zxid
        twin.transactions = list(self.transactions)
        twin._tree = dict(self._tree)
        twin._sessions = {
            session: replace(state, watches=set(state.watches), events=list(state.events))
            for session, state in self._sessions.items()
        }
        return twin

    @classmethod
    def replay(cls, transactions: Iterable[Transaction]) -> MemoryZookeeper:
        """A server whose tree and log are what these transactions, complete from the first, made of an empty one.

        Sessions keep their ids and have no watches. Raises ValueError where the transactions do not fit the tree.
        """
        server = cls()
        for transaction in transactions:
            server._replay_one(transaction)
        return server

    def _replay_one(self, transaction: Transaction) -> None:
        self.zxid, self.time_ms = transaction.zxid, transaction.time_ms
        state = self._sessions.setdefault(transaction.session, _Session())
        state.cxid = max(state.cxid, transaction.cxid)
        if isinstance(transaction.change, SessionClosed):
            state.live = False
        try:
            fits = self._fits(transaction.change)
        except KeyError:
            fits = False
        if not fits:
            raise ValueError(f"this transaction does not fit the tree before it: {transaction.to_line()}")
        self._apply(transaction.change)
        self.transactions.append(transaction)

    def _fits(self, change: Change) -> bool:
        """Whether a change can have been made of this tree; KeyError, too, says that it cannot."""
        match change:
            case NodeCreated(path=path, parent_cversion=creates):
                return path not in self._tree and self._tree[parent_path(path)].child_creates == creates - 1
            case DataSet(path=path, version=version):
                return self._tree[path].version == version - 1
            case NodeDeleted(path=path):
                return not self._tree[path].children
            case SessionClosed(deleted=paths):
                return all(path in self._tree for path in paths)
            case _:
                return isinstance(change, SessionCreated | WriteRefused)
