"""Broker changes: what the controller does when brokers appear in or disappear from /brokers/ids.

The listener reads the children, swaps its cached set first, opens and closes channels, then handles the new brokers
(onBrokerStartup), then the dead ones (onBrokerFailure). A broker that leaves and returns between two reads is not
noticed at all (D12); where broker epochs are on, its registration shows it, and the controller handles it as if there
had been a read between: it is among the dead first, and new behind them (`KafkaController.BrokerChange` 2.2.0, which
calls it bounced, and handles it before the dead). A channel that an earlier term left behind ends all of it with an
exception, after the cached set was swapped: the new and the dead are never handled (D51). Both handlers bring New and
Offline partitions online; a failure also takes the replicas of the dead brokers Offline, which removes them from the
ISR.

Before 0.9.0.0 a start is sent to the new brokers alone, and a death by which no partition lost its leader to none
(D60).

A send of UpdateMetadata that fails also ends it, at once or with a resignation
(spec/protocol/controller/controller_batch.py).

The children and the data of each of them are read in one step (before 0.10.0.0 in two: `read_broker_data`). Left out,
therefore: a read that sees neither a broker that goes in between nor one that comes; the latter's own event follows.

Kafka 0.10.2.2: `ReplicaStateMachine.BrokerChangeListener`, `KafkaController.onBrokerStartup`, `onBrokerFailure`.
PROTOCOL.md section 7.1.
"""

from spec.language.rules import in_any_order, observe, require, reset, say, when
from spec.language.terms import Value, both, choose, either, flag
from spec.logs.controller_log.broker_changes import BrokerDifference
from spec.model import Model
from spec.protocol.context.assignment import assigned_set
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.context.live_brokers import live_brokers, shutdown_is_over
from spec.protocol.controller.controller_batch import tell_all
from spec.protocol.controller.early_reads import brokers_for, given
from spec.protocol.controller.failed_sends import Machine, can_begin
from spec.protocol.controller.places import controller_step, listener
from spec.protocol.controller.threads import leave_broker_change
from spec.protocol.deletion.queue import end_startup, fail_deletions, resume_deletions
from spec.protocol.leadership.partitions import begin_online, needs_visit
from spec.protocol.leadership.replicas import begin_removal, replicas_to_online, send_removals
from spec.protocol.leadership_cache import is_cached
from spec.protocol.reassignment.requests import reassignments_concerning
from spec.protocol.requests.batch import Batch, send
from spec.protocol.requests.connections import drop_channels, is_awaited, open_channels
from spec.protocol.state_change_log import log_lost_leader, partition_stays
from spec.protocol.zookeeper import take_head
from spec.state.cluster import State
from spec.state.enumerations import At, Callback, Handler
from spec.state.state_machines import has_started
from spec.tables.partition_states import PartitionState
from spec.tables.taken_rows import move
from spec.variants import Switch


@listener(Callback.BROKERS, source="ReplicaStateMachine.BrokerChangeListener 0.10.2.2")
def on_broker_change(s: State, m: Model, c: int) -> None:
    """The registered brokers changed: take them over, then handle who is new, then who is dead."""
    controller = s.controllers[c]
    require(controller.active)
    registered = brokers_for(s, m, c)
    with when(~given(s, c)):
        controller.watching["brokers"] = True
    take_head(s, m, c)
    with when(has_started(s, m, c)):
        if m.reintroduces(Switch.READ_BROKERS_TWICE):
            controller.listed = registered
            controller.at = At.READ_BROKER_DATA
        else:
            _take_over(s, m, c, registered, registered)


@controller_step(
    At.READ_BROKER_DATA,
    source="ReplicaStateMachine.BrokerChangeListener 0.9.0.1, KAFKA-3085",
    parts=("brokers_read_twice",),
)
def read_broker_data(s: State, m: Model, c: int) -> None:
    """Before 0.10.0.0: those of the listed brokers live whose data is still there; which brokers are new or dead is
    known before.

    A broker that was known, and is gone by now, is neither; one that is new, and gone by now, gets no channel.
    """
    controller = s.controllers[c]
    listed, live = controller.listed, m.brokers.intersection(controller.listed, s.zookeeper.registered)
    controller.at = At.IDLE
    reset(controller, "listed")
    _take_over(s, m, c, listed, live)


