"""The controller's threads: which handler runs for a callback, and what becomes of an exception that leaves one.

All callbacks of a process run on ZkClient's event thread, one after the other, under the controller lock; start-up
elects on the main thread under the same lock. So a driver runs one procedure of a controller to its end before it
begins the next. A callback carries no data: its listener reads afresh.

Kafka 0.10.2.2: ZkClient 0.10 `ZkEventThread`; `ControllerZkChildListener`, which asks whether the broker is active
before it takes the lock (KAFKA-4447).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from reference.broker_changes import on_broker_change
from reference.controller import KafkaController
from reference.controller_election import on_controller_change, on_controller_moved, on_new_session, startup
from reference.effects import SkipCallback
from reference.isr_notification import on_isr_change
from reference.preferred_election import on_preferred_election
from reference.procedures import THROWABLE, FencedWrite, Procedure
from reference.topics import on_topic_change
from reference.zookeeper_scripts import BROKER_IDS, BROKER_TOPICS, CONTROLLER, ISR_CHANGES, PREFERRED_REPLICA_ELECTION
from spec.state import Callback

CALLBACK_OF: Final[Mapping[str, Callback]] = {
    CONTROLLER: Callback.CONTROLLER,
    BROKER_IDS: Callback.BROKERS,
    BROKER_TOPICS: Callback.TOPICS,
    ISR_CHANGES: Callback.ISR_CHANGES,
    PREFERRED_REPLICA_ELECTION: Callback.PREFERRED,
}
"""Which listener a path has."""

PATH_OF: Final = {callback: path for path, callback in CALLBACK_OF.items()}
ALWAYS: Final[Mapping[Callback, Callable[[KafkaController], Procedure[None]]]] = {
    Callback.CONTROLLER: on_controller_change,
    Callback.SESSION: on_new_session,
}
ONLY_ACTIVE: Final[Mapping[Callback, Callable[[KafkaController], Procedure[None]]]] = {
    Callback.BROKERS: on_broker_change,
    Callback.TOPICS: on_topic_change,
    Callback.ISR_CHANGES: on_isr_change,
    Callback.PREFERRED: on_preferred_election,
}


def on_startup(controller: KafkaController) -> Procedure[None]:
    """What the main thread does."""
    yield from startup(controller)


def on_callback(controller: KafkaController, callback: Callback) -> Procedure[None]:
    """What the event thread does for a callback; an exception that leaves the listener is only logged."""
    try:
        if callback in ALWAYS:
            yield from ALWAYS[callback](controller)
        elif controller.is_active:
            yield from ONLY_ACTIVE[callback](controller)
        else:
            yield from SkipCallback(PATH_OF[callback])
    except FencedWrite:
        on_controller_moved(controller)
    except THROWABLE:
        return
