"""The connections from a controller to the brokers: one queue each, one request in flight, sent until it is answered.

A queue lives in its controller: it dies with the controller's process, with its resignation, and when the controller
removes the broker; it does not die with the broker, so a request may reach the broker's next incarnation. The head is
sent again whenever its answer is lost, so a broker may execute it more than once. A place of the queue holds a batch
and how far it is.

Copies that arrive late over an old connection are in spec/protocol/requests/late_copies.py.

Left out: that before 0.9.0.0, where a channel stands beside a left-over one, each has a connection, so that what is
sent through the newer one may be executed first (`join_left_overs`); and that the left-over one is never closed.

Kafka 0.10.2.2: `ControllerChannelManager`, `RequestSendThread`. PROTOCOL.md section 9.
"""

from spec.language.rules import action, require, reset, when
from spec.language.terms import Value, both, choose, either, enumeration, flag
from spec.model import Model
from spec.protocol.requests.handling import (
    handle_deletion,
    handle_leader_and_isr,
    handle_stop_replica,
    handle_update_metadata,
    is_stale_registration,
    waits_for_isr_write,
)
from spec.state.brokers import Slot, Stage
from spec.state.cluster import State
from spec.state.enumerations import Session
from spec.variants import Switch

#: How far a batch is where the send thread is in the callback of a StopReplica with delete.
CALLBACK_WAITS = (Stage.ANSWERED, Stage.REFUSED)


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.2.2; KafkaApis", parts=("connections",))
def deliver_request(s: State, m: Model, c: int, b: int) -> None:
    """A broker executes the request at the head of a controller's queue, and its answer comes back."""
    execute_head(s, m, c, b)
    answer_head(s, m, c, b)


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.2.2", budget="resends", parts=("connections",))
def deliver_request_unanswered(s: State, m: Model, c: int, b: int) -> None:
    """A broker executes the request at the head of a controller's queue, but the answer is lost: it will come again."""
    execute_head(s, m, c, b)


def is_due(s: State, m: Model, c: int, b: int) -> Value:
    """Whether the LeaderAndIsr at the head, if it is one, is for this registration of a broker, and has the locks."""
    head = s.connections[c][b][0]
    free = ~waits_for_isr_write(s, m, b, head)
    return both(s.processes[b].session != Session.NONE, ~is_stale_registration(s, m, c, b), free)


def execute_head(s: State, m: Model, c: int, b: int) -> None:
    """The broker's side of the request at the head."""
    close_older(s, m, c, b)
    head = s.connections[c][b][0]
    require(s.processes[b].session != Session.NONE, head.stage != Stage.EMPTY)
    if m.stops_replicas:
        single = (Stage.STOP_REPLICA,) if m.stops_one_by_one else ()
        require(*(head.stage != stage for stage in (*single, Stage.DELETE_REPLICA, *CALLBACK_WAITS)))
    execute(s, m, c, b, head, stale=is_stale_registration(s, m, c, b))


def close_older(s: State, m: Model, c: int, b: int) -> None:
    """Something comes through a newer connection: where that is fixed the older ones go, and what still lies there."""
    if not m.fixes(Switch.CLOSE_OLD_CONNECTIONS):
        return
    if "late_requests" in s:
        reset(s.late_requests[c][b])
    if "late" in s:
        for p in m.partitions:
            reset(s.late[c][b][p])


def execute(s: State, m: Model, c: int, b: int, request: Slot, *, stale: Value) -> None:
    """The broker's side of a request, other than StopReplica with delete; one for an older registration is refused."""
    require(either(stale, request.stage != Stage.LEADER_AND_ISR, ~waits_for_isr_write(s, m, b, request)))
    with when(both(request.stage == Stage.LEADER_AND_ISR, ~stale)):
        handle_leader_and_isr(s, m, c, b, request)
    if m.has("metadata"):
        with when(both(request.stage == Stage.UPDATE_METADATA, ~stale)):
            handle_update_metadata(s, m, c, b, request)
    if m.stops_replicas:
        with when(both(request.stage == Stage.STOP_REPLICA, ~stale)):
            handle_stop_replica(s, m, c, b, request, m.partitions)


