"""What is claimed of reassignments: the order of assignments in ZooKeeper, who is touched when, and how it ends.

What is being reassigned is what /admin/reassign_partitions says; a controller may believe something else (D2, D13). OAR
is the AR in ZooKeeper when that was asked for, or what somebody has written by hand since (D73).
"""

from spec.language.rules import claim
from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.context.deletion_marks import is_queued, is_to_go
from spec.state.cluster import State, target
from spec.state.controller import Controller
from spec.state.enumerations import At
from spec.tables.replica_states import ReplicaState

PARTS = ("reassignment",)
WITH_REQUESTS = ("reassignment", "connections")

#: Deliveries: they move a queue on, so they are not asked whether they queue a StopReplica.
DELIVERIES = frozenset({
    "deliver_request", "deliver_request_unanswered", "deliver_deletion", "deliver_deletion_unanswered",
    "deliver_failing_deletion", "deliver_stop", "deliver_stop_unanswered",
})  # fmt: skip

#: Rules whose step may move a leader, or take a partition from /admin/reassign_partitions.
MOVES = frozenset({"write_move", "write_move_unanswered"})
DROPS = frozenset({"write_remaining", "write_remaining_unanswered"})


@claim("sometimes", source="PROTOCOL.md section 8", parts=PARTS)
def an_assignment_is_the_union(s: State, m: Model, p: int) -> Value:
    """Some partition's AR in ZooKeeper is RAR + OAR, and not RAR yet."""
    wanted = target(s, m, p)
    union = m.brokers.merged(wanted, s.history.original[p])
    return both(s.zookeeper.assigned[p] == union, union != wanted, wanted != ())


@claim(
    "step", source="PROTOCOL.md section 8", witness="an_assignment_is_the_union", parts=PARTS,
    not_of={"edit_assignment"},
)  # fmt: skip
def assignments_change_in_order(before: State, after: State, m: Model, *, p: int) -> Value | None:
    """The assignment in ZooKeeper, while the topic exists, is OAR, then RAR + OAR, then RAR, and nothing else.

    The union may be left out where OAR has all of RAR. That all of RAR was in sync first is another's claim.
    """
    old, new = before.zookeeper.assigned[p], after.zookeeper.assigned[p]
    if new is old:
        return None
    wanted, original = target(before, m, p), before.history.original[p]
    union = m.brokers.merged(wanted, original)
    has_all = both(old == original, m.brokers.is_subset(m.brokers.members(wanted), m.brokers.members(original)))
    first, second = both(old == original, new == union), both(either(old == union, has_all), new == wanted)
    kept = either(new == old, old == (), ~after.zookeeper.topics[m.topic_of(p)])
    return either(kept, both(wanted != (), either(first, second)))


@claim("step", source="PROTOCOL.md section 8, D14, D41", witness="an_assignment_is_the_union", parts=PARTS, of=DROPS)
def no_reassignment_ends_halfway(before: State, after: State, m: Model, *, p: int) -> Value:
    """A partition that leaves /admin/reassign_partitions has RAR, or the AR that it had, unless it did not exist when
    the reassignment was requested, or its topic is to be deleted.
    """
    wanted, assigned = before.zookeeper.requested[p], before.zookeeper.assigned[p]
    dropped, original = both(wanted != (), after.zookeeper.requested[p] == ()), before.history.original[p]
    done = either(assigned == wanted, assigned == original, original == ())
    goes = either(~before.zookeeper.topics[m.topic_of(p)], before.zookeeper.deletions[m.topic_of(p)])
    return either(~dropped, goes, done)


@claim("sometimes", source="PROTOCOL.md section 8", parts=PARTS)
def an_assignment_is_the_target(s: State, m: Model, p: int) -> Value:
    """Some partition's AR in ZooKeeper is RAR, and the reassignment still goes on."""
    requested = s.zookeeper.requested[p]
    return both(requested != (), s.zookeeper.assigned[p] == requested)


