"""Requests to reassign partitions: asked for, accepted, refused, completed, in /admin/reassign_partitions.

The tool creates the znode; the controller takes the partitions up one by one, the lock anew for each, and takes each
from the znode when it is done with it: when the reassignment is completed, or refused because AR is RAR already, in
order too, or when its first run ended with an exception. It reads the znode for that and writes back what it read less
the partition, without asking for the version. A new controller reads the znode before its machines start, drops what is
done, and resumes the rest once they run. What it was reassigning itself in an earlier term it has not forgotten, and
resumes it, too (D13).

Before each partition of a request, also the first, the lock is free for other threads, the deletion thread, say, or a
shutdown; what is asked of a partition is asked when it is its turn. No other callback comes in between: all are on the
event thread, which is in this one. A listener goes on behind a resignation that another of them forces on the elector
(D53), and only a fenced write of theirs (a fix) takes what is due from it. A failover keeps the lock.

Left out: that a controller whose first failover ended before it had a deletion manager (D4) cannot take a request up,
since asking that manager raises.

Kafka 0.10.2.2: `PartitionsReassignedListener`, `KafkaController.initializePartitionReassignment`,
`removePartitionFromReassignedPartitions`. PROTOCOL.md sections 6 and 8.
"""

from spec.language.records import Array
from spec.language.rules import action, observe, require, reset, say, when
from spec.language.terms import Value, both, choose, either, flag
from spec.logs.controller_log.reassignment import (
    ReassignedIsrError,
    ReassignmentFailed,
    ReassignmentRefused,
    ReassignmentRemoved,
    ReassignmentRequested,
    ReassignmentsDone,
    ReassignmentsFound,
    ReassignmentSkipped,
    ReassignmentsResumed,
    ReassignmentStarted,
)
from spec.logs.controller_log.topic_deletion import DeletionHalted
from spec.model import Model
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.context.live_brokers import live_brokers
from spec.protocol.controller.controller_batch import tell
from spec.protocol.controller.early_reads import content_for, given
from spec.protocol.controller.places import controller_step, listener
from spec.protocol.controller.resignation import LOCALS_OF_REASSIGNMENT, controller_moved
from spec.protocol.controller.threads import become_idle, leave_broker_change
from spec.protocol.deletion.queue import hold_back, resume_deletion
from spec.protocol.junctions import Junction, proceed
from spec.protocol.leadership_cache import assigned_replicas, is_cached
from spec.protocol.requests.batch import Batch
from spec.protocol.zookeeper import acts, is_fenced_off, notify, rearm_watch, take_head
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, Callback, Handler
from spec.variants import Switch

PARTS = ("reassignment",)


@action(actor="admin", source="ReassignPartitionsCommand 0.10.2.2", budget="reassignments", parts=PARTS)
def request_reassignment(s: State, m: Model, k: int) -> None:
    """The admin tool creates /admin/reassign_partitions, which fails while there is one."""
    zookeeper, history = s.zookeeper, s.history
    require(~_is_requested(s, m))
    for p, wanted in enumerate(m.scope.requests[k]):
        if wanted:
            zookeeper.requested[p] = wanted
            history.original[p] = zookeeper.assigned[p]
            history.target[p] = wanted
            in_sync = m.brokers.members(zookeeper.state[p].isr)
            history.caught_up[p] = m.brokers.is_subset(m.brokers.set_kind.constant(wanted), in_sync)
    observe("admin", "create /admin/reassign_partitions", request=k)
    notify(s, m, "reassignments")


@action(actor="admin", source="zookeeper-shell.sh delete (KAFKA-9478)", budget="move_withdrawals", parts=PARTS)
def withdraw_reassignment(s: State, m: Model) -> None:
    """Somebody deletes /admin/reassign_partitions by hand; whoever has read it goes on with what it said."""
    require(_is_requested(s, m))
    for p in m.partitions:
        s.zookeeper.requested[p] = ()
    observe("admin", "write /admin/reassign_partitions")
    forget_what_was_read(s, m)
    notify(s, m, "reassignments")


def _is_requested(s: State, m: Model) -> Value:
    """Whether /admin/reassign_partitions exists: it names a partition, as it always does."""
    return either(*(s.zookeeper.requested[p] != () for p in m.partitions))