def answer_head(s: State, m: Model, c: int, b: int) -> None:
    """The request at the head is answered: the next one of its batch is due, or the next batch."""
    queue = s.connections[c][b]
    following = _following_stage(m, queue[0])
    with when(following != Stage.EMPTY):
        _begin_stage(m, queue[0], following)
    with when(following == Stage.EMPTY):
        _end_batch(s, m, c, b)


def _following_stage(m: Model, head: Slot) -> Value:
    """The stage of a batch that comes after this one; EMPTY if this was the last."""
    empty = enumeration(Stage).constant(Stage.EMPTY)
    earlier = flag(head.stage == Stage.LEADER_AND_ISR)
    deletes, before = either(*(head.delete[p] for p in m.partitions)), head.stage != Stage.STOP_REPLICA
    stops = [head.stop[p] for p in m.partitions]
    stopping, deleting = either(deletes, *stops), both(~before, deletes)
    if m.stops_one_by_one:
        stopping, deleting = either(*stops), deletes
    following = choose(both(before, stopping), Stage.STOP_REPLICA, choose(deleting, Stage.DELETE_REPLICA, empty))
    return choose(both(earlier, head.metadata), Stage.UPDATE_METADATA, following)


def _begin_stage(m: Model, head: Slot, stage: Value) -> None:
    """What the requests before this stage said is forgotten."""
    for p in m.partitions:
        reset(head.partitions[p])
    head.stage = stage
    if m.stops_replicas:
        with when(stage != Stage.UPDATE_METADATA):
            reset(head, "metadata", "alive", "told", "told_epoch")
        with when(stage == Stage.DELETE_REPLICA):
            reset(head, "stop")


def _end_batch(s: State, m: Model, c: int, b: int) -> None:
    """Every request of the batch at the head is answered; the next batch moves up."""
    queue = s.connections[c][b]
    for k in m.slots[:-1]:
        queue[k] = queue[k + 1]
    reset(queue[m.slots[-1]])


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.2.2; KafkaApis", parts=("stopped_replicas",))
def deliver_deletion(s: State, m: Model, c: int, b: int, p: int) -> None:
    """A broker executes a StopReplica with delete, and its answer comes back."""
    head, broker = s.connections[c][b][0], s.brokers[b]
    refused = either(is_stale_registration(s, m, c, b), head.epoch < broker.controller_epoch)
    execute_deletion(s, m, c, b, p)
    answer_deletion(s, m, c, b, p, refused)


def answer_deletion(s: State, m: Model, c: int, b: int, p: int, refused: Value, *, failed: bool = False) -> None:
    """A StopReplica with delete is answered: that is the end of it, unless the deletion manager is to be called.

    Where that is fixed one that failed is sent again.
    """
    calls_back = _calls_back(s, m, c, b)
    with when(calls_back):
        _await_callback(s, c, b, p, refused)
        s.connections[c][b][0].failed = failed
    if not (failed and m.fixes(Switch.RETRY_FAILED_DELETIONS)):
        with when(~calls_back):
            end_deletion(s, m, c, b, p)


def _calls_back(s: State, m: Model, c: int, b: int) -> Value:
    """Whether the answer to the StopReplica at the head is for the deletion manager."""
    head = s.connections[c][b][0]
    return head.calls_back if "calls_back" in head else flag(m.has("deletion"))


def _await_callback(s: State, c: int, b: int, p: int, refused: Value) -> None:
    """The answer is for a callback, which waits for the controller lock; so does the queue."""
    head = s.connections[c][b][0]
    head.answered = p
    head.stage = Stage.ANSWERED
    with when(refused):
        head.stage = Stage.REFUSED


