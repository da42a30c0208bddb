"""The controller's threads around its one lock: which callback runs next, and when the lock is free again.

All callbacks of a process run on ZkClient's event thread, one after the other, and take the controller lock; start-up
elects on the main thread under the same lock. Only the lock's holder does what others can see, so the holder's place in
its code (`at`) is all there is to keep; the callbacks that wait are the queue. A callback is taken from the queue by
the action that does its first ZooKeeper operation, and an exception that leaves a callback is only logged.

Left out: that a callback's first read may come while start-up still holds the lock (only the start-up thread could hold
it then, and the read is followed by its event). The deletion, rebalance and request-handler threads come with their
parts.

Kafka 0.10.2.2: ZkClient 0.10 `ZkEventThread`; KAFKA-4447 for the test of being active. PROTOCOL.md sections 2 and 6.
"""

from __future__ import annotations

from typing import Any

from spec.language import action, require
from spec.model import Model
from spec.processes_and_sessions import session_handler_waits
from spec.state import At, Callback, Owes
from spec.terms import either
from spec.zookeeper import can_operate


def take_callback(s: Any, m: Model, c: int, callback: Callback) -> None:
    """Take a listener from the head of the queue; the lock must be free.

    After an expiry, registration comes right behind the controller's new-session handler.
    """
    controller = s.controllers[c]
    places = controller.callbacks
    require(controller.at == At.IDLE, places[0] == callback)
    require(either(s.processes[c].owes != Owes.AFTER_EXPIRY, session_handler_waits(s, m, c)))
    size = m.scope.callback_capacity
    for i in range(size - 1):
        places[i] = places[i + 1]
    places[size - 1] = Callback.NONE


@action(actor="controller {c}", source="KAFKA-4447, 0.10.2.0: ControllerZkChildListener tests isActive")
def skip_callback(s: Any, m: Model, c: int, callback: int) -> None:
    """A listener of the controller's runs although its broker is not the controller any more, and does nothing."""
    require(~s.controllers[c].active, can_operate(s, c))
    take_callback(s, m, c, list(Callback)[callback])


def become_idle(s: Any, c: int) -> None:
    """The handler is done; the lock is free."""
    s.controllers[c].at = At.IDLE


RULES = (skip_callback,)
