"""Leadership in the abstraction: what a znode, a cache, a request or a broker says of a partition, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reference.controller.controller import KafkaController
from spec.formats.kafka_types import NO_LEADER, TopicPartition
from spec.formats.request_schemas import PartitionLeadership
from spec.model import Model
from spec.state.enumerations import At

Named = Iterator[tuple[str, object]]
"""Values of the specification's variables, each with its name."""
NOBODY = 0
"""How the specification writes "no broker"."""

REMOVING = (At.REMOVE_READ, At.REMOVE_WRITE)
"""Where replicas are taken Offline, one after the other."""


def leadership(path: str, known: Any, version: int) -> Named:
    """Leadership as read, cached or sent; None where there is none."""
    leader = NO_LEADER if known is None else known.leader
    yield f"{path}.leader", NOBODY if leader == NO_LEADER else leader
    yield f"{path}.leader_epoch", -1 if known is None else known.leader_epoch
    yield f"{path}.isr", () if known is None else known.isr
    yield f"{path}.version", version
    yield f"{path}.controller_epoch", 0 if known is None else known.controller_epoch


def found(m: Model, at: At, controller: KafkaController, path: str, p: int, partition: TopicPartition) -> Named:
    """What the running batch tells new replicas, and of others those that it tells what is cached no more.

    Of these the specification keeps the words only where somebody may hear them: elsewhere they are for the dead.
    """
    told, known = controller.replica_batch.leader_and_isr, controller.context.partition_leadership_info.get(partition)
    for r in m.assigned(p):
        state = told.get(r, {}).get(partition)
        kept = m.keeps_words and at in REMOVING and state is not None and not _is_same(state, known)
        if at is not At.NEW_REPLICA_READ and not kept:
            state = None
        yield from leadership(f"{path}[{r}]", state, -1 if state is None else state.zk_version)


def informs_of_removal(controller: KafkaController, at: At, partition: TopicPartition) -> bool:
    """Whether everybody is to be told of a replica's removal; a partition that goes is told of as that."""
    told = partition in controller.replica_batch.metadata and partition not in controller.deleting.partitions
    return told and at in REMOVING


def _is_same(told: PartitionLeadership, known: Any) -> bool:
    """Whether what is told of a partition is what is known of it."""
    version = -1 if known is None else known.zk_version
    return list(leadership("", told, told.zk_version)) == list(leadership("", known, version))
