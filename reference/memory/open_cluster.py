"""A cluster in memory without bounds: brokers of any ids, topics of any names, everything at any time.

It is the cluster that explorations replay, with the scope lifted: all parts of the protocol are in, partitions and
topics get their numbers when they are first spoken of, and whoever drives it says which fault comes when. `intervene`
is asked before each effect: it may raise what the effect is to raise, or write to ZooKeeper first, or say that the
answer to its write is lost, or which refusal one of its operations is to meet.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, SupportsIndex, TypeVar

from reference.forking import shallow_copy
from reference.journal import nowhere
from reference.memory.cluster import AnswerLost, MemoryCluster
from reference.memory.process import MemoryProcess
from reference.procedures import Effect
from reference.zookeeper.api import (
    AnyOperation,
    BadVersion,
    Create,
    Delete,
    GetChildren,
    GetData,
    NoChildrenForEphemerals,
    NodeExists,
    NoNode,
    NotEmpty,
    OperationRefused,
    SetData,
)
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


@dataclass(frozen=True)
class Between:
    """What comes between a handler and its effect: the answer to its write is lost, or an operation is refused."""

    loses_answer: bool = False
    refusal: OperationRefused | None = None


NOTHING: Final = Between()
Intervention = Callable[[MemoryProcess, Effect[Any]], Between]
REFUSED: Final[Mapping[type[OperationRefused], tuple[type[Any], ...]]] = {
    BadVersion: (SetData, Delete), NodeExists: (Create,), NotEmpty: (Delete,), NoChildrenForEphemerals: (Create,),
    NoNode: (Create, SetData, Delete, GetData, GetChildren),
}  # fmt: skip
"""Which operations meet each refusal."""


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
        self.refusal: tuple[OperationRefused, str | None] | None = None
        super().__init__(scope, switches, tuple(brokers))
        self.partitions = Numbered[TopicPartition]()
        self._topics = Numbered[str]()

    def _hosts(self) -> Mapping[TopicPartition, frozenset[int]] | None:
        return None

    def carry_out(self, process: MemoryProcess, effect: Effect[Any], *, lose_answer: bool = False) -> Any:
        """Run an effect's script, unless something comes between; ZkClient repeats a write whose answer is lost."""
        between = self.intervene(process, effect)
        if between.refusal is not None:
            return self._refused(process, effect, between.refusal)
        if between.loses_answer:
            try:
                return super().carry_out(process, effect, lose_answer=True)
            except AnswerLost:
                effect = effect.repeated
        return super().carry_out(process, effect, lose_answer=lose_answer)

    def _refused(self, process: MemoryProcess, effect: Effect[Any], refusal: OperationRefused) -> Any:
        """Run an effect's script, of which the first operation that can be refused so is refused.

        Of an effect that is about a write, that is the write. One without such an operation raises it at once.
        """
        if not self._meets(process, effect, refusal):
            raise refusal
        self.refusal = refusal, effect.written
        return super().carry_out(process, effect)

    def _meets(self, process: MemoryProcess, effect: Effect[Any], refusal: OperationRefused) -> bool:
        """Whether some operation of an effect would be refused; nothing is changed by asking."""
        trial = shallow_copy(self)
        trial.zookeeper, trial.record, trial.processes = self.zookeeper.fork(), nowhere, {}
        trial.refusal = refusal, effect.written
        with suppress(Exception):  # whatever a script raises
            MemoryCluster.carry_out(trial, process, effect)
        return trial.refusal is None

    def _execute(self, session: int, operation: AnyOperation) -> Any:
        """Do an operation, or refuse it, if this is the one that is to be refused."""
        if self.refusal is not None:
            refusal, written = self.refusal
            if isinstance(operation, REFUSED[type(refusal)]) and written in {None, operation.path}:
                self.refusal = None
                raise type(refusal)(operation.path)
        return super()._execute(session, operation)

    def would_apply(self, process: MemoryProcess, effect: Effect[Any]) -> bool:
        """Whether an effect's write would be applied now, if nothing came between."""
        intervene, self.intervene = self.intervene, nothing_comes_between
        try:
            return super().would_apply(process, effect)
        finally:
            self.intervene = intervene


def nothing_comes_between(process: MemoryProcess, effect: Effect[Any]) -> Between:
    """Nothing is done before an effect, and its answer arrives."""
    del process, effect
    return NOTHING
