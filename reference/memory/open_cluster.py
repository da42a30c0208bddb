"""A cluster in memory without bounds: brokers of any ids, topics of any names, everything at any time.

It is the cluster that explorations replay, with the scope lifted: all parts of the protocol are in, partitions and
topics get their numbers when they are first spoken of, and whoever drives it says which fault comes when. `intervene`
is asked before each effect: it may raise what the effect is to raise, or write to ZooKeeper first, or say that the
answer to its write is lost.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, SupportsIndex, TypeVar

from reference.memory.cluster import AnswerLost, MemoryCluster
from reference.memory.process import MemoryProcess
from reference.procedures import Effect
from spec.formats.kafka_types import TopicPartition
from spec.scopes import BUDGETS, PARTS, Scope
from spec.variants import AS_CODED, Switches

T = TypeVar("T")

PLENTY: Final = 1 << 30
"""As often as anybody may want."""
LEFT_OUT: Final = frozenset(
    {"delayed_operations", "auto_rebalance", "remembered_requests", "soft_failures", "notification_reads"}
)
"""The parts that are not in: the purgatory is there by itself, the rebalance thread is asked for, and the others divide
or bound what is there anyway.
"""
Intervention = Callable[[MemoryProcess, Effect[Any]], bool]


class Numbered(list[T]):
    """Things that get the next number when they are first spoken of."""

    def index(self, one: T, start: SupportsIndex = 0, stop: SupportsIndex = PLENTY) -> int:
        """The number of a thing, which it has from now on."""
        if one not in self:
            self.append(one)
        return super().index(one, start, stop)


def open_scope(
    brokers: Iterable[int], *, unclean: bool, deletes_topics: bool, rebalances: bool, percentage: int
) -> Scope:
    """The scope that leaves nothing out, for brokers of these ids."""
    highest = max(brokers)
    return Scope(
        name="open", statement="A cluster without bounds.", brokers=highest, controllers=highest,
        parts=frozenset(PARTS) - LEFT_OUT | ({"auto_rebalance"} if rebalances else set()),
        budgets=tuple((name, PLENTY) for name in BUDGETS), unclean=unclean, deletes_topics=deletes_topics,
        imbalance_percentage=percentage, shutdown_tries=3, cold=True, reads_rearm=True, fires_by_hash=True,
    )  # fmt: skip


class OpenCluster(MemoryCluster):
    """A cluster of brokers with these ids, none of which runs yet."""

    def __init__(self, brokers: Iterable[int], scope: Scope, switches: Switches = AS_CODED) -> None:
        self.intervene: Intervention = nothing_comes_between
        super().__init__(scope, switches, tuple(brokers))
        self.partitions = Numbered[TopicPartition]()
        self._topics = Numbered[str]()

    def _hosts(self) -> Mapping[TopicPartition, frozenset[int]] | None:
        return None

    def carry_out(self, process: MemoryProcess, effect: Effect[Any], *, lose_answer: bool = False) -> Any:
        """Run an effect's script, unless something comes between; ZkClient repeats a write whose answer is lost."""
        if self.intervene(process, effect):
            try:
                return super().carry_out(process, effect, lose_answer=True)
            except AnswerLost:
                effect = effect.repeated
        return super().carry_out(process, effect, lose_answer=lose_answer)

    def would_apply(self, process: MemoryProcess, effect: Effect[Any]) -> bool:
        """Whether an effect's write would be applied now, if nothing came between."""
        intervene, self.intervene = self.intervene, nothing_comes_between
        try:
            return super().would_apply(process, effect)
        finally:
            self.intervene = intervene


def nothing_comes_between(process: MemoryProcess, effect: Effect[Any]) -> bool:
    """Nothing is done before an effect, and its answer arrives."""
    del process, effect
    return False