@claim("always", source="PROTOCOL.md D62", witness="an_assignment_is_the_target", parts=(*PARTS, "odd_targets"))
def assignments_name_a_replica_once(s: State, m: Model, p: int) -> Value:
    """No AR in ZooKeeper names a broker twice."""
    assigned = s.zookeeper.assigned[p]
    return either(~m.brokers.is_odd(assigned), m.brokers.is_empty(m.brokers.members(assigned)))


@claim("always", source="PROTOCOL.md section 8", witness="an_assignment_is_the_union", parts=PARTS)
def original_replicas_stay_assigned(s: State, m: Model, p: int) -> Value:
    """Until step 10 every replica of OAR is in the AR of a topic in ZooKeeper, so OAR can be recovered from there."""
    zookeeper, members = s.zookeeper, m.brokers.members
    return either(
        ~zookeeper.topics[m.topic_of(p)],
        zookeeper.assigned[p] == target(s, m, p),
        m.brokers.is_subset(members(s.history.original[p]), members(zookeeper.assigned[p])),
    )


def _takes_leave(controller: Controller) -> Value:
    """Whether a controller's running handler has replicas of OAR - RAR to take leave of."""
    return flag(controller.leaving != ())


@claim("sometimes", source="PROTOCOL.md section 8, steps 8 and 9", parts=PARTS)
def an_old_replica_is_to_go(s: State, m: Model, c: int) -> Value:
    """A controller is taking replicas of OAR - RAR out of the ISR."""
    return both(s.controllers[c].at == At.REMOVE_WRITE, _takes_leave(s.controllers[c]))


@claim(
    "step", source="PROTOCOL.md section 8, steps 8 and 9", witness="an_old_replica_is_to_go", parts=WITH_REQUESTS,
    not_of=DELIVERIES,
)  # fmt: skip
def old_replicas_leave_after_new_ones_are_in_sync(before: State, after: State, m: Model, c: int, *, p: int) -> Value:
    """No replica of OAR leaves the ISR on a reassignment's account, and no StopReplica for one is queued, outside topic
    deletion, before all of RAR has been in sync. Whether its broker obeys is not asked.
    """
    members = m.brokers.members
    isr = (members(before.zookeeper.state[p].isr), members(after.zookeeper.state[p].isr))
    removed = both(_takes_leave(before.controllers[c]), isr[0] != isr[1])
    old = {r: m.brokers.contains(before.history.original[p], r) for r in m.assigned(p)}
    told = either(*(both(old[r], _newly(before, after, c, r, k, p)) for r in old for k in m.slots))
    return either(~removed & ~told, is_queued(before, m, c, p), before.history.caught_up[p])


def _newly(before: State, after: State, c: int, b: int, k: int, p: int) -> Value:
    """Whether a StopReplica for a partition, of either kind, comes to stand in this place of a queue."""
    old, new = before.connections[c][b][k], after.connections[c][b][k]
    return either(both(~old.stop[p], new.stop[p]), both(~old.delete[p], new.delete[p]))


@claim(
    "step", source="PROTOCOL.md section 13", witness="an_old_replica_is_to_go", parts=WITH_REQUESTS, not_of=DELIVERIES
)
def assigned_replicas_are_not_deleted(before: State, after: State, m: Model, c: int, *, p: int, r: int) -> Value:
    """Outside topic deletion no StopReplica with delete goes to a member of the controller's AR."""
    assigned = m.brokers.members(after.controllers[c].partitions[p].assigned)
    slots = [(before.connections[c][r][k].delete[p], after.connections[c][r][k].delete[p]) for k in m.slots]
    told = either(*(both(~old, new) for old, new in slots))
    return ~both(told, m.brokers.in_set(r, assigned), ~is_queued(before, m, c, p))


