"""What is claimed of controlled shutdowns: what the answer promises, and that the counting as shutting down ends."""

from spec.language.rules import Action, Facts, claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.context.assignment import stored_set
from spec.state.cluster import State
from spec.state.elections import Leaving
from spec.state.enumerations import At, Handler, Session

PARTS = ("shutdown",)


@claim("sometimes", source="PROTOCOL.md section 7.2", parts=PARTS)
def a_broker_may_go(s: State, m: Model) -> Value:
    """A broker has been answered that it leads nothing any more."""
    return either(*(s.processes[b].leaving == Leaving.MAY_GO for b in m.brokers.ids))


@claim("step", source="PROTOCOL.md section 7.2", witness="a_broker_may_go", parts=PARTS)
def brokers_shut_down_without_leadership(before: State, after: State, m: Model, action: Action) -> Value | None:
    """A broker that is answered that it may go is, in ZooKeeper, leader of no partition that has another replica."""
    if action.rule != "answer_shutdown":
        return None
    b = action.parameters["b"]
    leads = either(*(both(_is_replicated(before, m, p), before.zookeeper.state[p].leader == b) for p in m.partitions))
    answered = both(before.processes[b].leaving != Leaving.MAY_GO, after.processes[b].leaving == Leaving.MAY_GO)
    return ~both(answered, leads)


def _is_replicated(s: State, m: Model, p: int) -> Value:
    members = stored_set(s, m, p)
    return ~either(*(m.brokers.is_subset(members, m.brokers.set_kind.constant((b,))) for b in m.brokers.ids))


@claim("sometimes", source="PROTOCOL.md section 7.2", parts=PARTS)
def a_broker_is_shutting_down(s: State, m: Model) -> Value:
    """A controller is electing while it counts a broker as shutting down."""
    controllers = [s.controllers[c] for c in m.controllers]
    return either(*(both(one.at == At.ONLINE_WRITE, ~m.brokers.is_empty(one.shutting_down)) for one in controllers))


@claim("step", source="PROTOCOL.md section 7.2", witness="a_broker_is_shutting_down", parts=PARTS)
def brokers_shutting_down_are_not_elected(before: State, after: State, m: Model, action: Action) -> Facts:
    """No controller makes a broker leader that it counts as shutting down."""
    c = action.parameters.get("c")
    if c is None or "b" in action.parameters:
        return
    for p in m.partitions:
        old, new = before.zookeeper.state[p].leader, after.zookeeper.state[p].leader
        yield either(old == new, ~m.brokers.in_set(new, before.controllers[c].shutting_down))


@claim("step", source="PROTOCOL.md section 7.2", witness="a_broker_is_shutting_down", parts=PARTS)
def a_shutdown_keeps_a_leader(before: State, after: State, m: Model, action: Action) -> Value | None:
    """Treating a broker's partitions for its shutdown leaves none without a leader that had one."""
    if action.rule not in {"write_elected_leader", "write_removal"}:
        return None
    treats = flag(before.controllers[action.parameters["c"]].handler == Handler.SHUTDOWN)
    states = (before.zookeeper.state, after.zookeeper.state)
    return either(~treats, both(*(either(states[0][p].leader == 0, states[1][p].leader != 0) for p in m.partitions)))


@claim("step", source="PROTOCOL.md D66", witness="a_broker_is_shutting_down", parts=(*PARTS, "dead_replicas"))
def a_shutdown_elects_who_lives(before: State, after: State, m: Model, action: Action) -> Facts:
    """Treating a broker's partitions for its shutdown makes nobody leader whom the controller takes to be dead."""
    if action.rule not in {"write_elected_leader", "write_elected_leader_unanswered"}:
        return
    controller = before.controllers[action.parameters["c"]]
    for p in m.partitions:
        old, new = before.zookeeper.state[p].leader, after.zookeeper.state[p].leader
        yield either(controller.handler != Handler.SHUTDOWN, old == new, m.brokers.in_set(new, controller.live))


@claim("goal", source="PROTOCOL.md D12", parts=PARTS)
def running_brokers_are_not_counted_as_shutting_down(s: State, m: Model) -> Facts:
    """No active controller counts a broker as shutting down that runs and has not been told to stop."""
    for c in m.controllers:
        controller = s.controllers[c]
        for b in m.brokers.ids:
            stays = both(s.processes[b].session == Session.LIVE, s.processes[b].leaving == Leaving.NO)
            yield ~both(controller.active, stays, m.brokers.in_set(b, controller.shutting_down))


@claim("goal", source="PROTOCOL.md section 7.2", parts=PARTS)
def shutdowns_come_to_an_end(s: State, m: Model) -> Value:
    """No broker is on its way out."""
    return both(*(s.processes[b].leaving == Leaving.NO for b in m.brokers.ids))
