"""Which lines about UpdateMetadata a step of a controller prints to state-change.log: what everybody is told, and when.

Kafka prints a line for every partition that a batch names. A batch names what it has just decided, and all partitions
of topics that are queued for deletion; only at a failover, and where a broker comes or dies, it names all.

Kafka 0.10.2.2: `ControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers`. PROTOCOL.md sections 9 and 12.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from model_check.judging.lines.controller_step import VISITS, VISITS_TO_REPLICAS
from model_check.judging.lines.state_change_log_deletion import DeletionPrinting
from spec.formats.kafka_types import LEADER_DURING_DELETE
from spec.logs.controller_request_lines import LeaderAndIsrSending, ReassignmentSent, UpdateMetadataSending

OF_ONE: Final = frozenset({"read_whether_caught_up", "write_bump", "write_remaining"})
"""Rules of a reassignment that tell everybody of its partition."""
NAMING: Final = VISITS | VISITS_TO_REPLICAS | OF_ONE
"""Rules whose batch names the partition that they are about, and those for which it has a LeaderAndIsr."""


class MetadataPrinting(DeletionPrinting):
    """A step of a controller that tells everybody of partitions, to be compared with what its process printed."""

    @cached_property
    def updates(self) -> int:
        """How many batches with an UpdateMetadata the step queues."""
        queued = Counter(one.fields["broker"].raw for one in self.seen if one.kind == "queue UpdateMetadata")
        return max(queued.values(), default=0)

    def updates_naming(self, line: UpdateMetadataSending) -> int:
        """How many of them name a partition: where a broker has come, one names no more than what that hosts."""
        hosted = {one.fields["partition"].raw for one in self.seen if one.kind == "queue LeaderAndIsr"}
        if not self.for_brokers or not hosted or line.leadership.leader == LEADER_DURING_DELETE:
            return self.updates
        return self.updates - (self.cluster.partition(line.partition) not in hosted)

    def informs(self, line: UpdateMetadataSending) -> bool:
        """An UpdateMetadata is queued for these brokers (none, if none lives), and tells of this leadership."""
        told = {one.fields["broker"].raw for one in self.seen if one.kind == "queue UpdateMetadata"}
        named = {self.cluster.broker(broker) for broker in line.brokers}
        live = self._controller(self.after).live.raw
        if not (told and told <= named <= told | self._members(live)) and (named or live):
            return False
        if self.removes(line.partition) or line.leadership.leader == LEADER_DURING_DELETE:
            return self.removes(line.partition) and self.says_removed(line)
        return self._is_of_the_batch(line) and self.says(self._cached(self.after, line.partition), line)

    def said_of_removals(self) -> Iterator[tuple[Any, ...]]:
        """What must be said of each partition that is to be deleted: every UpdateMetadata tells that it is removed."""
        names = map(self._name, self.system.model.partitions if self.updates else ())
        yield from ((UpdateMetadataSending, name) for name in names if self.removes(name))

    def _is_of_the_batch(self, line: UpdateMetadataSending) -> bool:
        """Whether the batch names a partition."""
        p = self.cluster.partition(line.partition)
        controller = self._controller(self.before)
        if self.rule == "read_notified":
            notified = self.system.view(self.before).zookeeper.notified[p].raw
            return bool(notified & controller.taken.raw or controller.gone.raw)  # what is gone may have named any
        if self.rule not in NAMING or self._concerns_all:
            return True
        is_alone = self.rule in VISITS_TO_REPLICAS and len(self.assigned(p)) == 1  # of which nobody else is told
        return self.visits(line) or is_alone or bool(controller.partitions[p].batched.raw)

    @property
    def _concerns_all(self) -> bool:
        """Whether a failover has read everything, a broker has come, or one that led nothing has died."""
        before, after = (self._controller(state) for state in self._states)
        return self.for_brokers or bool(before.dead.raw and not after.dead.raw and not before.lost_leader.raw)

    def _members(self, brokers: int) -> set[int]:
        return {b for b in self.system.model.brokers.ids if brokers >> b - 1 & 1}

    def assigned(self, p: int) -> tuple[int, ...]:
        """AR, as the controller holds it."""
        if not self.system.model.keeps_assignments:
            return self.system.model.assigned(p)
        number: int = self._controller(self.after).partitions[p].assigned.raw
        return self.system.model.brokers.lists[number]

    def says(self, fields: Any, line: LeaderAndIsrSending | UpdateMetadataSending | ReassignmentSent) -> bool:
        """Whether a line says this leadership."""
        said, number = line.leadership, self.cluster.broker
        expected = {
            "leader": number(said.leader),
            "leader_epoch": self.system.model.leader_epoch.encode(said.leader_epoch),
            "isr": self.system.model.brokers.list_kind.encode(tuple(map(number, said.isr))),
            "controller_epoch": said.controller_epoch,
        }
        return all(fields[name].raw == value for name, value in expected.items())
