"""Controlled shutdown: a broker that is told to stop has the controller move its leaderships away first.

The broker reads which broker is controller and sends that a request. The controller, on a request handler's thread,
counts the broker as shutting down from then on, which is to say as one that may not lead, and handles the broker's
replicated partitions one by one, taking the lock for each: where the broker leads, the controlled-shutdown selector
elects another from the ISR less all brokers that are shutting down; where it follows, it is told to stop the replica,
and is taken out of the ISR. The answer is the partitions that it still leads. With none remaining the broker stops;
else it asks again, and after its last try stops all the same. A stopping broker closes its session, so its znodes go at
once.

Whether the controller is active is asked once, before. When it resigns in the middle, the handler goes on with what is
cached (until a new term of the same broker overwrites that): nobody is elected by a state machine that is down, and a
StopReplica cannot be sent where there are no channels. That is taken for a broken controller: the elector resigns once
more, which deletes /controller, a successor's by now (D3), and the answer is an error. A handler that sends nothing
more answers what the old cache says (D5). Nor is asked, between two partitions, whether the broker is still there: if
it dies, what is left is done to its next incarnation (D12-outlived; spec/protocol/context/live_brokers.py has the fix).

Left out: that a request which waits for its turn when its broker dies is taken up when that is back (KAFKA-1342); that
a request waits for an answer no longer than a time, and is then sent again; that a broker finds no registration of the
controller; the back-off. And that a request which waits for an earlier one to be answered was found to have an active
controller before it waited: here it is asked when its turn comes. A controller that stops is first counted as not
running (a failover that begins then does nothing, though it holds /controller), then resigns, and closes its session
last: here that is one step, which waits for no send thread, so D50 does not stop it from stopping.

Kafka 0.10.2.2: `KafkaController.shutdownBroker`, `ControlledShutdownLeaderSelector`, `KafkaServer.controlledShutdown`.
PROTOCOL.md section 7.2.
"""

from spec.language.rules import action, observe, require, reset, say, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.broker_changes import AllLeaders, AllShuttingDown, LiveBrokers, ShuttingDownBroker
from spec.model import Model
from spec.protocol.brokers.processes import forget_process
from spec.protocol.context.live_brokers import live_brokers
from spec.protocol.controller.controller_batch import send_stop_replica
from spec.protocol.controller.places import locking_step
from spec.protocol.controller.resignation import controller_moved, shutdown_fails
from spec.protocol.controller.threads import give_lock_back
from spec.protocol.leadership.partitions import send_online_batch, visit_at_once
from spec.protocol.leadership.replicas import begin_removal, is_spared
from spec.protocol.leadership_cache import assigned_replicas, is_cached, leadership
from spec.protocol.state_change_log import replica_stays
from spec.protocol.zookeeper import can_operate, end_session
from spec.state.cluster import State
from spec.state.elections import Leaving
from spec.state.enumerations import Handler, Owes, Session
from spec.state.state_machines import has_started
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch

SOURCE = "KafkaController.shutdownBroker 0.10.2.2"
PARTS = ("shutdown",)


@action(actor="broker {b}", source="KafkaServer.shutdown 0.10.2.2", budget="shutdowns", parts=PARTS)
def stop_broker(s: State, m: Model, b: int) -> None:
    """A broker that is up is told to stop (SIGTERM)."""
    process = s.processes[b]
    require(process.session != Session.NONE, process.owes == Owes.NOTHING, process.leaving == Leaving.NO)
    process.leaving = Leaving.ASKS
    process.tries = m.scope.shutdown_tries
    observe(f"broker {b}", "begin to stop")


@action(actor="broker {b}", source="KafkaServer.controlledShutdown 0.10.2.2", parts=PARTS)
def request_shutdown(s: State, m: Model, b: int, c: int) -> None:
    """The broker reads who is controller, and sends it a ControlledShutdown request."""
    process = s.processes[b]
    require(can_operate(s, b), process.leaving == Leaving.ASKS, s.zookeeper.controller == c)
    if m.scope.shutdown_tries:
        require(process.tries != 0)
        process.tries = process.tries.plus(-1)
    process.leaving = Leaving.WAITS
    process.asked = c
    observe(f"broker {b}", "send ControlledShutdown", controller=c)


def _is_asked(s: State, b: int, c: int) -> Value:
    return both(s.processes[b].leaving == Leaving.WAITS, s.processes[b].asked == c)


