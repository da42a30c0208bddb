"""What processes do unseen: the place in the code of each lock's holder names the steps that it may take next.

Seen from outside, a controller's reads leave no trace but a gap in the numbers of its requests, and its handlers run
whenever their callbacks come up. All of these steps are found here from the state alone; most are the only one that
their process can take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from model_check.stepping.plain_state import EMPTY, PlainState
from spec.model import Model
from spec.protocol.requests.connections import CALLBACK_WAITS
from spec.state.brokers import Stage
from spec.state.enumerations import At, Callback, Handler, Session

Candidate: TypeAlias = tuple[str, dict[str, int]]
"""A rule's name and parameters; it need not be enabled."""

PLACES: Final = list(At)
HANDLED_FOR: Final = list(Handler)
CALLBACKS: Final = list(Callback)
SESSIONS: Final = list(Session)
STAGES: Final = list(Stage)

STEPS: Final[Mapping[At, str]] = {
    At.ELECT_READ: "elect_read",
    At.ELECT_CREATE: "elect_create",
    At.ELECT_CREATE_AGAIN: "elect_create",
    At.ELECT_REREAD: "elect_reread",
    At.RESIGN_DELETE: "resign_delete",
    At.READ_EPOCH: "read_epoch",
    At.INCREMENT_EPOCH: "increment_epoch",
    At.SUBSCRIBE: "subscribe",
    At.READ_BROKERS: "read_brokers",
    At.READ_TOPICS: "read_topics",
    At.FINISH: "finish_failover",
    At.READ_REASSIGNMENTS: "read_reassignments",
    At.READ_DELETIONS: "read_deletions",
    At.READ_PREFERRED: "read_election_request",
    At.DELETE_PREFERRED: "delete_election_request",
}
"""Places at which a controller has one step to take. Writes that succeed, or fail on a version, are not hidden."""

REASSIGNING: Final[Mapping[At, str]] = {
    At.REASSIGN_READ: "read_whether_caught_up",
    At.BUMP_READ: "read_for_bump",
    At.MOVE_READ: "read_for_move",
    At.COMPLETE_READ: "read_remaining",
    At.REFUSE_READ: "read_remaining",
}
"""Places at which it works on the partition that it is reassigning."""

BEGINNING: Final = ("accept_reassignment", "read_whether_caught_up", "read_remaining")
"""What it may do with the next partition that is due to be reassigned."""
ORDERS: Final = frozenset({*BEGINNING, "delete_queued_topic", "drop_request"})
"""Steps that take up one of several partitions or topics: in which order, bears on what follows."""

VISITS: Final[Mapping[At, tuple[str, ...]]] = {
    At.READ_STATES: ("read_state",),
    At.ONLINE_READ: ("read_for_election", "create_state"),
    At.NOTIFIED_READ: ("read_notified",),
    At.DELETE_STATE: ("delete_state",),
}
"""Places at which it visits partitions, in an order that Kafka leaves open."""

REPLICA_VISITS: Final[Mapping[At, str]] = {
    At.REMOVE_READ: "read_for_removal",
    At.NEW_REPLICA_READ: "read_for_new_replica",
    At.START_READ: "start_new_replica",
}
"""Places at which it visits replicas, likewise."""

TOPIC_STEPS: Final[Mapping[At, str]] = {
    At.DELETE_TOPIC: "delete_topic",
    At.DELETE_CONFIGURATION: "delete_configuration",
    At.DELETE_REQUEST: "delete_request",
}
"""Places at which it is busy with one topic; what is not there is deleted unseen."""

HANDLERS: Final[Mapping[Callback, str]] = {
    Callback.CONTROLLER: "on_controller_change",
    Callback.SESSION: "on_new_session",
    Callback.BROKERS: "on_broker_change",
    Callback.TOPICS: "on_topic_change",
    Callback.ISR_CHANGES: "on_isr_change",
    Callback.REASSIGNMENTS: "on_reassignment_request",
    Callback.DELETIONS: "on_deletion_change",
    Callback.PREFERRED: "on_preferred_election",
}
ALWAYS_HANDLED: Final = frozenset({Callback.CONTROLLER, Callback.SESSION})
"""Callbacks that run whether or not the broker is the active controller."""

