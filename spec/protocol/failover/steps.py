"""Failover: what a broker does, in this order, between winning /controller and being the working controller.

Read the epoch, increment it, watch, read everything, open the channels, tell every broker about every partition, start
the replica machine, start the partition machine (which elects leaders for what is New or Offline), clean up. An
exception anywhere ends in the elector's resign().

The increment is where two terms may come to share an epoch (D1): when the conditional write fails, 0.10.2 raises
ControllerMoved, catches it itself a few lines below, logs, and goes on with the epoch that it *read*. And the first
epoch may be written twice: a controller that found no /controller_epoch writes 1 on version 0, its memory's initial
value, which is also the version of the znode that another controller has just created with 1.

What a failover does about requests of admins and about the automatic rebalance is in the modules of those parts; the
deletion manager and its thread are kept also where nothing is deleted, because of D56.

Three steps are several operations of ZooKeeper each: all children are watched in one (nothing is read before the last
watch is set); /brokers/ids and each broker's data are read in one; so are /brokers/topics and each topic's AR. Left out
is what comes between those (spec/protocol/broker_events/broker_changes.py, spec/protocol/topics/creation.py tell what
that is); and that 0.8.2, whose failover runs on top of an earlier one, raises where that had begun to rebalance.

Kafka 0.10.2.2: `KafkaController.onControllerFailover`, `incrementControllerEpoch`, `initializeControllerContext`,
`ReplicaStateMachine.startup`, `PartitionStateMachine.startup`. PROTOCOL.md section 6.
"""

from spec.language.rules import observe, require, reset, say, successor, when
from spec.language.terms import both, either, flag
from spec.logs.controller_log.failover import EpochIncremented, EpochIncrementFailed, EpochRead
from spec.model import Model
from spec.protocol.context.assignment import is_there, read_assignments
from spec.protocol.controller.controller_batch import tell_all
from spec.protocol.controller.places import controller_step
from spec.protocol.controller.resignation import controller_moved, elector_resigns, forget_epoch_version
from spec.protocol.controller.threads import become_idle
from spec.protocol.deletion.queue import wake
from spec.protocol.elections.requested import load_pending_elections, remove_request, run_pending_elections
from spec.protocol.failover.machine_startup import machines_run, start_state_machines
from spec.protocol.leadership.state_writes import cache_state
from spec.protocol.reassignment.requests import resume_reassignments
from spec.protocol.requests.batch import FIELDS
from spec.protocol.requests.connections import in_the_way, join_left_overs, openable
from spec.protocol.topics.addition import listen_to_topic, topic_is_read
from spec.protocol.topics.removal_by_hand import read_topic_id
from spec.protocol.zookeeper import epoch_is_as_read, is_read_in_vain
from spec.state.cluster import State
from spec.state.enumerations import At, DeletionThread, Handler
from spec.state.listeners import listened_paths
from spec.state.zookeeper import ZooKeeper
from spec.variants import Switch

#: Where a failover may be ended by an exception; the state machines catch what goes wrong with a partition.
FAILOVER = (
    At.READ_EPOCH, At.INCREMENT_EPOCH, At.CREATE_EPOCH, At.SUBSCRIBE, At.READ_BROKERS, At.READ_TOPICS, At.READ_STATES,
    At.READ_ELECTIONS, At.READ_REASSIGNMENTS, At.READ_DELETIONS, At.FINISH,
)  # fmt: skip


@controller_step(
    At.READ_EPOCH, source="KafkaController.readControllerEpochFromZookeeper 0.10.2.2", parts=("separate_epoch",)
)
def read_epoch(s: State, m: Model, c: int) -> None:
    """Failover 1: read /controller_epoch, and its version, into the context."""
    controller = s.controllers[c]
    with when(s.zookeeper.epoch != 0):
        controller.epoch = s.zookeeper.epoch
        if m.keeps(ZooKeeper.epoch_version):
            controller.epoch_version = s.zookeeper.epoch_version
            say(EpochRead, epoch=controller.epoch, epoch_zk_version=controller.epoch_version)
        else:
            say(EpochRead, epoch=controller.epoch)
    observe(f"controller {c}", "read /controller_epoch", epoch=s.zookeeper.epoch)
    controller.at = At.INCREMENT_EPOCH


