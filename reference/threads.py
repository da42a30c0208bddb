"""The controller's threads: which handler runs for a callback, and what becomes of an exception that leaves one.

All callbacks of a process run on ZkClient's event thread, one after the other, under the controller lock; start-up
elects on the main thread under the same lock, and the deletion thread works under it. So a driver runs one procedure of
a controller to its end before it begins the next. What ZkClient reads for a listener belongs to the latter's first
step, unless another thread has the lock: then the listener is given what was read before (`read_for_listener`).

Some listeners take the lock several times: behind `on_reassignment_request` the event thread runs `take_up` for each
partition that is to be reassigned, and behind a resignation `on_election`, and takes no callback before that is done.
Other threads may have the lock in between.

Kafka 0.10.2.2: ZkClient 0.10 `ZkEventThread`; `ControllerZkChildListener`, which asks whether the broker is active
before it takes the lock (KAFKA-4447).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias

from reference.broker_events.broker_changes import on_broker_change
from reference.broker_events.isr_notification import on_isr_change
from reference.controller.controller import KafkaController
from reference.controller.effects import ReadForListener, SkipCallback
from reference.controller.resignation import on_controller_moved
from reference.deletion.requests import on_deletion_change
from reference.deletion.thread import delete_topics
from reference.elections.requested import ElectionRequest, OnElectionRequest, on_election_request
from reference.failover.election import ask_for_new_session, elect, on_controller_change, on_new_session
from reference.procedures import THROWABLE, Effect, FencedOff, Procedure
from reference.reassignment.effects import OnReassignmentRequest, ReassignmentRequest
from reference.reassignment.requests import on_reassignment_request
from reference.reassignment.steps import on_state_change
from reference.scripts import CONTROLLER, state_path, topic_path
from reference.topics.addition import on_partition_modifications
from reference.topics.creation import on_topic_change
from spec.formats.kafka_types import TopicPartition
from spec.formats.znode_paths import Path
from spec.logs.controller_log.failover import SessionExpired
from spec.state.enumerations import Callback
from spec.state.listeners import BEHIND_CONTROLLER, LISTENED
from spec.variants import Switch

Event: TypeAlias = Callback | TopicPartition | str
"""What the event thread is to call: a listener that there is one of, or the one on the state znode of a partition, or
on the own znode of the topic of this name.
"""
Given: TypeAlias = int | frozenset[str] | ReassignmentRequest | ElectionRequest
"""What ZkClient reads for a listener before it calls it: the id in /controller, children, or a request."""

CALLBACK_OF: Final[Mapping[str, Callback]] = {
    CONTROLLER: Callback.CONTROLLER,
    **{one.path: one.callback for one in LISTENED.values()},
}
"""Which listener a path has, except state znodes and topics."""

PATH_OF: Final = {callback: path for path, callback in CALLBACK_OF.items()}
BEHIND: Final = tuple(LISTENED[name].path for name in BEHIND_CONTROLLER)
"""The paths whose callbacks come behind that of /controller, after an expiry."""
ALWAYS: Final = (Callback.CONTROLLER, Callback.SESSION)
"""The listeners that do not ask whether the broker is the active controller."""
ASKED_SINCE_0102: Final = (Callback.ISR_CHANGES, Callback.STATE)
"""Those that did not ask before 0.10.2.0, as far as that is specified (D8)."""
HANDLERS: Final[Mapping[Callback, Callable[..., Procedure[None]]]] = {
    Callback.CONTROLLER: on_controller_change,
    Callback.SESSION: on_new_session,
    Callback.BROKERS: on_broker_change,
    Callback.TOPICS: on_topic_change,
    Callback.DELETIONS: on_deletion_change,
    Callback.ISR_CHANGES: on_isr_change,
    Callback.REASSIGNMENTS: on_reassignment_request,
    Callback.ELECTIONS: on_election_request,
}
READ_OF_REQUEST: Final[Mapping[Callback, Effect[Given]]] = {
    Callback.REASSIGNMENTS: OnReassignmentRequest(),
    Callback.ELECTIONS: OnElectionRequest(),
}
"""What ZkClient reads for the listeners on requests."""


def event_of(path: str) -> Event:
    """What is called when the watch of a path that has a listener fires."""
    if path in CALLBACK_OF:
        return CALLBACK_OF[path]
    named = Path.parse(path)
    return str(named.topic) if named.partition is None else TopicPartition(str(named.topic), named.partition)


def callback_of(event: Event) -> Callback:
    """Which kind of listener is to be called."""
    if isinstance(event, Callback):
        return event
    return Callback.MODIFICATIONS if isinstance(event, str) else Callback.STATE


def path_of(event: Event) -> str:
    """The path whose listener is to be called."""
    if isinstance(event, Callback):
        return PATH_OF[event]
    return topic_path(event) if isinstance(event, str) else state_path(event)


def subscribed(controller: KafkaController) -> Iterator[Event]:
    """Every listener of a controller module, in the order in which ZkClient queues them after an expiry."""
    paths = [path for path in controller.configuration.paths if path in controller.listeners]
    yield from (CALLBACK_OF[path] for path in paths if path not in BEHIND)
    others = [event_of(path) for path in controller.listeners if path not in CALLBACK_OF]
    yield from sorted(topic for topic in others if isinstance(topic, str))
    yield from sorted(partition for partition in others if isinstance(partition, TopicPartition))
    yield Callback.CONTROLLER
    yield from (CALLBACK_OF[path] for path in paths if path in BEHIND)


def is_run(controller: KafkaController, callback: Callback) -> bool:
    """Whether a listener does anything: all but two ask first whether the broker is the active controller.

    Before 0.10.2.0 those of ISR change notifications and of state znodes did not ask either (D8).
    """
    return callback in ALWAYS or controller.is_active or _runs_anyway(controller, callback)


def may_be_skipped(controller: KafkaController, event: Event) -> bool:
    """Whether a listener may do nothing: one that does not ask may have been unsubscribed before it was called."""
    unsubscribed = _runs_anyway(controller, callback_of(event)) and path_of(event) not in controller.listeners
    return not is_run(controller, callback_of(event)) or (unsubscribed and not controller.is_active)


def _runs_anyway(controller: KafkaController, callback: Callback) -> bool:
    if callback is Callback.STATE and controller.fixes(Switch.CLEAR_CONTEXT):
        return False
    return callback in ASKED_SINCE_0102 and controller.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE)


def read_for_listener(controller: KafkaController, callback: Callback) -> Effect[Any]:
    """What ZkClient reads for a listener that has to wait for the lock; that of a new session reads itself."""
    if callback in READ_OF_REQUEST:
        return READ_OF_REQUEST[callback]
    if callback is not Callback.SESSION:
        return ReadForListener(PATH_OF[callback])
    controller.report(SessionExpired)
    return ask_for_new_session(controller)


def on_callback(
    controller: KafkaController, callback: Event, given: Any = None, *, skipped: bool = False
) -> Procedure[None]:
    """What the event thread does for a callback, whose listener may be given what was read before it had the lock.

    An exception that leaves the listener is only logged.
    """
    try:
        if skipped or not is_run(controller, callback_of(callback)):
            yield from SkipCallback(path_of(callback), was_read=given is not None)
        elif isinstance(callback, str):
            yield from on_partition_modifications(controller, callback)
        elif isinstance(callback, TopicPartition):
            yield from on_state_change(controller, callback)
        else:
            yield from HANDLERS[callback](controller, *(() if given is None else (given,)))
    except FencedOff:
        on_controller_moved(controller)
    except THROWABLE:
        return


def on_election(controller: KafkaController) -> Procedure[None]:
    """A listener that has resigned has the lock again, to elect; an exception that leaves it is only logged."""
    with suppress(*THROWABLE):
        yield from elect(controller)


def on_deletion_thread(controller: KafkaController) -> Procedure[None]:
    """What the deletion thread does when it is woken."""
    try:
        yield from delete_topics(controller)
    except FencedOff:
        on_controller_moved(controller)
