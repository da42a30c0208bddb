"""Lemmas about reassignments: a replica that may be in the ISR, or may lead, is assigned.

A leader takes into the ISR whom its own AR has, which it was sent with the leader epoch. So whoever holds the
leader epoch of the state znode, to tell it or to lead by it, must hold no AR that is too large: none beyond AR in
ZooKeeper, nor, from step 7 on, beyond RAR. It is the fence around reads that keeps a controller which was overtaken
from holding both its successor's leader epoch and an AR of before (S6).
"""

from collections.abc import Iterator

from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, either, flag
from spec.lemmas.controller import BEFORE_MACHINES, REMOVING, is_at, is_current, only_the_current_writes
from spec.lemmas.leadership import every_copy_was_written
from spec.lemmas.reassignment import MOVING, REFUSING, has_moved, partitions_stay
from spec.model import Model
from spec.protocol.leadership.replicas import may_go_online_or_offline
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, Handler
from spec.state.state_machines import has_started
from spec.state.zookeeper import Leadership
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch

PARTS = ("reassignment", "connections")
#: Steps 1 to 3, once AR in memory is the union.
STARTING = (At.BUMP_READ, At.BUMP_WRITE, At.START_READ)
NEEDED = (
    Switch.FENCED_READS, Switch.WAIT_FOR_LEADER, Switch.CACHE_BUMPED_EPOCH, Switch.REFUSE_UNBORN_REASSIGNMENTS,
)  # fmt: skip
"""The fixes that these lemmas rest on, beside those by which only the current controller writes, and its copies are of
what was written.
"""


def _is_asked_for(m: Model) -> bool:
    sound = only_the_current_writes(m) and partitions_stay(m) and every_copy_was_written(m)
    return sound and all(m.fixes(one) for one in NEEDED)


def _has_read_topics(controller: Controller) -> Value:
    return either(controller.active, controller.at == At.READ_STATES)


def _tellers(s: State, m: Model, p: int) -> Iterator[tuple[Value, Leadership, Value]]:
    """The processes that may send a leadership to a leader, or lead by it: if so, what each holds, and its AR."""
    for c in m.controllers:
        cached = s.controllers[c].partitions[p]
        yield _has_read_topics(s.controllers[c]), cached, m.brokers.members(cached.assigned)
    for b in m.assigned(p):
        known = s.brokers[b].partitions[p]
        yield flag(known.leader == b), known, known.assigned
        for c in m.controllers:
            for k in m.slots:
                told = s.connections[c][b][k].partitions[p]
                yield flag(told.leader == b), told, told.assigned


def _not_followers(s: State, m: Model, p: int) -> Iterator[tuple[Value, Leadership]]:
    """Every copy of a leadership, and whether its ISR counts: followers keep none."""
    for c in m.controllers:
        yield flag(True), s.controllers[c].partitions[p]
        for b in m.brokers.ids:
            for k in m.slots:
                yield flag(True), s.connections[c][b][k].partitions[p]
    for b in m.assigned(p):
        known = s.brokers[b].partitions[p]
        yield flag(known.leader == b), known


@lemma(source="PROTOCOL.md sections 2 and 10", parts=PARTS, where=_is_asked_for)
def the_same_version_is_the_same_isr(s: State, m: Model, p: int) -> Facts:
    """Whatever holds the znode's version holds its ISR, and no older writer; an ISR to be written again is written."""
    znode = s.zookeeper.state[p]
    for counts, one in _not_followers(s, m, p):
        same = both(counts, exists(znode), one.version == znode.version)
        yield same.implies(both(one.isr == znode.isr, one.controller_epoch >= znode.controller_epoch))
    for b in m.assigned(p):
        known = s.brokers[b].partitions[p]
        yield either(known.retrying == (), known.version < znode.version)


@lemma(source="PROTOCOL.md section 8, step 7", parts=PARTS, where=_is_asked_for)
def step_7_wrote_the_state_last(s: State, m: Model, c: int, p: int) -> Facts:
    """Once the current controller has done step 7 the state znode is of its epoch; meanwhile nobody else elects."""
    controller, current = s.controllers[c], is_current(s, c)
    znode = s.zookeeper.state[p]
    yield both(current, has_moved(m, controller, p)).implies(znode.controller_epoch == controller.epoch)
    writing = both(current, controller.at == At.MOVE_WRITE, controller.partition == p)
    yield writing.implies(znode.leader_epoch == controller.decided.leader_epoch)


@lemma(source="PROTOCOL.md section 10; S6 fixed", parts=PARTS, where=_is_asked_for)
def leaders_have_no_larger_assignment_than_zookeeper(s: State, m: Model, p: int) -> Facts:
    """What leads, or sends, by the znode's leader epoch has an AR within ZooKeeper's; after step 7, within RAR."""
    znode, members = s.zookeeper.state[p], m.brokers.members
    bounds = [(flag(True), members(s.zookeeper.assigned[p]))]
    for c in m.controllers:
        controller = s.controllers[c]
        moved = both(is_current(s, c), has_moved(m, controller, p))
        bounds.append((moved, members(controller.reassigned[p])))
    for counts, one, assigned in _tellers(s, m, p):
        same = both(counts, exists(znode), one.leader_epoch == znode.leader_epoch)
        yield from (both(same, when).implies(m.brokers.is_subset(assigned, bound)) for when, bound in bounds)


