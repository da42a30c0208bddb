"""Lines of callbacks and threads that run once more and find nothing to do: that is no step of the specification.

ZkClient sets a watch again before the listener takes the controller lock, and the deletion thread takes note of being
woken before it does. The specification takes each for one with what follows under the lock. So what happens in between
wakes them once more, for what they then have seen already.

Kafka 0.10.2.2: `ReassignedPartitionsIsrChangeListener`, `IsrChangeNotificationListener`,
`TopicDeletionManager.awaitTopicDeletionNotification`. PROTOCOL.md sections 7.4, 7.7 and 7.8.
"""

from __future__ import annotations

from collections.abc import Iterator

from model_check.judging.hidden_steps import PLACES, lock_is_free, part
from model_check.judging.lines.controller_log_deletion import DeletionReporting
from model_check.judging.lines.controller_log_reassignment import are_of, found_in_sync
from model_check.judging.lines.controller_step import MANAGERS, Expected
from model_check.recordings.processes import ControllerSaid
from model_check.recordings.recording import Cluster
from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_state import PlainState
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_log.reassignment import SomeBehind
from spec.logs.controller_log.topic_deletion import DeletionIneligible, DeletionInProgress, HandlingDeletion
from spec.state.enumerations import At, DeletionThread
from spec.tables.replica_states import ReplicaState


def finds_nothing_new(system: OpenSystem, cluster: Cluster, said: ControllerSaid, state: PlainState) -> bool:
    """Whether a line is one of somebody who has the controller lock, and finds nothing to do."""
    line, view, c = said.line, system.view(state), said.controller
    controller = view.controllers[c]
    rests = PLACES[controller.at.raw] is At.IDLE
    match line:
        case SomeBehind() if rests and controller.active.raw:
            found = found_in_sync(system, cluster, c, cluster.partition(line.partition), state)
            return found is not None and found[0] is SomeBehind and are_of(line, found[1])
        case NotificationsFound() if rests and controller.active.raw:
            return not any(view.zookeeper.notified[p].raw for p in system.model.partitions)
        case HandlingDeletion() | DeletionInProgress() | DeletionIneligible() if system.model.has("deletion"):
            if not lock_is_free(part(state, "controllers", c)):
                return False
            idle_turn = list(_turn_in_vain(system, cluster, c, state))
            return any(type(line) is kind and are_of(line, fields) for kind, fields in idle_turn)
        case _:
            return False


def _turn_in_vain(system: OpenSystem, cluster: Cluster, c: int, state: PlainState) -> Iterator[Expected]:
    """What the deletion thread says where every topic is under way, or held back; nothing, where it has work to do."""
    controller = system.view(state).controllers[c]
    if MANAGERS[controller.deletion.raw] is not DeletionThread.RUNNING:
        return
    queued = [t for t in system.model.topics if controller.queued[t].raw]
    turns = {
        t: DeletionReporting(system, cluster, "delete_queued_topic", {"c": c, "t": t}, state, state, ()) for t in queued
    }
    for t, turn in turns.items():
        under_way = turn.replicas_in(t, ReplicaState.DELETION_STARTED)
        failed = turn.replicas_in(t, ReplicaState.DELETION_INELIGIBLE)
        if not under_way and (failed or not controller.ineligible[t].raw):
            return
    for t, turn in turns.items():
        yield from turn.turned_to()
        yield from turn.held_back(t)
