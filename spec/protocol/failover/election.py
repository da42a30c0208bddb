"""Controller election: which broker owns /controller, which believe that they do, and how it is given up.

`leader_id` is what a broker last read or wrote as the controller's id; `active` is having a channel manager. Neither is
asked of ZooKeeper again before the controller acts, and the two may differ. What the two ways out of being controller
take down is in spec/protocol/controller/resignation.py.

Kafka 0.10.2.2: `ZookeeperLeaderElector`, `KafkaController.SessionExpirationListener`. PROTOCOL.md section 6.
"""

from spec.language.rules import action, observe, require, say, successor, when
from spec.language.terms import Value, both, choose, either, flag
from spec.logs.controller_log.failover import BecomingController, SessionExpired, SessionExpiredElectedAlready
from spec.model import Model
from spec.protocol.controller.early_reads import controller_for, given, read_controller
from spec.protocol.controller.places import controller_step, listener
from spec.protocol.controller.resignation import elector_resigns, on_controller_resignation
from spec.protocol.controller.threads import become_idle, leave_handler
from spec.protocol.zookeeper import can_operate, delete_controller, notify, take_head
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, Callback
from spec.variants import Switch


@listener(Callback.CONTROLLER, source="LeaderChangeListener 0.10.2.2, handleDataChange and handleDataDeleted")
def on_controller_change(s: State, m: Model, c: int) -> None:
    """/controller changed: learn who has it; resign if that was us; elect if it is gone."""
    controller = s.controllers[c]
    was_leader = either(controller.leader_id == c, controller.stopped)
    with when(~given(s, c)):
        controller.watching["controller"] = True
    current = controller_for(s, m, c)
    take_head(s, m, c)
    deleted = flag(current == 0)
    with when(~deleted):
        controller.leader_id = current
        if not m.reintroduces(Switch.IGNORE_WHO_IS_NEW):
            with when(both(was_leader, current != c)):
                on_controller_resignation(s, m, c)
    with when(deleted):
        went_through = flag(True)
        with when(was_leader):
            went_through = on_controller_resignation(s, m, c)
        with when(~was_leader | went_through):
            _is_to_elect(controller, m)


@listener(Callback.SESSION, source="SessionExpirationListener.handleNewSession 0.10.2.2 (KAFKA-4229)")
def on_new_session(s: State, m: Model, c: int) -> None:
    """After an expiry: unless /controller already names this broker, resign and elect."""
    already = flag(False) if m.reintroduces(Switch.ALWAYS_RESIGN) else controller_for(s, m, c) == c
    with when(~given(s, c)):
        say(SessionExpired)
    take_head(s, m, c)
    with when(already):
        say(SessionExpiredElectedAlready)
    with when(~already):
        went_through = on_controller_resignation(s, m, c)
        with when(went_through):
            _is_to_elect(s.controllers[c], m)


def _is_to_elect(controller: Controller, m: Model) -> None:
    """The listener takes the lock again, and elects: the handler of a shutdown that outlives its term may be first.

    No other thread outlives it; those of a controller that is active still (D4) may be first before the listener.
    """
    controller.at = At.ELECT_READ
    controller.elects = both(~controller.active, controller.shutdown_of != 0)


@controller_step(At.ELECT_READ, source="ZookeeperLeaderElector.elect 0.10.2.2 (KAFKA-1451)")
def elect_read(s: State, m: Model, c: int) -> None:
    """elect(): if somebody is controller, remember who; otherwise try to become it."""
    controller = s.controllers[c]
    current = read_controller(s, c)
    controller.elects = False
    controller.leader_id = current
    controller.at = choose(current == 0, At.ELECT_CREATE, controller.at)
    with when(current != 0):
        become_idle(s, c)


@controller_step(
    At.ELECT_CREATE, At.ELECT_CREATE_AGAIN, source="ZookeeperLeaderElector.elect, ZKCheckedEphemeral 0.10.2.2"
)
def elect_create(s: State, m: Model, c: int) -> None:
    """elect(): create /controller; whoever learns of its success begins a term, and the others read whose it is.

    A znode that is there already may be this session's own, if the answer to its create was lost.
    """
    controller, zookeeper = s.controllers[c], s.zookeeper
    absent = flag(zookeeper.controller == 0)
    own = both(zookeeper.controller == c, ~zookeeper.controller_orphaned)
    with when(absent):
        _create(s, m, c)
    with when(absent | own):
        say(BecomingController)
        controller.leader_id = c
        controller.acted = False
        if m.fixes(Switch.ATOMIC_ELECTION):
            controller.epoch = zookeeper.epoch
            controller.at = At.SUBSCRIBE
        else:
            controller.at = At.READ_EPOCH
    with when(~absent):
        observe(f"controller {c}", "fail to create /controller")
    with when(~(absent | own)):
        controller.at = At.ELECT_REREAD