EVENT_THREAD: Final = "ZkClient's event thread"
THREADS: Final[Mapping[str, str]] = {
    **dict.fromkeys((*HANDLERS.values(), "on_state_change", "on_partition_modifications"), EVENT_THREAD),
    **dict.fromkeys(("accept_reassignment", "read_remaining"), EVENT_THREAD),
    **dict.fromkeys(("move_partition", "answer_shutdown"), "the request handler of a shutdown"),
    "rebalance_partition": "the rebalance thread",
    "on_replica_deleted": "a send thread",
    "delete_queued_topic": "the deletion thread",
}
"""The steps that begin with taking a controller's lock, and the thread that takes it."""


def is_instead_of(candidate: Candidate, taken: Candidate) -> bool:
    """Whether a controller may do this rather than that: take up another topic or partition, or let another thread in.

    Several threads may wait for its lock, and which one gets it is open.
    """
    if candidate[1].get("c") != taken[1].get("c"):
        return False
    rules = {candidate[0], taken[0]}
    return rules <= ORDERS or (rules <= THREADS.keys() and THREADS[candidate[0]] != THREADS[taken[0]])


def part(state: PlainState, *keys: Any) -> Any:
    """A record of a state, empty where all of it is initial."""
    for key in keys:
        state = state.get(key, EMPTY)
    return state


def place_of(controller: PlainState) -> At:
    """Where the holder of a controller's lock is."""
    return PLACES[controller.get("at", 0)]


def lock_is_free(controller: PlainState) -> bool:
    """Whether another thread than ZkClient's can get the lock: nobody has it, or a request waits to go on with it."""
    between = HANDLED_FOR[controller.get("handler", 0)] is Handler.REASSIGNMENT
    return place_of(controller) is At.IDLE or (place_of(controller) is At.REASSIGN_NEXT and between)


def hidden_steps(m: Model, state: PlainState) -> Iterator[Candidate]:
    """What running processes may do unseen, or with lines in their logs only.

    Who is registered and registers once more (an answer was lost, or a second session expired) finds its own znode; who
    starts while the session of its last process is there finds that one's.
    """
    for c in m.controllers:
        controller = part(state, "controllers", c)
        if place_of(controller) in {At.ELECT_CREATE, At.ELECT_SESSION_LOST}:
            yield "elect_create_without_session", {"c": c}
        if SESSIONS[part(state, "processes", c).get("session", 0)] is Session.LIVE:
            yield from _steps_of(m, c, controller, part(state, "zookeeper"))
        if m.has("deletion") and (lock_is_free(controller) or place_of(controller) is At.DELETE_QUEUED):
            yield from _deletion(c, controller, part(state, "connections", c))
    for b in m.brokers.ids:
        if part(state, "zookeeper").get("registered", 0) >> b - 1 & 1:
            yield "register_broker", {"b": b}
        if part(state, "zookeeper").get("registered_orphaned", 0) >> b - 1 & 1:
            yield "fail_registration", {"b": b}
    if m.has("auto_rebalance") or m.has("shutdown"):
        yield from _of_other_threads(m, state)


def _of_other_threads(m: Model, state: PlainState) -> Iterator[Candidate]:
    """What the rebalance thread and the request handlers do once they get the lock, partition by partition."""
    for c in m.controllers:
        controller = part(state, "controllers", c)
        yield from (("rebalance_partition", {"c": c, "p": p}) for p in part(controller, "imbalanced"))
        leaving = controller.get("shutdown_of", 0)
        if leaving:
            yield from (("move_partition", {"c": c, "p": p, "r": leaving}) for p in part(controller, "to_move"))
            yield "answer_shutdown", {"c": c, "b": leaving}
    for b in m.brokers.ids:
        asked = part(state, "processes", b).get("asked", 0)
        if asked:
            yield "accept_shutdown", {"c": asked, "b": b}
            yield "refuse_shutdown", {"c": asked, "b": b}
            yield "lose_shutdown_request", {"b": b, "c": asked}


