"""What ZkClient reads for a listener that has to wait for the controller lock.

ZkClient's thread takes a callback, sets the watch of its path again and reads it, and only then calls the listener,
which takes the lock and goes by what it was given. The holder of the lock goes on meanwhile: start-up elects and makes
its failover on the main thread, the deletion thread completes a topic. So a broker that has just become controller
hears that there was none, resigns, and keeps /controller (D67). Where nothing else comes in between, reading is one
step with what the listener does first.

A listener that is to resign goes further before it has the lock: it stops the deletion thread, and empties what is
queued (D68).

While start-up makes its failover nothing else is read early: the listener on /controller is next, since the create of
that is an event of its own.

Left out: that a listener which needs nothing of ZooKeeper any more goes on without a session. Listeners on data that
read again under the lock need no early read. A topic that is gone by then is known by its name only, so topics are read
early only where AR is kept; where the listeners on the topics' own znodes are left out ("addition"), nobody creates it
until the next callback is handled. The children of /isr_change_notification, which are listed here when the listener
has the lock: one that is created in between is handled a callback earlier than in Kafka. And that a resignation stops
deletions amid anything but a shutdown's or the rebalance's turn, or where no shutdown may come in between.

Kafka 0.10.2.2: ZkClient 0.10 `fireDataChangedEvents`, `fireChildChangedEvents`; `SessionExpirationListener`, which
reads /controller itself. PROTOCOL.md section 6.1.
"""

from collections.abc import Iterator
from typing import Final

from spec.language.records import array_of
from spec.language.rules import action, observe, require, reset, say, when
from spec.language.terms import Value, both, choose, either, flag
from spec.logs.controller_log.failover import SessionExpired, SessionExpiredElectedAlready
from spec.model import Model
from spec.protocol.zookeeper import can_operate, rearm_watch, stop_listening, take_head
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, Callback, DeletionThread, Handler, Owes
from spec.state.listeners import CALLBACKS, LISTENED, UNWATCHED_FIRST, Content, listened_paths
from spec.variants import Switch

OF_OTHER_THREADS: Final = Handler.SHUTDOWN, Handler.REBALANCE, Handler.DELETION_RETRY, Handler.DELETION_START
"""What handlers do on other threads than ZkClient's: a request's, the rebalance's, and the deletion thread."""
DELETING: Final = At.DELETE_QUEUED, At.DELETE_STATE, At.DELETE_TOPIC, At.DELETE_CONFIGURATION, At.DELETE_REQUEST
"""Where the deletion thread is between its handlers."""


CONTENTS: Final = {path: one.content for path, one in LISTENED.items() if one.content is not None}
"""What is read for listeners that go by what they are given."""


@action(
    actor="controller {c}",
    source="ZkClient 0.10 fireDataChangedEvents, fireChildChangedEvents",
    budget="early_reads",
    parts=("listeners_given_what_was",),
)
def read_for_listener(s: State, m: Model, c: int) -> None:
    """ZkClient sets a watch again, and reads for a listener that has to wait for the controller lock."""
    controller = s.controllers[c]
    head = controller.callbacks[0]
    require(can_operate(s, c), ~controller.given, _its_thread_is_free(s, m, c))
    require(either(*(head == callback for callback in _readable(m))))
    controller.given = True
    with when(head == Callback.CONTROLLER):
        controller.watching["controller"] = True
        controller.given_id = read_controller(s, c)
    with when(head == Callback.SESSION):
        _begin_new_session(s, m, c)
    with when(head == Callback.BROKERS):
        rearm_watch(s, c, "brokers")
        controller.given_brokers = s.zookeeper.registered
    for path, one in CONTENTS.items():
        if _is_given(m, one):
            with when(head == CALLBACKS[path]):
                rearm_watch(s, c, path)
                there = _there(s, m, path)
                _see(m, c, path, there)
                for i, value in there.items():
                    array_of(controller, one.given)[i] = value
                if one.still is not None:
                    controller[one.still] = either(*there.values())


