"""What is claimed of partitions: the state znode, who leads, what brokers accept, and the two transition tables."""

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from spec.language.rules import Action, Facts, claim
from spec.language.terms import Value, both, either, flag, same
from spec.model import Model
from spec.protocol.context.assignment import stored_set
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.leadership.leader_selectors import may_be_unclean
from spec.protocol.leadership.replicas import ONLINE_OR_OFFLINE_FROM
from spec.protocol.requests.handling import leads
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.controller import CachedPartition
from spec.state.enumerations import At, Session
from spec.state.zookeeper import Leadership, ZooKeeper
from spec.tables.partition_states import PARTITION_TRANSITIONS, PartitionState
from spec.tables.replica_states import REPLICA_TRANSITIONS, ReplicaState
from spec.tables.table import Table
from spec.variants import Switch

#: Actions in which a state is initialised or forgotten, which is no transition.
NOT_TRANSITIONS = frozenset({
    "read_topics", "read_state", "crash", "close_failed_startup", "on_new_session", "on_controller_change",
    "increment_epoch", "create_epoch", "fail_failover", "elect_create_without_session", "read_brokers",
    "read_reassignments", "write_remaining", "write_remaining_unanswered", "read_election_request", "read_deletions",
})  # fmt: skip


@claim("sometimes", source="PROTOCOL.md section 1", parts=("partitions",))
def a_leader_is_elected(s: State, m: Model, p: int) -> Value:
    """Some partition's leader epoch goes beyond the first."""
    return s.zookeeper.state[p].leader_epoch > 0


@claim("step", source="PROTOCOL.md section 1", witness="a_leader_is_elected", parts=("partitions",))
def leader_epoch_never_goes_back(before: State, after: State, m: Model, *, p: int) -> Value:
    """A partition's leader_epoch in ZooKeeper never goes back, unless the partition is deleted."""
    old, new = before.zookeeper.state[p], after.zookeeper.state[p]
    return is_deleted(m, new) | (old.leader_epoch <= new.leader_epoch)


def is_deleted(m: Model, znode: Leadership) -> Value:
    """Whether a state znode is not there, which where topics may go it may be again."""
    return ~exists(znode) if m.topics_vanish else flag(False)


@claim("step", source="PROTOCOL.md section 2", witness="a_leader_is_elected", parts=("partitions",))
def state_changes_by_conditional_writes(
    before: State, after: State, m: Model, action: Action, *, p: int
) -> Value | None:
    """Until it is deleted the state znode changes only by a conditional write on the version read."""
    old, new = before.zookeeper.state[p], after.zookeeper.state[p]
    if new.is_untouched():
        return None
    changed = both(exists(old), ~is_deleted(m, new), ~_same(old, new))
    return ~changed | both(old.version == _version_read(before, action, p), new.version == old.version.plus(1))


def _version_read(before: State, action: Action, p: int) -> Value:
    """The version that the writer of this action goes by: the controller's last read, or the leader's cache."""
    if "c" in action.parameters and "b" not in action.parameters:
        return before.controllers[action.parameters["c"]].read_version
    if "b" in action.parameters and p == action.parameters.get("p"):
        return before.brokers[action.parameters["b"]].partitions[p].version
    return before.zookeeper.state[p].version


def _same(old: Leadership, new: Leadership) -> Value:
    names = ("leader", "leader_epoch", "isr", "controller_epoch", "version")
    return both(*(old[name] == new[name] for name in names))


@claim("sometimes", source="PROTOCOL.md section 5", parts=("partitions",))
def another_leader_is_elected(s: State, m: Model, p: int) -> Value:
    """Some partition is led by another than the first of its assigned replicas."""
    leader = s.zookeeper.state[p].leader
    return both(leader != 0, leader != m.first_assigned(p)[0])


