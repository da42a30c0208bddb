"""A ZooKeeper server in memory, deterministic: the same calls give the same answers, zxids, watches and log.

It stands for a single server of `org.apache.zookeeper`: sessions, one-shot watches and the transaction log, around a
`ZnodeTree`. Every write takes the next zxid and a place in the log, refused or not. So a log, of this server or of a
real one, can be replayed into an empty tree.

Nothing happens by itself: sessions begin, end and expire by explicit calls, and a watch that fires is put into its
session's queue, in zxid order, where it stays until the caller takes it. A queue outlives its session, since what was
on its way when the session ended may still arrive.

Whether a session hears of the end of its own ephemeral znodes is a race in the real server, between ending a session
that has expired and closing its connection: most often it does not, and no Kafka broker whose session expired while it
was stopped was ever seen to. So the caller of `expire_session` chooses. The ephemeral znodes go in the order of a
Java HashSet of their paths, /controller before the registration of any broker (`DataTree.killSession`).

Left out on purpose: time-outs (the caller chooses when a session expires), connections (an operation is answered at
once; losing the answer is the caller's to play), and what `zookeeper.api` leaves out.

Tested to answer as a real server does, to the zxid.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from reference.forking import Notes, shallow_copy
from reference.zookeeper.api import (
    Children,
    Create,
    Delete,
    Exists,
    GetChildren,
    GetData,
    NodeData,
    Operation,
    OperationRefused,
    SessionExpired,
    SetData,
    Stat,
    WatchEvent,
)
from reference.zookeeper.transactions import (
    Change,
    DataSet,
    NodeCreated,
    SessionClosed,
    SessionCreated,
    Transaction,
    WriteRefused,
)
from reference.zookeeper.tree import Trigger, WatchKind, Znode, ZnodeTree

FIRST_SESSION: Final = 0x100_0000_0000_0000
"""The first session's id; the next ones follow. A real server puts its own number and the clock into the upper bits."""

Answer = TypeVar("Answer")


class _Session(NamedTuple):
    """What the server knows of a client: whether it lives, its last request, its watches, and the events to send it."""

    live: bool = True
    cxid: int = 0
    watches: frozenset[tuple[WatchKind, str]] = frozenset()
    events: tuple[WatchEvent, ...] = ()