@lemma(source="PROTOCOL.md section 8, step 8", parts=PARTS, where=_is_asked_for)
def leaving_replicas_leave_the_isr(s: State, m: Model, c: int, p: int) -> Facts:
    """The leaving replicas are AR minus RAR. After step 7 the ISR is within RAR and those that step 8 has still to take
    out; after step 8 it is within RAR.
    """
    controller, current = s.controllers[c], is_current(s, c)
    isr, wanted = m.brokers.members(s.zookeeper.state[p].isr), m.brokers.members(controller.reassigned[p])
    cached = controller.partitions[p]
    others = m.brokers.difference(m.brokers.members(cached.assigned), wanted)
    moving = both(current, controller.reassigning == p, is_at(controller, MOVING))
    yield moving.implies(controller.leaving == others)
    moved = both(current, has_moved(m, controller, p))
    rest = m.brokers.union(wanted, cached.visiting)
    yield both(moved, is_at(controller, REMOVING)).implies(m.brokers.is_subset(isr, rest))
    yield both(moved, controller.at == At.WRITE_TARGET).implies(m.brokers.is_subset(isr, wanted))
    for r in m.assigned(p):
        removing = both(controller.at == At.REMOVE_WRITE, controller.partition == p, controller.replica == r)
        without = either(~m.brokers.contains(controller.decided.isr, r), controller.decided.leader == 0)
        yield removing.implies(without)


def _has_started(controller: Controller) -> Value:
    """Whether the replica machine of a controller is up."""
    dropping = both(controller.handler == Handler.NONE, is_at(controller, (At.REASSIGN_NEXT, *REFUSING)))
    return both(controller.active, ~is_at(controller, BEFORE_MACHINES), ~dropping)


@lemma(source="PROTOCOL.md sections 5 and 8", parts=PARTS, where=_is_asked_for)
def assigned_replicas_are_in_a_state(s: State, m: Model, c: int, p: int) -> Facts:
    """A replica of AR, as the current controller holds it, may go Offline, unless step 3 has still to start it.

    One that is not of AR is in no state, unless step 8 has it Offline. Before the replica machine is up none is in any;
    it goes by the topics, which are known then.
    """
    controller = s.controllers[c]
    cached = controller.partitions[p]
    starting = both(controller.reassigning == p, is_at(controller, STARTING))
    moved = has_moved(m, controller, p)
    started = both(is_current(s, c), _has_started(controller))
    yield either(~_has_read_topics(controller), controller.topics[m.topic_of(p)])
    yield started.implies(has_started(s, m, c))
    wanted, assigned = m.brokers.members(controller.reassigned[p]), m.brokers.members(cached.assigned)
    both_of_it = both(m.brokers.is_subset(cached.visiting, wanted), m.brokers.is_subset(wanted, assigned))
    yield both(started, starting).implies(both_of_it)
    visits = either(starting, is_at(controller, REMOVING))
    yield either(visits, m.brokers.is_empty(cached.visiting))
    for r in m.assigned(p):
        of_it, state = m.brokers.contains(cached.assigned, r), cached.replicas[r]
        waits = both(starting, m.brokers.in_set(r, cached.visiting))
        absent = flag(state == ReplicaState.NON_EXISTENT)
        yield either(_has_started(controller), absent)
        yield both(started, of_it, ~waits).implies(may_go_online_or_offline(state))
        yield both(started, waits).implies(absent)
        yield both(started, waits).implies(s.zookeeper.state[p].leader != r)
        yield both(started, ~of_it, ~moved).implies(absent)
        to_go = m.brokers.in_set(r, cached.visiting)
        yield both(started, is_at(controller, REMOVING), to_go).implies(may_go_online_or_offline(state))
        leaves = both(is_at(controller, REMOVING), m.brokers.in_set(r, controller.leaving))
        removed = both(leaves, either(to_go, state == ReplicaState.OFFLINE))
        yield both(started, moved, ~of_it).implies(either(absent, removed))


@lemma(source="PROTOCOL.md section 8, phase B", parts=PARTS, where=_is_asked_for)
def in_phase_b_the_target_is_assigned(s: State, m: Model, c: int, p: int) -> Value:
    """From step 5 on all of RAR is in AR in ZooKeeper."""
    controller, current = s.controllers[c], is_current(s, c)
    wanted, assigned = m.brokers.members(controller.reassigned[p]), m.brokers.members(s.zookeeper.assigned[p])
    moving = both(controller.reassigning == p, is_at(controller, MOVING))
    in_b = both(current, either(moving, has_moved(m, controller, p)))
    return in_b.implies(m.brokers.is_subset(wanted, assigned))
