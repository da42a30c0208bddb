"""Lemmas about reassignments: what a controller that may still write believes, and what AR in ZooKeeper may be.

A controller is *current* while /controller_epoch is the epoch of its term. Where writes are fenced nobody else changes
a znode in the controller's role, so what is said of ZooKeeper's part need only be related to what the current one
holds. As coded a zombie may do anything with an assignment (D2), and these lemmas are None.
"""

from itertools import product

from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, either, flag
from spec.lemmas.controller import (
    BEFORE_CHANNELS,
    BEFORE_TOPICS,
    ELECTING,
    REMOVING,
    is_at,
    is_current,
    only_the_current_writes,
)
from spec.lemmas.leadership import copies
from spec.model import Model
from spec.protocol.leadership_cache import is_cached
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, Handler
from spec.tables.partition_states import PartitionState
from spec.variants import Switch

PARTS = ("reassignment",)

#: Why a reassignment is run.
RUNS = (Handler.REASSIGNMENT, Handler.FAILOVER, Handler.BROKER_STARTUP, Handler.ISR_CHANGE)
#: From the first look at the ISR to step 10, but for step 8.
WORKING = (
    At.REASSIGN_READ, At.WRITE_UNION, At.BUMP_READ, At.BUMP_WRITE, At.START_READ, At.MOVE_READ, At.MOVE_WRITE,
    At.WRITE_TARGET,
)  # fmt: skip
#: Step 7.
MOVING = (At.MOVE_READ, At.MOVE_WRITE)
#: Step 11.
COMPLETING = (At.COMPLETE_READ, At.COMPLETE_WRITE)
#: A reassignment is refused, or was found to be over.
REFUSING = (At.REFUSE_READ, At.REFUSE_WRITE)
#: Why the controller is where it is.
HANDLERS = {
    (*WORKING, *COMPLETING): RUNS,
    REMOVING: (Handler.NONE, *RUNS),
    (At.REASSIGN_NEXT,): (Handler.NONE, Handler.REASSIGNMENT, Handler.FAILOVER, Handler.BROKER_STARTUP),
    REFUSING: (Handler.NONE, Handler.REASSIGNMENT, Handler.FAILOVER),
    (At.IDLE, *BEFORE_CHANNELS, At.READ_REASSIGNMENTS, At.FINISH): (Handler.NONE,),
}


def has_moved(m: Model, controller: Controller, p: int) -> Value:
    """Whether step 7 is over and step 10 is not: AR in memory is RAR, that in ZooKeeper is not yet."""
    removing = both(is_at(controller, REMOVING), ~m.brokers.is_empty(controller.leaving))
    return both(controller.reassigning == p, either(removing, controller.at == At.WRITE_TARGET))


def _works(m: Model, controller: Controller, p: int) -> Value:
    """Whether a partition is somewhere between the acceptance and the end of its reassignment."""
    removing = both(is_at(controller, REMOVING), ~m.brokers.is_empty(controller.leaving))
    return both(controller.reassigning == p, either(is_at(controller, (*WORKING, *COMPLETING)), removing))


def _leadership_is_asked_for(m: Model) -> bool:
    """Whether nobody accepts a reassignment without leadership, nor has one left from an earlier term."""
    return only_the_current_writes(m) and m.fixes(Switch.REFUSE_UNBORN_REASSIGNMENTS)


def partitions_stay(m: Model) -> bool:
    """Whether all partitions are there from the start, and none goes."""
    return m.topics_stand and not m.scope.added and not m.topics_vanish


@lemma(source="PROTOCOL.md D13 fixed", parts=PARTS, fixed=(Switch.RESIGN_CLEANS_UP, Switch.CLEAR_CONTEXT))
def only_active_controllers_reassign(s: State, m: Model, c: int) -> Value:
    """Without being active nobody has a reassignment, or anything of a run of one."""
    controller = s.controllers[c]
    lists = [one[p] == () for one in (controller.reassigned, controller.due) for p in m.partitions]
    nothing = both(m.brokers.is_empty(controller.leaving), controller.handler == Handler.NONE, *lists)
    return controller.active | nothing


@lemma(source="PROTOCOL.md section 8", parts=PARTS)
def a_run_has_its_handler(s: State, m: Model, c: int) -> Facts:
    """Each place in a run of a reassignment has a handler that leads there, and a partition; elections have none.

    Replicas are to go only from step 7 to step 9; what a broker's start makes due is being reassigned.
    """
    controller = s.controllers[c]
    handled, leaving = controller.handler, ~m.brokers.is_empty(controller.leaving)
    runs = either(*(handled == one for one in RUNS))
    for places, handlers in HANDLERS.items():
        yield is_at(controller, places).implies(either(*(handled == one for one in handlers)))
    yield leaving.implies(both(is_at(controller, (*MOVING, *REMOVING)), runs))
    yield both(is_at(controller, REMOVING), runs).implies(leaving)
    yield either(*(controller.reassigning == p for p in m.partitions))
    deciding = is_at(controller, (At.BUMP_WRITE, At.MOVE_WRITE))
    yield deciding.implies(controller.partition == controller.reassigning)
    for p in m.partitions:
        done = flag(controller.due[p] == ())
        yield (handled == Handler.BROKER_STARTUP).implies(done | (controller.due[p] == controller.reassigned[p]))
        in_turn = either(is_at(controller, REFUSING), both(is_at(controller, (*WORKING, *COMPLETING, *REMOVING)), runs))
        waits = either(controller.at == At.REASSIGN_NEXT, in_turn, handled == Handler.BROKER_STARTUP)
        yield either(done, both(waits, handled != Handler.ISR_CHANGE))
        yield both(in_turn, controller.reassigning == p).implies(done)