def _take_over(s: State, m: Model, c: int, listed: Value, live: Value) -> None:
    """Swap the cached set, change the channels, and handle the new and the dead."""
    controller = s.controllers[c]
    returned = _returned(s, m, c, live)
    new, found = m.brokers.difference(listed, controller.live), m.brokers.difference(live, controller.live)
    dead = m.brokers.union(m.brokers.difference(controller.live, listed), returned)
    observe(f"controller {c}", "read /brokers/ids", brokers=listed, new=new, dead=dead)
    controller.live = live
    told = live_brokers(s, m, c) if m.reintroduces(Switch.READ_BROKERS_TWICE) else live
    say(BrokerDifference, new=new, dead=dead, live=told)
    blocked = open_channels(s, m, c, found)
    with when(blocked):
        observe(f"controller {c}", "fail on left-over channels")
    deadlocked = both(~blocked, is_awaited(s, m, c, dead))
    with when(deadlocked):
        controller.at = At.DEADLOCKED
    with when(~blocked & ~deadlocked):
        drop_channels(s, m, c, dead)
        _take_out(s, m, c, returned)
        _handle(s, m, c, new, dead, returned)


def _handle(s: State, m: Model, c: int, new: Value, dead: Value, returned: Value) -> None:
    """Tell of the new brokers, then handle those, then the dead, then who is new again."""
    told = m.brokers.is_empty(new)
    with when(~m.brokers.is_empty(new)):
        told = told | _tell_of(s, m, c, new)
    if m.has("partitions"):
        with when(told):
            s.controllers[c].dead = dead
            s.controllers[c].returned = returned
            _on_broker_startup(s, m, c, new)
    else:
        with when(~m.brokers.is_empty(dead)):
            send(s, m, c, Batch(everybody=True))
        with when(~m.brokers.is_empty(returned)):
            _welcome(s, m, c, returned)


def _tell_of(s: State, m: Model, c: int, new: Value) -> Value:
    """Send new brokers to all, before 0.9.0.0 only to themselves: whether that went out."""
    return tell_all(s, m, c, receivers=new if m.reintroduces(Switch.TELL_ONLY_THE_NEW) else None)


def _returned(s: State, m: Model, c: int, live: Value) -> Value:
    """Where broker epochs are on: brokers that left and came back since the last read; the others are known anew."""
    controller = s.controllers[c]
    if not m.fixes(Switch.BROKER_EPOCHS):
        return m.brokers.empty_set()
    seen = m.brokers.set_from({b: controller.seen[b] for b in m.brokers.ids})
    returned = m.brokers.difference(m.brokers.intersection(controller.live, live), seen)
    for b in m.brokers.ids:
        controller.seen[b] = m.brokers.in_set(b, m.brokers.difference(live, returned))
    return returned


def _take_out(s: State, m: Model, c: int, returned: Value) -> None:
    """A returned broker without a channel does not live until the dead are handled; its registration is known."""
    controller = s.controllers[c]
    controller.live = m.brokers.difference(controller.live, returned)
    for b in m.brokers.ids:
        controller.seen[b] = flag(controller.seen[b]) | m.brokers.in_set(b, returned)


def _on_broker_startup(s: State, m: Model, c: int, new: Value) -> None:
    """Replicas on the new brokers go Online; then every New or Offline partition is visited."""
    visits = _bring_online(s, m, c, new)
    with when(~visits):
        removes = after_startup(s, m, c)
        with when(removes):
            remove_the_dead(s, m, c)


def _bring_online(s: State, m: Model, c: int, new: Value) -> Value:
    """Replicas on the new brokers go Online: whether there are New or Offline partitions, which are visited next."""
    started = ~m.brokers.is_empty(new)
    reassignments_concerning(s, m, c, new)
    with when(started):
        resume_deletions(s, m, c, new)
        replicas_to_online(s, m, c, new)
        begin_online(s, m, c, Handler.BROKER_STARTUP)
    return started & either(*(needs_visit(s, m, c, p) for p in m.partitions))


def after_startup(s: State, m: Model, c: int) -> Value:
    """Partitions that are being reassigned to a new broker are begun with again; then come the dead.

    Returns whether the dead are removed next.
    """
    again, removes = _begin_again(s, m, c), flag(False)
    with when(~again):
        removes = on_broker_failure(s, m, c)
    return both(~again, removes)


def _begin_again(s: State, m: Model, c: int) -> Value:
    """Whether a partition is to be reassigned to a broker that has started; it is begun with again next."""
    again = either(*(s.controllers[c].due[p] != () for p in m.partitions))
    with when(again):
        s.controllers[c].handler = Handler.BROKER_STARTUP
        s.controllers[c].at = At.REASSIGN_NEXT
    return again