@controller_step(
    At.ELECT_CREATE, At.ELECT_CREATE_AGAIN, source="ZKCheckedEphemeral 0.10.2.2, ConnectionLoss", budget="losses"
)
def elect_create_unanswered(s: State, m: Model, c: int) -> None:
    """elect(): /controller is created, but the answer is lost; the client creates it again, and finds it there."""
    controller = s.controllers[c]
    require(s.zookeeper.controller == 0)
    _create(s, m, c)
    controller.at = At.ELECT_CREATE_AGAIN


def _create(s: State, m: Model, c: int) -> None:
    """/controller appears; where the election is atomic, the next epoch goes with it."""
    s.zookeeper.controller = c
    if m.fixes(Switch.ATOMIC_ELECTION):
        s.zookeeper.epoch = successor(s.zookeeper.epoch)
    observe(f"controller {c}", "create /controller", controller=c)
    notify(s, m, "controller")


@controller_step(
    At.ELECT_CREATE,
    At.ELECT_SESSION_LOST,
    source="ZKCheckedEphemeral 0.10.2.2: bound to one session",
    over_session=False,
)
def elect_create_without_session(s: State, m: Model, c: int) -> None:
    """elect(): the create is bound to a session, and that has expired; that is an error, and elect() resigns."""
    require(either(~can_operate(s, c), s.controllers[c].at == At.ELECT_SESSION_LOST))
    elector_resigns(s, m, c)


@controller_step(At.ELECT_REREAD, source="ZookeeperLeaderElector.elect 0.10.2.2, NodeExists")
def elect_reread(s: State, m: Model, c: int) -> None:
    """elect(): somebody else won; remember who (nobody, if the winner has gone already)."""
    controller = s.controllers[c]
    controller.leader_id = read_controller(s, c)
    become_idle(s, c)


@controller_step(At.RESIGN_DELETE, source="ZookeeperLeaderElector.resign 0.10.2.2")
def resign_delete(s: State, m: Model, c: int) -> None:
    """resign(): delete /controller, without asking whose it is; what had it resign goes on being raised.

    Raised in a failover, that is caught by elect(), which resigns once more.
    """
    with when(both(s.zookeeper.controller != 0, _may_delete(s, m, c))):
        _delete(s, m, c)
    if m.loses_topics:
        again = flag(s.controllers[c].resigns_again)
        with when(again):
            s.controllers[c].resigns_again = False
            elector_resigns(s, m, c)
        with when(~again):
            leave_handler(s, m, c)
    elif m.sends_after_terms:
        leave_handler(s, m, c)
    else:
        become_idle(s, c)


@controller_step(At.RESIGN_DELETE, source="ZkUtils.deletePath, ZkClient.retryUntilConnected 0.10", budget="losses")
def resign_delete_unanswered(s: State, m: Model, c: int) -> None:
    """resign(): /controller is deleted, but the answer is lost; the client will delete again, whoever has it then."""
    require(s.zookeeper.controller != 0, _may_delete(s, m, c))
    _delete(s, m, c)


@action(actor="admin", source="zookeeper-shell.sh delete /controller (KAFKA-9478)", budget="controller_removals")
def remove_controller(s: State, m: Model) -> None:
    """Somebody deletes /controller by hand to have another election; its owner lives on, and resigns when it hears."""
    require(s.zookeeper.controller != 0)
    observe("admin", "remove /controller")
    delete_controller(s, m)


def _delete(s: State, m: Model, c: int) -> None:
    observe(f"controller {c}", "delete /controller", controller=s.zookeeper.controller)
    delete_controller(s, m)


def _may_delete(s: State, m: Model, c: int) -> Value:
    """Where the fix is on, only the owner of the znode deletes it."""
    if not m.fixes(Switch.FENCED_RESIGN):
        return flag(True)
    return both(s.zookeeper.controller == c, ~s.zookeeper.controller_orphaned)