@listener(Callback.REASSIGNMENTS, source="PartitionsReassignedListener 0.10.2.2", parts=PARTS)
def on_reassignment_request(s: State, m: Model, c: int) -> None:
    """/admin/reassign_partitions changed: partitions that are not being reassigned yet are due, one after the other."""
    controller = s.controllers[c]
    require(controller.active)
    requested = content_for(s, m, c, "reassignments")
    with when(~given(s, c)):
        rearm_watch(s, c, "reassignments")
    take_head(s, m, c)
    with when(either(*(requested[p] != () for p in m.partitions))):
        say(ReassignmentRequested, requested=_wanted(m, requested))
    for p in m.partitions:
        with when(both(requested[p] != (), controller.reassigned[p] == ())):
            controller.due[p] = requested[p]
            controller.handler = Handler.REASSIGNMENT
            controller.at = At.REASSIGN_NEXT


@controller_step(At.READ_REASSIGNMENTS, source="KafkaController.initializePartitionReassignment 0.10.2.2", parts=PARTS)
def read_reassignments(s: State, m: Model, c: int) -> None:
    """Failover 7: read what is being reassigned; what is so already, or is no more, is dropped first."""
    controller, requested = s.controllers[c], s.zookeeper.requested
    observe(f"controller {c}", "read /admin/reassign_partitions")
    with when(both(_is_requested(s, m), m.scope.reads_rearm)):
        rearm_watch(s, c, "reassignments")
    for p in m.partitions:
        assigned = assigned_replicas(s, m, c, p)
        dropped = either(assigned == (), assigned == requested[p])
        controller.due[p] = choose(dropped, requested[p], ())
        with when(both(requested[p] != (), ~dropped)):
            controller.reassigned[p] = requested[p]
    with when(both(*(controller.due[p] == () for p in m.partitions))):
        wanted = _wanted(m, requested)
        say(ReassignmentsFound, reassigned=wanted)
        say(ReassignmentsDone, partitions={})
        say(ReassignmentsResumed, reassigned=wanted)
    go_on(s, m, c)


def _wanted(m: Model, requested: Array[int, Value] | dict[int, Value]) -> dict[int, tuple[Value, Value]]:
    """RAR of each partition, as somebody holds it, with whether there is any."""
    return {p: (flag(requested[p] != ()), requested[p]) for p in m.partitions}


def resume_reassignments(s: State, m: Model, c: int) -> None:
    """Failover 12: every partition that is being reassigned is due, and accepted or refused like a request."""
    controller = s.controllers[c]
    for p in m.partitions:
        with when(controller.reassigned[p] != ()):
            controller.due[p] = controller.reassigned[p]
            controller.handler = Handler.FAILOVER
            controller.at = At.REASSIGN_NEXT


def reassignments_concerning(s: State, m: Model, c: int, new: Value) -> None:
    """OnBrokerStartup 4: partitions whose RAR has a new broker are due again."""
    controller = s.controllers[c]
    for p in m.partitions:
        wanted = m.brokers.members(controller.reassigned[p])
        controller.due[p] = choose(m.brokers.disjoint(wanted, new), (), controller.reassigned[p])


def _is_acceptable(s: State, m: Model, c: int, p: int) -> Value:
    """Whether there is something to reassign: the partition is known, and AR is not RAR yet, in this order.

    A new request is refused for a topic that is queued for deletion; a failover does not ask, and what it accepts may
    wait for a leader that a topic to be deleted does not get, while the deletion waits for it. Nobody asks whether the
    partition has leadership: without, the first run writes AR and then fails (step 2, S8). Before 0.10.1.0 all of RAR
    had to live, also when a failover took it up again (D14). Left out: that before 0.10.2.0 looking for text among the
    live raised, which ended the listener, or the failover, instead of refusing that one partition.
    """
    controller, assigned = s.controllers[c], assigned_replicas(s, m, c, p)
    asks = flag(controller.handler == Handler.REASSIGNMENT) | m.fixes(Switch.REFUSE_DOOMED_REASSIGNMENTS)
    doomed = is_queued(s, m, c, p) & asks
    wanted = flag(True)
    if m.reintroduces(Switch.REFUSE_DEAD_TARGETS):
        all_live = m.brokers.is_subset(m.brokers.members(controller.due[p]), live_brokers(s, m, c))
        wanted = both(all_live, ~m.brokers.has_text(controller.due[p]))
    led = either(is_cached(controller.partitions[p]), not m.fixes(Switch.REFUSE_UNBORN_REASSIGNMENTS))
    sound = ~_is_unsound(s, m, c, p)
    return both(assigned != (), assigned != controller.due[p], ~doomed, led, wanted, sound)


