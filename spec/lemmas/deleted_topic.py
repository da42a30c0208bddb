"""Lemmas about topics that are deleted, and about what their controllers and ZooKeeper know of each other.

Where writes are fenced only the current controller deletes anything. What it has begun to delete is not created again:
neither by itself nor by its successor, which finds the request. So the data versions and leader epochs of a state znode
that is gone do not come again, though copies of it are everywhere. As coded a zombie creates it anew (D2), and the
lemmas about that are None; where a topic may be created again they are, too.
"""

from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, either, flag
from spec.lemmas.controller import BEFORE_TOPICS, FORGETTING, WITH_AN_EPOCH, is_at, is_current
from spec.lemmas.deletion import PARTS
from spec.lemmas.leadership import HOLDS_A_VERSION, copies, goes_for_good, is_in_no_state, only_deletes
from spec.model import Model
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState

#: Where a topic's znodes are deleted.
ZNODES_GO = (At.DELETE_STATE, At.DELETE_TOPIC)


@lemma(source="PROTOCOL.md section 7.3", parts=PARTS, where=only_deletes)
def no_topic_is_new(s: State, m: Model, c: int, t: int) -> Value:
    """Whoever has read which topics there are knows all that are there."""
    controller = s.controllers[c]
    reads = either(controller.active, controller.at == At.READ_STATES)
    return both(reads, s.zookeeper.topics[t]).implies(controller.topics[t])


@lemma(source="AdminUtils.deleteTopic 0.10.2.2", parts=(*PARTS, "remembered_requests"), where=only_deletes)
def deletion_requests_are_meant(s: State, m: Model, t: int) -> Value:
    """The request for a topic that is there was made while it was; so was what any controller deletes."""
    deletes = [_is_being_deleted(s.controllers[c], t) for c in m.controllers]
    waits = [s.controllers[c].to_queue[t] for c in m.controllers]
    wanted = either(s.zookeeper.deletions[t], *deletes, *waits)
    return both(s.zookeeper.topics[t], wanted).implies(s.history.asked[t])


@lemma(source="PROTOCOL.md section 7.4, D55", parts=PARTS, where=lambda m: only_deletes(m) and not goes_for_good(m))
def a_topic_goes_before_its_configuration(s: State, m: Model, t: int) -> Facts:
    """A topic that is there has its configuration; where that, or the request, is to be deleted, the topic is gone."""
    there = s.zookeeper.topics[t]
    yield there.implies(s.zookeeper.configurations[t])
    for c in m.controllers:
        controller = s.controllers[c]
        left = both(is_at(controller, (At.DELETE_CONFIGURATION, At.DELETE_REQUEST)), controller.topic == t)
        yield left.implies(~there)


@lemma(source="PROTOCOL.md section 7.4; D2, D37, D55 fixed", parts=PARTS, where=goes_for_good)
def a_topic_goes_as_a_whole(s: State, m: Model) -> Facts:
    """A topic and its configuration are both there or both gone, a state znode is of a topic that is there.

    So nobody has a configuration or a request left to delete.
    """
    zookeeper, left = s.zookeeper, (At.DELETE_CONFIGURATION, At.DELETE_REQUEST)
    yield from (~is_at(s.controllers[c], left) for c in m.controllers)
    yield from (zookeeper.topics[t] == zookeeper.configurations[t] for t in m.topics)
    yield from (either(~exists(zookeeper.state[p]), zookeeper.topics[m.topic_of(p)]) for p in m.partitions)


@lemma(source="PROTOCOL.md section 7.4; D2 fixed", parts=PARTS, where=goes_for_good)
def current_controllers_know_no_topic_that_is_gone(s: State, m: Model, c: int) -> Facts:
    """The current controller knows no topic that is gone, and none of its new partitions is of a topic that goes."""
    controller = s.controllers[c]
    current = both(is_current(s, c), ~is_at(controller, BEFORE_TOPICS))
    yield from (both(current, controller.topics[t]).implies(s.zookeeper.topics[t]) for t in m.topics)
    for p in m.partitions:
        t, new = m.topic_of(p), flag(controller.partitions[p].state == PartitionState.NEW)
        goes = both(is_at(controller, ZNODES_GO), controller.topic == t)
        yield both(current, new).implies(both(controller.topics[t], ~goes))


@lemma(source="PROTOCOL.md section 7.4; D2 fixed", parts=PARTS, where=goes_for_good)
def current_controllers_delete_what_is_requested(s: State, m: Model, c: int, t: int) -> Facts:
    """The current controller deletes what it knows only while the request is there, and the state znodes first."""
    controller, current = s.controllers[c], is_current(s, c)
    asked, known = s.zookeeper.deletions[t], controller.topics[t]
    yield both(current, known, _is_being_deleted(controller, t)).implies(asked)
    yield both(current, controller.to_queue[t]).implies(asked)
    at_hand = both(current, controller.topic == t)
    for p in m.partitions_of(t):
        there, due = exists(s.zookeeper.state[p]), controller.partitions[p].todo
        yield both(at_hand, controller.at == At.DELETE_TOPIC).implies(~there)
        yield both(at_hand, controller.at == At.DELETE_STATE, there).implies(due)
        yield both(controller.at == At.DELETE_STATE, due).implies(controller.topic == t)


def _is_being_deleted(controller: Controller, t: int) -> Value:
    """Whether a topic is queued, or its znodes are being deleted."""
    return either(controller.queued[t], both(is_at(controller, ZNODES_GO), controller.topic == t))


@lemma(source="PROTOCOL.md section 7.4; D2 fixed", parts=PARTS, where=goes_for_good)
def a_state_that_was_deleted_stays_so(s: State, m: Model, p: int) -> Facts:
    """While there are copies of a state znode that is gone, its topic is gone, or the request there and obeyed."""
    t = m.topic_of(p)
    was_there = [flag(one.version != -1) for one in copies(s, m, p)]
    obeyed = [s.zookeeper.deletions[t]]
    for c in m.controllers:
        controller = s.controllers[c]
        was_there.append(both(is_at(controller, HOLDS_A_VERSION), controller.partition == p))
        reads = is_at(controller, (*WITH_AN_EPOCH, At.READ_DELETIONS))
        obeyed.append(is_current(s, c).implies(either(reads, _is_being_deleted(controller, t))))
    kept = either(exists(s.zookeeper.state[p]), ~s.zookeeper.topics[t], both(*obeyed))
    yield from (one.implies(kept) for one in was_there)


@lemma(source="PROTOCOL.md D53 fixed", parts=PARTS, where=only_deletes, fixed=FORGETTING)
def unknown_topics_are_forgotten(s: State, m: Model, c: int) -> Facts:
    """A topic that a controller does not know is in no state, so nothing dirties its batch.

    Nor are the partitions and replicas of one whose znodes it deletes; their leadership it forgets with the topic.
    """
    controller = s.controllers[c]
    yield both(~controller.dirty, ~controller.resigns_again)
    for p in m.partitions:
        t, cached = m.topic_of(p), controller.partitions[p]
        yield either(controller.topics[t], is_in_no_state(s, m, c, p))
        states = [cached.replicas[r] == ReplicaState.NON_EXISTENT for r in m.assigned(p)]
        ended = both(cached.state == PartitionState.NON_EXISTENT, m.brokers.is_empty(cached.visiting), *states)
        yield both(is_at(controller, ZNODES_GO), controller.topic == t).implies(ended)