@claim(
    "step", source="PROTOCOL.md D22, KIP-570", witness="an_old_replica_is_to_go", parts=(*WITH_REQUESTS, "late_copies"),
    of={*DELIVERIES, "execute_late_copy"},
)  # fmt: skip
def in_sync_replicas_are_not_deleted(before: State, after: State, m: Model, *, p: int, r: int) -> Value:
    """No broker deletes a replica that is assigned, and in sync, by a request, unless its topic is to be deleted."""
    zookeeper = before.zookeeper
    deleted = both(before.logs[r][p], ~after.logs[r][p])
    serves = both(m.brokers.contains(zookeeper.assigned[p], r), m.brokers.contains(zookeeper.state[p].isr, r))
    return ~both(deleted, serves, ~is_to_go(before, m, p))


@claim("always", source="PROTOCOL.md section 1", witness="an_assignment_is_the_target", parts=PARTS)
def leaders_are_assigned(s: State, m: Model, p: int) -> Value:
    """The leader in a state znode is an assigned replica."""
    leader, assigned = s.zookeeper.state[p].leader, m.brokers.members(s.zookeeper.assigned[p])
    return either(leader == 0, m.brokers.in_set(leader, assigned))


@claim("sometimes", source="PROTOCOL.md section 8, step 7", parts=PARTS)
def a_leader_is_to_move(s: State, m: Model, c: int) -> Value:
    """A controller is writing the leader with which a reassignment goes on."""
    return s.controllers[c].at == At.MOVE_WRITE


@claim("step", source="PROTOCOL.md section 8, step 7", witness="a_leader_is_to_move", parts=PARTS, of=MOVES)
def step_7_leaves_a_leader_of_the_target(before: State, after: State, m: Model, c: int, p: int) -> Value:
    """After a successful step 7 the leader is of RAR."""
    znodes = before.zookeeper.state[p], after.zookeeper.state[p]
    written = flag(znodes[0].version != znodes[1].version)
    return ~written | m.brokers.contains(before.controllers[c].reassigned[p], znodes[1].leader)


@claim("sometimes", source="PROTOCOL.md section 8, step 11", parts=PARTS)
def a_reassignment_is_about_to_complete(s: State, m: Model, c: int) -> Value:
    """A controller is about to take a partition from /admin/reassign_partitions."""
    return s.controllers[c].at == At.COMPLETE_WRITE


@claim(
    "step", source="PROTOCOL.md section 8", witness="a_reassignment_is_about_to_complete", parts=PARTS,
    of={"write_remaining"},
)  # fmt: skip
def completed_means_done(before: State, after: State, m: Model, c: int, p: int) -> Value:
    """A completed reassignment has AR = RAR, its ISR within RAR, and no replica of OAR - RAR online."""
    zookeeper, controller = before.zookeeper, before.controllers[c]
    wanted = controller.reassigned[p]
    in_sync = m.brokers.is_subset(m.brokers.members(zookeeper.state[p].isr), m.brokers.members(wanted))
    states = controller.partitions[p].replicas
    online = [both(~m.brokers.contains(wanted, r), states[r] == ReplicaState.ONLINE) for r in m.assigned(p)]
    completes = both(controller.at == At.COMPLETE_WRITE, after.controllers[c].at != At.COMPLETE_WRITE)
    done = both(zookeeper.assigned[p] == wanted, in_sync, ~either(*online))
    return either(~completes, ~after.controllers[c].active, done)


@claim(
    "step", source="PROTOCOL.md section 8, step 11", witness="a_reassignment_is_about_to_complete",
    parts=(*PARTS, "move_losses"), of=DROPS,
)  # fmt: skip
def reassignment_requests_are_read_before_they_are_changed(before: State, after: State, m: Model, c: int) -> Value:
    """A controller takes partitions only from the request to reassign that it has read, and makes none of its own."""
    old, new = before.zookeeper.requested, after.zookeeper.requested
    unchanged = both(*(old[p] == new[p] for p in m.partitions))
    return either(unchanged, before.controllers[c].remaining_read)