def _is_unsound(s: State, m: Model, c: int, p: int) -> Value:
    """Where that is fixed: whether RAR is of nobody, or has a broker twice, or text."""
    return both(m.fixes(Switch.REFUSE_ODD_TARGETS), m.brokers.is_odd(s.controllers[c].due[p]))


def _begins(controller: Controller, p: int) -> Value:
    """Whether the next partition may be this one, to be accepted or refused."""
    initiating = either(controller.handler == Handler.REASSIGNMENT, controller.handler == Handler.FAILOVER)
    return both(controller.at == At.REASSIGN_NEXT, controller.due[p] != (), initiating)


@controller_step(At.REASSIGN_NEXT, source="watchIsrChangesForReassignedPartition 0.10.2.2", parts=PARTS)
def accept_reassignment(s: State, m: Model, c: int, p: int) -> None:
    """A reassignment is accepted: watch the state znode, then run it."""
    controller = s.controllers[c]
    require(_begins(controller, p), _is_acceptable(s, m, c, p))
    controller.reassigned[p] = controller.due[p]
    controller.isr_listening[p] = True
    controller.isr_watching[p] = True
    say(ReassignmentStarted, partition=p, new_replicas=controller.due[p])
    with when(is_queued(s, m, c, p)):
        say(DeletionHalted, topics={m.topic_of(p): flag(True)})
    hold_back(s, c, m.topic_of(p))
    controller.reassigning = p
    controller.due[p] = ()
    controller.at = At.REASSIGN_READ


@controller_step(
    At.REASSIGN_NEXT,
    At.COMPLETE_READ,
    At.REFUSE_READ,
    source="removePartitionFromReassignedPartitions 0.10.2.2",
    parts=PARTS,
)
def read_remaining(s: State, m: Model, c: int, p: int) -> None:
    """Step 11, or a refusal: read what else is to be reassigned."""
    controller, requested = s.controllers[c], s.zookeeper.requested
    dropping = both(controller.at == At.REASSIGN_NEXT, controller.due[p] != (), controller.handler == Handler.NONE)
    refusing = both(_begins(controller, p), ~_is_acceptable(s, m, c, p))
    ending = both(controller.at != At.REASSIGN_NEXT, controller.reassigning == p)
    require(either(dropping, refusing, ending))
    skipped = both(is_queued(s, m, c, p), controller.handler == Handler.REASSIGNMENT)
    with when(both(refusing, skipped)):
        say(ReassignmentSkipped, partition=p)
    unsound = both(~skipped, _is_unsound(s, m, c, p))
    with when(both(refusing, unsound)):
        say(ReassignmentRefused, partition=p, new_replicas=controller.due[p])
    with when(both(refusing, ~skipped, ~unsound)):
        say(ReassignmentFailed, partition=p)
    completing = flag(controller.at == At.COMPLETE_READ)
    controller.at = At.REFUSE_WRITE
    with when(completing):
        controller.at = At.COMPLETE_WRITE
    controller.reassigning = p
    controller.due[p] = ()
    with when(_is_requested(s, m)):
        rearm_watch(s, c, "reassignments")
    for q in m.partitions:
        controller.remaining[q] = () if q == p else requested[q]
    controller.remaining_read = _is_requested(s, m)


def working_on(s: State, c: int, p: int) -> None:
    """Guard of a step: it is this partition that the controller is reassigning."""
    require(s.controllers[c].reassigning == p)


