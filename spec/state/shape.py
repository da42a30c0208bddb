"""The state of the whole: ZooKeeper's tree, the processes, what each controller and each broker remembers, the wires.

Every variable says which real thing it stands for. What was dropped on purpose:

* the data version of `/controller_epoch`, where somebody has been controller before: it is the epoch minus one, so a
  conditional write on the version read is one on the epoch read;
* a watch's event is put on its process's callback queue at the moment of the change; an expiry may lose the tail of the
  queue that had not reached the client;
* the logs that brokers replicate: being in sync is a matter of the ISR only, and a leader shrinks it at will. That a
  broker has a log of a partition on its disk (`logs`), which outlives the process, is kept where replicas are stopped;
* a pause needs no variable, since the scheduler need not choose a process.

Variables that hold nothing in a state keep their initial value, so that two states differ only where the protocol
could tell.
"""

from __future__ import annotations

import enum

from spec.language.rules import Leaf, Shape
from spec.language.terms import FLAG, Kind, enumeration, number
from spec.model import Model
from spec.state import purgatory as purgatory_state
from spec.state.brokers import broker, late_copy, leadership, slot
from spec.state.controller_parts import decision, deletion_manager, reassigning, topic_listeners
from spec.state.elections import elections_and_shutdowns, on_the_way_out
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch


class Session(enum.Enum):
    """A process's ZooKeeper session, as ZooKeeper has it."""

    NONE = "the process is not running"
    LIVE = "operations are done under it"
    EXPIRED = "ZooKeeper has ended it; operations block until the client has made a new one"


class Owes(enum.Enum):
    """Whether a process has still to create /brokers/ids/N, and on which thread."""

    NOTHING = "it is registered, or was"
    AFTER_ELECTION = "start-up does it, but has still to elect, under the controller lock"
    AT_START = "start-up does it next, without the lock; callbacks may run meanwhile"
    AFTER_EXPIRY = "a new-session handler does it; where there is a controller module, it waits in the event queue"
    GIVES_UP = "its id was taken, so it is not to be registered: the process is on its way out"


class Callback(enum.Enum):
    """An entry of ZkClient's event queue: which listener is to run. It carries no data; the listener reads afresh."""

    NONE = "an empty place"
    CONTROLLER = "/controller was created, changed or deleted"
    SESSION = "a new session was made after an expiry"
    REGISTRATION = "the same, for the listener that registers the broker; it comes right behind the controller's"
    BROKERS = "the children of /brokers/ids changed"
    TOPICS = "the children of /brokers/topics changed"
    ISR_CHANGES = "the children of /isr_change_notification changed"
    REASSIGNMENTS = "/admin/reassign_partitions was created, changed or deleted"
    STATE = "the state znode of a partition that is being reassigned changed"
    PREFERRED = "/admin/preferred_replica_election was created, changed or deleted"
    MODIFICATIONS = "a topic's znode was written"
    DELETIONS = "the children of /admin/delete_topics changed"