@lemma(source="PROTOCOL.md section 8, steps 5 and 6", parts=PARTS)
def leaving_replicas_are_not_of_the_target(s: State, m: Model, c: int, p: int) -> Facts:
    """Replicas that are to go are not of RAR, which is AR in memory from step 6 on; with D48 fixed, after step 7."""
    controller = s.controllers[c]
    wanted, leaving = controller.reassigned[p], ~m.brokers.is_empty(controller.leaving)
    apart = m.brokers.disjoint(controller.leaving, m.brokers.members(wanted))
    yield both(leaving, controller.reassigning == p).implies(apart)
    among = m.brokers.is_subset(controller.partitions[p].visiting, controller.leaving)
    yield both(leaving, is_at(controller, REMOVING)).implies(among)
    moved = has_moved(m, controller, p)
    if not m.fixes(Switch.WAIT_FOR_LEADER):
        moved = moved | both(controller.reassigning == p, is_at(controller, MOVING))
    yield moved.implies(controller.partitions[p].assigned == wanted)


@lemma(source="PROTOCOL.md section 8; D2, D13 fixed", parts=PARTS, where=only_the_current_writes)
def current_controllers_reassign_what_is_requested(s: State, m: Model, c: int, p: int) -> Facts:
    """What the current controller reassigns, or is about to, is what /admin/reassign_partitions says."""
    controller, current = s.controllers[c], is_current(s, c)
    asked = s.zookeeper.requested[p]
    held = (controller.reassigned[p], controller.due[p])
    yield from (current.implies(either(one == (), one == asked)) for one in held)
    works = both(current, _works(m, controller, p))
    yield works.implies(both(asked != (), controller.reassigned[p] == asked))
    refuses = both(current, is_at(controller, REFUSING), controller.reassigning == p)
    yield refuses.implies(asked != ())
    writing = both(current, is_at(controller, (At.COMPLETE_WRITE, At.REFUSE_WRITE)))
    remains = either(
        both(controller.reassigning == p, controller.remaining[p] == ()),
        both(controller.reassigning != p, controller.remaining[p] == asked),
    )
    yield writing.implies(remains)


@lemma(source="PROTOCOL.md section 8; D2, D13 fixed", parts=PARTS, where=only_the_current_writes)
def current_controllers_know_the_assignment(s: State, m: Model, c: int, p: int) -> Value:
    """AR as the current controller holds it is AR in ZooKeeper, but between steps 6 and 10."""
    controller, current = s.controllers[c], is_current(s, c)
    same = flag(controller.partitions[p].assigned == s.zookeeper.assigned[p])
    return current.implies(either(same, is_at(controller, BEFORE_TOPICS), has_moved(m, controller, p)))


@lemma(source="PROTOCOL.md section 8", parts=PARTS, where=only_the_current_writes)
def an_assignment_is_one_of_three(s: State, m: Model, p: int) -> Facts:
    """While a partition is being reassigned its AR in ZooKeeper is OAR, RAR + OAR or RAR."""
    wanted, original, assigned = s.zookeeper.requested[p], s.history.original[p], s.zookeeper.assigned[p]
    one_of_three = either(assigned == original, assigned == m.brokers.merged(wanted, original), assigned == wanted)
    yield either(wanted == (), one_of_three)
    yield either(wanted != (), original == ())


@lemma(source="PROTOCOL.md section 8, steps 10 and 11", parts=PARTS, where=only_the_current_writes)
def completed_reassignments_wrote_the_target(s: State, m: Model, c: int, p: int) -> Value:
    """When the current controller completes a reassignment, AR in ZooKeeper is RAR."""
    controller, written = s.controllers[c], s.zookeeper.assigned[p] == s.zookeeper.requested[p]
    return both(is_current(s, c), is_at(controller, COMPLETING), controller.reassigning == p).implies(written)


@lemma(source="PROTOCOL.md section 2", parts=PARTS)
def no_writer_is_ahead_of_zookeeper(s: State, m: Model, p: int) -> Facts:
    """Neither the state znode nor any copy of it names a controller epoch above the one in ZooKeeper."""
    for one in (s.zookeeper.state[p], *copies(s, m, p)):
        yield one.controller_epoch <= s.zookeeper.epoch