@action(
    actor="controller {c}",
    source="TopicDeletionManager.shutdown 0.10.2.2",
    parts=("listeners_given_what_was", "deletions_stopped_before_the_lock", "early_reads", "deletion", "shutdown"),
)
def stop_deletions(s: State, m: Model, c: int) -> None:
    """A listener is to resign: it stops the deletion thread, and empties what is queued, before it has the lock.

    That on /controller has the lock for whether it is to, and gives it back.
    """
    controller = s.controllers[c]
    require(can_operate(s, c), controller.given, ~controller.stopped)
    require(either(controller.deletion == DeletionThread.RUNNING, controller.deletion == DeletionThread.ENDED))
    idle, others = flag(controller.at == At.IDLE), (Handler.SHUTDOWN, Handler.REBALANCE)
    deposed = both(controller.callbacks[0] == Callback.CONTROLLER, controller.leader_id == c, controller.given_id != c)
    expired = flag(controller.callbacks[0] == Callback.SESSION)
    require(either(idle & (deposed | expired), *(both(expired, controller.handler == one) for one in others)))
    stop_listening(controller, *(path for path in UNWATCHED_FIRST if path in listened_paths(m)))
    reset(controller, "queued", "doomed", "ineligible", "woken")
    controller.stopped = True


def _begin_new_session(s: State, m: Model, c: int) -> None:
    """The handler of a new session needs no lock if /controller has the own id; before 0.10.2.0 it only prints."""
    say(SessionExpired)
    if not m.reintroduces(Switch.ALWAYS_RESIGN):
        s.controllers[c].given_id = read_controller(s, c)
        with when(s.zookeeper.controller == c):
            say(SessionExpiredElectedAlready)
            take_head(s, m, c)


def read_controller(s: State, c: int) -> Value:
    """The id in /controller, -1 if there is none; reading arms the watch, unless there is nothing to read."""
    with when(s.zookeeper.controller != 0):
        s.controllers[c].watching["controller"] = True
    observe(f"controller {c}", "read /controller", controller=s.zookeeper.controller)
    return s.zookeeper.controller


def _readable(m: Model) -> Iterator[Callback]:
    """The listeners that go by what they are given."""
    yield from (Callback.CONTROLLER, Callback.SESSION, Callback.BROKERS)
    yield from (CALLBACKS[path] for path, one in CONTENTS.items() if _is_given(m, one))


def _is_given(m: Model, one: Content) -> bool:
    """Whether a scope keeps what a listener is given of a path."""
    return m.keeps(getattr(Controller, one.given))


def _its_thread_is_free(s: State, m: Model, c: int) -> Value:
    """Whether ZkClient's thread is in no listener: nobody has the lock, or a thread that is not ZkClient's."""
    controller = s.controllers[c]
    starts = flag(s.processes[c].owes == Owes.AFTER_ELECTION)
    free = [flag(controller.at == At.IDLE), starts]
    free += [flag(controller.at == place) for place in DELETING if m.has("deletion")]
    free += [flag(controller.handler == one) for one in OF_OTHER_THREADS]
    between = [flag(controller.elects)]
    between += [both(controller.due[p] != (), ~starts) for p in m.partitions]
    return both(either(*free), ~either(*between))


def given(s: State, c: int) -> Value:
    """Whether a listener goes by what it was given before it had the lock."""
    return flag(s.controllers[c].given)


def controller_for(s: State, m: Model, c: int) -> Value:
    """The id in /controller for a listener: what it was given, or what is read now."""
    with when(~given(s, c)):
        read_controller(s, c)
    return choose(given(s, c), s.controllers[c].given_id, s.zookeeper.controller)


def brokers_for(s: State, m: Model, c: int) -> Value:
    """Likewise the children of /brokers/ids, as far as their data can be read now."""
    registered = s.zookeeper.registered
    there = m.brokers.intersection(s.controllers[c].given_brokers, registered)
    return choose(given(s, c), there, registered)


def content_for(s: State, m: Model, c: int, path: str) -> dict[int, Value]:
    """Likewise what stands at another path."""
    one, there = CONTENTS[path], _there(s, m, path)
    with when(~given(s, c)):
        _see(m, c, path, there)
    if not _is_given(m, one):
        return there
    known = array_of(s.controllers[c], one.given)
    return {i: choose(given(s, c), known[i], there[i]) for i in there}


def is_as_read(s: State, c: int, path: str) -> Value:
    """Whether the request that its listener goes by is the one in ZooKeeper."""
    still = CONTENTS[path].still
    return either(~given(s, c), s.controllers[c][still]) if still is not None else flag(True)


def _there(s: State, m: Model, path: str) -> dict[int, Value]:
    """What stands at a path now."""
    one = CONTENTS[path]
    return {i: array_of(s.zookeeper, one.stands)[i] for i in (m.topics if one.by_topic else m.partitions)}


def _see(m: Model, c: int, path: str, there: dict[int, Value]) -> None:
    """What is seen of the read of a path."""
    one, kind = CONTENTS[path], f"read {LISTENED[path].path}"
    if one.by_topic:
        for t in m.topics:
            observe(f"controller {c}", kind, topic=t, present=there[t])
    elif one.is_observed:
        observe(f"controller {c}", kind)
