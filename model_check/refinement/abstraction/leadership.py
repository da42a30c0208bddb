"""Words of the abstraction: sets and lists by partition or topic, and what is said of a partition's leader, by name."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TypeVar

from model_check.refinement.history import listed
from model_check.stepping.leadership_words import in_words
from reference.controller.controller import KafkaController
from spec.formats.kafka_types import TopicPartition
from spec.formats.leadership import NO_LEADERSHIP, LeaderIsrAndControllerEpoch
from spec.model import Model
from spec.state.enumerations import At

Named = Iterator[tuple[str, object]]
"""Values of the specification's variables, each with its name."""
NOBODY = 0
"""How the specification writes "no broker"."""
Key = TypeVar("Key")

REMOVING = (At.REMOVE_READ, At.REMOVE_WRITE)
"""Where replicas are taken Offline, one after the other."""


def flags(path: str, keys: Sequence[Key], **sets: Container[Key]) -> Named:
    """Sets of partitions or topics, as the specification has them: a flag for each of the scope's."""
    for name, members in sets.items():
        yield from ((f"{path}.{name}[{number}]", key in members) for number, key in enumerate(keys))


def lists(path: str, keys: Sequence[Key], **found: Mapping[Key, tuple[int, ...]]) -> Named:
    """Lists of brokers by partition; empty where there is none."""
    for name, by_key in found.items():
        yield from ((f"{path}.{name}[{number}]", listed(by_key, key)) for number, key in enumerate(keys))


def leadership(path: str, known: LeaderIsrAndControllerEpoch | None) -> Named:
    """Leadership as read, cached or sent; None where there is none."""
    return ((f"{path}.{name}", value) for name, value in in_words(known or NO_LEADERSHIP).items())


def found(m: Model, at: At, controller: KafkaController, path: str, p: int, partition: TopicPartition) -> Named:
    """What the running batch tells new replicas, and of others those that it tells what is cached no more.

    Of these the specification keeps the words only where somebody may hear them: elsewhere they are for the dead.
    """
    told, known = controller.replica_batch.leader_and_isr, controller.context.partition_leadership_info.get(partition)
    for r in m.assigned(p):
        state = told.get(r, {}).get(partition)
        kept = m.keeps_words and at in REMOVING and state is not None and state.leadership != known
        if at is not At.NEW_REPLICA_READ and not kept:
            state = None
        yield from leadership(f"{path}[{r}]", None if state is None else state.leadership)


def informs_of_removal(controller: KafkaController, at: At, partition: TopicPartition) -> bool:
    """Whether all brokers are to be sent a replica's removal; a partition that goes is sent as that."""
    told = partition in controller.replica_batch.metadata and partition not in controller.deleting.partitions
    return told and at in REMOVING