def _steps_of(m: Model, c: int, controller: PlainState, zookeeper: PlainState) -> Iterator[Candidate]:
    at = place_of(controller)
    conflicts = at is At.INCREMENT_EPOCH and zookeeper.get("epoch", 0)
    if at is At.IDLE:
        yield from _callback(c, controller)
    elif at is At.NOTIFIED_DELETE:
        left = controller.get("taken", 0) | controller.get("gone", 0)
        yield from (("delete_notification", {"c": c, "n": n}) for n in m.notices.ids if left >> n - 1 & 1)
    elif at in STEPS and not conflicts:
        yield STEPS[at], {"c": c}
    elif at in REASSIGNING:
        yield REASSIGNING[at], {"c": c, "p": controller.get("reassigning", 0)}
    elif at in {At.COMPLETE_WRITE, At.REFUSE_WRITE}:
        if not zookeeper.get("requested") and not controller.get("remaining"):
            yield "write_remaining", {"c": c, "p": controller.get("reassigning", 0)}
    elif at is At.REASSIGN_NEXT:
        yield from ((rule, {"c": c, "p": p}) for p in part(controller, "due") for rule in BEGINNING)
    elif at in TOPIC_STEPS:
        yield TOPIC_STEPS[at], {"c": c, "t": controller.get("topic", 0)}
    elif at is At.DROP_REQUEST:
        yield from (("drop_request", {"c": c, "t": t}) for t in part(controller, "turns"))
    else:
        yield from _visits(m, c, at, part(controller, "partitions"))


def _callback(c: int, controller: PlainState) -> Iterator[Candidate]:
    """The listener at the head of the queue; a registration is told apart."""
    waiting = CALLBACKS[part(controller, "callbacks").get(0, 0)]
    if waiting in {Callback.NONE, Callback.REGISTRATION}:
        return
    if waiting is Callback.STATE and controller.get("active", 0):
        yield "on_state_change", {"c": c, "p": part(controller, "concerns").get(0, 0)}
    elif waiting is Callback.MODIFICATIONS and controller.get("active", 0):
        yield "on_partition_modifications", {"c": c, "t": part(controller, "concerns").get(0, 0)}
    elif waiting in ALWAYS_HANDLED or controller.get("active", 0):
        yield HANDLERS[waiting], {"c": c}
    else:
        yield "skip_callback", {"c": c, "callback": CALLBACKS.index(waiting)}


def _deletion(c: int, controller: PlainState, queues: PlainState) -> Iterator[Candidate]:
    """The callbacks of StopReplica that wait for the lock, and the deletion thread; neither needs a session."""
    if lock_is_free(controller):
        for b, queue in queues.items():
            head = part(queue, 0)
            if STAGES[head.get("stage", 0)] in CALLBACK_WAITS:
                yield "on_replica_deleted", {"c": c, "b": b, "p": head.get("answered", 0)}
    goes_on = place_of(controller) is At.DELETE_QUEUED
    if goes_on or controller.get("woken"):
        waiting = part(controller, "turns" if goes_on else "queued")
        yield from (("delete_queued_topic", {"c": c, "t": t}) for t in waiting)


def _visits(m: Model, c: int, at: At, partitions: Mapping[int, PlainState]) -> Iterator[Candidate]:
    for p, cached in partitions.items():
        if cached.get("todo"):
            yield from ((rule, {"c": c, "p": p}) for rule in VISITS.get(at, ()))
        for r in m.assigned(p) if at in REPLICA_VISITS else ():
            if cached.get("visiting", 0) >> r - 1 & 1:
                yield REPLICA_VISITS[at], {"c": c, "p": p, "r": r}
