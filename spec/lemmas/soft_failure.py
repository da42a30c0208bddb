"""Lemmas about what a new controller has read of its predecessors' writes: all of it, where writes are fenced."""

from spec.claims.soft_failure import PARTS
from spec.language.rules import Facts, lemma
from spec.language.terms import Value, both, either, flag
from spec.lemmas.controller import BEFORE_TOPICS, is_at, is_current, only_the_current_writes
from spec.lemmas.leadership import copies, every_copy_was_written
from spec.model import Model
from spec.protocol.zookeeper import exists
from spec.state.brokers import Stage
from spec.state.cluster import State
from spec.state.enumerations import At


def _is_said(m: Model) -> bool:
    return only_the_current_writes(m) and every_copy_was_written(m)


@lemma(source="PROTOCOL.md section 2", parts=PARTS, where=_is_said)
def the_same_version_is_of_no_earlier_writer(s: State, m: Model, p: int) -> Facts:
    """A copy with the znode's version names the controller epoch that the znode does, or a later one that read it."""
    znode = s.zookeeper.state[p]
    for one in copies(s, m, p):
        same = both(exists(znode), one.version == znode.version)
        yield same.implies(znode.controller_epoch <= one.controller_epoch)


@lemma(source="PROTOCOL.md section 7.3", parts=PARTS, where=_is_said)
def a_state_has_its_topic(s: State, m: Model) -> Value:
    """A state znode is one of a topic that is there; where topics neither come nor go, all are there."""
    if "changing_topics" not in m.features:
        return both(*(s.zookeeper.topics[t] for t in m.topics))
    return both(*(exists(s.zookeeper.state[p]).implies(s.zookeeper.topics[m.topic_of(p)]) for p in m.partitions))


@lemma(source="PROTOCOL.md D5 fixed", parts=PARTS, where=_is_said)
def current_controllers_know_what_earlier_ones_wrote(s: State, m: Model, c: int, p: int) -> Value:
    """The cache of the current controller, once it has read it, is not behind what an earlier epoch wrote last."""
    controller = s.controllers[c]
    cached, znode = controller.partitions[p], s.zookeeper.state[p]
    unread = either(is_at(controller, BEFORE_TOPICS), both(controller.at == At.READ_STATES, cached.todo))
    others = both(exists(znode), znode.controller_epoch < s.zookeeper.epoch)
    return either(~is_current(s, c), unread, ~others, znode.leader_epoch <= cached.leader_epoch)


@lemma(source="PROTOCOL.md D5 fixed", parts=PARTS, where=_is_said)
def current_controllers_send_what_earlier_ones_wrote(s: State, m: Model, c: int, b: int, k: int) -> Facts:
    """No request is of an epoch yet to come; none of the current tells less than an earlier epoch wrote last."""
    slot = s.connections[c][b][k]
    yield either(slot.stage == Stage.EMPTY, slot.epoch <= s.zookeeper.epoch)
    for p in m.partitions:
        told, znode = slot.partitions[p], s.zookeeper.state[p]
        current = both(told.ordered, slot.stage != Stage.EMPTY, flag(slot.epoch == s.zookeeper.epoch))
        others = both(exists(znode), znode.controller_epoch < s.zookeeper.epoch)
        yield either(~current, ~others, znode.leader_epoch <= told.leader_epoch)
