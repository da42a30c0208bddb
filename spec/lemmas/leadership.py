"""Lemmas about partitions: how the state znode and all its copies are related, and what a decision rests on.

What the znode of a partition says is copied into the controllers' caches, from there into requests, and by them into
the brokers' memories; leaders write it back. So there are many copies of one leadership, some of them old, and every
claim about brokers rests on a claim about any two copies. None of this depends on which broker is controller, or on how
many believe that they are: it is the conditional write that keeps it. A lemma that says nothing of a scope is None
there.
"""

from collections.abc import Iterator
from itertools import combinations

from spec.claims.leadership import is_deleted
from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, either, flag
from spec.lemmas.controller import is_at, only_the_current_writes
from spec.model import Model
from spec.protocol.leadership.partitions import election_of
from spec.protocol.leadership.replicas import without_replica
from spec.protocol.leadership_cache import is_cached
from spec.protocol.reassignment.phase_b import election_of_move
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At
from spec.state.zookeeper import Leadership
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch

#: Where a controller holds the version that it is about to write on.
HOLDS_A_VERSION = (At.ONLINE_WRITE, At.REMOVE_WRITE, At.BUMP_WRITE, At.MOVE_WRITE)


def copies(s: State, m: Model, p: int) -> Iterator[Leadership]:
    """Every copy of a partition's state znode: in caches, in batches, in requests that wait, in the brokers' memory."""
    yield from (s.controllers[c].partitions[p] for c in m.controllers)
    if m.has("creation"):
        yield from (s.controllers[c].partitions[p].found[r] for c in m.controllers for r in m.assigned(p))
    yield from (s.brokers[b].partitions[p] for b in m.assigned(p))
    if m.has("connections"):
        yield from (s.connections[c][b][k].partitions[p] for c in m.controllers for b in m.brokers.ids for k in m.slots)


def _all(s: State, m: Model, p: int) -> Iterator[Leadership]:
    """The state znode and every copy."""
    yield s.zookeeper.state[p]
    yield from copies(s, m, p)


def only_deletes(m: Model) -> bool:
    """Whether topics only go: none is created, moved, or gets more partitions, nor is one removed by hand."""
    return not (m.has("creation") or m.has("reassignment") or m.has("addition") or m.removes_topics)


def goes_for_good(m: Model) -> bool:
    """Whether a topic that the current controller deletes goes as a whole, and nobody brings it back."""
    return only_deletes(m) and only_the_current_writes(m) and m.fixes(Switch.ATOMIC_COMPLETION)


def _never_begins_anew(m: Model) -> bool:
    """Whether the versions and leader epochs of a state znode come once only: it is not deleted and created again."""
    return goes_for_good(m) or not m.topics_vanish


def every_copy_was_written(m: Model) -> bool:
    """Whether no copy says what somebody has only failed to write (S4), nor what was written of an earlier znode."""
    return _never_begins_anew(m) and (m.fixes(Switch.CACHE_WHAT_IS_WRITTEN) or not m.has("failed_removals"))


@lemma(source="PROTOCOL.md section 2", parts=("partitions",), where=every_copy_was_written)
def no_copy_is_ahead_of_the_znode(s: State, m: Model, p: int) -> Facts:
    """No copy of a partition's state has a higher version or leader_epoch than its znode, while there is one."""
    znode = s.zookeeper.state[p]
    for one in copies(s, m, p):
        behind = both(one.version <= znode.version, one.leader_epoch <= znode.leader_epoch)
        yield either(is_deleted(m, znode), behind)


@lemma(source="PROTOCOL.md section 2", parts=("partitions",))
def no_version_read_is_ahead_of_the_znode(s: State, m: Model, c: int, p: int) -> Value:
    """The version that a controller is about to write on was the znode's at some time: there is one, and none newer."""
    controller = s.controllers[c]
    znode = s.zookeeper.state[p]
    behind = either(is_deleted(m, znode), controller.read_version <= znode.version, not _never_begins_anew(m))
    read = both(controller.read_version != -1, behind)
    return both(is_at(controller, HOLDS_A_VERSION), controller.partition == p).implies(read)


@lemma(source="PROTOCOL.md section 2", parts=("partitions",), where=every_copy_was_written)
def leadership_has_a_version(s: State, m: Model, p: int) -> Facts:
    """The state znode and any copy have a leader_epoch exactly if they have a version; without, they have no leader."""
    for one in _all(s, m, p):
        yield (one.version == -1) == (one.leader_epoch == -1)
        yield (one.version == -1).implies(one.leader == 0)


@lemma(source="PROTOCOL.md section 2", parts=("partitions",), where=every_copy_was_written)
def the_same_version_is_the_same_leader_epoch(s: State, m: Model, p: int) -> Facts:
    """A copy with the znode's version has the znode's leader_epoch."""
    znodes = s.zookeeper.state
    for one in copies(s, m, p):
        yield (one.version == znodes[p].version).implies(one.leader_epoch == znodes[p].leader_epoch)