@lemma(
    source="PROTOCOL.md section 6; D2 fixed", parts=PARTS, where=only_the_current_writes,
    fixed=(Switch.CACHE_BUMPED_EPOCH,),
)  # fmt: skip
def current_controllers_know_the_leader_epoch(s: State, m: Model, c: int, p: int) -> Facts:
    """The current controller has the state znode's leader epoch in its cache, if any, but where an answer was lost.

    Then it is about to write again: to elect, which can be done, or to take a replica out of the ISR.
    """
    controller = s.controllers[c]
    current = is_current(s, c)
    cached, znode = controller.partitions[p], s.zookeeper.state[p]
    known = either(~is_cached(cached), cached.leader_epoch == znode.leader_epoch)
    possible = both(m.brokers.in_set(znode.leader, controller.live), m.brokers.contains(cached.assigned, znode.leader))
    visited = both(cached.todo, cached.state != PartitionState.NEW)
    electing = both(is_at(controller, ELECTING), visited, possible)
    removing = both(is_at(controller, REMOVING), ~m.brokers.is_empty(cached.visiting))
    yield current.implies(either(known, is_at(controller, BEFORE_TOPICS), electing, removing))
    yield both(controller.at == At.ONLINE_WRITE, controller.partition == p).implies(visited)
    for r in m.assigned(p):
        at = both(controller.at == At.REMOVE_WRITE, controller.partition == p, controller.replica == r)
        yield at.implies(m.brokers.in_set(r, cached.visiting))


@lemma(
    source="PROTOCOL.md section 8, step 7; D48 fixed", parts=PARTS, where=only_the_current_writes,
    fixed=(Switch.WAIT_FOR_LEADER,),
)  # fmt: skip
def after_step_7_the_leader_is_of_the_target(s: State, m: Model, c: int, p: int) -> Facts:
    """From step 7 to step 10 of a reassignment that the current controller runs the leader is of RAR."""
    controller, current = s.controllers[c], is_current(s, c)
    wanted, leader = controller.reassigned[p], s.zookeeper.state[p].leader
    yield both(current, has_moved(m, controller, p)).implies(m.brokers.contains(wanted, leader))
    writing = both(current, controller.at == At.MOVE_WRITE, controller.reassigning == p)
    yield writing.implies(m.brokers.contains(wanted, controller.decided.leader))


@lemma(source="PROTOCOL.md section 8, step 2; S8 fixed", parts=PARTS, where=_leadership_is_asked_for)
def accepted_reassignments_have_leadership(s: State, m: Model, c: int, p: int) -> Value:
    """Whatever a controller has accepted to reassign has leadership in its cache."""
    controller, cached = s.controllers[c], s.controllers[c].partitions[p]
    return either(controller.reassigned[p] == (), _is_to_be_taken_up(controller, p), is_cached(cached))


def _is_to_be_taken_up(controller: Controller, p: int) -> Value:
    """Whether a failover has still to accept or refuse what it has read, or a partition is being refused."""
    handled = controller.handler
    electing = is_at(controller, ELECTING)
    return either(
        both(handled == Handler.NONE, is_at(controller, (At.REASSIGN_NEXT, *REFUSING))),
        handled == Handler.STARTUP,
        both(handled == Handler.FAILOVER, either(electing, controller.due[p] != ())),
        both(controller.reassigning == p, is_at(controller, REFUSING)),
    )


@lemma(
    source="PROTOCOL.md section 8, step 1; S8 fixed", parts=PARTS,
    where=lambda m: _leadership_is_asked_for(m) and partitions_stay(m),
)  # fmt: skip
def an_assignment_changes_where_there_is_leadership(s: State, m: Model) -> Facts:
    """Every partition has an AR; once a reassignment has changed it there is a state znode, and the current controller
    has that in its cache.
    """
    yield from (both(s.zookeeper.topics[m.topic_of(p)], s.zookeeper.assigned[p] != ()) for p in m.partitions)
    for c, p in product(m.controllers, m.partitions):
        controller, current = s.controllers[c], is_current(s, c)
        changed = both(s.zookeeper.requested[p] != (), s.zookeeper.assigned[p] != s.history.original[p])
        to_read = both(controller.at == At.READ_STATES, controller.partitions[p].todo)
        has_read = both(current, ~is_at(controller, BEFORE_TOPICS), ~to_read)
        yield changed.implies(exists(s.zookeeper.state[p]))
        yield both(changed, has_read).implies(is_cached(controller.partitions[p]))


@lemma(
    source="PROTOCOL.md section 8, D41; S8 fixed", parts=PARTS,
    where=lambda m: _leadership_is_asked_for(m) and partitions_stay(m),
)  # fmt: skip
def refused_reassignments_are_not_halfway(s: State, m: Model, c: int, p: int) -> Facts:
    """What the current controller refuses, or drops, has the AR that it had, or RAR."""
    controller, current = s.controllers[c], is_current(s, c)
    asked, assigned = s.zookeeper.requested[p], s.zookeeper.assigned[p]
    dropping = both(controller.at == At.REASSIGN_NEXT, controller.handler == Handler.NONE)
    yield both(current, dropping, controller.due[p] != ()).implies(assigned == asked)
    refusing = both(current, is_at(controller, REFUSING), controller.reassigning == p)
    yield refusing.implies(either(assigned == asked, assigned == s.history.original[p]))
