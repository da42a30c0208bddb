"""Broker processes and their ZooKeeper sessions: start, crash, expiry, renewal, registration.

A session outlives its process: after a crash (kill -9) the ephemeral znodes stay until ZooKeeper ends the session, and
a process that is started before that finds its own old registration and gives up. It closes its session a while later,
when the old one may have ended by itself (recording 11a); its controller module is at work until then. An expiry is
noticed by the client only when it reconnects: ZkClient then makes a new session and queues the new-session handlers,
then one callback for every subscribed path, changed or not. They wait behind the callback that is running, so a
controller in the middle of a failover or a state change goes on under the new session, its ephemerals gone: the zombie.
Where its connection lasted until the end, the client has heard before that its own ephemerals are gone, and those
callbacks run first.

Left out: a clean shutdown (see spec/protocol/broker_events/controlled_shutdown.py); more than one orphaned session a
broker at a time; that a process which gives up, and gets a new session before it is gone, registers under that; that
the create of a registration is bound to one session, whose expiry ends a start-up.

Kafka 0.10.2.2: `KafkaServer.startup`, `KafkaHealthcheck`, `KafkaController.SessionExpirationListener`; ZkClient 0.10
`processStateChanged`. PROTOCOL.md section 2.
"""

from collections.abc import Iterable

from spec.language.records import names
from spec.language.rules import action, fits, observe, require, reset, when
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.controller.early_reads import given
from spec.protocol.controller.places import lock_is_free
from spec.protocol.zookeeper import can_operate, end_session, queue_callback, register, take_head
from spec.state.cluster import State
from spec.state.elections import OnTheWayOut
from spec.state.enumerations import At, Callback, Owes, Session
from spec.state.listeners import BEHIND_CONTROLLER, IN_ORDER, listened_paths, watched_paths


@action(actor="broker {b}", source="KafkaServer.startup 0.10.2.2")
def start_process(s: State, m: Model, b: int) -> None:
    """A broker process starts with a session of its own; its controller module elects, then it registers."""
    require(~s.processes[b].orphan)
    _start(s, m, b)


@action(actor="broker {b}", source="KafkaServer.startup 0.10.2.2", budget="early_starts")
def start_process_early(s: State, m: Model, b: int) -> None:
    """A broker process starts although the session of its previous incarnation has not ended yet."""
    require(s.processes[b].orphan)
    _start(s, m, b)


def _start(s: State, m: Model, b: int) -> None:
    process = s.processes[b]
    require(process.session == Session.NONE)
    process.session = Session.LIVE
    process.owes = Owes.AFTER_ELECTION if b in m.controllers else Owes.AT_START
    if b in m.controllers:
        s.controllers[b].watching["controller"] = True
        s.controllers[b].at = At.ELECT_READ
    observe(f"broker {b}", "start process")


@action(actor="broker {b}", source="kill -9", budget="crashes")
def crash(s: State, m: Model, b: int) -> None:
    """A broker process is killed; its memory is gone at once, its session lives on for a while."""
    process = s.processes[b]
    require(process.session != Session.NONE)
    survives = flag(process.session == Session.LIVE)
    with when(survives):
        fits(~process.orphan)
        _orphan_ephemerals(s, m, b)
        process.orphan = True
    forget_process(s, m, b)
    observe(f"broker {b}", "crash")


def _orphan_ephemerals(s: State, m: Model, b: int) -> None:
    """What the session of the dead process owns belongs to an orphaned session from now on."""
    zookeeper, one = s.zookeeper, m.brokers.set_kind.constant((b,))
    with when(zookeeper.controller == b):
        zookeeper.controller_orphaned = True
    with when(m.brokers.in_set(b, zookeeper.registered)):
        zookeeper.registered_orphaned = m.brokers.union(zookeeper.registered_orphaned, one)


def forget_process(s: State, m: Model, b: int) -> None:
    """Everything that was only in the memory of a process is gone, the queues of its controller included."""
    s.processes[b].session = Session.NONE
    s.processes[b].owes = Owes.NOTHING
    reset(s.processes[b], *names(OnTheWayOut))
    reset(s.brokers[b])
    for c in m.controllers:
        reset(s.late[c][b])
        reset(s.late_requests[c][b])
    if b in m.controllers:
        reset(s.controllers[b])
        reset(s.connections[b])