def _ask_again(s: State, b: int) -> None:
    """No good answer: another try, if one is left."""
    s.processes[b].leaving = Leaving.ASKS
    s.processes[b].asked = 0


@locking_step(source=SOURCE, parts=PARTS)
def refuse_shutdown(s: State, m: Model, c: int, b: int) -> None:
    """Answer 11 (ControllerMoved) while not active; 8 where the controller does not know the broker as registered."""
    controller = s.controllers[c]
    has_turn = flag(controller.shutdown_of == 0)
    if m.shutdowns_outlive_terms:
        has_turn = either(has_turn, both(~controller.active, controller.shutdown_of != b))
    require(s.processes[c].session != Session.NONE, has_turn)
    require(_is_asked(s, b, c), either(~controller.active, ~m.brokers.in_set(b, controller.live)))
    with when(controller.active):
        say(ShuttingDownBroker, broker=b)
    observe(f"controller {c}", "refuse ControlledShutdown", broker=b)
    _ask_again(s, b)


@action(actor="broker {b}", source="KafkaServer.controlledShutdown 0.10.2.2, IOException", parts=PARTS)
def lose_shutdown_request(s: State, m: Model, b: int, c: int) -> None:
    """The broker that was asked is gone."""
    require(_is_asked(s, b, c), s.processes[c].session == Session.NONE)
    _ask_again(s, b)


@locking_step(source=SOURCE, parts=PARTS)
def accept_shutdown(s: State, m: Model, c: int, b: int) -> None:
    """The broker is shutting down from now on; its replicated partitions are to be handled. One shutdown at a time."""
    controller = s.controllers[c]
    require(controller.active, controller.shutdown_of == 0, _is_asked(s, b, c))
    require(m.brokers.in_set(b, controller.live))
    controller.shutting_down = m.brokers.union(controller.shutting_down, m.brokers.set_kind.constant((b,)))
    controller.shutdown_of = b
    for p in m.partitions:
        controller.to_move[p] = _is_replicated_on(s, m, c, p, b)
    observe(f"controller {c}", "begin ControlledShutdown", broker=b)
    say(ShuttingDownBroker, broker=b)
    say(AllShuttingDown, brokers=controller.shutting_down)
    say(LiveBrokers, brokers=live_brokers(s, m, c))


def _is_replicated_on(s: State, m: Model, c: int, p: int, b: int) -> Value:
    """Whether a broker has one of several replicas of a partition that the controller knows; named twice it is two."""
    known, replicas = s.controllers[c].topics[m.topic_of(p)], assigned_replicas(s, m, c, p)
    others = (m.brokers.contains(replicas, other) for other in m.brokers.ids if other != b)
    return both(known, m.brokers.contains(replicas, b), either(*others, m.brokers.repeats(replicas)))


@locking_step(source=SOURCE, parts=PARTS)
def move_partition(s: State, m: Model, c: int, p: int, r: int) -> None:
    """The lock is taken for one partition: elect another leader, or stop the follower and take it out of the ISR.

    A partition machine that is not up, since a failover has ended before (D4), or the term, refuses to elect; one that
    is up refuses what it does not track, and creates the znode of what is New. Topics that are being deleted are not
    exempt, unless that is fixed (D57): then the broker is left their leader, and its answer says so.
    """
    controller = s.controllers[c]
    cached = controller.partitions[p]
    known, leads, started = is_cached(cached), flag(cached.leader == r), has_started(s, m, c)
    require(controller.shutdown_of == r, controller.to_move[p], either(can_operate(s, c), ~leads))
    controller.to_move[p] = False
    with when(known):
        controller.handler = Handler.SHUTDOWN
    elects = both(started, ~is_spared(s, m, c, p))
    with when(both(known, leads, elects)):
        visit_at_once(s, m, c, p)
    with when(both(known, leads, ~elects)):
        _leave(s, m, c)
    with when(both(known, ~leads)):
        _stop_follower(s, m, c, p, r)


def _stop_follower(s: State, m: Model, c: int, p: int, r: int) -> None:
    """StopReplica without delete, in a batch of its own, which takes no session; then the replica is to go Offline."""
    one = m.brokers.set_kind.constant((r,))
    with when(send_stop_replica(s, m, c, {p: one})):
        waiting = begin_removal(s, m, c, {p: one})
        with when(~waiting):
            replica_stays(s, m, c, p, r, ReplicaState.OFFLINE)
            _leave(s, m, c)


