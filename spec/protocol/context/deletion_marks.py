"""What a controller has marked of topics that are being deleted, or must wait; every part asks.

A topic is queued from the request to the end of its deletion, and its partitions that were known by then are doomed
(spec/protocol/deletion/queue.py). A topic that is reassigned, or elected for, is busy.

Kafka 0.10.2.2: `TopicDeletionManager`: `isTopicQueuedUpForDeletion`, `isPartitionToBeDeleted`. PROTOCOL.md section 7.4.
"""

from spec.language.terms import Value, both, either, flag
from spec.model import Model
from spec.protocol.leadership_cache import lacks_assignment
from spec.state.cluster import State


def is_to_go(s: State, m: Model, p: int) -> Value:
    """Whether the topic of a partition is to be deleted: somebody has asked for it, and topics are deleted here."""
    return flag(False) if m.refuses_deletions else flag(s.zookeeper.deletions[m.topic_of(p)])


def is_queued(s: State, m: Model, c: int, p: int) -> Value:
    """Whether the topic of a partition is queued for deletion (`isTopicQueuedUpForDeletion`)."""
    return s.controllers[c].queued[m.topic_of(p)]


def is_doomed(s: State, m: Model, c: int, p: int) -> Value:
    """Whether a partition is being deleted: it was known when its topic was queued (`isPartitionToBeDeleted`).

    Where topics are not deleted none is, whatever brokers are sent (D71).
    """
    return flag(False) if m.refuses_deletions else s.controllers[c].doomed[p]


def adding_raises(s: State, m: Model, c: int) -> Value:
    """Whether any LeaderAndIsr that is added to a batch raises when it is in there.

    UpdateMetadata is added with it, and always tells of all that is being deleted. In a state machine's batch the
    exception ends the one transition only, before the state is set: the batch goes out all the same.
    """
    return either(*(both(s.controllers[c].doomed[p], lacks_assignment(s, m, c, p)) for p in m.partitions))


def is_busy(s: State, m: Model, c: int, t: int) -> Value:
    """Whether a partition of a topic is being reassigned, or has an election under way."""
    electing = [s.controllers[c].electing[p] for p in m.partitions_of(t)]
    return either(is_reassigned(s, m, c, t), *electing)


def is_reassigned(s: State, m: Model, c: int, t: int) -> Value:
    """Whether a partition of a topic is being reassigned."""
    return either(*(s.controllers[c].reassigned[p] != () for p in m.partitions_of(t)))
