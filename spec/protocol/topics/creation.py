"""Topic creation: from the tool's znode to the first leader.

The tool creates `/brokers/topics/T` with the assignment; the controller's listener finds a topic that it does not know,
takes its partitions to New, their replicas to New (which looks for a state znode, and normally finds none), the
partitions to Online (which creates it) and the replicas to Online.

Partitions that are added to a topic go the same way (spec/protocol/topics/addition.py).
spec/protocol/deletion/thread.py says how topics go.

The tool writes the configuration and the topic's znode in one step. So does the listener read the children, and AR of
each new topic, to whose znode it then subscribes. Left out, therefore: a tool that dies in between, and leaves a
configuration alone; a partition added behind the read of AR and before the subscription, noticed with the next change;
a topic that goes between the read of the children and that of its AR, and is known by its name only. If that one is
back before the children are read again it is not new, and nobody creates it until its znode is written or another
controller comes.

Kafka 0.10.2.2: `PartitionStateMachine.TopicChangeListener`, `KafkaController.onNewPartitionCreation`. PROTOCOL.md
section 7.3.
"""

from collections.abc import Mapping

from spec.language.rules import action, in_any_order, observe, require, reset, say, when
from spec.language.terms import Value, both, either, flag
from spec.logs.controller_log.topics import TopicDifference
from spec.model import Model
from spec.protocol.context.assignment import assigned_set, forget_assignments, is_there, read_assignments
from spec.protocol.context.deletion_marks import adding_raises, is_queued
from spec.protocol.controller.early_reads import content_for, given
from spec.protocol.controller.places import controller_step, listener
from spec.protocol.controller.threads import become_idle
from spec.protocol.leadership.partitions import begin_visits, can_be_visited
from spec.protocol.requests.batch import FIELDS, Batch, send
from spec.protocol.state_change_log import partition_stays, refused, replica_goes, replica_stays
from spec.protocol.topics.addition import become_new, listen_to_topic, refuse_new_replicas
from spec.protocol.topics.recreation import is_elected_again, tell_of_left_overs
from spec.protocol.topics.removal_by_hand import forget_leadership, read_topic_id
from spec.protocol.zookeeper import exists, notify, take_head, topic_changed
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, Callback, Handler
from spec.state.state_machines import has_started
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch


@action(actor="admin", source="AdminUtils.createTopic 0.10.2.2", budget="creations", parts=("creation",))
def create_topic(s: State, m: Model, t: int) -> None:
    """The admin tool creates a topic's znode with its assignment."""
    require(~s.zookeeper.topics[t])
    s.zookeeper.topics[t] = True
    for p in m.partitions_of(t):
        s.zookeeper.assigned[p] = () if p in m.scope.added else m.first_assigned(p)
    s.zookeeper.configurations[t] = True
    s.zookeeper.topic_ids[t] = ~s.zookeeper.topic_ids[t]
    observe("admin", "create topic", topic=t)
    if m.keeps(Controller.given_topics):
        topic_changed(s, m, t)
    notify(s, m, "topics")


@listener(Callback.TOPICS, source="TopicChangeListener 0.10.2.2", parts=("changing_topics",))
def on_topic_change(s: State, m: Model, c: int) -> None:
    """The topics changed: new ones are tracked, their partitions New, their replicas to be New."""
    controller = s.controllers[c]
    require(controller.active)
    there, known = content_for(s, m, c, "topics"), controller.topics
    with when(~given(s, c)):
        controller.watching["topics"] = True
    take_head(s, m, c)
    started = has_started(s, m, c)
    with when(started):
        new_topics = {t: both(there[t], ~known[t]) for t in m.topics}
        say(TopicDifference, new=new_topics, deleted={t: both(~there[t], known[t]) for t in m.topics})
    with in_any_order():
        _take_over(s, m, c, there, started)
    with when(both(either(*(controller.created[t] for t in m.topics)), ~_are_replicas_due(s, m, c))):
        _partitions_to_online(s, m, c)


def _take_over(s: State, m: Model, c: int, children: Mapping[int, Value], started: Value) -> None:
    """What the children are: those that are gone are forgotten, those that are new are tracked."""
    controller = s.controllers[c]
    for topic, there in children.items():
        new = both(started, there, ~controller.topics[topic])
        if m.topics_vanish:
            _forget_vanished(s, m, c, topic, there, started)
        with when(new):
            _track(s, m, c, topic)


def _track(s: State, m: Model, c: int, topic: int) -> None:
    """A new topic: its partitions go New, its replicas are to.

    Where states are left over from a topic of that name that vanished, the table refuses. The rest of the creation goes
    on with what they are (D53; spec/protocol/topics/recreation.py).
    """
    controller = s.controllers[c]
    controller.topics[topic] = True
    read_topic_id(s, c, topic)
    read_assignments(s, m, c, topic)
    controller.modified[topic] = True
    listen_to_topic(s, c, topic)
    controller.created[topic] = True
    for p in m.partitions_of(topic):
        cached, assigned = controller.partitions[p], assigned_set(s, m, c, p)
        there = unknown = is_there(s, m, c, p)
        if m.topics_vanish:
            unknown = both(there, cached.state == PartitionState.NON_EXISTENT)
            fresh = {r: cached.replicas[r] == ReplicaState.NON_EXISTENT for r in m.assigned(p)}
            assigned = m.brokers.intersection(assigned, m.brokers.set_from(fresh))
        with when(unknown):
            become_new(s, m, c, p)
        with when(both(there, ~unknown)):
            partition_stays(s, m, c, p, target=PartitionState.NEW)
        refuse_new_replicas(s, m, c, p)
        with when(there if m.keeps(Controller.created) else unknown):
            cached.todo = True
        cached.visiting = assigned
        with when(~m.brokers.is_empty(assigned)):
            controller.at = At.NEW_REPLICA_READ