@lemma(source="PROTOCOL.md sections 1 and 10", parts=("partitions",), where=every_copy_was_written)
def a_leader_epoch_has_one_leader(s: State, m: Model, p: int) -> Facts:
    """The znode and all copies with the same leader_epoch name the same leader."""
    for one, other in combinations(_all(s, m, p), 2):
        yield (one.leader_epoch == other.leader_epoch).implies(one.leader == other.leader)


@lemma(source="PROTOCOL.md section 3", parts=("partitions",), where=_never_begins_anew)
def a_decision_stands_while_the_version_does(s: State, m: Model, c: int, p: int) -> Facts:
    """As long as the znode has the version read, what was decided on it would be decided again.

    It exists, no newer controller wrote it, and its leader_epoch is the one read. A leader can be elected, and is the
    one decided for, if that is what is being done; likewise for a removal.
    """
    controller = s.controllers[c]
    znode = s.zookeeper.state[p]
    unchanged = both(controller.partition == p, znode.version == controller.read_version)
    election = election_of(s, m, c, p)
    elected = both(election.possible, _is_decided(controller, election.leader, election.isr))
    not_newer = both(exists(znode), znode.controller_epoch <= controller.epoch)
    stands = both(not_newer, controller.decided.leader_epoch == znode.leader_epoch)
    yield both(controller.at == At.ONLINE_WRITE, unchanged).implies(both(stands, elected))
    yield both(controller.at == At.REMOVE_WRITE, unchanged).implies(stands)
    if m.has("reassignment"):
        kept = _is_decided(controller, znode.leader, znode.isr)
        yield both(controller.at == At.BUMP_WRITE, unchanged).implies(both(stands, kept))
        move = election_of_move(s, m, c, p)
        moved = both(move.possible, _is_decided(controller, move.leader, move.isr))
        yield both(controller.at == At.MOVE_WRITE, unchanged).implies(both(stands, moved))
    for r in m.assigned(p):
        removing = both(controller.at == At.REMOVE_WRITE, controller.replica == r, unchanged)
        yield removing.implies(_is_decided(controller, *without_replica(s, m, p, r)))


def _is_decided(controller: Controller, leader: Value, isr: Value) -> Value:
    return both(controller.decided.leader == leader, controller.decided.isr == isr)


@lemma(source="PROTOCOL.md section 3", parts=("partitions",))
def a_partition_without_a_znode_has_no_writer(s: State, m: Model, p: int) -> Value:
    """A state znode that does not exist names no controller_epoch."""
    znodes = s.zookeeper.state
    return exists(znodes[p]) | flag(znodes[p].controller_epoch == 0)


@lemma(
    source="PROTOCOL.md section 1", parts=("partitions",),
    where=lambda m: not all(set(m.assigned(p)) == set(m.brokers.ids) for p in m.partitions),
)  # fmt: skip
def copies_of_the_isr_are_assigned(s: State, m: Model, p: int) -> Facts:
    """The ISR of the znode and any copy, and one that a leader will write again, is within the assigned replicas."""
    memories = [s.brokers[b].partitions[p] for b in m.assigned(p)]
    lists = [one.isr for one in _all(s, m, p)] + [one.retrying for one in memories]
    assigned = m.brokers.set_kind.constant(m.assigned(p))
    yield from (m.brokers.is_subset(m.brokers.members(one), assigned) for one in lists)


@lemma(source="PROTOCOL.md section 7.3", parts=("creation",))
def an_unknown_topic_is_in_no_state(s: State, m: Model, c: int, p: int) -> Facts:
    """A controller does nothing about a topic that it does not know; its partitions and replicas are in no state."""
    controller, topic = s.controllers[c], m.topic_of(p)
    yield controller.topics[topic] | is_in_no_state(s, m, c, p)
    yield controller.topics[topic].implies(s.zookeeper.topics[topic])


def is_in_no_state(s: State, m: Model, c: int, p: int) -> Value:
    """Whether a controller does nothing about a partition, and has no state for it or its replicas."""
    controller = s.controllers[c]
    cached = controller.partitions[p]
    return both(
        ~both(controller.at == At.READ_STATES, cached.todo),
        ~both(is_at(controller, HOLDS_A_VERSION), controller.partition == p),
        m.brokers.is_empty(cached.visiting),
        ~is_cached(cached),
        cached.state == PartitionState.NON_EXISTENT,
        *(cached.replicas[r] == ReplicaState.NON_EXISTENT for r in m.assigned(p)),
    )


@lemma(source="PROTOCOL.md section 7.3", parts=("creation",))
def a_replica_to_be_new_is_in_no_state_yet(s: State, m: Model, c: int, p: int, r: int) -> Value:
    """A replica that is still to be taken to NewReplica is in no state."""
    cached = s.controllers[c].partitions[p]
    waits = both(s.controllers[c].at == At.NEW_REPLICA_READ, m.brokers.in_set(r, cached.visiting))
    return waits.implies(cached.replicas[r] == ReplicaState.NON_EXISTENT)
