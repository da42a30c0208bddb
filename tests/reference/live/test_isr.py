"""ISR changes by the clock: silence shrinks, a sign of life in the leader's own epoch expands, failures wait."""

import queue
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from reference.broker_events.isr_notification import ReportIsrChanges
from reference.brokers.broker import Broker, Partition
from reference.leadership.effects import ExpandIsr, ShrinkIsr
from reference.live.fetching import Fetch, Followed
from reference.live.isr import IsrManager
from reference.live.outside import BLACK_OUT_SECONDS
from reference.live.zkclient import ZkClient
from reference.zookeeper.api import NoNode
from spec.formats.kafka_types import TopicPartition
from tests.leaderships import led

T0 = TopicPartition("t", 0)
LAG = 1.0


class Answers:
    """A client that keeps the effects it is given, and answers them: the next version, or None for a conflict."""

    def __init__(self) -> None:
        self.effects: list[Any] = []
        self.succeeds = True
        self.version = 7

    def complete(self, procedure: Any) -> Any:
        effect = next(procedure).effects[0]
        self.effects.append(effect)
        self.version += 1
        result = "path" if isinstance(effect, ReportIsrChanges) else self.version if self.succeeds else None
        try:
            procedure.send((0, result))
        except StopIteration as end:
            return end.value
        pytest.fail("it goes on after its write")


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    def at(now: float) -> None:
        monkeypatch.setattr("reference.live.isr.time.monotonic", lambda: now)

    return at


def leader(answers: Answers, isr: tuple[int, ...], *, compares_epochs: bool = False) -> tuple[Broker, IsrManager]:
    broker = Broker(1)
    broker.partitions = {T0: Partition(led(1, 5, isr, 1, 7), (1, 2, 3))}
    zookeeper = cast("ZkClient", answers)
    return broker, IsrManager(broker, threading.RLock(), zookeeper, LAG, compares_epochs=compares_epochs)


def fetch(replica: int, epoch: int = 5) -> Fetch:
    return Fetch(replica, (Followed("t", 0, epoch),))


def test_who_is_silent_for_the_lag_time_leaves_and_all_at_once(
    answers: Answers, clock: Callable[[float], None]
) -> None:
    """`maybeShrinkIsr` writes once for all of a partition's followers that lag."""
    broker, manager = leader(answers, (1, 2, 3))
    manager.change_isrs(10.0)
    clock(10.9)
    manager.hear(fetch(3))
    manager.change_isrs(11.0)
    assert answers.effects == []
    manager.change_isrs(11.1)
    assert [(type(one), one.replicas) for one in answers.effects] == [(ShrinkIsr, (2,))]
    assert broker.partitions[T0].leadership.isr == (1, 3)
    broker, manager = leader(answers, (1, 2, 3))
    manager.change_isrs(10.0)
    manager.change_isrs(11.1)
    assert [(type(one), one.replicas) for one in answers.effects[1:]] == [(ShrinkIsr, (2, 3))]
    assert broker.partitions[T0].leadership.isr == (1,)


def test_who_follows_in_the_leaders_epoch_comes_back_at_once(answers: Answers, clock: Callable[[float], None]) -> None:
    broker, manager = leader(answers, (1,), compares_epochs=True)
    clock(10.0)
    for other_epoch in (4, 6):
        manager.hear(fetch(2, other_epoch))
    manager.hear(fetch(4))
    assert answers.effects == []
    for _ in range(2):
        manager.hear(fetch(2))
    assert [(type(one), one.replicas, one.leadership.zk_version) for one in answers.effects] == [(ExpandIsr, (2,), 7)]
    assert broker.partitions[T0].leadership.isr == (1, 2)
    manager.change_isrs(10.5)
    assert len(answers.effects) == 1


def test_a_fetch_names_no_epoch_and_takes_in_who_has_not_heard_of_the_leaders(
    answers: Answers, clock: Callable[[float], None]
) -> None:
    """D58: as in Kafka before 2.1."""
    broker, manager = leader(answers, (1,))
    clock(10.0)
    manager.hear(fetch(2, 4))
    assert [(type(one), one.replicas) for one in answers.effects] == [(ExpandIsr, (2,))]
    assert broker.partitions[T0].leadership.isr == (1, 2)


def test_a_fetch_that_waited_for_its_turn_takes_nobody_in(answers: Answers, clock: Callable[[float], None]) -> None:
    """Its follower may be gone."""
    broker, _ = leader(answers, (1,))

    class Busy:
        def __enter__(self) -> None:
            clock(10.2)

        def __exit__(self, *_: object) -> None: ...

    manager = IsrManager(broker, cast("threading.RLock", Busy()), cast("ZkClient", answers), LAG)
    clock(10.0)
    manager.hear(fetch(2))
    assert answers.effects == []


def test_a_conflict_waits_and_tries_again_with_the_same_version(answers: Answers) -> None:
    _, manager = leader(answers, (1, 2))
    answers.succeeds = False
    for now in (10.0, 11.1, 11.5, 12.0, 12.2):
        manager.change_isrs(now)
    assert [one.leadership.zk_version for one in answers.effects] == [7, 7]


def test_changes_are_announced_together_once_there_are_none_for_a_while(answers: Answers) -> None:
    broker, manager = leader(answers, (1, 2, 3))
    for now in (10.0, 11.1, 11.1 + BLACK_OUT_SECONDS - 0.2, 11.1 + BLACK_OUT_SECONDS, 60.0):
        manager.change_isrs(now)
    assert [type(one) for one in answers.effects] == [ShrinkIsr, ReportIsrChanges]
    assert answers.effects[-1].partitions == (T0,)
    assert broker.isr_changes == frozenset()


def test_what_a_run_raises_ends_that_run_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where somebody has removed the parent of the notifications: the scheduler runs the next one in its time."""
    failures: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    tried: queue.SimpleQueue[str] = queue.SimpleQueue()

    class Refusing(Answers):
        def complete(self, procedure: Any) -> Any:
            tried.put("again")
            return procedure.throw(NoNode("/isr_change_notification"))

    broker, manager = leader(Refusing(), (1, 2, 3))
    broker.isr_changes = frozenset({T0})
    manager.start()
    for _ in range(2):
        assert tried.get(timeout=10) == "again"
    assert broker.isr_changes == {T0}
    broker.isr_changes = frozenset()
    assert failures == []


def test_followers_change_nothing(answers: Answers) -> None:
    broker, manager = leader(answers, (1, 2))
    broker.partitions[T0] = Partition(led(2, 5, (), 1, 7), (1, 2, 3))
    manager.hear(fetch(3))
    for now in (10.0, 20.0):
        manager.change_isrs(now)
    assert answers.effects == []
