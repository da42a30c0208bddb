"""Lines of callbacks and threads that run once more and find nothing to do: that is no step of the specification.

ZkClient sets a watch again before the listener takes the controller lock, and the deletion thread takes note of being
woken before it does. The specification takes each for one with what follows under the lock. So what happens in between
wakes them once more, for what they then have seen already. What they write then is what the rules say that would be
run if they were woken now, and would leave all as it is.

Kafka 0.10.2.2: `ReassignedPartitionsIsrChangeListener`, `IsrChangeNotificationListener`,
`TopicDeletionManager.awaitTopicDeletionNotification`. PROTOCOL.md sections 7.4, 7.7 and 7.8.
"""

from collections.abc import Mapping

from model_check.judging.writing import names_of
from model_check.recordings.recording import Cluster
from model_check.recordings.seen import ControllerSaid
from model_check.stepping.enabled import place_of
from model_check.stepping.open_system import OpenSystem, Step
from model_check.stepping.plain_state import PlainState, part
from spec.logs.controller_log import topic_deletion as deletion
from spec.logs.controller_log.isr_notification import NotificationsFound
from spec.logs.controller_log.reassignment import SomeBehind
from spec.logs.controller_log.topics import PartitionsAdded
from spec.protocol.deletion.thread import delete_queued_topic
from spec.protocol.reassignment.steps import on_state_change
from spec.state.enumerations import At, Callback
from spec.variants import Switch


def finds_nothing_new(system: OpenSystem, cluster: Cluster, said: ControllerSaid, state: PlainState) -> bool:
    """Whether a line is one of a process that has the controller lock, and finds nothing to do.

    Before 0.10.2.0 these listeners do not ask whether the broker is the controller.
    """
    line, c = said.line, said.controller
    controller = part(state, "controllers", c)
    is_idle = place_of(state, c) is At.IDLE
    rests = is_idle and bool(controller.get("active", 0))
    runs_anyway = is_idle and system.model.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE)
    match line:
        case SomeBehind():
            written = _callback(system, c, cluster.partition(line.partition), state) if rests else ()
        case deletion.DeletionRequested(topics=topics):
            return runs_anyway and not (topics and rests)
        case deletion.DeletionQueued() | PartitionsAdded():  # with machines that the next term replaces
            return runs_anyway and not rests
        case NotificationsFound():
            return rests and not any(part(state, "zookeeper", "notified").values())
        case deletion.HandlingDeletion() | deletion.DeletionInProgress() | deletion.DeletionIneligible():
            written = _turns_in_vain(system, c, state)
        case _:
            return False
    names = names_of(cluster, system)
    return any(one.is_written_as(line) for found in written for one in names.expected(found.said))


def _callback(system: OpenSystem, c: int, p: int, state: PlainState) -> tuple[Step, ...]:
    """The listener on a state znode, if it ran now."""
    callbacks, concerns = {0: list(Callback).index(Callback.STATE)}, {0: p} if p else {}
    woken = _with(state, c, active=1, callbacks=callbacks, concerns=concerns)
    found = system.step(woken, on_state_change.name, {"c": c, "p": p})
    return () if found is None else (found,)


def _turns_in_vain(system: OpenSystem, c: int, state: PlainState) -> tuple[Step, ...]:
    """The turns of the deletion thread, if it were woken now; none, where it would have work to do."""
    steps: list[Step] = []
    at = _with(state, c, woken=1)
    for t in part(state, "controllers", c, "queued"):
        found = system.step(at, delete_queued_topic.name, {"c": c, "t": t})
        if found is None:
            return ()
        steps.append(found)
        at = found.after
    return tuple(steps) if _with(at, c, woken=1) == _with(state, c, woken=1) else ()


def _with(state: PlainState, c: int, **fields: object) -> PlainState:
    """The state, if a controller had these."""
    controllers: Mapping[int, PlainState] = part(state, "controllers")
    return {**state, "controllers": {**controllers, c: {**part(state, "controllers", c), **fields}}}
