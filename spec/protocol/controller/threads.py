"""The controller's threads around its one lock: which callback runs next, and when the lock is free again.

All callbacks of a process run on ZkClient's event thread, one after the other, and take the controller lock; start-up
elects on the main thread under the same lock. Only the lock's holder does what others can see, so the holder's place in
its code (`at`) is all there is to keep; the callbacks that wait are the queue. A callback is taken from the queue by
the action that does its first ZooKeeper operation, and an exception that leaves a callback is only logged.

Callbacks give the lock back on their way: a request to reassign partitions takes it anew for each, and a listener that
has resigned takes it anew to elect. There another thread may have it first, and then gives it back to a listener that
waits, while no other callback can run.

What ZkClient reads before it calls a listener is one step with what that does first, unless another thread has the lock
meanwhile (spec/protocol/controller/early_reads.py). The deletion, rebalance and request-handler threads come with their
parts; what they have in hand while the lock is free is counted here.

Kafka 0.10.2.2: ZkClient 0.10 `ZkEventThread`; KAFKA-4447 for the test of being active. PROTOCOL.md sections 2 and 6.
"""

from spec.language.rules import require, reset, when
from spec.language.terms import Value, both, choose, either, flag, number
from spec.model import Model
from spec.protocol.controller.early_reads import given
from spec.protocol.controller.places import controller_step
from spec.protocol.junctions import Junction, proceed
from spec.protocol.zookeeper import rearm_watch, take_head
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, Callback, DeletionThread, Handler, Owes
from spec.state.listeners import listened_paths
from spec.variants import Switch


def turns_left(s: State, m: Model, c: int) -> Value:
    """How often threads that have given the lock back on their way are to take it again for what they have in hand.

    A shutdown takes it for each partition and for its answer, the rebalance for each partition. A request to reassign
    partitions is not counted: `at` tells where that is. The deletion thread takes it once for all that is queued.
    """
    controller = s.controllers[c]
    waiting = [
        controller.shutdown_of != 0,
        *(one[p] for one in (controller.to_move, controller.imbalanced) for p in m.partitions),
    ]
    turns = number(len(waiting), "turns").constant(0)
    for one in waiting:
        turns = choose(one, turns.plus(1), turns)
    return turns


def give_lock_back(s: State, m: Model, c: int) -> None:
    """Another thread than ZkClient's is done: a listener that was between two partitions, or to elect, is still."""
    controller = s.controllers[c]
    become_idle(s, c)
    with when(controller.elects):
        controller.at = At.ELECT_READ
    with when(either(*(controller.due[p] != () for p in m.partitions))):
        controller.handler = Handler.REASSIGNMENT
        controller.at = At.REASSIGN_NEXT


@controller_step(At.IDLE, source="KAFKA-4447, 0.10.2.0: ControllerZkChildListener tests isActive")
def skip_callback(s: State, m: Model, c: int, callback: int) -> None:
    """A listener of the controller's runs on a broker that is not active; at most its watch is set again."""
    taken = list(Callback)[callback]
    require(~s.controllers[c].active, s.controllers[c].callbacks[0] == taken)
    if taken is Callback.ISR_CHANGES and m.reintroduces(Switch.RUN_WHEN_NOT_ACTIVE):
        # It runs (D8). But ZkClient queues a new session's handler first, and then, on another thread, those whom it
        # finds subscribed: one that the handler unsubscribes may not be among them.
        require(~s.controllers[c].listening["isr_changes"])
    if taken is Callback.STATE:
        rearm_isr_watch(s, m, c)
    if taken is Callback.MODIFICATIONS:
        rearm_topic_watch(s, m, c)
    with when(~given(s, c)):
        for path, queued in listened_paths(m).items():
            if queued == taken:
                rearm_watch(s, c, path)
    take_head(s, m, c)


def rearm_isr_watch(s: State, m: Model, c: int) -> None:
    """The watch of the state znode that the callback at the head is about is set again, if it still has a listener."""
    controller = s.controllers[c]
    for p in m.partitions:
        with when(controller.concerns[0] == p):
            controller.isr_watching[p] = controller.isr_listening[p]


def rearm_topic_watch(s: State, m: Model, c: int) -> None:
    """The watch of the topic's znode that the callback at the head is about, likewise."""
    controller = s.controllers[c]
    for t in m.topics:
        with when(controller.concerns[0] == t):
            controller.topic_watching[t] = controller.topic_listening[t]


def has_threads(s: State, c: int) -> Value:
    """Whether the rebalance scheduler and the deletion thread were started: the last that a failover does (15 and 16).

    A resignation shuts both down, one after the other. Only the deletion thread ends before, by an exception (D37);
    the scheduler goes on without it.
    """
    deletion = s.controllers[c].deletion
    return either(deletion == DeletionThread.RUNNING, deletion == DeletionThread.ENDED)


#: What a handler keeps that brings partitions online, and takes replicas Offline.
LOCALS_OF_BROKER_CHANGE = ("handler", "dead", "lost_leader", "returned")


def leave_broker_change(s: State, m: Model, c: int) -> None:
    """The handler of a broker change, or of what else brings partitions online, is over: its locals are dead."""
    controller = s.controllers[c]
    forget_returned(controller, m)
    reset(controller, *LOCALS_OF_BROKER_CHANGE)
    become_idle(s, c)


def end_turn(s: State, m: Model, c: int) -> None:
    """A thread that has the lock for one partition is done with it."""
    leave_broker_change(s, m, c)
    give_lock_back(s, m, c)


def leave_handler(s: State, m: Model, c: int) -> None:
    """An exception leaves the handler that runs, at once or behind the elector's resignation.

    ISR change notifications that were read are deleted all the same.
    """
    controller = s.controllers[c]
    proceed(Junction.EXCEPTION, s, m, c)
    with when(~both(m.notices.is_empty(controller.taken), m.notices.is_empty(controller.gone))):
        controller.at = At.NOTIFIED_DELETE


def forget_returned(controller: Controller, m: Model) -> None:
    """Forget returned brokers that were never handled as new."""
    for b in m.brokers.ids:
        controller.seen[b] = flag(controller.seen[b]) & ~m.brokers.in_set(b, controller.returned)


def become_idle(s: State, c: int) -> None:
    """The handler is done; the lock is free. Where that was start-up's own election, its thread goes on to register."""
    s.controllers[c].at = At.IDLE
    with when(s.processes[c].owes == Owes.AFTER_ELECTION):
        s.processes[c].owes = Owes.AT_START