def on_broker_failure(s: State, m: Model, c: int) -> Value:
    """Partitions led by the dead go Offline, every New or Offline partition is visited, then the dead are removed.

    Returns whether the dead are removed next, since there is nothing to visit.
    """
    end_startup(s, m, c)
    controller = s.controllers[c]
    dead = controller.dead
    failed, visits = ~m.brokers.is_empty(dead), flag(False)
    with when(~failed):
        leave_broker_change(s, m, c)  # without a death, nobody has returned
    with when(failed):
        shutdown_is_over(s, m, c, dead)
        with in_any_order():
            for p in m.partitions:
                cached = controller.partitions[p]
                led = both(is_cached(cached), m.brokers.in_set(cached.leader, dead))
                with when(both(led, ~is_queued(s, m, c, p))):
                    controller.lost_leader = True
                    with when(can_begin(s, c, Machine.PARTITIONS)):
                        _take_offline(s, m, c, p)
        begin_online(s, m, c, Handler.BROKER_FAILURE)
        visits = either(*(needs_visit(s, m, c, p) for p in m.partitions))
    return both(failed, ~visits)


def _take_offline(s: State, m: Model, c: int, p: int) -> None:
    """A partition whose leader has died goes Offline.

    The machine does not track a partition that was created after it came up, if the failover that read that partition
    broke off before it started the machine (D56): Kafka refuses the move.
    """
    cached = s.controllers[c].partitions[p]
    tracked = cached.state != PartitionState.NON_EXISTENT
    with when(tracked):
        log_lost_leader(s, c, p, PartitionState.OFFLINE)
        move(cached, "state", PartitionState.OFFLINE)
    with when(~tracked):
        partition_stays(s, m, c, p, target=PartitionState.OFFLINE)


def remove_the_dead(s: State, m: Model, c: int) -> None:
    """Replicas on dead brokers go Offline; without any that is tracked, the handler ends here."""
    s.controllers[c].handler = Handler.NONE
    waiting = begin_removal(s, m, c, _leaving(s, m, c))
    with when(~waiting):
        end_broker_failure(s, m, c)


def end_broker_failure(s: State, m: Model, c: int) -> None:
    """Send what the removals gathered; if no leader was lost, tell every broker about every partition."""
    send_removals(s, m, c, _leaving(s, m, c))
    fail_deletions(s, m, c, s.controllers[c].dead)
    told = flag(m.reintroduces(Switch.TELL_ONLY_THE_NEW)) | s.controllers[c].lost_leader
    with when(~told):
        told = told | tell_all(s, m, c)
    with when(told):
        _end_deaths(s, m, c)


def _end_deaths(s: State, m: Model, c: int) -> None:
    """The dead are handled: the handler is over, unless some of them have returned, who are new now."""
    if not m.fixes(Switch.BROKER_EPOCHS):
        leave_broker_change(s, m, c)
        return
    controller = s.controllers[c]
    returned = controller.returned
    reset(controller, "returned")
    leave_broker_change(s, m, c)
    with when(~m.brokers.is_empty(returned)):
        _start_returned(s, m, c, returned)


def _start_returned(s: State, m: Model, c: int, returned: Value) -> None:
    """Brokers that have returned get channels and all metadata, and are handled as those that are new."""
    told = _welcome(s, m, c, returned)
    with when(told):
        visits = _bring_online(s, m, c, returned)
        with when(~visits):
            again = _begin_again(s, m, c)
            with when(~again):
                end_startup(s, m, c)


def _welcome(s: State, m: Model, c: int, returned: Value) -> Value:
    """Brokers that have returned live again, which all brokers are sent: whether that went out."""
    controller = s.controllers[c]
    controller.live = m.brokers.union(controller.live, returned)
    blocked = open_channels(s, m, c, returned)
    with when(blocked):
        observe(f"controller {c}", "fail on left-over channels")
    told = flag(False)
    with when(~blocked):
        told = told | _tell_of(s, m, c, returned)
    return ~blocked & told


def _leaving(s: State, m: Model, c: int) -> dict[int, Value]:
    """The replicas that go Offline, by partition: those on dead brokers, unless the topic is queued for deletion."""
    nobody, dead = m.brokers.empty_set(), s.controllers[c].dead
    leaving = {p: m.brokers.intersection(dead, assigned_set(s, m, c, p)) for p in m.partitions}
    return {p: choose(is_queued(s, m, c, p), nobody, replicas) for p, replicas in leaving.items()}
