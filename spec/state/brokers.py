"""What a broker keeps of its partitions, and what is on the wires to it.

Part of the tree of variables that spec/state/shape.py lays out; as there, what holds nothing has its initial value.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from spec.language.rules import Leaf, Shape
from spec.language.terms import FLAG, enumeration
from spec.model import Model


class Stage(enum.Enum):
    """How far a batch on a connection is: the request at the head of the queue."""

    EMPTY = "no batch in this place"
    LEADER_AND_ISR = "LeaderAndIsr is next"
    UPDATE_METADATA = "UpdateMetadata is next"
    STOP_REPLICA = "StopReplica without delete is next, perhaps of no partition"
    DELETE_REPLICA = "StopReplica with delete is next, one request a partition"
    ANSWERED = "StopReplica with delete is answered, and the callback waits for the controller lock"
    REFUSED = "the same, but the answer names no partition: the request's controller epoch was stale"


def leadership(m: Model) -> Mapping[str, Leaf]:
    """What a state znode, a cache entry and a request say of a partition."""
    return {
        "leader": Leaf(m.brokers.id_kind, 0),
        "leader_epoch": Leaf(m.leader_epoch, -1),
        "isr": Leaf(m.brokers.list_kind, ()),
        "version": Leaf(m.version, -1),
        "controller_epoch": Leaf(m.controller_epoch, 0),
    }


def broker(m: Model) -> Shape:
    """A broker's side of the protocol; all of it is memory and dies with the process.

    For each partition: leadership as last accepted (`leader_epoch` -1: none yet); the leader keeps the ISR, followers
    do not. `unreported`: an ISR change not yet announced. `retrying`: an ISR write whose answer was lost. `idle`: a
    follower whose fetcher a StopReplica stopped; it starts again for another leader only. `assigned`: AR as told.
    `cached_epoch`: the leader epoch in the metadata cache.
    """
    partition: dict[str, Shape] = dict(leadership(m))
    if m.tells_topics_apart:
        partition["topic_id"] = Leaf(FLAG, False)
    if m.has("cached_leaderships"):
        partition["cached_epoch"] = Leaf(m.leader_epoch, -1)
    if m.has("notifications"):
        partition["unreported"] = Leaf(FLAG, False)
    if m.scope.budget("losses"):
        partition["retrying"] = Leaf(m.brokers.list_kind, ())
    if m.stops_replicas:
        partition["idle"] = Leaf(FLAG, False)
    if m.has("reassignment"):
        partition["assigned"] = Leaf(m.brokers.set_kind, ())
    tree: dict[str, Shape] = {
        "controller_epoch": Leaf(m.controller_epoch, 0),
        "partitions": dict.fromkeys(m.partitions, partition),
    }
    if m.has("metadata"):
        tree["alive"] = Leaf(m.brokers.set_kind, ())
    return tree


def slot(m: Model) -> Shape:
    """A place in a connection's queue: one batch, its epoch, and for each partition what the requests say.

    `stop` and `delete` are the partitions of its StopReplica requests, by their delete flag; `delete_epoch`, the leader
    epochs in the latter. `told` are the partitions of UpdateMetadata, and `told_epoch` their leader epochs; one that is
    told with -1 is removed.
    """
    content: dict[str, Shape] = {**leadership(m), "ordered": Leaf(FLAG, False)}
    if m.tells_topics_apart:
        content["topic_id"] = Leaf(FLAG, False)
    if m.has("reassignment"):
        content["assigned"] = Leaf(m.brokers.set_kind, ())
    tree: dict[str, Shape] = {
        "stage": Leaf(enumeration(Stage), Stage.EMPTY),
        "epoch": Leaf(m.controller_epoch, 0),
        "partitions": dict.fromkeys(m.partitions, content),
    }
    if m.has("metadata"):
        tree |= {"metadata": Leaf(FLAG, False), "alive": Leaf(m.brokers.set_kind, ())}
    if m.stops_replicas:
        tree |= {"stop": {p: Leaf(FLAG, False) for p in m.partitions}}
        tree |= {"delete": {p: Leaf(FLAG, False) for p in m.partitions}}
    if m.fences_deletions:
        tree["delete_epoch"] = {p: Leaf(m.leader_epoch, -1) for p in m.partitions}
    if m.has("cached_leaderships"):
        tree |= {"told": {p: Leaf(FLAG, False) for p in m.partitions}}
        tree |= {"told_epoch": {p: Leaf(m.leader_epoch, -1) for p in m.partitions}}
    if m.has("deletion"):
        tree["answered"] = Leaf(m.partition_number, 0)
        if m.has("reassignment"):
            tree["calls_back"] = Leaf(FLAG, False)
    return tree


def late_copy(m: Model) -> Shape:
    """A copy of a StopReplica with delete that stayed behind on an old connection."""
    copy = {"waits": Leaf(FLAG, False), "epoch": Leaf(m.controller_epoch, 0)}
    return copy | ({"leader_epoch": Leaf(m.leader_epoch, -1)} if m.fences_deletions else {})