class MemoryZookeeper:
    """The server: a tree, sessions with their watches and queues of events, and the log of its transactions."""

    def __init__(self) -> None:
        self.time_ms = 0
        """The clock that stamps transactions, in milliseconds; whoever drives the server moves it."""
        self.zxid = 0
        """The zxid of the last transaction."""
        self.transactions: list[Transaction] = []
        """The log: every session's begin and end, every write, and every refusal of one."""
        self._tree = ZnodeTree()
        self._sessions: dict[int, _Session] = {}

    @property
    def tree(self) -> Mapping[str, Znode]:
        """Every znode by its path, until the next change."""
        return self._tree.nodes

    @property
    def notes(self) -> Notes:
        """What readers keep of this state of the tree."""
        return self._tree.notes

    # ------------------------------------------------------------------------------------------------------- sessions

    def open_session(self, timeout_ms: int = 6000) -> int:
        """Begin a session and give its id."""
        session = FIRST_SESSION + len(self._sessions)
        self._sessions[session] = _Session()
        self._commit(session, 0, SessionCreated(timeout_ms))
        return session

    def close_session(self, session: int) -> None:
        """End a session at its client's request; its ephemeral znodes go, and its watches. Raises SessionExpired."""
        cxid = self._live_session(session, "/").cxid + 1
        self._change(session, cxid=cxid, watches=frozenset())
        self._end_session(session, cxid)

    def expire_session(self, session: int, *, hears_of_it: bool = False) -> None:
        """End a session whose client has fallen silent; its ephemeral znodes go, and its watches.

        If it `hears_of_it`, its watches fire for its own ephemeral znodes first. Raises SessionExpired if it is over.
        """
        self._live_session(session, "/")
        if not hears_of_it:
            self._change(session, watches=frozenset())
        self._end_session(session, 0)
        self._change(session, watches=frozenset())

    def is_live(self, session: int) -> bool:
        """Whether a session has neither been closed nor expired."""
        return self._sessions[session].live

    def _live_session(self, session: int, path: str) -> _Session:
        state = self._sessions[session]
        if not state.live:
            raise SessionExpired(path)
        return state

    def _change(self, session: int, **what: Any) -> None:
        """Forks share what is known of a session, so it is replaced."""
        self._sessions[session] = self._sessions[session]._replace(**what)

    def _asked(self, session: int, path: str) -> int:
        """The number of a live session's next request; raises SessionExpired."""
        cxid = self._live_session(session, path).cxid + 1
        self._change(session, cxid=cxid)
        return cxid

    def _end_session(self, session: int, cxid: int) -> None:
        self._change(session, live=False)
        self._commit(session, cxid, SessionClosed(self._tree.owned_by(session)))

    # ----------------------------------------------------------------------------------------------------- operations

    def execute(self, session: int, operation: Operation[Answer]) -> Answer:
        """Carry out an operation of a session, or raise the OperationRefused or SessionExpired that it meets."""
        cxid = self._asked(session, operation.path)
        answer: Any
        match operation:
            case Create() | SetData() | Delete():
                answer = self._write(session, cxid, operation)
            case Exists() | GetData() | GetChildren():
                answer = self._read(session, operation)
            case _:
                raise TypeError(f"{operation!r} is no operation of ZooKeeper's")
        return answer  # type: ignore[no-any-return]  # each operation's own type of answer, as the cases show

    def create_unheard(self, session: int, path: str) -> str:
        """Create a znode without data, of which no watch tells."""
        cxid = self._asked(session, path)
        self._commit(session, cxid, self._tree.prepare(session, Create(path, None)), fires=False)
        return path

    def _read(self, session: int, operation: Exists | GetData | GetChildren) -> Stat | NodeData | Children | None:
        """Answer a read; a watch is set unless the read is refused."""
        path = operation.path
        answer: Stat | NodeData | Children | None
        match operation:
            case Exists():
                answer = self.tree[path].stat if path in self.tree else None
            case GetData():
                znode = self._tree.existing(path)
                answer = NodeData(znode.data, znode.stat)
            case GetChildren():
                znode = self._tree.existing(path)
                answer = Children(tuple(sorted(znode.children)), znode.stat)
        if operation.watch:
            kind = WatchKind.CHILDREN if isinstance(operation, GetChildren) else WatchKind.NODE
            self._change(session, watches=self._sessions[session].watches | {(kind, path)})
        return answer

    def _write(self, session: int, cxid: int, operation: Create | SetData | Delete) -> str | Stat | None:
        try:
            change = self._tree.prepare(session, operation)
        except OperationRefused as refusal:
            self._commit(session, cxid, WriteRefused(refusal.code))
            raise
        self._commit(session, cxid, change)
        match change:
            case NodeCreated(path=path):
                return path
            case DataSet(path=path):
                return self.tree[path].stat
            case _:
                return None

    def _commit(self, session: int, cxid: int, change: Change, *, fires: bool = True) -> None:
        """Give a change the next zxid, log it, and apply it."""
        self.zxid += 1
        self.transactions.append(Transaction(self.zxid, self.time_ms, session, cxid, change))
        for trigger in self._tree.apply(change, self.zxid):
            if fires:
                self._fire(trigger)

    # -------------------------------------------------------------------------------------------------------- watches

    def _fire(self, trigger: Trigger) -> None:
        """Use up the watches that a change triggers; each session that had any hears once."""
        watched = {(kind, trigger.path) for kind in trigger.kinds}
        for session, state in self._sessions.items():
            if state.watches & watched:
                events = (*state.events, WatchEvent(trigger.event, trigger.path))
                self._change(session, watches=state.watches - watched, events=events)

    def take_watch_events(self, session: int) -> tuple[WatchEvent, ...]:
        """Drain a session's queue: the events that were fired for it and not yet taken, oldest first."""
        events = self._sessions[session].events
        if events:
            self._change(session, events=())
        return events

    def watches(self, session: int) -> frozenset[tuple[WatchKind, str]]:
        """The watches of a session that have not fired yet."""
        return self._sessions[session].watches

    # -------------------------------------------------------------------------------------------------- forks, replays

    def fork(self) -> "MemoryZookeeper":
        """A second server in the same state, from which the two go their own ways."""
        twin = shallow_copy(self)
        twin.transactions = list(self.transactions)
        twin._sessions, twin._tree = dict(self._sessions), self._tree.copy()  # noqa: SLF001 - the class's own
        return twin

    @classmethod
    def replay(cls, transactions: Iterable[Transaction]) -> "MemoryZookeeper":
        """A server whose tree and log are what these transactions, complete from the first, made of an empty one.

        Sessions keep their ids and have no watches. Raises ValueError at a transaction that does not fit the tree.
        """
        server = cls()
        for transaction in transactions:
            server._replay_one(transaction)
        return server

    def _replay_one(self, transaction: Transaction) -> None:
        change = transaction.change
        if not self._tree.fits(change):
            raise ValueError(f"this transaction does not fit the tree before it: {transaction.to_line()}")
        self.zxid, self.time_ms = transaction.zxid, transaction.time_ms
        cxid = max(self._sessions.setdefault(transaction.session, _Session()).cxid, transaction.cxid)
        self._change(transaction.session, cxid=cxid, live=not isinstance(change, SessionClosed))
        self.transactions.append(transaction)
        for trigger in self._tree.apply(change, self.zxid):
            self._fire(trigger)
