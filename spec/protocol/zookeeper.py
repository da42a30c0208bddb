"""ZooKeeper as the protocol uses it: operations of live sessions, what a change tells watchers, conditional writes.

Operations are linearizable. A process operates while its session lives; with an expired session its operations block
and are retried under the next session, so here they are simply not enabled. Watches are one-shot and carry no data; a
read re-arms the watch of a path that has a listener (ZkClient 0.10, `readData(path, hasListeners(path))`), unless there
is nothing to read; what ZkClient does before it calls a listener arms it in any case.

A connection that is lost *before* ZooKeeper applied an operation is no step. `ZkClient.retryUntilConnected` (0.10)
catches the ConnectionLossException ("we give the event thread some time to update the status to 'Disconnected'"), waits
until it is connected, and makes the same call again, and `ZKCheckedEphemeral` does so by itself. Nothing was applied,
no watch fired, and the caller waits with the same arguments: the repetition is the operation, which may come as late in
any behaviour, after whatever others do meanwhile. Only where the operation was applied and its answer was lost does the
repetition meet its own effect; those are steps, named `..._unanswered` (budget `losses`), each beside its own.
"""

from typing import TypeVar

from spec.language.records import Array, names
from spec.language.rules import fits, observe, reset, when
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.state.cluster import State, epochs_acted_in, target
from spec.state.controller import Controller
from spec.state.controller_parts import EarlyReads
from spec.state.enumerations import Callback, Session
from spec.state.listeners import CALLBACKS
from spec.state.zookeeper import Leadership, ZooKeeper
from spec.variants import Switch

K = TypeVar("K")


def can_operate(s: State, process: int) -> Value:
    """Whether a process's ZooKeeper operations are done: its session lives (the old one, or one made since)."""
    return flag(s.processes[process].session == Session.LIVE)


def queue_callback(s: State, m: Model, c: int, callback: Callback, about: int = 0) -> None:
    """Put a listener at the end of a process's event queue; `about` is its partition or topic, if it is for one."""
    places = s.controllers[c].callbacks
    last = m.scope.callback_capacity - 1
    fits(places[last] == Callback.NONE)
    for i in reversed(range(m.scope.callback_capacity)):
        before = flag(True) if i == 0 else places[i - 1] != Callback.NONE
        with when(both(places[i] == Callback.NONE, before)):
            places[i] = callback
            if about:
                s.controllers[c].concerns[i] = about


def take_head(s: State, m: Model, c: int) -> None:
    """Take the first listener from a process's event queue."""
    last = m.scope.callback_capacity - 1
    for places in (s.controllers[c].callbacks, s.controllers[c].concerns):
        for i in range(last):
            places[i] = places[i + 1]
    s.controllers[c].callbacks[last] = Callback.NONE
    s.controllers[c].concerns[last] = 0
    reset(s.controllers[c], *names(EarlyReads))


def rearm_watch(s: State, c: int, path: str) -> None:
    """What is read of a path sets its watch again, if a listener is subscribed still.

    A resignation that raises (D56) has unsubscribed some, whose callbacks may wait.
    """
    with when(s.controllers[c].listening[path]):
        s.controllers[c].watching[path] = True


def stop_listening(controller: Controller, *paths: str) -> None:
    """Unsubscribe listeners; a watch that is still set wakes nobody from now on."""
    for path in paths:
        controller.watching[path] = False
        controller.listening[path] = False


def notify(s: State, m: Model, path: str) -> None:
    """A change of `path`: every armed watch fires once, and its listener is queued."""
    if path == "deletions" and m.leaves_deletions:
        return
    for c in m.controllers:
        _fire(s, m, c, s.controllers[c].watching, path, CALLBACKS[path])


def _fire(s: State, m: Model, c: int, watching: Array[K, Value], key: K, callback: Callback, about: int = 0) -> None:
    """Where a watch is set it fires once."""
    with when(watching[key]):
        queue_callback(s, m, c, callback, about)
        watching[key] = False


def topic_changed(s: State, m: Model, t: int) -> None:
    """A topic's znode was written: tell the controllers that listen to it."""
    for c in m.controllers:
        _fire(s, m, c, s.controllers[c].topic_watching, t, Callback.MODIFICATIONS, t)