class At(enum.Enum):
    """What the holder of the controller lock does next; each is one ZooKeeper operation (IDLE: the lock is free)."""

    IDLE = "no controller code runs"
    ELECT_READ = "elect(): read /controller"
    ELECT_CREATE = "elect(): create /controller"
    ELECT_CREATE_AGAIN = "elect(): the create's answer was lost; create /controller again, under the same session"
    ELECT_SESSION_LOST = "elect(): likewise, but that session is no more, which ends the election"
    ELECT_REREAD = "elect(): somebody else won; read who"
    RESIGN_DELETE = "resign(): delete /controller"
    READ_EPOCH = "failover: read /controller_epoch"
    INCREMENT_EPOCH = "failover: write the epoch read plus one, if it is still that"
    CREATE_EPOCH = "failover: create /controller_epoch with 1"
    SUBSCRIBE = "failover: watch the children of the controller's paths"
    READ_BROKERS = "failover: read the live brokers"
    READ_BROKER_DATA = "broker change, before 0.10.0.0: read the data of the brokers that were listed"
    READ_TOPICS = "failover: read the topics and their assignments"
    READ_STATES = "failover: read the state znodes"
    ONLINE_READ = "partitions to OnlinePartition: read a state znode, or create it"
    ONLINE_WRITE = "partitions to OnlinePartition: write the elected leader, if the version is still the one read"
    REMOVE_READ = "replicas to OfflineReplica: read a state znode"
    REMOVE_WRITE = "replicas to OfflineReplica: write the ISR less the replica, if the version is still the one read"
    NEW_REPLICA_READ = "replicas to NewReplica: read a state znode"
    NOTIFIED_READ = "ISR change notification: read a state znode"
    NOTIFIED_DELETE = "ISR change notification: delete a handled notification"
    FINISH = "failover: delete /admin/preferred_replica_election"
    READ_REASSIGNMENTS = "failover: read /admin/reassign_partitions"
    REASSIGN_NEXT = "reassignment: begin with the next partition that is due"
    REASSIGN_READ = "reassignment: read whether the ISR has all of RAR"
    WRITE_UNION = "reassignment 1: write RAR + OAR to the topic's znode"
    BUMP_READ = "reassignment 2: read the state znode"
    BUMP_WRITE = "reassignment 2: write it with leader_epoch + 1, if the version is still the one read"
    START_READ = "reassignment 3: read the state znode for a replica that is to be started"
    MOVE_READ = "reassignment 7: read the state znode"
    MOVE_WRITE = "reassignment 7: write it with a leader of RAR, if the version is still the one read"
    WRITE_TARGET = "reassignment 10: write RAR to the topic's znode"
    COMPLETE_READ = "reassignment 11: read /admin/reassign_partitions"
    COMPLETE_WRITE = "reassignment 11: write it without the partition"
    REFUSE_READ = "reassignment refused or failed: read /admin/reassign_partitions"
    REFUSE_WRITE = "reassignment refused or failed: write it without the partition"
    READ_PREFERRED = "failover: read /admin/preferred_replica_election"
    DELETE_PREFERRED = "preferred election: delete /admin/preferred_replica_election"

    READ_DELETIONS = "failover: read which topics are to be deleted"
    DROP_REQUEST = "delete topics listener: delete a request that names no known topic"
    DELETE_QUEUED = "deletion thread: turn to the next queued topic"
    DELETE_STATE = "topic deletion: delete a state znode"
    DELETE_TOPIC = "topic deletion: delete the topic's znode"
    DELETE_CONFIGURATION = "topic deletion: delete the topic's configuration"
    DELETE_REQUEST = "topic deletion: delete the request"
    DEADLOCKED = "the lock's holder waits for a send thread that waits for the lock (D50)"


class Handler(enum.Enum):
    """Why the controller changes the states of partitions and replicas, which decides what follows."""

    NONE = "it does not"
    FAILOVER = "PartitionStateMachine.startup"
    STARTUP = "ReplicaStateMachine.startup, where it takes the dead Offline (2.3.0)"
    BROKER_STARTUP = "onBrokerStartup"
    BROKER_FAILURE = "onBrokerFailure"
    CREATION = "onNewPartitionCreation"
    REASSIGNMENT = "PartitionsReassignedListener"
    ISR_CHANGE = "ReassignedPartitionsIsrChangeListener"
    PREFERRED_ELECTION = "onPreferredReplicaElection, for a request"
    PENDING_ELECTION = "onPreferredReplicaElection, for what was pending at failover"
    DELETION_RETRY = "TopicDeletionManager.markTopicForDeletionRetry"
    DELETION_START = "TopicDeletionManager.startReplicaDeletion"
    SHUTDOWN = "shutdownBroker"
    REBALANCE = "onPreferredReplicaElection, for the automatic rebalance"


class DeletionThread(enum.Enum):
    """The topic deletion manager and its thread, which a failover makes in two places."""

    NONE = "neither"
    MANAGER_ONLY = "the manager is made, its thread is not: a resignation raises (D56)"
    RUNNING = "both"
    ENDED = "the thread was ended by an exception: nothing is deleted until the next failover"