def _forget_vanished(s: State, m: Model, c: int, topic: int, there: Value, started: Value) -> None:
    """A topic that is gone without this controller's doing is no longer known; all else about it stays (D53).

    A controller whose machines are not up does not look.
    """
    looks = started if m.loses_topics else flag(True)
    with when(both(looks, ~there)):
        with when(s.controllers[c].topics[topic]):
            forget_leadership(s, m, c, topic)
        forget_assignments(s, m, c, topic)


@controller_step(At.NEW_REPLICA_READ, source="ReplicaStateMachine.handleStateChange 0.10.2.2", parts=("creation",))
def read_for_new_replica(s: State, m: Model, c: int, p: int, r: int) -> None:
    """To NewReplica: read the state znode; if there is one, the replica is to be sent it, unless it is its leader."""
    controller, znode = s.controllers[c], s.zookeeper.state[p]
    cached = controller.partitions[p]
    require(m.brokers.in_set(r, cached.visiting))
    one = m.brokers.set_kind.constant((r,))
    present, leads = exists(znode), flag(znode.leader == r)
    with when(both(present, ~leads)):
        cached.batched = m.brokers.union(cached.batched, one)
        for name in FIELDS:
            cached.found[r][name] = znode[name]
    refuse_new_replicas(s, m, c, p)
    starts = ~both(present, leads | adding_raises(s, m, c))
    with when(~starts):
        replica_stays(s, m, c, p, r, ReplicaState.NEW)
    with when(starts):
        replica_goes(s, c, p, r, ReplicaState.NEW)
    cached.visiting = m.brokers.difference(cached.visiting, one)
    with when(~_are_replicas_due(s, m, c)):
        _tell_new_replicas(s, m, c)
        _partitions_to_online(s, m, c)


def _are_replicas_due(s: State, m: Model, c: int) -> Value:
    """Whether there are new replicas whose state znode is still to be read."""
    return either(*(~m.brokers.is_empty(s.controllers[c].partitions[p].visiting) for p in m.partitions))


def _tell_new_replicas(s: State, m: Model, c: int) -> None:
    """One batch for all new replicas; UpdateMetadata names no partition, since the leadership is not cached."""
    partitions = s.controllers[c].partitions
    told = {p: partitions[p].batched for p in m.partitions}
    content = {(p, r): partitions[p].found[r] for p in m.partitions for r in m.assigned(p)}
    about = {p: ~m.brokers.is_empty(brokers) for p, brokers in told.items()}
    send(s, m, c, Batch(ordered=told, everybody=either(*about.values()), about=about, content=content))
    for p in m.partitions:
        reset(partitions[p], "batched", "found")


def _partitions_to_online(s: State, m: Model, c: int) -> None:
    """Visit those of the new partitions that have a live replica; without any, the creation is done."""
    partitions = s.controllers[c].partitions
    visited = {p: both(partitions[p].todo, _is_due(s, m, c, p)) for p in m.partitions}
    for p in m.partitions:
        partitions[p].todo = False
    begin_visits(s, m, c, Handler.CREATION, visited)
    with when(~either(*visited.values())):
        finish_creation(s, m, c)


def _is_due(s: State, m: Model, c: int, p: int) -> Value:
    """Whether bringing a new partition online takes a ZooKeeper operation.

    Unless that is fixed also where the topic is queued for deletion, as one is whose request was there before it.
    """
    due = can_be_visited(s, m, c, p)
    if m.keeps(Controller.created):
        due = either(due, is_elected_again(s, c, p))
    return both(~is_queued(s, m, c, p), due) if m.fixes(Switch.DYING_TOPICS_GET_NO_LEADERSHIP) else due


def finish_creation(s: State, m: Model, c: int) -> None:
    """The replicas go from New to Online, which tells nobody; the handler ends."""
    controller = s.controllers[c]
    with in_any_order():
        tell_of_left_overs(s, m, c)
        for p in m.partitions:
            created = _is_created(s, m, c, p)
            for r in m.assigned(p):
                refused(s, m, c, p, r, ReplicaState.ONLINE)
                with when(both(controller.partitions[p].replicas[r] == ReplicaState.NEW, created)):
                    replica_goes(s, c, p, r, ReplicaState.ONLINE)
    controller.handler = Handler.NONE
    become_idle(s, c)


def _is_created(s: State, m: Model, c: int, p: int) -> Value:
    """Whether new replicas of a partition are those of its creation: where a reassignment has started them there are
    older ones, too, and they stay New until they are in sync.
    """
    controller, young = s.controllers[c], (ReplicaState.NON_EXISTENT, ReplicaState.NEW)
    states = [controller.partitions[p].replicas[r] for r in m.assigned(p)]
    return either(controller.reassigned[p] == (), both(*(either(*(one == y for y in young)) for one in states)))