def state_changed(s: State, m: Model, p: int) -> None:
    """A state znode was created or written: tell the controllers that reassign its partition."""
    wanted, history = target(s, m, p), s.history
    in_sync = m.brokers.is_subset(m.brokers.members(wanted), m.brokers.members(s.zookeeper.state[p].isr))
    history.caught_up[p] = either(history.caught_up[p], both(wanted != (), in_sync))
    for c in m.controllers:
        _fire(s, m, c, s.controllers[c].isr_watching, p, Callback.STATE, p)


def note_read(s: State, m: Model, c: int, p: int) -> None:
    """A controller has read a state znode: if it listens to it, the watch is set again, in a scope that asks for it."""
    if m.scope.reads_rearm:
        controller = s.controllers[c]
        controller.isr_watching[p] = either(controller.isr_watching[p], controller.isr_listening[p])


def end_session(s: State, m: Model, process: int, *, orphaned: bool) -> None:
    """ZooKeeper ends a session and deletes its ephemeral znodes: of a process, or of its previous incarnation.

    They go in the order of a hash of their paths, in which /controller is before any registration.
    """
    zookeeper = s.zookeeper
    owns = both(zookeeper.controller == process, zookeeper.controller_orphaned == orphaned)
    registered = both(
        m.brokers.in_set(process, zookeeper.registered),
        m.brokers.in_set(process, zookeeper.registered_orphaned) == orphaned,
    )
    observe("zookeeper", "end session", process=process)
    with when(owns):
        delete_controller(s, m)
    with when(registered):
        unregister(s, m, process)


def delete_controller(s: State, m: Model) -> None:
    """/controller disappears, which fires every watch of it."""
    s.zookeeper.controller = 0
    s.zookeeper.controller_orphaned = False
    notify(s, m, "controller")


def unregister(s: State, m: Model, process: int) -> None:
    """/brokers/ids/N disappears; whoever had read it holds a registration that is no more."""
    zookeeper, one = s.zookeeper, m.brokers.set_kind.constant((process,))
    zookeeper.registered = m.brokers.difference(zookeeper.registered, one)
    zookeeper.registered_orphaned = m.brokers.difference(zookeeper.registered_orphaned, one)
    for c in m.controllers:
        s.controllers[c].seen[process] = False
    notify(s, m, "brokers")


def register(s: State, m: Model, process: int) -> None:
    """/brokers/ids/N appears under the process's session."""
    zookeeper = s.zookeeper
    zookeeper.registered = m.brokers.union(zookeeper.registered, m.brokers.set_kind.constant((process,)))
    observe("zookeeper", "create /brokers/ids", process=process)
    notify(s, m, "brokers")


def epoch_is_as_read(s: State, m: Model, c: int) -> Value:
    """Whether /controller_epoch still has the data version that a controller read or wrote."""
    if m.keeps(ZooKeeper.epoch_version):
        return flag(s.zookeeper.epoch_version == s.controllers[c].epoch_version)
    return flag(s.zookeeper.epoch == s.controllers[c].epoch)


def is_fenced_off(s: State, m: Model, c: int) -> Value:
    """Whether a controller's write is refused because /controller_epoch has moved on (only where writes are fenced)."""
    if not m.fixes(Switch.FENCED_WRITES):
        return flag(False)
    return ~epoch_is_as_read(s, m, c)


def is_read_in_vain(s: State, m: Model, c: int) -> Value:
    """Whether what a controller reads of a leadership is refused for that reason (only where such reads are fenced).

    /controller_epoch is read after it, here with it: a controller that finds its epoch there then had it when it read.
    That takes ZooKeeper's operations for linearizable; a real server may lag behind, unless it is asked to sync first.
    """
    return is_fenced_off(s, m, c) if m.fixes(Switch.FENCED_READS) else flag(False)


def exists(znode: Leadership) -> Value:
    """Whether a state znode exists."""
    return flag(znode.version != -1)


def acts(s: State, m: Model, c: int) -> None:
    """History: this term has written a znode or queued a request in the controller's role, in its present epoch."""
    controller = s.controllers[c]
    controller.acted = True
    if m.proving:
        with when(controller.epoch == s.history.watched):
            s.history.acted = True
        return
    for e in epochs_acted_in(m):
        with when(controller.epoch == e):
            s.history.acted[e] = True