@controller_step(
    At.INCREMENT_EPOCH, source="KafkaController.incrementControllerEpoch 0.10.2.2", parts=("separate_epoch",)
)
def increment_epoch(s: State, m: Model, c: int) -> None:
    """Failover 2: write the epoch read plus one, if the znode still has the version read.

    Without a znode it goes by version 0, which is also the version of a znode that was created since.
    """
    controller, zookeeper = s.controllers[c], s.zookeeper
    absent = flag(zookeeper.epoch == 0)
    unchanged = both(~absent, epoch_is_as_read(s, m, c))
    with when(unchanged):
        _write_next_epoch(s, m, c)
        controller.epoch = s.zookeeper.epoch
        say(EpochIncremented, epoch=controller.epoch)
        controller.at = At.SUBSCRIBE
        hold_epoch_version(s, m, c)
    with when(absent):
        controller.at = At.CREATE_EPOCH
    with when(~absent & ~unchanged):
        observe(f"controller {c}", "fail to write /controller_epoch", epoch=controller.epoch)
        say(EpochIncrementFailed)
        if m.fixes(Switch.RESIGN_ON_EPOCH_CONFLICT):
            elector_resigns(s, m, c)
        else:
            say(EpochIncremented, epoch=controller.epoch)
            controller.at = At.SUBSCRIBE
            forget_epoch_version(controller, m)


def _write_next_epoch(s: State, m: Model, c: int) -> None:
    s.zookeeper.epoch = successor(s.controllers[c].epoch)
    if m.keeps(ZooKeeper.epoch_version):
        s.zookeeper.epoch_version = successor(s.zookeeper.epoch_version)
    observe(f"controller {c}", "write /controller_epoch", epoch=s.zookeeper.epoch)


def hold_epoch_version(s: State, m: Model, c: int) -> None:
    """A controller's fence goes by the version that it has made."""
    s.controllers[c].epoch_version = s.zookeeper.epoch_version
    forget_epoch_version(s.controllers[c], m)


@controller_step(
    At.INCREMENT_EPOCH,
    source="KafkaController.incrementControllerEpoch 0.10.2.2",
    budget="losses",
    parts=("separate_epoch",),
)
def increment_epoch_unanswered(s: State, m: Model, c: int) -> None:
    """Failover 2: the write is applied, but the connection is lost before the answer; the client will write again."""
    require(s.zookeeper.epoch != 0, epoch_is_as_read(s, m, c))
    _write_next_epoch(s, m, c)


@controller_step(
    At.CREATE_EPOCH, source="KafkaController.incrementControllerEpoch 0.10.2.2, NoNode", parts=("separate_epoch",)
)
def create_epoch(s: State, m: Model, c: int) -> None:
    """Failover 2, the first time ever: create /controller_epoch with 1; if it exists by now, give up."""
    controller = s.controllers[c]
    absent = flag(s.zookeeper.epoch == 0)
    with when(absent):
        _create_first_epoch(s, c)
        controller.epoch = 1
        say(EpochIncremented, epoch=controller.epoch)
        controller.at = At.SUBSCRIBE
        hold_epoch_version(s, m, c)
    with when(~absent):
        observe(f"controller {c}", "fail to create /controller_epoch")
        elector_resigns(s, m, c)


@controller_step(
    At.CREATE_EPOCH,
    source="KafkaController.incrementControllerEpoch 0.10.2.2, NoNode",
    budget="losses",
    parts=("separate_epoch",),
)
def create_epoch_unanswered(s: State, m: Model, c: int) -> None:
    """Failover 2, the first time ever: the create is applied, but its answer is lost; the next one finds the znode."""
    require(s.zookeeper.epoch == 0)
    _create_first_epoch(s, c)


def _create_first_epoch(s: State, c: int) -> None:
    """/controller_epoch appears, with data version 0."""
    s.zookeeper.epoch = 1
    observe(f"controller {c}", "create /controller_epoch", epoch=1)


@controller_step(At.SUBSCRIBE, source="KafkaController.onControllerFailover 0.10.2.2, steps 3 to 6")
def subscribe(s: State, m: Model, c: int) -> None:
    """Failover 3-6: watch the children of the paths that only the controller watches."""
    controller = s.controllers[c]
    for path in listened_paths(m):
        controller.watching[path] = True
        controller.listening[path] = True
    controller.at = At.READ_BROKERS


@controller_step(At.READ_BROKERS, source="KafkaController.initializeControllerContext 0.10.2.2")
def read_brokers(s: State, m: Model, c: int) -> None:
    """Failover 7: the live brokers are those registered now."""
    controller = s.controllers[c]
    controller.live = s.zookeeper.registered
    reset(controller, "shutting_down")  # of which a new controller knows none (`initializeControllerContext`)
    controller.watching["brokers"] = True
    for b in m.brokers.ids:
        controller.seen[b] = m.brokers.in_set(b, s.zookeeper.registered)
    observe(f"controller {c}", "read /brokers/ids", brokers=s.zookeeper.registered)
    if m.has("partitions"):
        controller.at = At.READ_TOPICS
    else:
        start_machines(s, m, c)