@claim("step", source="PROTOCOL.md section 5", witness="another_leader_is_elected", parts=("partitions",))
def clean_leaders_were_in_sync(before: State, after: State, m: Model, action: Action, *, p: int) -> Value | None:
    """A leader that is elected cleanly was in the ISR.

    Where a topic's configuration changes, what counts is what was read before the write, which may be another by then.
    """
    changes = m.keeps(ZooKeeper.unclean)
    old, new = before.zookeeper.state[p], after.zookeeper.state[p]
    if new.is_untouched():
        return None
    elected = both(exists(old), new.leader != old.leader, new.leader != 0)
    unclean = flag(changes or may_be_unclean(before, m, p)) & ~_somebody_in_sync_lives(before, m, action, p)
    return ~both(elected, ~unclean) | m.brokers.contains(old.isr, new.leader)


def _somebody_in_sync_lives(before: State, m: Model, action: Action, p: int) -> Value:
    """Whether, in the electing controller's eyes, an in-sync replica lives."""
    if "c" not in action.parameters:
        return flag(True)
    live = before.controllers[action.parameters["c"]].live
    return ~m.brokers.disjoint(m.brokers.members(before.zookeeper.state[p].isr), live)


@claim("sometimes", source="PROTOCOL.md section 10", parts=("partitions",))
def the_isr_has_shrunk(s: State, m: Model, p: int) -> Value:
    """Some ISR is smaller than the assigned replicas."""
    return both(exists(s.zookeeper.state[p]), m.brokers.members(s.zookeeper.state[p].isr) != stored_set(s, m, p))


@claim("always", source="PROTOCOL.md section 1", witness="the_isr_has_shrunk", parts=("partitions",))
def isr_is_within_assigned(s: State, m: Model, p: int) -> Value:
    """The ISR is within the assigned replicas."""
    return m.brokers.is_subset(m.brokers.members(s.zookeeper.state[p].isr), stored_set(s, m, p))


@claim("sometimes", source="PROTOCOL.md section 10", parts=("connections",))
def two_brokers_lead(s: State, m: Model, p: int) -> Facts:
    """Two brokers believe that they lead a partition (one of them has not heard of its successor)."""
    yield from (both(leads(s, a, p), leads(s, b, p)) for a, b in combinations(m.assigned(p), 2))


@claim("always", source="PROTOCOL.md section 10", witness="two_brokers_lead", parts=("connections",))
def one_leader_in_a_leader_epoch(s: State, m: Model) -> Value:
    """Two brokers never lead a partition in the same leader epoch."""
    facts = []
    for p in m.partitions:
        epochs = {b: s.brokers[b].partitions[p].leader_epoch for b in m.assigned(p)}
        pairs = combinations(epochs, 2)
        facts += [~both(leads(s, a, p), leads(s, b, p), epochs[a] == epochs[b]) for a, b in pairs]
    return both(*facts)


@claim("sometimes", source="PROTOCOL.md section 10", parts=("connections",))
def a_leader_epoch_comes_again(s: State, m: Model, c: int, p: int, r: int) -> Value:
    """A LeaderAndIsr whose leader epoch its broker has accepted before waits at the head of a queue."""
    told, known = s.connections[c][r][0].partitions[p], s.brokers[r].partitions[p]
    return both(told.ordered, told.leader_epoch <= known.leader_epoch)


@claim(
    "step", source="PROTOCOL.md section 10", witness="a_leader_epoch_comes_again", parts=("connections",),
    of={"deliver_request", "deliver_request_unanswered"},
)  # fmt: skip
def brokers_accept_only_higher_leader_epochs(before: State, after: State, m: Model, b: int, *, p: int) -> Value:
    """No broker obeys a LeaderAndIsr of an older or equal leader epoch than it has stored in this incarnation."""
    old, new = before.brokers[b].partitions[p], after.brokers[b].partitions[p]
    names = ("leader", "isr", "version", "controller_epoch", "leader_epoch")
    unchanged = both(*(old[name] == new[name] for name in names))
    return either(unchanged, old.leader_epoch < new.leader_epoch, old.topic_id != new.topic_id)


@claim("step", source="PROTOCOL.md section 3", witness="an_earlier_term_holds_the_lock", parts=("partitions",))
def writers_epochs_never_go_back(
    before: State, after: State, m: Model, action: Action, c: int, *, p: int
) -> Value | None:
    """In a partition's state no write by a term of lower epoch follows one of a higher."""
    if "b" in action.parameters:
        return None
    old, new = before.zookeeper.state[p], after.zookeeper.state[p]
    return is_deleted(m, new) | (old.controller_epoch <= new.controller_epoch)