@action(actor="zookeeper", source="PROTOCOL.md section 2")
def end_orphaned_session(s: State, m: Model, b: int) -> None:
    """ZooKeeper ends the session that a dead process left behind."""
    require(s.processes[b].orphan)
    end_session(s, m, b, orphaned=True)
    s.processes[b].orphan = False


@action(actor="zookeeper", source="PROTOCOL.md section 2", budget="expiries")
def expire_session(s: State, m: Model, b: int, lost: int) -> None:
    """A running process loses its session (a long pause, a cut link); the last events on their way are lost with it."""
    require(s.processes[b].session == Session.LIVE)
    if b in m.controllers:
        _lose_events(s, m, b, lost)
        _lose_watches(s, m, b)
    end_session(s, m, b, orphaned=False)
    s.processes[b].session = Session.EXPIRED


@action(actor="zookeeper", source="FinalRequestProcessor 3.4, closeSession", budget="heard_expiries")
def expire_session_heard(s: State, m: Model, b: int, heard: int) -> None:
    """A stopped process loses its session while its connection lasts: it will first hear that its znodes are gone.

    The server deletes them, which fires the watches that the session itself has set, and only then closes the
    connection. `heard` says how many of these events reach the client.
    """
    process, zookeeper, watching = s.processes[b], s.zookeeper, s.controllers[b].watching
    own = both(zookeeper.controller == b, ~zookeeper.controller_orphaned, watching["controller"])
    registered = both(
        m.brokers.in_set(b, zookeeper.registered),
        ~m.brokers.in_set(b, zookeeper.registered_orphaned),
        watching["brokers"],
    )
    require(process.session == Session.LIVE)
    if heard == 1:
        require(either(own, registered))
        with when(own):
            watching["brokers"] = False
    else:
        require(own, registered)
    end_session(s, m, b, orphaned=False)
    _lose_watches(s, m, b)
    process.session = Session.EXPIRED


def _lose_watches(s: State, m: Model, b: int) -> None:
    """The watches of a session that is no more fire for nobody, and a create that is bound to it can only fail."""
    for path in watched_paths(m):
        s.controllers[b].watching[path] = False
    reset(s.controllers[b], "isr_watching", "topic_watching")
    if m.scope.budget("losses"):
        with when(s.controllers[b].at == At.ELECT_CREATE_AGAIN):
            s.controllers[b].at = At.ELECT_SESSION_LOST


def _lose_events(s: State, m: Model, b: int, lost: int) -> None:
    """The last `lost` callbacks never reached the client; the handlers of a new session it has queued itself."""
    places = s.controllers[b].callbacks
    size = m.scope.callback_capacity
    if lost:
        require(places[lost - 1] != Callback.NONE)
    for i in range(size):
        beyond = flag(True) if i + lost >= size else places[i + lost] == Callback.NONE
        with when(both(lost > 0, beyond)):
            require(places[i] != Callback.SESSION, places[i] != Callback.REGISTRATION)
            if i == 0:
                require(~given(s, b))
            places[i] = Callback.NONE
            s.controllers[b].concerns[i] = 0


@action(actor="broker {b}", source="ZkClient 0.10 processStateChanged, reconnect")
def renew_session(s: State, m: Model, b: int) -> None:
    """The client learns of the expiry, makes a new session, and queues its handlers, then a callback for every path."""
    process = s.processes[b]
    require(process.session == Session.EXPIRED)
    process.session = Session.LIVE
    if b in m.controllers:
        queue_callback(s, m, b, Callback.SESSION)
        with when(process.owes == Owes.NOTHING):
            queue_callback(s, m, b, Callback.REGISTRATION)
        _queue_listeners(s, m, b, _before_controller(m))
        for t in m.topics:
            with when(s.controllers[b].topic_listening[t]):
                queue_callback(s, m, b, Callback.MODIFICATIONS, t)
        for p in m.scope.states_fire or m.partitions:
            with when(s.controllers[b].isr_listening[p]):
                queue_callback(s, m, b, Callback.STATE, p)
        queue_callback(s, m, b, Callback.CONTROLLER)
        _queue_listeners(s, m, b, [path for path in listened_paths(m) if path in BEHIND_CONTROLLER])
    else:
        with when(both(process.owes != Owes.AT_START, process.owes != Owes.GIVES_UP)):
            process.owes = Owes.AFTER_EXPIRY
    observe(f"broker {b}", "renew session")