def end_deletion(s: State, m: Model, c: int, b: int, p: int) -> None:
    """A StopReplica with delete is done with: the next one of its batch is due, or the next batch."""
    head = s.connections[c][b][0]
    head.delete[p] = False
    head.delete_epoch[p] = -1
    head.stage = Stage.DELETE_REPLICA
    reset(head, "answered", "failed")
    with when(~either(*(head.delete[q] for q in m.partitions))):
        _end_batch(s, m, c, b)


@action(actor="broker {b}", source="RequestSendThread.doWork 0.10.2.2", budget="resends", parts=("stopped_replicas",))
def deliver_deletion_unanswered(s: State, m: Model, c: int, b: int, p: int) -> None:
    """A broker executes a StopReplica with delete, but the answer is lost: it will come again."""
    execute_deletion(s, m, c, b, p)


def execute_deletion(s: State, m: Model, c: int, b: int, p: int) -> None:
    """The broker's side of a StopReplica with delete at the head."""
    close_older(s, m, c, b)
    head = s.connections[c][b][0]
    require(s.processes[b].session != Session.NONE, head.stage == Stage.DELETE_REPLICA, head.delete[p])
    stale = is_stale_registration(s, m, c, b)
    require(either(stale, s.brokers[b].partitions[p].retrying == ()))
    with when(~stale):
        handle_deletion(s, m, c, b, p, head, head.delete_epoch[p] if m.keeps(Slot.delete_epoch) else None)


def drop_channels(s: State, m: Model, c: int, gone: Value) -> None:
    """The controller removes brokers: their channels are closed and what is queued for them is lost."""
    controller = s.controllers[c]
    closed = m.brokers.intersection(controller.channels, gone)
    controller.channels = m.brokers.difference(controller.channels, gone)
    for b in m.brokers.ids:
        with when(m.brokers.in_set(b, closed)):
            reset(s.connections[c][b])


def is_awaited(s: State, m: Model, c: int, gone: Value) -> Value:
    """Whether to close the channels to these brokers is to wait for a send thread that waits for the lock (D50)."""
    if not m.has("deletion") or m.fixes(Switch.CALLBACK_WITHOUT_LOCK):
        return flag(False)
    calls = {b: either(*(s.connections[c][b][0].stage == stage for stage in CALLBACK_WAITS)) for b in m.brokers.ids}
    return ~m.brokers.disjoint(m.brokers.set_from(calls), gone)


def openable(m: Model, wanted: Value, left_over: Value) -> Value:
    """Those of the wanted channels that are opened, in order of broker id, before a left-over one is in the way."""
    opened, reached = m.brokers.empty_set(), flag(True)
    for b in m.brokers.ids:
        is_wanted = m.brokers.in_set(b, wanted)
        reached = reached & ~(is_wanted & m.brokers.in_set(b, left_over))
        more = m.brokers.union(opened, m.brokers.set_kind.constant((b,)))
        opened = choose(both(reached, is_wanted), more, opened)
    return opened


def in_the_way(m: Model, left_over: Value) -> Value:
    """The left-over channels that forbid a new one to the same broker; before 0.9.0.0 none does (D56)."""
    return m.brokers.empty_set() if m.opens_channels_twice else left_over


def join_left_overs(s: State, m: Model, c: int) -> None:
    """Where a channel stands beside a left-over one, both are one here: what was sent before is executed before."""
    if m.opens_channels_twice:
        controller = s.controllers[c]
        controller.stranded = m.brokers.difference(controller.stranded, controller.channels)


def open_channels(s: State, m: Model, c: int, new: Value) -> Value:
    """The controller adds brokers, each gets an empty queue; whether a left-over channel ended that with an exception.

    A channel that the controller has itself stays as it is.
    """
    controller = s.controllers[c]
    opened = openable(m, new, in_the_way(m, controller.stranded))
    controller.channels = m.brokers.union(controller.channels, opened)
    join_left_overs(s, m, c)
    return ~m.brokers.is_subset(new, controller.channels)
