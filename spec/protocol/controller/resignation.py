"""Two ways out of being controller, and what each takes down; only one of them is thorough.

`onControllerResignation` takes everything down. `resign()` of the elector, after an exception, only sets `leader_id` to
-1 and deletes /controller, whoever owns it by then (D3), and leaves listeners, caches and channels as they are (D4).
Where writes are fenced, a broker that learns that another is controller goes the first way.

Kafka 0.10.2.2: `KafkaController.onControllerResignation`, `ZookeeperLeaderElector.resign`. PROTOCOL.md section 6.
"""

from spec.language.rules import observe, reset, say, when, where_possible
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.failover import Resigned
from spec.model import Model
from spec.protocol.controller.threads import become_idle, forget_returned
from spec.protocol.requests.connections import drop_channels, is_awaited
from spec.protocol.zookeeper import stop_listening
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, DeletionThread, Handler
from spec.state.listeners import UNWATCHED_FIRST, listened_paths
from spec.variants import Switch

#: What a resignation leaves in the context, for the next term of this broker to find (D13).
KEPT_BY_RESIGNATION = ("electing", "reassigned", "dirty")

#: What a refused write leaves nothing in (cf. KAFKA-12315).
BATCHES = ("partition_batch_left", "replica_batch_left")

#: What a running handler keeps.
LOCALS = ("handler", "partition", "replica", "read_version", "decided", "dead", "lost_leader", "returned")

#: What a running handler keeps of reassignments.
LOCALS_OF_REASSIGNMENT = ("due", "reassigning", "leaving", "outside", "remaining", "remaining_read")

#: The listeners on the state znodes of partitions that are being reassigned, and on the topics' own znodes.
STATE_LISTENERS = ("isr_listening", "isr_watching")

TOPIC_LISTENERS = ("topic_listening", "topic_watching")

#: What a resignation resets; the caches of brokers and partitions are overwritten by the next failover's reads.
RESET_BY_RESIGNATION = (
    "epoch", "active", "acted", "channels", "deletion", "epoch_version", "taken", "gone",
    *LOCALS_OF_REASSIGNMENT, *STATE_LISTENERS, *TOPIC_LISTENERS, "asked", "request_read", "queued", "doomed",
    "ineligible", "modified", "woken", "turns", "topic", "retried", "unanswered", "resuming", "to_queue",
    "imbalanced", "shutting_down", "topic_ids", "started", "created",
)  # fmt: skip

#: What a controlled shutdown goes by that still runs when the term has ended, beside the topics and their AR.
SHUTDOWN = ("shutdown_of", "to_move", "shutdown_fails")

#: What a running handler keeps of a partition.
LOCALS_OF_PARTITION = ("todo", "visiting", "batched", "found", "informed")

#: What a resignation ends of a partition, whoever still reads what is cached of it.
STATES_AND_LOCALS = ("state", "replicas", "named", *LOCALS_OF_PARTITION)


def on_controller_resignation(s: State, m: Model, c: int) -> Value:
    """Take the whole controller down; say whether it went through.

    It raises, with the state machines and channels still up, where a deletion manager has no thread (D56). It never
    ends, with the channels up, where a send thread waits for the lock that it has (D50).
    """
    controller = s.controllers[c]
    raises = flag(controller.deletion == DeletionThread.MANAGER_ONLY)
    if m.fixes(Switch.RESIGN_CLEANS_UP) or m.refuses_deletions:
        raises = flag(False)
    stop_listening(controller, *(path for path in UNWATCHED_FIRST if path in listened_paths(m)))
    deadlocked = both(~raises, either(is_awaited(s, m, c, controller.channels), _joins_a_waiting_thread(controller, m)))
    with when(deadlocked):
        stop_listening(controller, *listened_paths(m))
        reset(controller, *STATE_LISTENERS, *TOPIC_LISTENERS)
        controller.at = At.DEADLOCKED
    goes_through = ~raises & ~deadlocked
    with when(goes_through):
        take_down(s, m, c)
    return goes_through


def _joins_a_waiting_thread(controller: Controller, m: Model) -> Value:
    """Before 0.10.2.0: whether the deletion thread that is joined here waits for the lock that is held here (D9)."""
    if not m.reintroduces(Switch.RESIGN_UNDER_LOCK):
        return flag(False)
    return both(controller.deletion == DeletionThread.RUNNING, controller.woken)


