"""Controller election: `elect()`, the listeners of /controller and of new sessions, and the two ways of giving up.

`on_controller_resignation` takes the whole controller down. The elector's `resign()`, where an exception ends in, only
forgets being leader and deletes /controller, whoever owns it by then (D3); the half-started controller stays (D4).

Kafka 0.10.2.2: `ZookeeperLeaderElector`, `KafkaController.onControllerResignation`, `SessionExpirationListener`.
PROTOCOL.md section 6.
"""

from typing import Final

from reference.controller.context import Deleting
from reference.controller.controller import KafkaController
from reference.controller.effects import (
    ElectCreate,
    ElectRead,
    ElectReread,
    EpochZnode,
    JoinThread,
    OnControllerChange,
    OnNewSession,
    StartProcess,
)
from reference.controller.resignation import on_controller_moved, resign, take_down
from reference.deletion.thread import is_due
from reference.failover.steps import on_controller_failover
from reference.procedures import THROWABLE, FencedOff, MissingDeletionThread, Procedure
from spec.formats.kafka_types import NO_LEADER
from spec.logs.controller_log.failover import SessionExpired, SessionExpiredElectedAlready
from spec.state.enumerations import DeletionThread
from spec.state.listeners import LISTENED, UNWATCHED_FIRST
from spec.variants import Switch

FIRST: Final = frozenset(LISTENED[name].path for name in UNWATCHED_FIRST)
"""The paths that a resignation unwatches first."""


def startup(controller: KafkaController) -> Procedure[None]:
    """What the main thread does: subscribe to /controller, then elect."""
    yield from StartProcess()
    yield from elect(controller)


def elect(controller: KafkaController) -> Procedure[None]:
    """Become controller if nobody is; whatever goes wrong on the way to being one ends in `resign`.

    That is the second one where a send has found its batch dirty (`reference/controller/controller_batch.py`), and by
    then /controller may be a successor's (D3).
    """
    controller.elects = False
    controller.leader_id = yield from ElectRead()
    if controller.leader_id != NO_LEADER:
        return
    try:
        won = yield from ElectCreate(controller.broker_id, controller.fixes(Switch.ATOMIC_ELECTION))
        if won:
            controller.leader_id = controller.broker_id
            yield from on_controller_failover(controller, won if isinstance(won, EpochZnode) else None)
            return
    except FencedOff:
        on_controller_moved(controller)
        return
    except THROWABLE:  # `case e2: Throwable`
        yield from resign(controller)
        return
    controller.leader_id = yield from ElectReread()


def on_controller_change(controller: KafkaController, given: int | None = None) -> Procedure[None]:
    """`LeaderChangeListener`: learn who is controller, resign if that was us, elect if nobody is."""
    current = yield from OnControllerChange(given)
    was_leader = controller.am_i_leader or controller.resigns
    if current is not None:
        controller.leader_id = current
        resigns = not controller.reintroduces(Switch.IGNORE_WHO_IS_NEW)
        if was_leader and not controller.am_i_leader and resigns:
            yield from on_controller_resignation(controller)
        return
    if was_leader:
        yield from on_controller_resignation(controller)
    yield from _elect_anew(controller)


def on_new_session(controller: KafkaController, given: int | None = None) -> Procedure[None]:
    """`SessionExpirationListener`: unless /controller names this broker already (KAFKA-4229), resign and elect."""
    if given is None:
        controller.report(SessionExpired)
    current = yield from ask_for_new_session(controller, given)
    if is_elected_already(controller, current):
        return
    yield from on_controller_resignation(controller)
    yield from _elect_anew(controller)


def ask_for_new_session(controller: KafkaController, given: int | None = None) -> OnNewSession:
    """What is asked of ZooKeeper for a new session: before 0.10.2.0 nothing."""
    return OnNewSession(given, asks=not controller.reintroduces(Switch.ALWAYS_RESIGN))


def is_elected_already(controller: KafkaController, current: int) -> bool:
    """Whether a broker that hears of a new session is controller already, and does nothing."""
    already = current == controller.broker_id
    if already:
        controller.report(SessionExpiredElectedAlready)
    return already


def _elect_anew(controller: KafkaController) -> Procedure[None]:
    """Elect; the lock was given back before, so the handler of a shutdown that outlives its term may have it first."""
    outlived = controller.shutdown is not None and not controller.is_active
    controller.elects = outlived and not controller.reintroduces(Switch.RESIGN_UNDER_LOCK)
    if not controller.elects:
        yield from elect(controller)


def stop_deletions(controller: KafkaController) -> None:
    """What a resignation does first, without the lock: `deleteTopicManager.shutdown()` stops and empties."""
    controller.resigns = True
    controller.listeners -= FIRST
    controller.deleting = Deleting()


def on_controller_resignation(controller: KafkaController) -> Procedure[None]:
    """Take the controller down; raises MissingDeletionThread, half-way, where a failover had ended too early (D56).

    It never ends where a sender is in a callback that waits for the lock (D50), nor, before 0.10.2.0, where the
    deletion thread waits for it (D9); what Kafka takes down before, nobody looks at any more.
    """
    controller.resigns = False
    controller.listeners -= FIRST
    has_thread = controller.configuration.deletes_topics and not controller.fixes(Switch.RESIGN_CLEANS_UP)
    if has_thread and controller.deletion is DeletionThread.MANAGER_ONLY:
        raise MissingDeletionThread("the topic deletion manager has no thread to be joined")
    manager = controller.context.controller_channel_manager
    calls_back = manager is not None and manager.is_calling_back(manager.queues)
    joins_sender = calls_back and not controller.fixes(Switch.CALLBACK_WITHOUT_LOCK)
    if joins_sender or (is_due(controller) and controller.reintroduces(Switch.RESIGN_UNDER_LOCK)):
        controller.listeners = frozenset()
        yield from JoinThread()
    take_down(controller)