def shape(m: Model) -> Shape:
    """The tree of variables of a model."""
    if m.has(purgatory_state.PART):
        return purgatory_state.shape(m)
    tree: dict[str, Shape] = {
        "zookeeper": _zookeeper(m),
        "processes": {b: _process(m) for b in m.brokers.ids},
        "controllers": {c: _controller(m) for c in m.controllers},
        "history": _history(m),
    }
    if m.has("partitions"):
        tree["brokers"] = {b: broker(m) for b in m.brokers.ids}
    if m.stops_replicas:
        tree["logs"] = {b: {p: Leaf(FLAG, False) for p in m.partitions if b in m.assigned(p)} for b in m.brokers.ids}
    if m.scope.budget("late_copies"):
        tree["late"] = {c: {b: {p: late_copy(m) for p in m.partitions} for b in m.brokers.ids} for c in m.controllers}
    if m.has("connections"):
        tree["connections"] = {c: {b: {k: slot(m) for k in m.slots} for b in m.brokers.ids} for c in m.controllers}
    if m.has("addition"):
        topic = {"topic": Leaf(m.topic_number, 0)} if len(m.topics) > 1 else {}
        tree["tool"] = {
            **topic,
            "adds": Leaf(FLAG, False),
            "assigned": {p: Leaf(m.brokers.list_kind, ()) for p in m.partitions},
        }
    if not m.proving:
        tree["budget"] = {name: Leaf(number(limit, "budget"), limit) for name, limit in m.scope.budgets if limit}
    return tree


def _zookeeper(m: Model) -> Shape:
    """The znodes, and which ephemeral ones belong to a dead process whose session lives on ("orphaned").

    Where there is reassignment or addition, `assigned` is AR as the topics' znodes say it, and `requested` RAR as
    /admin/reassign_partitions does (empty: it does not name the partition; all empty: it does not exist).
    """
    tree: dict[str, Shape] = {
        "controller": Leaf(m.brokers.id_kind, 0),
        "controller_orphaned": Leaf(FLAG, False),
        "epoch": Leaf(m.controller_epoch, 0),
        "registered": Leaf(m.brokers.set_kind, ()),
        "registered_orphaned": Leaf(m.brokers.set_kind, ()),
    }
    if m.counts_epoch_versions:
        tree["epoch_version"] = Leaf(m.controller_epoch, 0)
    if m.has("partitions"):
        tree["topics"] = {t: Leaf(FLAG, m.topics_stand) for t in m.topics}
        tree["state"] = {p: leadership(m) for p in m.partitions}
    if m.tells_topics_apart:
        tree["topic_ids"] = {t: Leaf(FLAG, False) for t in m.topics}
    if m.has("notifications"):
        tree["notified"] = {p: Leaf(m.notices.set_kind, ()) for p in m.partitions}
    if m.keeps_assignments:
        tree["assigned"] = {p: Leaf(m.brokers.list_kind, _at_start(m, p)) for p in m.partitions}
    if m.has("reassignment"):
        tree["requested"] = {p: Leaf(m.brokers.list_kind, ()) for p in m.partitions}
    if m.has("preferred_election"):
        tree["preferred"] = {p: Leaf(FLAG, False) for p in m.partitions}
    if m.has("deletion"):
        tree["configurations"] = {t: Leaf(FLAG, m.topics_stand) for t in m.topics}
        tree["deletions"] = {t: Leaf(FLAG, False) for t in m.topics}
    return tree


def _at_start(m: Model, p: int) -> tuple[int, ...]:
    """The AR in a topic's znode, if it is there from the start."""
    return m.first_assigned(p) if m.topics_stand and p not in m.scope.added else ()


def _process(m: Model) -> Shape:
    """A broker process: its session, and whether the session of its previous incarnation lives on."""
    return {
        "session": Leaf(enumeration(Session), Session.NONE),
        "orphan": Leaf(FLAG, False),
        "owes": Leaf(enumeration(Owes), Owes.NOTHING),
        **on_the_way_out(m),
    }


