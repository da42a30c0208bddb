"""Where the cluster must get when faults stop: a working controller, informed brokers, able leaders, full ISRs.

Each goal is claimed twice, as `recoverable` and as `eventually` (spec/properties.py).
"""

from spec.language.rules import claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.context.assignment import stored_set
from spec.protocol.context.deletion_marks import is_to_go
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.enumerations import At, Session


def works(s: State, c: int) -> Value:
    """Whether a broker is the active controller, at rest, and owns /controller."""
    controller, zookeeper = s.controllers[c], s.zookeeper
    owns = both(zookeeper.controller == c, ~zookeeper.controller_orphaned)
    return both(controller.active, controller.leader_id == c, controller.at == At.IDLE, owns)


@claim("goal", source="PROTOCOL.md section 6")
def one_working_controller(s: State, m: Model) -> Value:
    """There is one active controller, and it owns /controller."""
    others = {c: both(*(~s.controllers[d].active for d in m.controllers if d != c)) for c in m.controllers}
    return either(*(both(works(s, c), others[c]) for c in m.controllers))


def runs(s: State, b: int) -> Value:
    """Whether a broker runs, with a session."""
    return flag(s.processes[b].session == Session.LIVE)


@claim("goal", source="PROTOCOL.md D12", parts=("connections",))
def live_replicas_are_informed(s: State, m: Model, p: int, r: int) -> Value:
    """Every live assigned replica has got a LeaderAndIsr of the current leader epoch."""
    znode = s.zookeeper.state[p]
    informed = flag(s.brokers[r].partitions[p].leader_epoch == znode.leader_epoch)
    assigned = m.brokers.in_set(r, stored_set(s, m, p))
    return either(~_is_to_serve(s, m, p), ~assigned, ~runs(s, r), informed)


def _is_to_serve(s: State, m: Model, p: int) -> Value:
    """Whether a partition has a state, and its topic is not to be deleted."""
    return exists(s.zookeeper.state[p]) & ~is_to_go(s, m, p)


@claim("goal", source="PROTOCOL.md D6", parts=("connections",))
def leaders_can_lead(s: State, m: Model, p: int) -> Value:
    """Every partition with a live in-sync replica has a leader that lives, leads in the znode's leader_epoch and caches
    the znode's version.
    """
    znode = s.zookeeper.state[p]
    in_sync = either(*(both(runs(s, r), m.brokers.contains(znode.isr, r)) for r in m.assigned(p)))
    return either(~_is_to_serve(s, m, p), ~in_sync, *(_leads_well(s, r, p) for r in m.assigned(p)))


def _leads_well(s: State, r: int, p: int) -> Value:
    znode, known = s.zookeeper.state[p], s.brokers[r].partitions[p]
    return both(
        runs(s, r),
        znode.leader == r,
        known.leader == r,
        known.leader_epoch == znode.leader_epoch,
        known.version == znode.version,
    )


@claim("goal", source="PROTOCOL.md section 10", parts=("connections",))
def live_replicas_are_in_sync(s: State, m: Model, p: int, r: int) -> Value:
    """Every live assigned replica of a partition that a live broker leads is in its ISR.

    In operators' words: the number of under-replicated partitions goes to 0, except those that lack a dead replica.
    """
    znode = s.zookeeper.state[p]
    led = either(*(both(runs(s, r), znode.leader == r) for r in m.assigned(p)))
    assigned = m.brokers.in_set(r, stored_set(s, m, p))
    return either(~_is_to_serve(s, m, p), ~assigned, ~runs(s, r), ~led, m.brokers.contains(znode.isr, r))
