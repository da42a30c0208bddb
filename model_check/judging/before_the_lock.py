"""Lines that a listener writes before it has the controller's lock, which another thread may have for long.

ZkClient's thread says that the session has expired, and waits; whoever has the lock goes on meanwhile, under the new
session. The specification says the line with the listener's first step under the lock.

Kafka 0.10.2.2: `SessionExpirationListener.handleNewSession`. PROTOCOL.md section 6.
"""

from collections.abc import Mapping
from typing import Final

from model_check.recordings.processes import ControllerSaid
from model_check.stepping.enabled import place_of
from model_check.stepping.plain_state import PlainState, part
from spec.logs.controller_log.failover import SessionExpired
from spec.logs.log_lines import Line
from spec.protocol.failover.election import on_new_session
from spec.state.enumerations import At, Callback, Handler, Owes

BEFORE_THE_LOCK: Final[Mapping[str, type[Line]]] = {on_new_session.name: SessionExpired}
"""The line of a listener's first step that it writes before it has the lock."""
WAITING: Final[Mapping[type[Line], Callback]] = {SessionExpired: Callback.SESSION}
"""The listener that writes it."""
CALLBACKS: Final = list(Callback)
HANDLERS: Final = list(Handler)
OWED: Final = list(Owes)

OF_OTHER_THREADS: Final = frozenset({
    Handler.SHUTDOWN, Handler.REBALANCE, Handler.DELETION_RETRY, Handler.DELETION_START,
})  # fmt: skip
"""What handlers do on other threads than ZkClient's: a request's, the rebalance's, and the deletion thread."""
DELETING: Final = frozenset({
    At.DELETE_QUEUED, At.DELETE_STATE, At.DELETE_TOPIC, At.DELETE_CONFIGURATION, At.DELETE_REQUEST,
})  # fmt: skip
"""Where the deletion thread is between its handlers."""
ELECTING: Final = frozenset({At.ELECT_READ, At.ELECT_CREATE, At.ELECT_CREATE_AGAIN, At.ELECT_REREAD})


def _another_thread_has_the_lock(state: PlainState, c: int) -> bool:
    """Whether a controller's lock is with a thread that is not ZkClient's; start-up elects on its own."""
    place, controller = place_of(state, c), part(state, "controllers", c)
    starts = place in ELECTING and OWED[part(state, "processes", c).get("owes", 0)] is Owes.AFTER_ELECTION
    return starts or place in DELETING or HANDLERS[controller.get("handler", 0)] in OF_OTHER_THREADS


def waits_for_the_lock(said: ControllerSaid, state: PlainState) -> bool:
    """Whether a line is one of a listener that is next, and waits for a lock which another thread has."""
    waiting = CALLBACKS[part(state, "controllers", said.controller, "callbacks").get(0, 0)]
    is_its_own = waiting is WAITING.get(type(said.line))
    return is_its_own and _another_thread_has_the_lock(state, said.controller)