@controller_step(At.READ_TOPICS, source="initializeControllerContext 0.10.2.2", parts=("partitions",))
def read_topics(s: State, m: Model, c: int) -> None:
    """Failover 7: read the topics and their assignments; forget all leadership, then read it afresh."""
    controller = s.controllers[c]
    for topic in m.topics:
        controller.topics[topic] = s.zookeeper.topics[topic]
        read_topic_id(s, c, topic)
        if m.fixes(Switch.LISTEN_BEFORE_READING):
            with when(s.zookeeper.topics[topic]):
                listen_to_topic(s, c, topic)
        topic_is_read(s, c, topic)
        read_assignments(s, m, c, topic)
    if "topics" in controller.watching:
        controller.watching["topics"] = True
    for p in m.partitions:
        for name in FIELDS:
            reset(controller.partitions[p], name)
        there = is_there(s, m, c, p) if m.has("addition") else True
        controller.partitions[p].todo = both(s.zookeeper.topics[m.topic_of(p)], there)
    controller.at = At.READ_STATES
    with when(~either(*(controller.partitions[p].todo for p in m.partitions))):
        start_machines(s, m, c)


@controller_step(At.READ_STATES, source="updateLeaderAndIsrCache 0.10.2.2", parts=("partitions",))
def read_state(s: State, m: Model, c: int, p: int) -> None:
    """Failover 7: read a state znode into the cache; after the last one the channels and the machines start.

    AR was read before: a controller with a successor by now puts the successor's leadership beside its own, older AR
    (S6).
    """
    controller = s.controllers[c]
    cached = controller.partitions[p]
    require(cached.todo)
    fenced = is_read_in_vain(s, m, c)
    with when(~fenced):
        cache_state(s, c, p)
        cached.todo = False
        with when(~either(*(controller.partitions[q].todo for q in m.partitions))):
            start_machines(s, m, c)
    controller_moved(s, m, c, where=fenced)


def start_machines(s: State, m: Model, c: int) -> None:
    """Failover 7: open the channels, unless left-overs of an earlier term forbid it (D56); then read on, or start up.

    Channels opened before the exception belong to nobody and are never closed. Nor are the left-overs to brokers that
    are not live, which forbid nothing: the new channel manager takes the place of the one that owned them.
    """
    controller = s.controllers[c]
    left_over = m.brokers.union(controller.channels, controller.stranded)
    blocked = ~m.brokers.disjoint(in_the_way(m, left_over), controller.live)
    with when(blocked):
        observe(f"controller {c}", "fail on left-over channels")
        opened = openable(m, controller.live, left_over)
        controller.stranded = m.brokers.union(controller.stranded, opened)
        elector_resigns(s, m, c)
    with when(~blocked):
        controller.stranded = left_over
        controller.channels = controller.live
        join_left_overs(s, m, c)
        controller.active = True
        load_pending_elections(s, m, c)


def after_election_request(s: State, m: Model, c: int) -> None:
    """Failover 7: what is being reassigned is read next, where anything may be."""
    if m.has("reassignment"):
        s.controllers[c].at = At.READ_REASSIGNMENTS
    else:
        load_deletions(s, m, c)


def load_deletions(s: State, m: Model, c: int) -> None:
    """Failover 7 (last): read which topics are to be deleted, where any may be."""
    if m.has("deletion"):
        s.controllers[c].at = At.READ_DELETIONS
    else:
        start_state_machines(s, m, c)


def resume(s: State, m: Model, c: int) -> None:
    """Failover 12: the machines run; resume what is being reassigned, then what is pending of elections."""
    controller = s.controllers[c]
    machines_run(s, m, c)
    controller.handler = Handler.NONE
    if not m.fixes(Switch.LISTEN_BEFORE_READING):
        for t in m.topics:
            with when(controller.topics[t]):
                listen_to_topic(s, c, t)
    reassigning = either(*(controller.reassigned[p] != () for p in m.partitions))
    resume_reassignments(s, m, c)
    with when(~reassigning):
        run_pending_elections(s, m, c)


@controller_step(At.FINISH, source="onControllerFailover 0.10.2.2, steps 11 to 16")
def finish_failover(s: State, m: Model, c: int) -> None:
    """Failover 13: delete the request for elections, if any; the deletion thread starts, and the lock is free."""
    controller = s.controllers[c]
    with when(remove_request(s, m, c)):
        told = tell_all(s, m, c, in_failover=True) if m.reintroduces(Switch.METADATA_LAST) else flag(True)
        with when(told):
            controller.deletion = DeletionThread.RUNNING
            wake(s, m, c)
            observe(f"controller {c}", "ready", epoch=controller.epoch)
            become_idle(s, c)


@controller_step(
    *FAILOVER,
    source="ZookeeperLeaderElector.elect 0.10.2.2, case e: Throwable",
    budget="exceptions",
    over_session=False,
)
def fail_failover(s: State, m: Model, c: int) -> None:
    """An unexpected exception ends the failover; the elector resigns."""
    observe(f"controller {c}", "fail in failover")
    elector_resigns(s, m, c)
