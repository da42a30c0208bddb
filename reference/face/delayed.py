"""Operations that wait, by plain calls: `reference.delayed()`.

A purgatory with a clock of its own, which stands still until `pass_time`. An operation has a name, waits under keys,
and is completed by whoever finds that its condition holds, or else by the clock. CreateTopics requests wait for the
leaders that `update_metadata` tells of.

Kafka 0.10.2.2: `DelayedOperationPurgatory`, `DelayedCreateTopics`. PROTOCOL.md section 11.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from reference.face import givens
from reference.face.settings import behaviour
from reference.face.view import Json
from reference.purgatory.delayed_topics import (
    Creation,
    MetadataCache,
    create_topics,
    handle_update_metadata,
    wait_for_leaders,
)
from reference.purgatory.operations import DelayedOperation, run
from reference.purgatory.purgatory import PURGE_INTERVAL, Purgatory, Timer
from spec.errors import BadInput, UnknownName, Where


class Waiting(DelayedOperation):
    """An operation whose condition is said to hold, or not."""

    holds = False

    def is_complete(self) -> bool:
        """What was said last."""
        return self.holds

    def on_complete(self) -> None:
        """There is nothing to answer."""


class DelayedFace:
    """Nothing waits yet, and the metadata cache knows no leader."""

    def __init__(self, *, purge_interval: int = PURGE_INTERVAL, variant: str = "AS_CODED") -> None:
        _, switches = behaviour("0.10.2", variant)
        self._now, self._switches = 0.0, switches
        givens.number(purge_interval, Where("purge_interval"))
        self._purgatory = Purgatory(
            Timer(switches, lambda: self._now), purge_interval=purge_interval, fixes=switches
        )  # fmt: skip
        self._cache = MetadataCache()
        self._operations: dict[str, DelayedOperation] = {}
        self._answers: dict[str, Json] = {}

    def wait(self, name: str, keys: Sequence[str], timeout: float, *, holds: bool = False) -> bool:
        """`tryCompleteElseWatch` of a new operation; whether this call has completed it."""
        self._refuse_again(name)
        listed = givens.texts(keys, Where("keys"))
        operation = Waiting(_time(timeout, Where("timeout")))
        operation.holds = givens.flag(holds, Where("holds"))
        self._operations[name] = operation
        return run(self._purgatory.try_complete_else_watch(operation, listed))

    def create_topics(
        self, name: str, topics: Mapping[str, int], timeout: float, errors: Mapping[str, int] | None = None
    ) -> bool:
        """A CreateTopics request, whose topics stand in ZooKeeper with so many partitions; whether it is answered.

        Topics among `errors` were not created.
        """
        self._refuse_again(name)
        failed = errors or {}
        creations = [Creation(topic, number, failed.get(topic, 0)) for topic, number in topics.items()]
        creations += [Creation(topic, 0, code) for topic, code in failed.items() if topic not in topics]

        def answer(codes: Mapping[str, int]) -> None:
            self._answers[name] = {topic: int(code) for topic, code in codes.items()}

        operation = create_topics(self._cache, creations, timeout, answer, self._switches)
        if operation is None:
            return True
        self._operations[name] = operation
        return run(wait_for_leaders(self._purgatory, operation))

    def hold(self, name: str, *, holds: bool = True) -> None:
        """From now on the condition of an operation holds, or does not; no thread hears of it."""
        operation = self._known(name)
        if not isinstance(operation, Waiting):
            raise BadInput(f"{name} waits for leaders; tell of them by `update_metadata`")
        operation.holds = givens.flag(holds, Where("holds"))

    def check(self, key: str) -> int:
        """`checkAndComplete`: try what waits under a key; how many operations this call has completed."""
        return run(self._purgatory.check_and_complete(givens.text(key, Where("key"))))

    def complete(self, name: str) -> bool:
        """`forceComplete`: complete an operation whatever its condition says; whether this call did."""
        return run(self._known(name).force_complete(by_condition=True))

    def update_metadata(self, leaders: Mapping[str, int]) -> int:
        """An UpdateMetadata with the leader of each partition, -2 for one that is removed; how many it completed."""
        known = givens.by_partition(givens.number)(leaders, Where("leaders"))
        return run(handle_update_metadata(self._purgatory, self._cache, known))

    def pass_time(self, seconds: float) -> list[str]:
        """The clock goes on, and what is due expires; the names of what this has completed."""
        before = self._completed()
        self._now += _time(seconds, Where("seconds"))
        self._purgatory.timer.advance()
        while not self._purgatory.timer.tasks.empty():
            due = self._purgatory.timer.tasks.get()
            if due is not None:
                run(due.run())
        return [name for name in self._completed() if name not in before]

    def purge(self) -> None:
        """What the reaper does every 200 ms, without the clock: clear the lists if too much on them is completed."""
        run(self._purgatory.purge())

    def view(self) -> Json:
        """The operations, the answers, and how many are watched and delayed, as JSON."""
        operations: dict[str, Any] = {
            name: {"completed": bool(one.completed), "told": one.told, "expirations": one.expirations}
            for name, one in self._operations.items()
        }
        counts = {"watched": self._purgatory.watched, "delayed": self._purgatory.delayed}
        return {"now": self._now, "operations": operations, "answers": dict(self._answers), **counts}

    def _completed(self) -> list[str]:
        return [name for name, one in self._operations.items() if one.completed]

    def _known(self, name: str) -> DelayedOperation:
        if givens.text(name, Where("operation")) not in self._operations:
            raise UnknownName("operation", name, self._operations)
        return self._operations[name]

    def _refuse_again(self, name: str) -> None:
        if givens.text(name, Where("operation")) in self._operations or name in self._answers:
            raise BadInput(f"{name} waits already, or has waited; give each operation a name of its own")


def _time(told: Any, where: Where) -> float:
    """A span of time, in seconds."""
    if type(told) not in (int, float) or not 0 <= told <= givens.MOST:
        where.refuse(f"expected a number from 0 to {givens.MOST}, found {told!r}")
    return float(told)
