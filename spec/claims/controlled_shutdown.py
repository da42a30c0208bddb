"""What is claimed of controlled shutdowns: what the answer promises, and that the counting as shutting down ends."""

from spec.language.rules import Action, claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.context.assignment import stored_set
from spec.state.cluster import State
from spec.state.elections import Leaving
from spec.state.enumerations import At, Handler, Session

PARTS = ("shutdown",)


@claim("sometimes", source="PROTOCOL.md section 7.2", parts=PARTS)
def a_broker_may_go(s: State, m: Model, b: int) -> Value:
    """A broker has been answered that it leads nothing any more."""
    return s.processes[b].leaving == Leaving.MAY_GO


@claim("step", source="PROTOCOL.md section 7.2", witness="a_broker_may_go", parts=PARTS, of={"answer_shutdown"})
def brokers_shut_down_without_leadership(before: State, after: State, m: Model, b: int) -> Value:
    """A broker that is answered that it may go is, in ZooKeeper, leader of no partition that has another replica."""
    leads = either(*(both(_is_replicated(before, m, p), before.zookeeper.state[p].leader == b) for p in m.partitions))
    answered = both(before.processes[b].leaving != Leaving.MAY_GO, after.processes[b].leaving == Leaving.MAY_GO)
    return ~both(answered, leads)


def _is_replicated(s: State, m: Model, p: int) -> Value:
    members = stored_set(s, m, p)
    return ~either(*(m.brokers.is_subset(members, m.brokers.set_kind.constant((b,))) for b in m.brokers.ids))


@claim("sometimes", source="PROTOCOL.md section 7.2", parts=PARTS)
def a_broker_is_shutting_down(s: State, m: Model, c: int) -> Value:
    """A controller is electing while it counts a broker as shutting down."""
    return both(s.controllers[c].at == At.ONLINE_WRITE, ~m.brokers.is_empty(s.controllers[c].shutting_down))


@claim("step", source="PROTOCOL.md section 7.2", witness="a_broker_is_shutting_down", parts=PARTS)
def brokers_shutting_down_are_not_elected(
    before: State, after: State, m: Model, action: Action, c: int, *, p: int
) -> Value | None:
    """No controller makes a broker leader that it counts as shutting down."""
    if "b" in action.parameters:
        return None
    old, new = before.zookeeper.state[p].leader, after.zookeeper.state[p].leader
    return either(old == new, ~m.brokers.in_set(new, before.controllers[c].shutting_down))


@claim(
    "step", source="PROTOCOL.md section 7.2", witness="a_broker_is_shutting_down", parts=PARTS,
    of={"write_elected_leader", "write_removal"},
)  # fmt: skip
def a_shutdown_keeps_a_leader(before: State, after: State, m: Model, c: int) -> Value:
    """Treating a broker's partitions for its shutdown leaves none without a leader that had one."""
    treats = flag(before.controllers[c].handler == Handler.SHUTDOWN)
    states = (before.zookeeper.state, after.zookeeper.state)
    return either(~treats, both(*(either(states[0][p].leader == 0, states[1][p].leader != 0) for p in m.partitions)))


@claim(
    "step", source="PROTOCOL.md D66", witness="a_broker_is_shutting_down", parts=(*PARTS, "dead_replicas"),
    of={"write_elected_leader", "write_elected_leader_unanswered"},
)  # fmt: skip
def a_shutdown_elects_who_lives(before: State, after: State, m: Model, c: int, *, p: int) -> Value:
    """Treating a broker's partitions for its shutdown makes nobody leader whom the controller takes to be dead."""
    controller = before.controllers[c]
    old, new = before.zookeeper.state[p].leader, after.zookeeper.state[p].leader
    return either(controller.handler != Handler.SHUTDOWN, old == new, m.brokers.in_set(new, controller.live))


@claim("goal", source="PROTOCOL.md D12", parts=PARTS)
def running_brokers_are_not_counted_as_shutting_down(s: State, m: Model, c: int, b: int) -> Value:
    """No active controller counts a broker as shutting down that runs and has not been told to stop."""
    controller = s.controllers[c]
    stays = both(s.processes[b].session == Session.LIVE, s.processes[b].leaving == Leaving.NO)
    return ~both(controller.active, stays, m.brokers.in_set(b, controller.shutting_down))


@claim("goal", source="PROTOCOL.md section 7.2", parts=PARTS)
def shutdowns_come_to_an_end(s: State, m: Model, b: int) -> Value:
    """No broker is on its way out."""
    return s.processes[b].leaving == Leaving.NO