@claim("sometimes", source="PROTOCOL.md D59", parts=(*PARTS, "move_withdrawals"))
def a_reassignment_is_not_asked_for(s: State, m: Model, c: int, p: int) -> Value:
    """A controller reassigns a partition which /admin/reassign_partitions does not name any more."""
    return both(s.controllers[c].reassigned[p] != (), s.zookeeper.requested[p] == ())


@claim(
    "step", source="PROTOCOL.md D13, D59", witness="a_reassignment_is_not_asked_for",
    parts=(*PARTS, "move_withdrawals"), of={"read_reassignments"},
)  # fmt: skip
def failovers_resume_what_is_asked_for(before: State, after: State, m: Model, c: int, *, p: int) -> Value:
    """What a failover is to resume, once it has read /admin/reassign_partitions, is in there."""
    return either(after.controllers[c].reassigned[p] == (), before.zookeeper.requested[p] != ())


@claim(
    "step", source="PROTOCOL.md D48", witness="an_old_replica_is_to_go", parts=PARTS,
    of={"write_removal", "write_removal_unanswered"},
)  # fmt: skip
def old_replicas_go_after_the_leader_moved(before: State, after: State, m: Model, c: int, p: int) -> Value:
    """No reassignment takes a replica of OAR - RAR out of the ISR before a replica of RAR leads."""
    old, controller = before.zookeeper.state[p], before.controllers[c]
    written = flag(old.version != after.zookeeper.state[p].version)
    return either(~written, ~_takes_leave(controller), m.brokers.contains(controller.reassigned[p], old.leader))


@claim("sometimes", source="PROTOCOL.md D18", parts=PARTS)
def a_leader_epoch_is_raised_for_a_new_assignment(s: State, m: Model, c: int) -> Value:
    """A controller is raising a leader epoch in step 2."""
    return s.controllers[c].at == At.BUMP_WRITE


@claim(
    "step", source="PROTOCOL.md D18", witness="a_leader_epoch_is_raised_for_a_new_assignment", parts=PARTS,
    of={"write_bump", "write_move"},
)  # fmt: skip
def caches_keep_up_with_their_requests(before: State, after: State, m: Model, c: int, p: int) -> Value:
    """What a controller has written and sent in LeaderAndIsr is in its cache, from which it fills UpdateMetadata."""
    written = flag(before.zookeeper.state[p].version != after.zookeeper.state[p].version)
    cached = after.controllers[c].partitions[p]
    return ~written | flag(cached.leader_epoch == after.zookeeper.state[p].leader_epoch)


@claim("goal", source="PROTOCOL.md section 8", parts=WITH_REQUESTS)
def reassignments_complete(s: State, m: Model, p: int) -> Value:
    """Nothing is left in /admin/reassign_partitions."""
    return s.zookeeper.requested[p] == ()


@claim("goal", source="PROTOCOL.md D59", parts=(*WITH_REQUESTS, "move_withdrawals"))
def no_assignment_is_left_halfway(s: State, m: Model, p: int) -> Value:
    """AR of a topic's every partition is RAR of the reassignment that was asked for last, or what it was then."""
    assigned, wanted = s.zookeeper.assigned[p], target(s, m, p)
    gone = ~s.zookeeper.topics[m.topic_of(p)]
    return either(gone, wanted == (), assigned == wanted, assigned == s.history.original[p])


@claim("goal", source="PROTOCOL.md D38, D72-move", parts=WITH_REQUESTS)
def only_assigned_replicas_have_logs(s: State, m: Model, p: int, r: int) -> Value:
    """No broker has a log of a partition whose AR does not have the broker."""
    return either(~s.logs[r][p], m.brokers.contains(s.zookeeper.assigned[p], r))


@claim("goal", source="PROTOCOL.md D47", parts=WITH_REQUESTS)
def only_assigned_replicas_lead(s: State, m: Model, p: int, r: int) -> Value:
    """No running broker believes that it leads a partition whose AR does not have the broker."""
    assigned = m.brokers.members(s.zookeeper.assigned[p])
    return either(s.brokers[r].partitions[p].leader != r, m.brokers.in_set(r, assigned))
