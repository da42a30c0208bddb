"""A ZooKeeper client on a real server, raw: one request for one operation, no retries, no recipes, nothing hidden.

It stands for the `ZooKeeper` handle of the Java client, on which Kafka's ZkClient sat. The connection is kazoo's;
operations, results and errors are those of `zookeeper.api`, the same that the in-memory server takes and gives. What
ZkClient did on top, which is to wait and retry across lost connections and expired sessions, is its user's to do.

Everything that happens is reported in the order of the connection: an answer is given, and an event is put into the
queue of `take_events`, by the one thread that reads the socket. So when an answer has been given, all events that the
server sent before it are in the queue.

As in the Java client, and unlike in kazoo by itself:

- watches outlive a lost connection: when the session goes on, they are set again with the zxid last seen
  (`setWatches`), and what changed meanwhile fires at once;
- a session's requests are numbered on across connections, so that the `cxid` in the server's log counts them all;
- one change of one path is one event, also when two watches saw it.

While the connection is down, operations wait for it; those under way end with ConnectionLoss. When the session has
expired, those waiting end with SessionExpired and the client makes a new session by itself, under which later
operations run; the events tell.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Self, TypeVar

import kazoo.exceptions
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol import serialization, states
from kazoo.security import OPEN_ACL_UNSAFE

from reference.live.zookeeper_connection import RawClient, SetWatches
from reference.zookeeper import api

Answer = TypeVar("Answer")


class SessionState(Enum):
    """What a client learns of its session (`Watcher.Event.KeeperState`)."""

    SYNC_CONNECTED = "SyncConnected"
    DISCONNECTED = "Disconnected"
    EXPIRED = "Expired"
    CLOSED = "Closed"


@dataclass(frozen=True)
class SessionEvent:
    """The client's connection came, went, or its session ended; `session` is the id of the session concerned."""

    state: SessionState
    session: int


_FLAGS: Final = {
    api.CreateMode.PERSISTENT: 0,
    api.CreateMode.EPHEMERAL: 1,
    api.CreateMode.PERSISTENT_SEQUENTIAL: 2,
    api.CreateMode.EPHEMERAL_SEQUENTIAL: 3,
}
"""ZooKeeper's number of each mode (`CreateMode.toFlag`)."""

_EVENT_TYPES: Final = {
    states.EventType.CREATED: api.EventType.NODE_CREATED,
    states.EventType.DELETED: api.EventType.NODE_DELETED,
    states.EventType.CHANGED: api.EventType.NODE_DATA_CHANGED,
    states.EventType.CHILD: api.EventType.NODE_CHILDREN_CHANGED,
}


class _Reply(Future[Any]):
    """What kazoo gives an answer to: it is turned into our values and handed to whoever waits."""

    def __init__(self, operation: api.Operation[Any], on_answer: Callable[[api.Operation[Any], Any], None]) -> None:
        super().__init__()
        self._operation = operation
        self._on_answer = on_answer

    def set(self, value: Any) -> None:
        """The operation succeeded; kazoo calls this in the thread that reads the socket."""
        self._on_answer(self._operation, value)
        answer = _ANSWERS.get(type(self._operation))
        self.set_result(None if answer is None else answer(value))

    def set_exception(self, exception: BaseException | None) -> None:
        """The operation failed, with kazoo's exception."""
        if not self.done():  # kazoo may report the loss of a closed connection twice
            super().set_exception(_error_of(self._operation, exception))


