"""Partition addition: a topic gets more partitions than it was created with.

The tool reads the topic's znode, and writes back what it read with the new partitions and their replicas, asking
neither for the version nor whether the znode is still there: what a reassignment has written meanwhile is undone
(D39), and a topic that was deleted meanwhile is there again (D17). The controller listens to the znode: partitions that
it does not know go the way of a new topic's. It skips them where the topic is queued for deletion, and takes no notice
of other changes: its own, and those that somebody makes by hand (spec/protocol/topics/edit_by_hand.py).

The listener is subscribed to when a topic is first known, or near the end of a failover, long after the znode was read:
what is added in between is noticed with the next change only.

Kafka 0.10.2.2: `AdminUtils.addPartitions`, `PartitionStateMachine.PartitionModificationsListener`. PROTOCOL.md section
7.3.
"""

from spec.language.rules import action, in_any_order, observe, require, reset, say, when
from spec.language.terms import both, either
from spec.logs.controller_log.topics import PartitionsAdded
from spec.logs.state_change_lines import PartitionBecameNew
from spec.model import Model
from spec.protocol.context.deletion_marks import is_queued
from spec.protocol.controller.places import listener
from spec.protocol.controller.threads import rearm_topic_watch
from spec.protocol.leadership_cache import assigned_replicas
from spec.protocol.state_change_log import log, partition_stays, replica_stays
from spec.protocol.zookeeper import notify, take_head, topic_changed
from spec.state.cluster import State
from spec.state.enumerations import At, Callback
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.tables.taken_rows import move
from spec.variants import Switch

PARTS = ("addition",)


@action(actor="admin", source="AdminUtils.addPartitions 0.10.2.2", budget="additions", parts=PARTS)
def read_for_addition(s: State, m: Model, t: int) -> None:
    """The tool reads which partitions a topic has, and decides on more."""
    require(s.zookeeper.topics[t], ~s.tool.adds)
    s.tool.adds = True
    s.tool.topic = t
    for p in m.partitions_of(t):
        s.tool.assigned[p] = s.zookeeper.assigned[p]
    observe("admin", "read assignment", topic=t)


@action(actor="admin", source="AdminUtils.addPartitions 0.10.2.2, ZkUtils.updatePersistentPath", parts=PARTS)
def write_addition(s: State, m: Model, t: int) -> None:
    """The tool writes what it read, with the new partitions; a znode that is gone is created again."""
    zookeeper, tool = s.zookeeper, s.tool
    require(tool.adds, tool.topic == t)
    as_read = both(zookeeper.topics[t], *(zookeeper.assigned[p] == tool.assigned[p] for p in m.partitions_of(t)))
    with when(as_read | (not m.fixes(Switch.KEEP_OTHERS_ASSIGNMENTS))):
        with when(~zookeeper.topics[t]):
            zookeeper.topics[t] = True
            notify(s, m, "topics")
        for p in m.partitions_of(t):
            zookeeper.assigned[p] = m.first_assigned(p) if p in m.scope.added else tool.assigned[p]
        observe("admin", "add partitions", topic=t)
        topic_changed(s, m, t)
    reset(tool)


@listener(Callback.MODIFICATIONS, source="PartitionModificationsListener 0.10.2.2", parts=PARTS)
def on_partition_modifications(s: State, m: Model, c: int, t: int) -> None:
    """A topic's znode changed: partitions that are not known go New, unless the topic is queued for deletion."""
    controller = s.controllers[c]
    require(controller.active)
    require(controller.concerns[0] == t)
    rearm_topic_watch(s, m, c)
    take_head(s, m, c)
    unknown = {
        p: both(s.zookeeper.assigned[p] != (), assigned_replicas(s, m, c, p) == (), ~is_queued(s, m, c, p))
        for p in m.partitions_of(t)
    }
    with when(either(*unknown.values())):
        say(PartitionsAdded, assignment={p: (added, s.zookeeper.assigned[p]) for p, added in unknown.items()})
    with in_any_order():
        for p, is_unknown in unknown.items():
            with when(is_unknown):
                _track(s, m, c, p)
    observe(f"controller {c}", "read assignment", topic=t)


def _track(s: State, m: Model, c: int, p: int) -> None:
    """A partition that was not known goes New, and its replicas are to; the table refuses what is left of another."""
    controller, replicas = s.controllers[c], s.zookeeper.assigned[p]
    cached = controller.partitions[p]
    cached.assigned = replicas
    cached.visiting = m.brokers.members(replicas)
    controller.at = At.NEW_REPLICA_READ
    with when(cached.state != PartitionState.NON_EXISTENT):
        partition_stays(s, m, c, p, target=PartitionState.NEW)
    with when(cached.state == PartitionState.NON_EXISTENT):
        become_new(s, m, c, p)
        cached.todo = True


def become_new(s: State, m: Model, c: int, p: int) -> None:
    """A partition goes New, with its assigned replicas."""
    cached, replicas = s.controllers[c].partitions[p], assigned_replicas(s, m, c, p)
    fields = {"source": cached.state, "target": PartitionState.NEW, "assigned_replicas": replicas}
    log(s, c, PartitionBecameNew, partition=p, **fields)
    move(cached, "state", PartitionState.NEW)


def refuse_new_replicas(s: State, m: Model, c: int, p: int) -> None:
    """The replicas that are left over from a topic before this one do not go New."""
    for r in m.assigned(p):
        with when(s.controllers[c].partitions[p].replicas[r] != ReplicaState.NON_EXISTENT):
            replica_stays(s, m, c, p, r, ReplicaState.NEW, perhaps=True)


def listen_to_topic(s: State, c: int, t: int) -> None:
    """A topic's znode is listened to; nothing is read."""
    s.controllers[c].topic_listening[t] = True
    s.controllers[c].topic_watching[t] = True


def topic_is_read(s: State, c: int, t: int) -> None:
    """The read of a topic's znode, if it is there, sets the watch of a listener that an earlier term has left."""
    controller = s.controllers[c]
    with when(both(s.zookeeper.topics[t], controller.topic_listening[t])):
        controller.topic_watching[t] = True
