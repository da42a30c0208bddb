"""Which lines about replicas and partitions a step of topic deletion prints to state-change.log, by what it changed.

Kafka prints every transition. A step of the specification may take a replica through more than one: what goes Offline
last is told to delete at once, with all others; and a topic's partitions go by way of Offline. Nothing is printed where
a controller forgets all that it knows.

Kafka 0.10.2.2: `TopicDeletionManager.startReplicaDeletion`, `completeDeleteTopic`, `failReplicaDeletion`. PROTOCOL.md
sections 7.4 and 12.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from model_check.judging.lines.controller_step import ControllerStep
from spec.formats.kafka_types import LEADER_DURING_DELETE
from spec.logs.controller_request_lines import UpdateMetadataSending
from spec.logs.state_change_lines import PartitionLostLeader, ReplicaChanged, ReplicaChangeFailed
from spec.protocol.requests.batch import tells_removal
from spec.tables.partition_states import PartitionState
from spec.tables.replica_states import ReplicaState, is_valid

Row: TypeAlias = tuple[ReplicaState, ReplicaState]

REMOVALS: Final = frozenset({"read_for_removal", "write_removal"})
ENDS: Final = frozenset({ReplicaState.DELETION_SUCCESSFUL, ReplicaState.DELETION_INELIGIBLE})
"""How the deletion of a replica ends."""


class DeletionPrinting(ControllerStep):
    """A step of a controller that deletes topics, to be compared with what its process printed."""

    def rows_of_deletion(self, p: int, r: int) -> tuple[Row, ...]:
        """The transitions of a deletion that a replica went through, in their order."""
        old, new = (self._replica(state, p, r) for state in self._states)
        if old is new:
            return ()
        if new is ReplicaState.DELETION_STARTED:
            goes_offline = self.rule in REMOVALS and (self.parameters["p"], self.parameters["r"]) == (p, r)
            return (*([(old, ReplicaState.OFFLINE)] if goes_offline else ()), (ReplicaState.OFFLINE, new))
        ends = old is ReplicaState.DELETION_STARTED and new in ENDS
        is_forgotten = old is ReplicaState.DELETION_SUCCESSFUL and self.rule == "delete_queued_topic"
        return ((old, new),) if ends or is_forgotten else ()

    def deletes_replica(self, line: ReplicaChanged) -> bool:
        """Whether a line is about one of these transitions."""
        p, r = self.cluster.partition(line.partition), self.cluster.broker(line.replica)
        return (line.source, line.target) in self.rows_of_deletion(p, r)

    def does_not_delete(self, line: ReplicaChangeFailed) -> bool:
        """Whether a replica of a queued topic stays as it is, for want of a row in the table.

        That is one that is to be deleted and did not go Offline (D16), one on a dead broker from which no answer is
        awaited (D15, D45), or one whose answer comes when nobody awaits it any more (D44).
        """
        p, r = self.cluster.partition(line.partition), self.cluster.broker(line.replica)
        if not self._is_dying(line.partition) or is_valid(line.source, line.target):
            return False
        stays = self._stays(p, r) and self._replica(self.after, p, r) is line.source
        is_live = bool(self._controller(self.after).live.raw >> r - 1 & 1)
        is_answered = self.rule == "on_replica_deleted"
        return stays and (is_answered or is_live == (line.target is ReplicaState.DELETION_STARTED))

    def rows_of_completion(self, p: int) -> Iterator[tuple[PartitionState, PartitionState]]:
        """The transitions of a partition whose topic is deleted: to Offline, then out of existence."""
        old, new = (self._state(state, p) for state in self._states)
        if self.rule == "delete_queued_topic" and old is not new and new is PartitionState.NON_EXISTENT:
            yield old, PartitionState.OFFLINE
            yield PartitionState.OFFLINE, new

    def said_of_completion(self, p: int) -> Iterator[tuple[Any, ...]]:
        """What must be said of a partition whose topic is deleted, and of its replicas."""
        yield from ((PartitionLostLeader, self._name(p), target) for _, target in self.rows_of_completion(p))
        for r in self.system.model.assigned(p):
            if self.rows_of_deletion(p, r):
                yield ReplicaChanged, self._name(p), self.cluster.broker_ids[r - 1], ReplicaState.NON_EXISTENT

    def ends_partition(self, line: PartitionLostLeader) -> bool:
        """Whether a line is about one of these."""
        return (line.source, line.target) in self.rows_of_completion(self.cluster.partition(line.partition))

    def removes(self, partition: Any) -> bool:
        """Whether every UpdateMetadata of this step tells that a partition is removed, as the specification has it."""
        view, p = self.system.view(self.after), self.cluster.partition(partition)
        return bool(tells_removal(view, self.system.model, self.parameters["c"], p).raw)

    def says_removed(self, line: UpdateMetadataSending) -> bool:
        """What the wire, and so the log, has of a removal: of what is cached, only the ISR and its epoch are told."""
        cached, said = self._cached(self.after, line.partition), line.leadership
        isr = self.system.model.brokers.list_kind.encode(tuple(map(self.cluster.broker, said.isr)))
        told = said.leader, said.leader_epoch, isr, said.controller_epoch
        return told == (LEADER_DURING_DELETE, 0, cached.isr.raw, cached.controller_epoch.raw)