class LiveZookeeper:
    """A client and its session on a real server, as a context manager; `address` is `host:port`, or several.

    After SIGSTOP, or a lost network, the session ends when the server has not heard of it for the time-out.
    """

    def __init__(self, address: str, session_timeout_ms: int = 6000) -> None:
        self.address = address
        self._client = RawClient(address, session_timeout_ms)
        self._client.add_listener(self._on_state)
        self._events: deque[api.WatchEvent | SessionEvent] = deque()
        self._event_came = threading.Condition()
        self._session = 0
        self._last_event: Any = None
        self._data_watches: set[str] = set()
        self._exist_watches: set[str] = set()
        self._child_watches: set[str] = set()
        self._resume: tuple[int, int] | None = None
        """The cxid and the zxid last seen on a connection that was lost."""

    # -------------------------------------------------------------------------------------------------------- session

    def start(self, timeout_seconds: float = 15.0) -> None:
        """Connect and begin a session; raises ConnectionError if no server answers in time."""
        try:
            self._client.start(timeout_seconds)
        except KazooTimeoutError as error:
            self._client.close()
            raise ConnectionError(f"no ZooKeeper answers on {self.address} within {timeout_seconds:g} s") from error

    def stop(self) -> None:
        """Close the session, its ephemeral znodes with it, and the connection."""
        self._client.stop()
        self._client.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def session(self) -> int:
        """The id of the session, the new one once an expired one has been replaced."""
        return self._session

    @property
    def last_zxid(self) -> int:
        """The zxid of the latest transaction that the server had made when it gave the last answer."""
        zxid: int = self._client.last_zxid
        return zxid

    # ----------------------------------------------------------------------------------------------------- operations

    def submit(self, operation: api.Operation[Answer]) -> Future[Answer]:
        """Send an operation after those sent before; the Future gives its answer or raises its ZookeeperError."""
        reply = _Reply(operation, self._on_answer)
        self._client.send(self._request_of(operation), reply)
        return reply

    def execute(self, operation: api.Operation[Answer], timeout_seconds: float | None = None) -> Answer:
        """Carry out an operation: its answer, its ZookeeperError, or TimeoutError if the connection stays down."""
        return self.submit(operation).result(timeout_seconds)

    def _request_of(self, operation: api.Operation[Any]) -> Any:
        def watcher(watch: bool) -> Callable[[Any], None] | None:
            return self._on_watch if watch else None

        match operation:
            case api.Create(path=path, data=data, mode=mode):
                return serialization.Create(path, data, OPEN_ACL_UNSAFE, _FLAGS[mode])
            case api.GetData(path=path, watch=watch):
                return serialization.GetData(path, watcher(watch))
            case api.SetData(path=path, data=data, version=version):
                return serialization.SetData(path, data, version)
            case api.Delete(path=path, version=version):
                return serialization.Delete(path, version)
            case api.Exists(path=path, watch=watch):
                return serialization.Exists(path, watcher(watch))
            case api.GetChildren(path=path, watch=watch):
                return serialization.GetChildren2(path, watcher(watch))
        raise TypeError(f"{operation!r} is no operation of ZooKeeper's")

    # --------------------------------------------------------------------------------------------------------- events

    def take_events(self) -> tuple[api.WatchEvent | SessionEvent, ...]:
        """Drain the queue of events, oldest first."""
        with self._event_came:
            events = tuple(self._events)
            self._events.clear()
            return events

    def wait_for_events(self, timeout_seconds: float | None = None) -> tuple[api.WatchEvent | SessionEvent, ...]:
        """Wait until there is an event, then drain the queue; nothing if none came in time."""
        with self._event_came:
            self._event_came.wait_for(lambda: self._events, timeout_seconds)
            return self.take_events()

    def _put(self, event: api.WatchEvent | SessionEvent) -> None:
        with self._event_came:
            self._events.append(event)
            self._event_came.notify_all()

    # What follows runs in kazoo's thread, which reads the socket and owns the sets of watches.

    def _on_answer(self, operation: api.Operation[Any], value: Any) -> None:
        match operation:
            case api.Exists(path=path, watch=True) if value is None:
                self._exist_watches.add(path)
            case api.Exists(path=path, watch=True) | api.GetData(path=path, watch=True):
                self._data_watches.add(path)
            case api.GetChildren(path=path, watch=True):
                self._child_watches.add(path)

    def _on_watch(self, event: Any) -> None:
        if event is self._last_event or event.type not in _EVENT_TYPES:
            return  # two watches saw the same change, or kazoo tells of a session's end
        self._last_event = event
        kind = _EVENT_TYPES[event.type]
        if kind is not api.EventType.NODE_CHILDREN_CHANGED:
            self._data_watches.discard(event.path)
            self._exist_watches.discard(event.path)
        if kind in {api.EventType.NODE_CHILDREN_CHANGED, api.EventType.NODE_DELETED}:
            self._child_watches.discard(event.path)
        self._put(api.WatchEvent(kind, event.path))

    def _on_state(self, state: str) -> None:
        if state == states.KazooState.SUSPENDED:
            self._resume = (self._client.last_cxid, self._client.last_zxid)
            self._put(SessionEvent(SessionState.DISCONNECTED, self._session))
        elif state == states.KazooState.CONNECTED:
            self._session = self._client.client_id[0]
            if self._resume is not None:
                self._resume_session(*self._resume)
            self._put(SessionEvent(SessionState.SYNC_CONNECTED, self._session))
        else:
            self._resume = None
            for watches in (self._data_watches, self._exist_watches, self._child_watches):
                watches.clear()
            closed = self._client.client_state == states.KeeperState.CLOSED
            self._put(SessionEvent(SessionState.CLOSED if closed else SessionState.EXPIRED, self._session))

    def _resume_session(self, cxid: int, zxid: int) -> None:
        self._resume = None
        self._client.number_from(cxid)
        watched = self._data_watches | self._exist_watches
        if watched or self._child_watches:
            self._client.restore_watchers(self._on_watch, watched, self._child_watches)
            again = SetWatches(zxid, self._data_watches, self._exist_watches, self._child_watches)
            self._client.send(again, _Reply(api.Operation("/"), self._on_answer))


def _stat_of(stat: Any) -> api.Stat:
    zxids, versions = (stat.czxid, stat.mzxid, stat.pzxid), (stat.version, stat.cversion)
    return api.Stat(*zxids, *versions, stat.ephemeralOwner, stat.dataLength, stat.numChildren)


_ANSWERS: Final[Mapping[type[Any], Callable[[Any], Any]]] = {
    api.GetData: lambda value: api.NodeData(value[0], _stat_of(value[1])),
    api.GetChildren: lambda value: api.Children(tuple(sorted(value[0])), _stat_of(value[1])),
    api.SetData: _stat_of,
    api.Exists: lambda value: None if value is None else _stat_of(value),
    api.Create: lambda path: path,
}
"""What kazoo answers to an operation, in our values; of the others nothing."""


def _error_of(operation: api.Operation[Any], exception: BaseException | None) -> BaseException | None:
    """Our error for kazoo's; what is neither a refusal nor trouble with the session is passed on as it is."""
    match exception:
        case kazoo.exceptions.ConnectionLoss():
            return api.ConnectionLoss(operation.path)
        case kazoo.exceptions.SessionExpiredError() | kazoo.exceptions.ConnectionClosedError():
            return api.SessionExpired(operation.path)
        case kazoo.exceptions.ZookeeperError(code=code) if code in api.REFUSALS:
            error: api.ZookeeperError = api.REFUSALS[code](operation.path)
            return error
    return exception
