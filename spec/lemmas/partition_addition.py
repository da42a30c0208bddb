"""Lemmas about partitions that are added: what the topic's znode and its readers say of AR, and what is not known.

Where nobody reassigns or deletes, a partition's AR is what was first decided, or is not there yet; whoever read it
earlier knows as much or less. And a partition that a controller does not know is in no state, like one of a topic that
it does not know. Where partitions move or go, these lemmas are None.
"""

from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, either, flag
from spec.lemmas.controller import REMOVING, is_at
from spec.lemmas.leadership import is_in_no_state
from spec.model import Model
from spec.protocol.zookeeper import exists
from spec.state.cluster import State
from spec.state.controller import Controller
from spec.state.enumerations import At, Callback

PARTS = ("addition",)


def _only_grows(m: Model) -> bool:
    """Whether topics only get more partitions: none moves, and none goes."""
    return not (m.has("reassignment") or m.topics_vanish)


@lemma(source="AdminUtils.addPartitions 0.10.2.2", parts=PARTS, where=_only_grows)
def an_assignment_is_whole_or_absent(s: State, m: Model, p: int) -> Facts:
    """AR in ZooKeeper is as decided, or there is none; without any there is no topic, or it is that of one to be added.

    A partition that has a state znode has an AR.
    """
    assigned, topic = s.zookeeper.assigned[p], s.zookeeper.topics[m.topic_of(p)]
    whole, absent = flag(assigned == m.first_assigned(p)), flag(assigned == ())
    yield either(whole, absent)
    yield either(topic, absent)
    yield either(~exists(s.zookeeper.state[p]), whole)
    if p not in m.scope.added:
        yield either(~topic, whole)


@lemma(source="AdminUtils.addPartitions 0.10.2.2", parts=PARTS, where=_only_grows)
def partition_additions_keep_the_other_partitions(s: State, m: Model, t: int) -> Facts:
    """The tool that adds partitions has read AR of those that a topic always has."""
    tool = s.tool
    adds = both(tool.adds, tool.topic == t)
    old = [p for p in m.partitions_of(t) if p not in m.scope.added]
    yield adds.implies(s.zookeeper.topics[t])
    yield from (adds.implies(tool.assigned[p] == m.first_assigned(p)) for p in old)


@lemma(source="PROTOCOL.md section 7.3", parts=PARTS, where=_only_grows)
def known_assignments_are_zookeepers(s: State, m: Model, c: int, p: int) -> Value:
    """AR as a controller holds it is that in ZooKeeper, or it knows of none."""
    known = s.controllers[c].partitions[p].assigned
    return either(known == (), known == s.zookeeper.assigned[p])


@lemma(source="PROTOCOL.md section 7.3", parts=PARTS, where=_only_grows)
def an_unknown_partition_is_in_no_state(s: State, m: Model, c: int, p: int) -> Facts:
    """A controller does nothing about a partition whose AR it does not know; it and its replicas are in no state."""
    unknown = flag(s.controllers[c].partitions[p].assigned == ())
    yield unknown.implies(is_in_no_state(s, m, c, p))
    yield either(s.controllers[c].topics[m.topic_of(p)], unknown)


@lemma(source="PartitionModificationsListener 0.10.2.2", parts=PARTS, where=_only_grows)
def topics_listened_to_are_known(s: State, m: Model, c: int, t: int) -> Facts:
    """A topic that is listened to, or whose change waits to be handled, is there, and known when it may be handled."""
    controller = s.controllers[c]
    reads = either(controller.active, controller.at == At.READ_STATES)
    told = either(controller.topic_listening[t], controller.topic_watching[t], _waits(m, controller, t))
    yield told.implies(s.zookeeper.topics[t])
    yield both(told, reads).implies(controller.topics[t])


def _waits(m: Model, controller: Controller, t: int) -> Value:
    """Whether a callback waits that is about a topic's znode."""
    places = range(m.scope.callback_capacity)
    own = [controller.concerns[i] == t for i in places]
    return either(*(both(controller.callbacks[i] == Callback.MODIFICATIONS, own[i]) for i in places))


@lemma(source="PROTOCOL.md section 4", parts=PARTS, where=_only_grows)
def replicas_wait_for_their_handler_only(s: State, m: Model, c: int) -> Value:
    """Replicas are still to be visited only while some are taken to NewReplica or to OfflineReplica."""
    controller = s.controllers[c]
    nobody = (m.brokers.is_empty(controller.partitions[p].visiting) for p in m.partitions)
    return either(is_at(controller, (At.NEW_REPLICA_READ, *REMOVING)), both(*nobody))