def _controller(m: Model) -> Shape:
    """The controller module of a broker: elector, context, state machines, threads and watches.

    `active` is "channel manager is not null", which is what Kafka calls being active; `acted` is a history variable:
    this term has written a znode or queued a request. `stranded` are brokers to which a failed failover left a
    channel that nobody owns. `listening`: which of the controller's own listeners are subscribed. `seen`, kept where
    broker epochs are, says that a registration is the very one that was read. `epoch_version`: the data version of
    /controller_epoch that the next conditional write, or fence, goes by. `taken`: the notifications that are being
    handled; `gone`: those that another controller has deleted meanwhile, known by places in which others may stand by
    now. `dirty`: the controller's own batch holds what an exception left in it; `started`, kept beside it: the state
    machines are up; `resigns_again`: a failover has found the batch dirty, and elect() is to resign for that, too.
    `created`: the topics whose creation is being handled. `listed`: the brokers of the first of two reads. `returned`:
    those of the dead that are back, and to be handled as new. `decided`: what is to be written next to the state znode
    of `partition`, on the version read.
    """
    tree: dict[str, Shape] = {
        "at": Leaf(enumeration(At), At.IDLE),
        "leader_id": Leaf(m.brokers.id_kind, 0),
        "epoch": Leaf(m.controller_epoch, 0),
        "active": Leaf(FLAG, False),
        "acted": Leaf(FLAG, False),
        "live": Leaf(m.brokers.set_kind, ()),
        "channels": Leaf(m.brokers.set_kind, ()),
        "stranded": Leaf(m.brokers.set_kind, ()),
        "deletion": Leaf(enumeration(DeletionThread), DeletionThread.NONE),
        "watching": {path: Leaf(FLAG, False) for path in watched_paths(m)},
        "listening": {path: Leaf(FLAG, False) for path in listened_paths(m)},
        "callbacks": {i: Leaf(_callback(m), Callback.NONE) for i in range(m.scope.callback_capacity)},
    }
    if m.counts_epoch_versions:
        tree["epoch_version"] = Leaf(m.controller_epoch, 0)
    if m.mends(Switch.BROKER_EPOCHS):
        tree["seen"] = {b: Leaf(FLAG, False) for b in m.brokers.ids}
    if "brokers_read_twice" in m.features:
        tree["listed"] = Leaf(m.brokers.set_kind, ())
    if m.has("partitions"):
        tree |= {
            "topics": {t: Leaf(FLAG, False) for t in m.topics},
            "partitions": {p: _cached_partition(m, p) for p in m.partitions},
            "handler": Leaf(enumeration(Handler), Handler.NONE),
            "partition": Leaf(m.partition_number, 0),
            "replica": Leaf(m.brokers.id_kind, 0),
            "read_version": Leaf(m.version, -1),
            "decided": decision(m),
            "dead": Leaf(m.brokers.set_kind, ()),
            "lost_leader": Leaf(FLAG, False),
        }
        if m.mends(Switch.BROKER_EPOCHS):
            tree["returned"] = Leaf(m.brokers.set_kind, ())
    tree |= _removed_topics(m)
    if m.has("notifications"):
        tree |= {"taken": Leaf(m.notices.set_kind, ()), "gone": Leaf(m.notices.set_kind, ())}
    if m.has("reassignment"):
        tree |= reassigning(m)
    if m.has("deletion"):
        tree |= deletion_manager(m)
    tree |= topic_listeners(m)
    tree |= elections_and_shutdowns(m)
    return tree


def _removed_topics(m: Model) -> dict[str, Shape]:
    """What a controller keeps only where topics may be gone without its doing, or new to one listener only.

    A batch may be dirty elsewhere, too, by a send that failed when the term was over.
    """
    kept = {"dirty": m.dirties_batch, "started": m.loses_topics, "resigns_again": m.loses_topics}
    names = [name for name, is_kept in kept.items() if is_kept]
    flags: dict[str, Shape] = {name: Leaf(FLAG, False) for name in names}
    if m.recreates_topics:
        flags["created"] = {t: Leaf(FLAG, False) for t in m.topics}
    if m.tells_topics_apart:
        flags["topic_ids"] = {t: Leaf(FLAG, False) for t in m.topics}
    return flags


