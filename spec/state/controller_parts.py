"""What a controller keeps in memory for the larger parts of the protocol, which a scope may lack.

Kafka 0.10.2.2: `ControllerContext.partitionsBeingReassigned`, `TopicDeletionManager`. PROTOCOL.md sections 7.4 and 8.
"""

from __future__ import annotations

from collections.abc import Mapping

from spec.language.terms import FLAG
from spec.language.views import Leaf, Shape
from spec.model import Model


def decision(m: Model) -> Shape:
    """A leader and an ISR to be written; `leader_epoch` is the one that was read, and the next is to be written."""
    return {
        "leader": Leaf(m.brokers.id_kind, 0),
        "leader_epoch": Leaf(m.leader_epoch, -1),
        "isr": Leaf(m.brokers.list_kind, ()),
    }


def reassigning(m: Model) -> Mapping[str, Shape]:
    """A controller's part in reassignments.

    `reassigned` is partitionsBeingReassigned: RAR by partition. `due`: RAR of those with which the running handler is
    still to begin; `reassigning`: the partition that is in work; `leaving`: its replicas that are to go; `remaining`:
    what the next write of /admin/reassign_partitions will say. `isr_listening` and `isr_watching` are the listeners on
    state znodes and whether their watches are set; `concerns` is the partition of such a callback, by its place in the
    queue. `remaining_read`, where another request may stand by then: whether the one that stands was read for it.
    """
    lists: Shape = {p: Leaf(m.brokers.list_kind, ()) for p in m.partitions}
    flags: Shape = {p: Leaf(FLAG, False) for p in m.partitions}
    read: dict[str, Shape] = {"remaining_read": Leaf(FLAG, False)} if m.keeps_remaining_read else {}
    return {
        **read,
        "reassigned": lists,
        "due": lists,
        "reassigning": Leaf(m.partition_number, 0),
        "leaving": Leaf(m.brokers.set_kind, ()),
        "remaining": lists,
        "isr_listening": flags,
        "isr_watching": flags,
        "concerns": {i: Leaf(m.partition_number, 0) for i in range(m.scope.callback_capacity)},
    }


def topic_listeners(m: Model) -> Mapping[str, Shape]:
    """The listeners on the topics' own znodes, and whether their watches are set, where partitions are added.

    Where there are several topics, `concerns` is the topic of such a callback, by its place in the queue.
    """
    if not m.has("addition"):
        return {}
    flags: Shape = {t: Leaf(FLAG, False) for t in m.topics}
    places = range(m.scope.callback_capacity)
    concerns = {"concerns": {i: Leaf(m.partition_number, 0) for i in places}} if m.tells_concerns else {}
    return {"topic_listening": flags, "topic_watching": flags, **concerns}


def deletion_manager(m: Model) -> Mapping[str, Shape]:
    """TopicDeletionManager: its queue and marks, whether its thread is woken, and where the thread is.

    `doomed`: partitionsToBeDeleted, those that a topic had when it was queued. `modified`: topics whose own znode the
    controller listens to. `turns`: queued topics that the thread, which has the lock, has yet to turn to; `topic`: the
    one that it is busy with; `retried`: its replicas whose deletion failed, while they are taken Offline. `resuming`,
    kept where something may come before that: topics that are held back no more once the start of brokers is handled.
    `to_queue`, kept where there are several topics: those that the listener queues once it has dropped the requests for
    others.
    """
    flags: Shape = {t: Leaf(FLAG, False) for t in m.topics}
    resuming = {"resuming": flags} if m.resumes_later else {}
    to_queue = {"to_queue": flags} if m.has_several_topics else {}
    return {
        **resuming,
        **to_queue,
        "queued": flags,
        "doomed": {p: Leaf(FLAG, False) for p in m.partitions},
        "ineligible": flags,
        "modified": flags,
        "woken": Leaf(FLAG, False),
        "turns": flags,
        "topic": Leaf(m.topic_number, 0),
        "retried": {p: Leaf(m.brokers.set_kind, ()) for p in m.partitions},
    }