@claim("sometimes", source="PROTOCOL.md section 3", parts=("partitions",))
def a_partition_is_offline(s: State, m: Model, c: int, p: int) -> Value:
    """A controller is electing a leader for an offline partition."""
    controller = s.controllers[c]
    return both(controller.at == At.ONLINE_WRITE, controller.partitions[p].state == PartitionState.OFFLINE)


@claim("step", source="PROTOCOL.md sections 3 and 4", witness="a_partition_is_offline", parts=("partitions",))
def only_documented_transitions(before: State, after: State, m: Model, action: Action, c: int) -> Value | None:
    """No transition outside the tables is ever carried out."""
    starts = m.refuses_deletions and action.rule == "drop_request"
    if starts or action.rule in NOT_TRANSITIONS or "b" in action.parameters:
        return None
    facts = []
    resigned = both(before.controllers[c].active, ~after.controllers[c].active)
    for p in m.partitions:
        old, new = before.controllers[c].partitions[p], after.controllers[c].partitions[p]
        rows = [_in_table(PARTITION_TRANSITIONS, old.state, new.state)]
        deleted = [(state, ReplicaState.NON_EXISTENT) for state in ONLINE_OR_OFFLINE_FROM if m.has("reassignment")]
        rows += [_in_table(REPLICA_TRANSITIONS, old.replicas[r], new.replicas[r], deleted) for r in m.assigned(p)]
        facts.append(both(*rows) | _is_forgotten(m, new))
    return resigned | both(*facts)


def _is_forgotten(m: Model, cached: CachedPartition) -> Value:
    """Whether a partition is as if it had never been known, which where topics are removed by hand is no transition."""
    if not (m.loses_topics and m.fixes(Switch.FORGET_THE_VANISHED)):
        return flag(False)
    return flag(cached.state == PartitionState.NON_EXISTENT)


def _in_table(table: Table[Any], old: Value, new: Value, also: Iterable[tuple[Any, Any]] = ()) -> Value:
    """Whether a state stays, or changes by a row, or by a row after a row (one call may take two).

    `also`: from the first state to the second one call takes a row after the other.
    """
    if old is new or same(old.term, new.term):
        return flag(True)
    rows = [(source, target) for source, targets in table.items() for target in targets]
    reachable = {*rows, *((a, d) for a, b in rows for c, d in rows if b == c), *also}
    return either(old == new, *(both(old == source, new == target) for source, target in sorted(reachable)))


@claim("sometimes", source="PROTOCOL.md section 10", parts=("connections",))
def a_broker_leads_with_a_stale_version(s: State, m: Model, p: int, r: int) -> Value:
    """A running broker leads in the znode's leader_epoch, but caches an older version (somebody else's ISR write?)."""
    stale = s.brokers[r].partitions[p].version != s.zookeeper.state[p].version
    return both(s.processes[r].session != Session.NONE, leads(s, r, p), stale)


@claim("sometimes", source="PROTOCOL.md section 4", parts=("partitions",))
def a_replica_is_not_online(s: State, m: Model, c: int, p: int, r: int) -> Facts:
    """A controller knows of a replica that is neither new nor online."""
    state = s.controllers[c].partitions[p].replicas[r]
    yield from (state == one for one in (ReplicaState.OFFLINE, ReplicaState.DELETION_INELIGIBLE))


@claim("always", source="PROTOCOL.md section 4", witness="a_replica_is_not_online", parts=("partitions",))
def replicas_are_in_known_states(s: State, m: Model, c: int, p: int, r: int) -> Facts:
    """A topic's replicas are being deleted, or are deleted, only while the topic is queued for deletion.

    ReplicaDeletionIneligible says nothing of that: start-up gives it to the dead.
    """
    for state in (ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL):
        yield is_queued(s, m, c, p) | (s.controllers[c].partitions[p].replicas[r] != state)