def watched_paths(m: Model) -> dict[str, Callback]:
    """The paths whose watches are modelled, with the callback that each one queues."""
    paths = {"controller": Callback.CONTROLLER, "brokers": Callback.BROKERS}
    if m.has("creation") or m.has("deletion"):
        paths["topics"] = Callback.TOPICS
    if m.has("deletion"):
        paths["deletions"] = Callback.DELETIONS
    if m.has("notifications"):
        paths["isr_changes"] = Callback.ISR_CHANGES
    if m.has("reassignment"):
        paths["reassignments"] = Callback.REASSIGNMENTS
    if m.has("preferred_election"):
        paths["preferred"] = Callback.PREFERRED
    return paths


#: The listened paths whose callbacks an expiry queues behind that of /controller (ZkClient's order of hashes).
BEHIND_CONTROLLER = ("preferred",)


#: The paths with listeners on children as an expiry queues their callbacks, in ZkClient's order of hashes. Its table
#: has 16 places, or 32 (/isr_change_notification, /brokers/ids, /admin/delete_topics, /brokers/topics).
CHILDREN_BY_HASH = ("isr_changes", "brokers", "deletions", "topics")


def listened_paths(m: Model) -> dict[str, Callback]:
    """Those of the watched paths that only a controller listens to."""
    return {path: callback for path, callback in watched_paths(m).items() if path != "controller"}


def _callback(m: Model) -> Kind:
    """A place in an event queue; it has room for what is queued in this scope only, for queues are long."""
    order = list(Callback)
    queued = [Callback.REGISTRATION, *watched_paths(m).values()]
    queued += [Callback.STATE] if m.has("reassignment") else []
    queued += [Callback.MODIFICATIONS] if m.has("addition") else []
    return enumeration(Callback, max(queued, key=order.index))


def _cached_partition(m: Model, p: int) -> Shape:
    """A controller's cache of a partition, its two state machines, and where it stands in the running handler.

    Leadership is cached where `leader_epoch` is not -1. `todo`: still to be visited; `visiting`: replicas still to be
    visited; `batched`: brokers for which the running batch has a LeaderAndIsr. `found`: what the batch tells a replica
    that is not what is cached: a new one, of the state znode that there is already; one that has gone Offline, what it
    was told before. `assigned` is AR in memory. `named`: by an ISR change notification that is being handled.
    `informed`: everybody is to be told of a removal, kept where there may be no LeaderAndIsr of it.
    """
    found = {"found": {r: leadership(m) for r in m.assigned(p)}} if m.has("creation") else {}
    assigned = {"assigned": Leaf(m.brokers.list_kind, ())} if m.keeps_assignments else {}
    named = {"named": Leaf(FLAG, False)} if m.remembers_named else {}
    informed = {"informed": Leaf(FLAG, False)} if m.keeps_informed else {}
    return {
        **found,
        **assigned,
        **named,
        **informed,
        **leadership(m),
        "state": Leaf(enumeration(PartitionState), PartitionState.NON_EXISTENT),
        "replicas": {r: Leaf(enumeration(ReplicaState), ReplicaState.NON_EXISTENT) for r in m.assigned(p)},
        "todo": Leaf(FLAG, False),
        "visiting": Leaf(m.brokers.set_kind, ()),
        "batched": Leaf(m.brokers.set_kind, ()),
    }


def _history(m: Model) -> Shape:
    """What no process knows: in which controller epochs some term has acted, and how reassignments began.

    Enumerating keeps one flag an epoch. Proving watches one arbitrary epoch: a claim about it is a claim about all.
    `asked`: somebody has asked to delete a topic, and meant this one, not one before it that had its name. `original`
    is the AR in ZooKeeper when a partition's present reassignment was asked for, `caught_up` whether the ISR has had
    all of RAR since.
    """
    tree: dict[str, Shape] = {"acted": {e: Leaf(FLAG, False) for e in m.epochs_acted_in}}
    if m.proving:
        tree = {"watched": Leaf(m.controller_epoch, 0), "acted": Leaf(FLAG, False)}
    if m.has("remembered_requests"):
        tree["asked"] = {t: Leaf(FLAG, False) for t in m.topics}
    if m.has("reassignment"):
        tree["original"] = {p: Leaf(m.brokers.list_kind, ()) for p in m.partitions}
        tree["caught_up"] = {p: Leaf(FLAG, False) for p in m.partitions}
    return tree