@where_possible
def take_down(s: State, m: Model, c: int) -> None:
    """Channels are closed and their queues lost; epoch and caches go back to nothing.

    Where topics are not deleted nothing empties partitionsToBeDeleted, which before 0.10.2.0 has something in it; a
    resigned controller that goes on sends it (D71, D8).
    """
    controller = s.controllers[c]
    observe(f"controller {c}", "resigned")
    say(Resigned)
    drop_channels(s, m, c, controller.channels)
    stop_listening(controller, *listened_paths(m))
    reset(controller, *(one for one in RESET_BY_RESIGNATION if one != "doomed" or not m.refusals_outlive_terms))
    _take_down_caches(controller, m)
    if m.fixes(Switch.CLEAR_CONTEXT):
        reset(controller, *KEPT_BY_RESIGNATION)


def _take_down_caches(controller: Controller, m: Model) -> None:
    """Brokers, topics and leadership are forgotten, which nobody reads before the next failover overwrites them.

    Some handlers go on by them, though: that of a controlled shutdown, unless it is the shutdown that was refused, and
    before 0.10.2.0 the listeners on notifications, and on the state znode of a partition that is being reassigned (D8).
    """
    reassigns = _goes_on_with_reassignment(controller, m)
    with when(~reassigns):
        reset(controller, "live", "seen")
    if m.shutdowns_outlive_terms:
        with when(controller.handler == Handler.SHUTDOWN):
            shutdown_fails(controller)
    else:
        reset(controller, *SHUTDOWN)
    notified = m.notifications_outlive_terms and not m.fixes(Switch.CLEAR_CONTEXT)
    if not (m.shutdowns_outlive_terms or m.reassignments_outlive_terms or notified):
        reset(controller, "topics", "partitions")
    else:
        if not notified:
            with when(~either(reassigns, _goes_on_with_shutdown(controller, m))):
                reset(controller, "topics", "partitions")
        for p in m.partitions:
            reset(controller.partitions[p], *STATES_AND_LOCALS)
    reset(controller, *LOCALS)


def _goes_on_with_reassignment(controller: Controller, m: Model) -> Value:
    if not m.reassignments_outlive_terms:
        return flag(False)
    return either(*(controller.reassigned[p] != () for p in m.partitions))


def _goes_on_with_shutdown(controller: Controller, m: Model) -> Value:
    if not m.shutdowns_outlive_terms or m.fixes(Switch.CLEAR_CONTEXT):
        return flag(False)
    return both(controller.handler != Handler.SHUTDOWN, controller.shutdown_of != 0)


def shutdown_fails(controller: Controller) -> None:
    """An exception ends the running shutdown: nothing more of it is done, and the answer is an error."""
    reset(controller, "to_move")
    controller.shutdown_fails = controller.shutdown_of != 0


def elector_resigns(s: State, m: Model, c: int) -> None:
    """resign(): forget being leader, then delete /controller; the rest is left as it is."""
    controller = s.controllers[c]
    if m.fixes(Switch.RESIGN_CLEANS_UP):
        take_down(s, m, c)
    else:
        _leave_handler(controller, m)
    controller.leader_id = 0
    controller.at = At.RESIGN_DELETE


def _leave_handler(controller: Controller, m: Model) -> None:
    """The handler that raised is gone, and its locals with it; what it cached stays."""
    forget_epoch_version(controller, m)
    forget_returned(controller, m)
    reset(controller, *LOCALS, *LOCALS_OF_REASSIGNMENT, "asked", "turns", "topic", "to_queue")
    for p in m.partitions:
        reset(controller.partitions[p], *LOCALS_OF_PARTITION)


def forget_epoch_version(controller: Controller, m: Model) -> None:
    """Nothing goes by the data version of /controller_epoch any more, unless writes are fenced."""
    if not m.fixes(Switch.FENCED_WRITES):
        reset(controller, "epoch_version")


def controller_moved(s: State, m: Model, c: int, *, where: Value) -> None:
    """Where a fenced write, or read, was refused, another is controller (a fix; 2.1.0 ControllerMovedException)."""
    with when(where):
        take_down(s, m, c)
        reset(s.controllers[c], *BATCHES)
        s.controllers[c].leader_id = 0
        become_idle(s, c)