@controller_step(
    At.COMPLETE_WRITE, At.REFUSE_WRITE, source="ZkUtils.updatePartitionReassignmentData 0.10.2.2", parts=PARTS
)
def write_remaining(s: State, m: Model, c: int, p: int) -> None:
    """Step 11, or a refusal: write what was read less the partition, or delete the znode; step 12: tell everybody."""
    controller = s.controllers[c]
    completed = flag(controller.at == At.COMPLETE_WRITE)
    working_on(s, c, p)
    fenced = is_fenced_off(s, m, c)
    with when(~fenced):
        write_request(s, m, c)
        reset(controller, "remaining_read")
        controller.reassigned[p] = ()
        told = ~completed
        with when(completed):
            say(ReassignmentRemoved, partition=p)
            told = told | tell(s, m, c, Batch(metadata={p: is_cached(controller.partitions[p])}, about={p: True}))
            with when(told):
                resume_deletion(s, m, c, m.topic_of(p))
        if m.fixes(Switch.REFUSE_DOOMED_REASSIGNMENTS):
            resume_deletion(s, m, c, m.topic_of(p))
        with when(told):
            with when(both(controller.handler == Handler.NONE, *(controller.due[q] == () for q in m.partitions))):
                for kind in (ReassignmentsFound, ReassignmentsDone, ReassignmentsResumed):
                    say(kind)
            go_on(s, m, c)
    controller_moved(s, m, c, where=fenced)


def changes_request(s: State, m: Model, c: int) -> Value:
    """Whether there is a znode to be deleted, or something to be written; a fix asks for the one that was read."""
    controller = s.controllers[c]
    if m.fixes(Switch.KEEP_UNREAD_REQUESTS) and m.keeps(Controller.remaining_read):
        return flag(controller.remaining_read)
    return either(_is_requested(s, m), *(controller.remaining[q] != () for q in m.partitions))


def write_request(s: State, m: Model, c: int) -> None:
    """The znode says what remains; it is gone if nothing does. A write in vain tells nobody."""
    controller, requested, history = s.controllers[c], s.zookeeper.requested, s.history
    with when(changes_request(s, m, c)):
        acts(s, m, c)
        notify(s, m, "reassignments")
        observe(f"controller {c}", "write /admin/reassign_partitions")
        for q in m.partitions:
            requested[q] = controller.remaining[q]
            with when(requested[q] == ()):
                history.original[q] = ()
                history.caught_up[q] = False
                history.target[q] = ()
        with when(~_is_requested(s, m)):
            forget_what_was_read(s, m)


def forget_what_was_read(s: State, m: Model) -> None:
    """Nobody has read what will stand in /admin/reassign_partitions next."""
    for c in m.controllers:
        s.controllers[c].remaining_read = False


def stop_watching(controller: Controller, p: int) -> None:
    """Unsubscribe from the state znode; a watch that is still set wakes nobody from now on."""
    controller.isr_listening[p] = False
    controller.isr_watching[p] = False


def end_run(s: State, m: Model, c: int, p: int) -> None:
    """An exception leaves the run: the first run of a request is refused after all, a later one just ends.

    At a broker's start it ends the whole handling of the broker change (D51).
    """
    controller = s.controllers[c]
    observe(f"controller {c}", "fail reassignment", partition=p)
    with when(controller.handler == Handler.ISR_CHANGE):
        say(ReassignedIsrError)
    with when(both(controller.handler != Handler.ISR_CHANGE, controller.handler != Handler.BROKER_STARTUP)):
        say(ReassignmentFailed, partition=p)
    reset(controller, "partition", "read_version", "decided", "leaving", "outside")
    reset(controller.partitions[p], "visiting")
    first = either(controller.handler == Handler.REASSIGNMENT, controller.handler == Handler.FAILOVER)
    with when(first):
        stop_watching(controller, p)
        controller.at = At.REFUSE_READ
    with when(~first):
        reset(controller, *LOCALS_OF_REASSIGNMENT, "resuming")
        leave_broker_change(s, m, c)


def end_running(s: State, m: Model, c: int) -> None:
    """An exception leaves the run that is under way, whichever partition's it is."""
    for p in m.partitions:
        with when(s.controllers[c].reassigning == p):
            end_run(s, m, c, p)


def go_on(s: State, m: Model, c: int) -> None:
    """A partition is done: begin with the next one that is due, or go on with what the handler does then."""
    controller = s.controllers[c]
    reset(controller, "reassigning", "leaving", "outside", "remaining")
    more = either(*(controller.due[p] != () for p in m.partitions))
    with when(more):
        controller.at = At.REASSIGN_NEXT
    with when(~more):
        proceed(Junction.REASSIGNMENTS_DONE, s, m, c)


def end_listener(s: State, _m: Model, c: int) -> None:
    """A listener has nothing more to reassign: it is over."""
    s.controllers[c].handler = Handler.NONE
    become_idle(s, c)