def fail_shutdown(s: State, m: Model, c: int) -> None:
    """An exception ends the shutdown that is being handled, and its handler."""
    shutdown_fails(s.controllers[c])
    _leave(s, m, c)


def end_of_removal(s: State, m: Model, c: int, p: int) -> None:
    """The follower is out of the ISR, or stays in: the others are sent that, and it is told to stop once more."""
    controller = s.controllers[c]
    one = m.brokers.set_from({b: controller.shutdown_of == b for b in m.brokers.ids})
    send_online_batch(s, m, c, stopped={p: one})
    _leave(s, m, c)


def _leave(s: State, m: Model, c: int) -> None:
    reset(s.controllers[c], "handler")
    give_lock_back(s, m, c)


@locking_step(source=SOURCE, parts=PARTS)
def answer_shutdown(s: State, m: Model, c: int, b: int) -> None:
    """All are handled: the answer is what the broker still leads; if that is nothing, it may go.

    What was cached only for this is of no use any more, where the term has ended.
    """
    controller = s.controllers[c]
    require(controller.shutdown_of == b)
    require(~either(*(controller.to_move[p] for p in m.partitions)))
    led = {p: controller.partitions[p].leader == b for p in m.partitions}
    remaining = either(*(both(_is_replicated_on(s, m, c, p, b), led[p]) for p in m.partitions))
    fails, moved = _fails_to_answer(s, m, c, b), _has_moved(s, m, c)
    with when(~either(moved, controller.shutdown_fails)):
        say(AllLeaders, leaders=_leaderships(s, m, c))
    controller.shutdown_of = 0
    with when(~moved & ~fails):
        observe(f"controller {c}", "answer ControlledShutdown", broker=b, remaining=remaining)
    reset(controller, "shutdown_fails")
    with when(~moved & fails):
        observe(f"controller {c}", "refuse ControlledShutdown", broker=b)
    with when(_is_asked(s, b, c)):
        _ask_again(s, b)
        with when(~moved & ~fails & ~remaining):
            s.processes[b].leaving = Leaving.MAY_GO
    controller_moved(s, m, c, where=moved & controller.active)
    if m.shutdowns_outlive_terms:
        with when(~controller.active):
            reset(controller, "topics", "partitions")


def _leaderships(s: State, m: Model, c: int) -> dict[int, tuple[Value, dict[str, Value]]]:
    """All leadership that is cached, by partition."""
    partitions = s.controllers[c].partitions
    return {p: (is_cached(partitions[p]), leadership(partitions[p])) for p in m.partitions}


def _fails_to_answer(s: State, m: Model, c: int, b: int) -> Value:
    """Whether the answer is an error: an exception came before, or what the broker leads is of no topic any more (D53).

    That is an exception, too: to know whether it remains, Kafka asks how many replicas it has.
    """
    partitions, facts = s.controllers[c].partitions, []
    for p in m.partitions if m.loses_topics else ():
        led = both(is_cached(partitions[p]), partitions[p].leader == b)
        facts.append(both(led, assigned_replicas(s, m, c, p) == ()))
    return either(s.controllers[c].shutdown_fails, *facts)


def _has_moved(s: State, m: Model, c: int) -> Value:
    """Where the fix is on, the answerer asks ZooKeeper first whether the latest epoch is still its own."""
    if not m.fixes(Switch.FENCED_ANSWERS):
        return flag(False)
    require(can_operate(s, c))
    return flag(s.zookeeper.epoch != s.controllers[c].epoch)


@action(actor="broker {b}", source="KafkaServer.shutdown 0.10.2.2", parts=PARTS)
def leave_cluster(s: State, m: Model, b: int) -> None:
    """The broker stops: its tries are used up, or there is no controller to ask, or it got its answer."""
    process = s.processes[b]
    hopeless = either("tries" not in process or process.tries == 0, s.zookeeper.controller == 0)
    require(either(process.leaving == Leaving.MAY_GO, both(process.leaving == Leaving.ASKS, hopeless)))
    observe(f"broker {b}", "stop")
    with when(process.session == Session.LIVE):
        end_session(s, m, b, orphaned=False)
    forget_process(s, m, b)
