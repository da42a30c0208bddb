"""A controller with a topic to delete, led by the hand.

The topic is that of recording 08-delete: partition 0 on brokers 1, 2 and 3, partition 1 on 2 and 3.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reference.deletion.requests import OnDeletionChange
from reference.deletion.thread import DeleteQueuedTopic, on_replica_deleted
from reference.elections.requested import FinishFailover
from reference.journal import Entry, Report
from reference.leadership.effects import ReadForRemoval, ReadUnclean, WriteRemoval
from reference.threads import on_callback, on_deletion_thread
from spec.formats.error_codes import ErrorCode
from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import PartitionError, PartitionsResponse, StopReplicaRequest
from spec.state.enumerations import Callback
from spec.tables.replica_states import ReplicaState
from spec.variants import Switch
from tests.reference.hands import Hand, controller, failed_over, znode

P0, P1 = TopicPartition("a", 0), TopicPartition("a", 1)
ASSIGNED = {P0: (1, 2, 3), P1: (2, 3)}
REPLICAS = [(P0, 1), (P0, 2), (P0, 3), (P1, 2), (P1, 3)]
STARTED, SUCCESSFUL, INELIGIBLE = (
    ReplicaState.DELETION_STARTED,
    ReplicaState.DELETION_SUCCESSFUL,
    ReplicaState.DELETION_INELIGIBLE,
)


class Cluster:
    """A controller at work, with the topic's state znodes as removals have them."""

    def __init__(self, *switches: Switch, live: Sequence[int] = (1, 2, 3), led: bool = True) -> None:
        self.one, self.journal = controller(*switches)
        failed_over(self.one, live).expect(FinishFailover, None)
        self.states = {tp: znode(ar[0], ar, epoch=5) for tp, ar in ASSIGNED.items()}
        context = self.one.context
        context.all_topics = self.one.topic_listeners = frozenset({"a"})
        context.partition_replica_assignment = dict(ASSIGNED)
        if led:
            context.partition_leadership_info = dict(self.states)
        machine = self.one.replica_machine
        machine.states = {key: ReplicaState.ONLINE if key[1] in live else ReplicaState.OFFLINE for key in REPLICAS}
        self.journal.clear()

    def queue(self) -> None:
        """The listener finds the request."""
        Hand(on_callback(self.one, Callback.DELETIONS)).expect(OnDeletionChange, frozenset({"a"}))

    def remove(self, hand: Hand, partition: TopicPartition, replica: int) -> tuple[int, tuple[int, ...], int]:
        """Take a replica out of the ISR; the state znode after that."""
        hand.expect(ReadForRemoval, self.states[partition], partition=partition, replica=replica)
        if isinstance(hand.pending, ReadUnclean):
            hand.expect(ReadUnclean, self.one.configuration.unclean)
        if isinstance(hand.pending, WriteRemoval):
            version = self.states[partition].zk_version + 1
            write = hand.expect(WriteRemoval, version)
            assert isinstance(write, WriteRemoval)
            self.states[partition] = replace(write.leadership, zk_version=version)
        known = self.states[partition]
        return known.leader, known.isr, known.leader_epoch

    def start(self) -> Hand:
        """The thread starts the deletion and takes every live replica Offline."""
        hand = Hand(on_deletion_thread(self.one))
        hand.expect(DeleteQueuedTopic, None)
        while not hand.ended:
            key: Any = hand.pending
            self.remove(hand, key.partition, key.replica)
        return hand

    def answer(self, partition: TopicPartition, broker: int, code: ErrorCode = ErrorCode.NONE) -> None:
        """The answer to a StopReplica with delete comes back."""
        request = StopReplicaRequest(1, 5, True, (partition,))
        answered = PartitionError(partition.topic, partition.partition, code)
        on_replica_deleted(self.one, broker, request, PartitionsResponse(ErrorCode.NONE, (answered,)))

    def deleted(self) -> None:
        """Queued, started, and every replica deleted."""
        self.queue()
        self.start()
        for key in REPLICAS:
            self.answer(*key)

    def complete(self) -> list[object]:
        """Let the thread complete the deletion; what it deletes, in order."""
        hand, done = Hand(on_deletion_thread(self.one)), list[object]()
        assert hand.expect(DeleteQueuedTopic, frozenset(ASSIGNED)) == DeleteQueuedTopic("a", frozenset({"a"}), True)
        while not hand.ended:
            effect: Any = hand.pending
            done.append(getattr(effect, "partition", type(effect)))
            hand.expect(type(effect), True)
        return done

    def replica_states(self) -> set[ReplicaState]:
        return set(self.one.replica_machine.states.values())


def said(journal: list[Entry]) -> list[str]:
    """The kinds of the lines in controller.log."""
    return [type(entry.line).__name__ for entry in journal if isinstance(entry, Report)]
