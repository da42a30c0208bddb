"""Foreign removal of a topic: its znodes vanish without this controller's doing, and leadership without AR is left.

Somebody takes `/brokers/topics/T` away, with all that is below; the listener finds the topic gone and forgets its AR,
and nothing else. Leadership without AR makes the next UpdateMetadata for all partitions raise in the middle, when a
broker starts, or one dies that led nothing: the rest of the handling is lost (D51), and the batch, which belongs to the
controller for ever, stays dirty. The one after that finds it so, and the elector resigns (D53); before 0.9.0.0 nobody
did anything about it (D28). The brokers are told nothing, and if the topic is created again they ignore what has no
higher leader epoch than they know (D23); what its controller does, if it has its leadership still, is told in
`foreign_recreation`.

Scopes have it by the budget `removals`, where all znodes of a topic go at once, and by `state_removals`, where its
state znodes may go before it. Left out: the PSM's and the RSM's batches, which only a topic that is queued
for deletion as well could make dirty; the topic's own listener; that who creates a state znode of a topic that is gone
creates the topic's znode with it, without an assignment, which no controller can read.

Kafka 0.10.2.2: `PartitionStateMachine.TopicChangeListener`, `KafkaController.sendUpdateMetadataRequest`,
`ControllerBrokerRequestBatch.newBatch`. PROTOCOL.md sections 7.3 and 9.
"""

from __future__ import annotations

from typing import Any

from spec.assignment import assigned_replicas
from spec.controller_election import elector_resigns
from spec.controller_threads import become_idle
from spec.language import action, observe, require, reset, when
from spec.model import Model
from spec.request_batch import Batch, known_partitions, send
from spec.state import Callback
from spec.terms import Value, both, either, flag
from spec.variants import Switch
from spec.zookeeper import exists, notify, state_changed

BY_HAND = "zookeeper-shell.sh rmr /brokers/topics/T"


@action(actor="admin", source=BY_HAND, budget="removals", parts=("creation",))
def remove_topic(s: Any, m: Model, t: int) -> None:
    """Somebody removes a topic's znodes by hand."""
    require(s.zookeeper.topics[t])
    s.zookeeper.topics[t] = False
    for p in m.partitions_of(t):
        _remove_state(s, m, p)
        if m.keeps_assignments:
            s.zookeeper.assigned[p] = ()
    observe("admin", "remove topic", topic=t)
    notify(s, m, "topics", Callback.TOPICS)


@action(actor="admin", source=BY_HAND, budget="state_removals", parts=("creation",))
def remove_state(s: Any, m: Model, p: int) -> None:
    """Somebody who removes a topic's znodes by hand begins with the state znodes, one by one."""
    require(exists(s.zookeeper.state[p]))
    _remove_state(s, m, p)
    observe("admin", "remove state", partition=p)


def _remove_state(s: Any, m: Model, p: int) -> None:
    with when(exists(s.zookeeper.state[p])):
        state_changed(s, m, p)
    reset(s.zookeeper.state[p])


def forget_leadership(s: Any, m: Model, c: int, t: int) -> None:
    """Where the mend is on: with a topic that vanished goes all that was known of its partitions."""
    if m.removes_topics and m.mends(Switch.FORGET_THE_VANISHED):
        for p in m.partitions_of(t):
            reset(s.controllers[c].partitions[p])


def read_topic_id(s: Any, m: Model, c: int, t: int) -> None:
    """Where topics have ids (a mend): the controller takes over which topic of that name it is."""
    if m.tells_topics_apart:
        s.controllers[c].topic_ids[t] = s.zookeeper.topic_ids[t]


def tell_all(s: Any, m: Model, c: int) -> Value:
    """UpdateMetadata for all partitions to everybody; whether it went out, so that the handler goes on."""
    told = begin_batch(s, m, c)
    if m.removes_topics:
        raises = either(*(_has_leadership_only(s, m, c, p) for p in m.partitions))
        with when(told & raises):
            observe(f"controller {c}", "fail to add UpdateMetadata")
            s.controllers[c].dirty = True
            _lose_handler(s, c)
        told = told & ~raises
    with when(told):
        send(s, m, c, Batch(metadata=known_partitions(s, m, c), everybody=True))
    return told


def _has_leadership_only(s: Any, m: Model, c: int, p: int) -> Value:
    """Whether a partition has leadership in the cache, and no AR."""
    return both(s.controllers[c].partitions[p].leader_epoch != -1, assigned_replicas(s, m, c, p) == ())


def begin_batch(s: Any, m: Model, c: int, *, in_failover: bool = False) -> Value:
    """The controller's own newBatch: whether its batch is clean. If not, the elector resigns."""
    if not m.removes_topics:
        return flag(True)
    dirty = flag(s.controllers[c].dirty)
    with when(dirty):
        observe(f"controller {c}", "find its batch dirty")
        if not m.puts_back(Switch.KEEP_DIRTY_BATCH):
            s.controllers[c].dirty = False
        if in_failover or not m.puts_back(Switch.KEEP_DIRTY_BATCH):
            elector_resigns(s, m, c)
        else:
            _lose_handler(s, c)
    return ~dirty


def _lose_handler(s: Any, c: int) -> None:
    """An exception leaves the handling of a broker change, and is only logged."""
    reset(s.controllers[c], "handler", "dead", "lost_leader")
    become_idle(s, c)


RULES = (remove_topic, remove_state)
