"""ZkClient: blocking operations that outlast lost connections and expired sessions, and the queue of callbacks.

Kafka did not use the raw ZooKeeper client but ZkClient on top of it, and so does the reference on a real server. An
operation is repeated until it is answered: over a lost connection, and under a new session where the old one expired
(`retryUntilConnected`). A watch that fires queues a callback for each listener of its path. When a session has
expired, the client makes a new one and queues the handlers of a new session, then a callback for every listener,
because watches may have been lost (`reconnect`, `fireNewSessionEvents`, `fireAllEvents`).

One thing goes past it: the create of /controller uses the raw handle (`ZKCheckedEphemeral`). There an expired session
is an error. In Kafka a broker's registration does so, too; here it is repeated, and in the specification.

ZkClient 0.10: `ZkClient`, `ZkEventThread`. Left out on purpose: several listeners of one path; none is needed here.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from reference.controller.effects import ElectCreate
from reference.live.zookeeper import LiveZookeeper, SessionEvent, SessionState
from reference.procedures import AskSession, Effect, PastZkClient, Procedure, Script, SessionView, complete, run_script
from reference.threads import Event, event_of
from reference.zookeeper import api

T = TypeVar("T")

_PAUSE_SECONDS = 0.01
"""How long a repeated operation waits, while the client is between two sessions."""


@dataclass
class ZkClient:
    """A client of one process. `listens_to` says whether a listener is subscribed to a path.

    `on_session` is called with the id of each session as it begins, of the first before anything is done under it, of a
    later one perhaps just after an operation that waited for it; `after_expiry` gives the callbacks that it queues.
    """

    address: str
    session_timeout_ms: int
    listens_to: Callable[[str], bool] = field(kw_only=True)
    on_session: Callable[[int], None] = field(kw_only=True)
    after_expiry: Callable[[], Iterable[Event]] = field(kw_only=True)
    callbacks: queue.SimpleQueue[Event] = field(default_factory=queue.SimpleQueue)
    """What the event thread is to run, in order (`ZkEventThread`)."""
    _had_session: int = 0

    def __post_init__(self) -> None:
        self._zookeeper = LiveZookeeper(self.address, self.session_timeout_ms)

    def start(self, timeout_seconds: float) -> None:
        """Connect and begin a session; ConnectionError if no server answers in time."""
        self._zookeeper.start(timeout_seconds)
        self._dispatch(self._zookeeper.take_events())
        threading.Thread(target=self._run, name="zookeeper-events", daemon=True).start()

    def stop(self) -> None:
        """Close the session, and with it the ephemeral znodes."""
        self._zookeeper.stop()

    # ------------------------------------------------------------------------------------------------------- operations

    def carry_out(self, effect: Effect[T]) -> T:
        """Run an effect's script to its end, and give its result or raise what it raises."""
        return self.run(effect.script(), raw=isinstance(effect, ElectCreate))

    def complete(
        self,
        procedure: Procedure[T],
        choose: Callable[[int], int] = lambda _: 0,
        after_step: Callable[[], None] = lambda: None,
    ) -> T:
        """Run a procedure to its end; `choose` picks among effects in free order, `after_step` runs after each."""
        return complete(procedure, self.carry_out, choose, after_step)

    def run(self, script: Script[T], *, raw: bool = False) -> T:
        """Run a script, operation by operation; `raw` lets an expired session end it."""
        return run_script(script, partial(self._answer, raw=raw))

    def _answer(self, operation: api.AnyOperation | AskSession | PastZkClient, *, raw: bool) -> Any:
        """Do an operation; a read of a path with a listener sets the watch again."""
        if isinstance(operation, AskSession):
            return SessionView(self._zookeeper.session, int(time.time() * 1000))
        if isinstance(operation, PastZkClient):
            operation = operation.operation
        elif isinstance(operation, api.Exists | api.GetData | api.GetChildren) and self.listens_to(operation.path):
            operation = type(operation)(operation.path, watch=True)
        while True:
            try:
                return self._zookeeper.execute(operation)
            except api.SessionTrouble as trouble:
                if raw and isinstance(trouble, api.SessionExpired):
                    raise
                time.sleep(_PAUSE_SECONDS)

    # ----------------------------------------------------------------------------------------------------------- events

    def _run(self) -> None:
        while True:
            self._dispatch(self._zookeeper.wait_for_events())

    def _dispatch(self, events: Iterable[api.WatchEvent | SessionEvent]) -> None:
        """Turn the events of the connection into callbacks, in their order."""
        for event in events:
            match event:
                case api.WatchEvent(path=path) if self.listens_to(path):
                    self.callbacks.put(event_of(path))
                case SessionEvent(state=SessionState.SYNC_CONNECTED, session=session) if session != self._had_session:
                    self.on_session(session)
                    if self._had_session:
                        for callback in self.after_expiry():
                            self.callbacks.put(callback)
                    self._had_session = session
                case _:
                    pass
