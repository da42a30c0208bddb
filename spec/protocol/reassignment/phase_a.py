"""Phase A of a reassignment, as long as the ISR lacks one of RAR: steps 1 to 4, which start the new replicas.

Kafka 0.10.2.2: `KafkaController.onPartitionReassignment`. PROTOCOL.md section 8.
"""

from spec.language.rules import require, reset, say, when
from spec.language.terms import both, either
from spec.logs.controller_log.reassignment import AssignmentUpdated, LeaderEpochUpdated, WaitingForNewReplicas
from spec.model import Model
from spec.protocol.context.assignment import assigned_set, write_assignment
from spec.protocol.context.deletion_marks import adding_raises
from spec.protocol.controller.places import controller_step
from spec.protocol.controller.resignation import controller_moved
from spec.protocol.leadership.state_writes import decide, forget_decision, write_decision
from spec.protocol.leadership_cache import assigned_replicas, is_cached
from spec.protocol.reassignment.leader_epoch import begin_bump, is_usable, tell_bumped
from spec.protocol.reassignment.requests import end_run, go_on, working_on
from spec.protocol.requests.batch import Batch, send
from spec.protocol.state_change_log import replica_goes, replica_stays
from spec.protocol.zookeeper import exists, is_fenced_off, note_read
from spec.state.cluster import State
from spec.state.enumerations import At
from spec.state.state_machines import has_started
from spec.tables.replica_states import ReplicaState

PARTS = ("reassignment",)
SOURCE = "KafkaController.onPartitionReassignment 0.10.2.2"


@controller_step(At.WRITE_UNION, source=f"{SOURCE}, step 1", parts=PARTS)
def write_union(s: State, m: Model, c: int, p: int) -> None:
    """Step 1: AR becomes RAR + OAR in the topic's znode, then in memory."""
    controller = s.controllers[c]
    working_on(s, c, p)
    wanted, assigned = controller.reassigned[p], assigned_replicas(s, m, c, p)
    fenced = is_fenced_off(s, m, c)
    with when(~fenced):
        controller.partitions[p].visiting = m.brokers.difference(m.brokers.members(wanted), m.brokers.members(assigned))
        write_assignment(s, m, c, p, m.brokers.merged(wanted, assigned))
        say(AssignmentUpdated, partition=p, replicas=controller.partitions[p].assigned)
        controller.at = At.BUMP_READ
        begin_bump(s, m, c, p)
    controller_moved(s, m, c, where=fenced)


@controller_step(At.BUMP_READ, source="KafkaController.updateLeaderEpoch 0.10.2.2", parts=PARTS)
def read_for_bump(s: State, m: Model, c: int, p: int) -> None:
    """Step 2: read the state znode; if it is absent or a newer controller's, that is an exception."""
    working_on(s, c, p)
    note_read(s, m, c, p)
    usable, znode = is_usable(s, c, p), s.zookeeper.state[p]
    with when(usable):
        decide(s, c, p, leader=znode.leader, isr=znode.isr, at=At.BUMP_WRITE)
    with when(~usable):
        end_run(s, m, c, p)


@controller_step(At.BUMP_WRITE, source="KafkaController.updateLeaderEpochAndSendRequest 0.10.2.2", parts=PARTS)
def write_bump(s: State, m: Model, c: int, p: int) -> None:
    """Step 2: write leader_epoch + 1, if the version is the one read, and tell all of AR; the cache stays behind.

    A replica machine that is not up refuses step 3, before it has read anything; that is only logged.
    """
    controller = s.controllers[c]
    working_on(s, c, p)
    done, again = write_decision(s, m, c, p)
    with when(done):
        say(LeaderEpochUpdated, partition=p, leader_epoch=s.zookeeper.state[p].leader_epoch)
        told = tell_bumped(s, m, c, p, assigned_set(s, m, c, p))
        with when(told):
            forget_decision(s, c, At.START_READ)
            with when(either(m.brokers.is_empty(controller.partitions[p].visiting), ~has_started(s, m, c))):
                reset(controller.partitions[p], "visiting")
                _wait(s, m, c, p)
    with when(again):
        forget_decision(s, c, At.BUMP_READ)


@controller_step(At.START_READ, source=f"{SOURCE}, step 3", parts=PARTS)
def start_new_replica(s: State, m: Model, c: int, p: int, r: int) -> None:
    """Step 3: a replica of RAR - OAR goes New and is sent what the state znode says, unless it is the leader there."""
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    cached = controller.partitions[p]
    working_on(s, c, p)
    require(m.brokers.in_set(r, cached.visiting))
    note_read(s, m, c, p)
    one = m.brokers.set_kind.constant((r,))
    starts = both(cached.replicas[r] == ReplicaState.NON_EXISTENT, ~both(exists(znode), znode.leader == r))
    with when(starts):
        raises = both(exists(znode), adding_raises(s, m, c))
        with when(raises):
            replica_stays(s, m, c, p, r, ReplicaState.NEW)
        with when(~raises):
            replica_goes(s, c, p, r, ReplicaState.NEW)
        with when(exists(znode)):
            known, content = {p: is_cached(cached)}, {(p, r): znode}
            batch = Batch(ordered={p: one}, metadata=known, everybody=True, about={p: True}, content=content)
            send(s, m, c, batch)
    with when(~starts):
        replica_stays(s, m, c, p, r, ReplicaState.NEW)
    cached.visiting = m.brokers.difference(cached.visiting, one)
    with when(m.brokers.is_empty(cached.visiting)):
        _wait(s, m, c, p)


def _wait(s: State, m: Model, c: int, p: int) -> None:
    """Step 4: the new replicas are to catch up; the handler is done with the partition."""
    say(WaitingForNewReplicas, partition=p, new_replicas=s.controllers[c].reassigned[p])
    go_on(s, m, c)