def _before_controller(m: Model) -> list[str]:
    """The listened paths whose callbacks come before that of /controller, in their order."""
    paths = [path for path in listened_paths(m) if path not in BEHIND_CONTROLLER]
    return [path for path in IN_ORDER if path in paths] if m.scope.fires_by_hash else paths


def _queue_listeners(s: State, m: Model, c: int, paths: Iterable[str]) -> None:
    """Queue the callbacks of those of the paths that are listened to."""
    for path in paths:
        with when(s.controllers[c].listening[path]):
            queue_callback(s, m, c, listened_paths(m)[path])


def may_register(s: State, m: Model, b: int) -> Value:
    """Registration follows the controller module's part: start-up's elect(), or its new-session handler.

    Start-up does not take the controller lock for it; the handler of a new session waits for its turn.
    """
    process = s.processes[b]
    if b not in m.controllers:
        return both(process.owes != Owes.NOTHING, process.owes != Owes.GIVES_UP)
    controller = s.controllers[b]
    has_its_turn = both(controller.at == At.IDLE, controller.callbacks[0] == Callback.REGISTRATION)
    return either(process.owes == Owes.AT_START, has_its_turn)


@action(actor="broker {b}", source="KafkaHealthcheck.register 0.10.2.2")
def register_broker(s: State, m: Model, b: int) -> None:
    """A broker creates /brokers/ids/N; one that is there already is its own, if the answer to its create was lost."""
    registered = m.brokers.in_set(b, s.zookeeper.registered)
    own = both(registered, ~m.brokers.in_set(b, s.zookeeper.registered_orphaned))
    require(can_operate(s, b), may_register(s, m, b), either(~registered, own))
    with when(~registered):
        register(s, m, b)
    with when(registered):
        observe(f"broker {b}", "fail to create /brokers/ids")
    if b in m.controllers:
        with when(s.processes[b].owes != Owes.AT_START):
            take_head(s, m, b)
    s.processes[b].owes = Owes.NOTHING


@action(actor="broker {b}", source="ZKCheckedEphemeral 0.10.2.2, ConnectionLoss", budget="losses")
def register_broker_unanswered(s: State, m: Model, b: int) -> None:
    """/brokers/ids/N is created, but the answer is lost; the client creates it again, and finds it there."""
    require(can_operate(s, b), may_register(s, m, b), ~m.brokers.in_set(b, s.zookeeper.registered))
    register(s, m, b)


@action(
    actor="broker {b}",
    source="ZkUtils.registerBrokerInZk 0.10.2.2: A broker is already registered",
    parts=("early_starts",),
)
def fail_registration(s: State, m: Model, b: int) -> None:
    """A broker finds its id registered by another session: its start-up fails, and it begins to shut itself down."""
    process = s.processes[b]
    require(can_operate(s, b), process.owes == Owes.AT_START)
    require(m.brokers.in_set(b, s.zookeeper.registered_orphaned))
    process.owes = Owes.GIVES_UP
    observe(f"broker {b}", "fail to create /brokers/ids")


@action(actor="broker {b}", source="KafkaServer.shutdown 0.10.2.2", parts=("early_starts",))
def close_failed_startup(s: State, m: Model, b: int) -> None:
    """A process whose start-up has failed gets the controller lock, closes its session, and is gone."""
    require(can_operate(s, b), s.processes[b].owes == Owes.GIVES_UP)
    if b in m.controllers:
        require(lock_is_free(s, m, b))
    end_session(s, m, b, orphaned=False)
    forget_process(s, m, b)
