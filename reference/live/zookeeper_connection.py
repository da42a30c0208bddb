"""kazoo's connection to ZooKeeper with the request itself as the interface, and its order kept.

kazoo brings the socket, the heartbeat, the search for a server and the encoding of requests. Changed here is what
stands between a caller and the order of things on the wire: callbacks run in the one thread that reads the socket, a
request cannot fall between two sessions, requests are numbered on when a session outlives its connection, and watches
can be set again then. `live.zookeeper` is what the rest of the reference sees.
"""

import logging
import struct
import threading
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from kazoo.client import KazooClient
from kazoo.handlers.threading import SequentialThreadingHandler
from kazoo.protocol import serialization

_quiet = logging.getLogger("reference.live.zookeeper")
_quiet.addHandler(logging.NullHandler())
_quiet.propagate = False


class Reply(Protocol):
    """What takes the answer to a request, or its failure, in the thread that reads the socket."""

    def set(self, value: Any) -> None:
        """The request succeeded, with kazoo's value."""

    def set_exception(self, exception: BaseException | None) -> None:
        """The request failed, with kazoo's exception."""


class _InlineHandler(SequentialThreadingHandler):  # type: ignore[misc]  # kazoo is untyped
    """Runs kazoo's callbacks at once, in the thread that reads the socket, so that nothing overtakes."""

    def dispatch_callback(self, callback: Any) -> None:
        """Run a watch's callback."""
        callback.func(*callback.args)


class SetWatches:
    """Sets a lost connection's watches again, or fires those whose path changed (`SetWatches`, 3.3); kazoo has none."""

    type = 101
    watcher = None

    def __init__(self, zxid: int, data: Iterable[str], exist: Iterable[str], children: Iterable[str]) -> None:
        self._zxid = zxid
        self._paths = [sorted(paths) for paths in (data, exist, children)]

    def serialize(self) -> bytes:
        """The zxid last seen, then the three lists of paths."""
        vectors = (
            struct.pack("!i", len(paths)) + b"".join(serialization.write_string(path) for path in paths)
            for paths in self._paths
        )
        return struct.pack("!q", self._zxid) + b"".join(vectors)

    @staticmethod
    def deserialize(_content: bytes, _offset: int) -> None:
        """The answer is empty."""


class RawClient(KazooClient):  # type: ignore[misc]  # kazoo is untyped
    """kazoo's client, with requests as its interface; under a lock, none falls between the queues of two sessions."""

    def __init__(self, address: str, session_timeout_ms: int) -> None:
        self._state_lock = threading.RLock()
        super().__init__(
            address,
            timeout=session_timeout_ms / 1000,
            handler=_InlineHandler(),
            logger=_quiet,
            randomize_hosts=False,
            connection_retry={"max_tries": -1, "delay": 0.1, "backoff": 2, "max_delay": 1.0},
        )

    def _session_callback(self, state: str) -> None:
        with self._state_lock:
            super()._session_callback(state)

    def send(self, request: Any, reply: Reply) -> None:
        """Queue one request; the reply takes what becomes of it."""
        with self._state_lock:
            self._call(request, reply)

    def number_from(self, last_cxid: int) -> None:
        """Go on numbering requests after this one."""
        self._connection._xid = last_cxid  # noqa: SLF001  # kazoo begins anew with every connection

    @property
    def last_cxid(self) -> int:
        """The number of the last request that was sent."""
        xid: int = self._connection._xid or 0  # noqa: SLF001
        return xid

    def restore_watchers(self, watcher: Callable[[Any], None], paths: Iterable[str], children: Iterable[str]) -> None:
        """Have the watcher called for these again."""
        for path in paths:
            self._data_watchers[path].add(watcher)
        for path in children:
            self._child_watchers[path].add(watcher)
