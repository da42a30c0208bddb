"""The purgatory in real threads: every operation is completed exactly once, whoever comes first, and none is lost."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType

import pytest

from reference.purgatory.delayed_topics import (
    LEADER_DURING_DELETE,
    NO_LEADER,
    Creation,
    DelayedCreateTopics,
    MetadataCache,
    answer_at_once,
    create_topics,
    handle_update_metadata,
    wait_for_leaders,
)
from reference.purgatory.operations import AtomicBoolean, DelayedOperation, run
from reference.purgatory.purgatory import Purgatory, Timer
from spec.formats.kafka_types import TopicPartition
from spec.state.purgatory import At
from spec.variants import AS_CODED, FENCED, Switches

WORKERS, KEYS = 4, 16
BOTH = pytest.mark.parametrize("fixes", [AS_CODED, FENCED], ids=["AS_CODED", "FENCED"])


REAPER_PERIOD = 0.2
"""Seconds that the reaper waits at most, for something to come due."""


class PurgatoryThreads:
    """A purgatory at work, within a `with` block: the reaper, and the timer's one executor thread.

    Kafka 0.10.2.2: `DelayedOperationPurgatory.ExpiredOperationReaper`, `SystemTimer.taskExecutor`.
    """

    def __init__(self, purgatory: Purgatory) -> None:
        self._purgatory = purgatory
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._reap, self._execute)]

    def __enter__(self) -> Purgatory:
        for thread in self._threads:
            thread.start()
        return self._purgatory

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._purgatory.timer.tasks.put(None)
        for thread in self._threads:
            thread.join()

    def _reap(self) -> None:
        timer = self._purgatory.timer
        while not self._stopped.is_set():
            deadline = timer._heap[0][0] if timer._heap else None
            wait = REAPER_PERIOD if deadline is None else min(REAPER_PERIOD, max(0.0, deadline - time.monotonic()))
            self._stopped.wait(wait)
            timer.advance()
            run(self._purgatory.purge())

    def _execute(self) -> None:
        while (operation := self._purgatory.timer.tasks.get()) is not None:
            run(operation.run())


class Waiting(DelayedOperation):
    """An operation that waits for a flag, and counts what happens to it."""

    def __init__(self, delay: float, said: Callable[[DelayedOperation], None] = lambda _: None) -> None:
        super().__init__(delay)
        self.ready = False
        self._said = said

    def is_complete(self) -> bool:
        return self.ready

    def on_complete(self) -> None:
        self._said(self)


def test_a_flag_is_won_by_one_thread() -> None:
    for _ in range(200):
        one, wins, barrier = AtomicBoolean(), list[bool](), threading.Barrier(WORKERS)

        def race(one: AtomicBoolean = one, wins: list[bool] = wins, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            wins.append(one.compare_and_set())

        in_threads([race] * WORKERS)
        assert sorted(wins) == [False] * (WORKERS - 1) + [True]


def in_threads(work: list[Callable[[], None]]) -> None:
    """Run some work, each piece in a thread of its own, to the end."""
    threads = [threading.Thread(target=one) for one in work]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


@pytest.mark.parametrize("hammered", [1_000, *(pytest.param(one, marks=pytest.mark.slow) for one in (4_000, 20_000))])
@BOTH
def test_hammered_by_threads_every_operation_is_completed_exactly_once(fixes: Switches, hammered: int) -> None:
    """Adders, checkers and a timer race for the operations, each under two keys, half of them short of time."""
    answers: Counter[int] = Counter()
    lock, all_answered = threading.Lock(), threading.Event()

    def said(one: DelayedOperation) -> None:
        with lock:
            answers[id(one)] += 1
            if len(answers) == hammered:
                all_answered.set()

    operations = [Waiting(random.Random(n).choice((0.001, 0.05)), said) for n in range(hammered)]
    purgatory = Purgatory(Timer(fixes), purge_interval=100, fixes=fixes)
    by_caller: list[int] = []

    def add(mine: list[Waiting]) -> None:
        done = 0
        for number, one in enumerate(mine):
            keys = [number % KEYS, (number * 7 + 1) % KEYS]
            done += run(purgatory.try_complete_else_watch(one, list(dict.fromkeys(keys))))
            one.ready = number % 3 == 0
            done += run(purgatory.check_and_complete(keys[number % 2]))
        with lock:
            by_caller.append(done)

    with PurgatoryThreads(purgatory):
        in_threads([lambda mine=operations[w::WORKERS]: add(mine) for w in range(WORKERS)])  # type: ignore[misc]
        assert all_answered.wait(60)
    assert [answers[id(one)] for one in operations] == [1] * hammered
    assert {one.told for one in operations} == {1}
    expired = [one for one in operations if one.is_by_condition is False]
    assert [one.expirations for one in operations] == [int(one.is_by_condition is False) for one in operations]
    assert sum(by_caller) == hammered - len(expired), "who completed one by its condition was told so, and nobody else"
    assert expired
    assert sum(by_caller)


def test_completed_operations_stay_on_lists_until_a_purge() -> None:
    purgatory = Purgatory(Timer(), purge_interval=1)
    operations = [Waiting(60) for _ in range(3)]
    for one in operations:
        run(purgatory.try_complete_else_watch(one, ["a", "b"]))
    assert (purgatory.watched, purgatory.delayed, purgatory.estimated) == (6, 3, 3)
    for number, one in enumerate(operations):
        one.ready = True
        assert run(purgatory.check_and_complete("a")) == 1
        run(purgatory.purge())
        # The second one is one more than the interval allows for.
        assert purgatory.watched == [5, 2, 1][number]
    assert (purgatory.delayed, purgatory.estimated) == (0, 1)
    assert set(purgatory.lists) == {"b"}, "an empty list is forgotten"
    assert run(purgatory.check_and_complete("b")) == 0
    assert not purgatory.lists


def test_an_unknown_key_completes_nothing() -> None:
    assert run(Purgatory(Timer()).check_and_complete("nobody")) == 0


def test_an_operation_whose_condition_holds_is_never_watched() -> None:
    purgatory, one = Purgatory(Timer()), Waiting(60)
    one.ready = True
    assert run(purgatory.try_complete_else_watch(one, ["a"])) is True
    assert (purgatory.watched, purgatory.delayed, purgatory.estimated, one.told) == (0, 0, 0, 1)


# --------------------------------------------------------------------------------------------- topics and their leaders

BOTH_TOPICS = (Creation("t", 2), Creation("u", 1, error=36))


def leaders(**given: list[int]) -> dict[TopicPartition, int]:
    return {TopicPartition(topic, p): leader for topic, found in given.items() for p, leader in enumerate(found)}


def waiting(timeout: float = 60) -> tuple[Purgatory, MetadataCache, list[object], DelayedCreateTopics]:
    """A request for t, with two partitions, and u, which exists: it waits."""
    purgatory, cache, said = Purgatory(Timer()), MetadataCache(), list[object]()
    operation = create_topics(cache, BOTH_TOPICS, timeout, said.append)
    assert operation is not None
    assert run(wait_for_leaders(purgatory, operation)) is False
    return purgatory, cache, said, operation


def test_a_request_is_answered_when_the_last_partition_has_its_leader() -> None:
    purgatory, cache, said, _ = waiting()
    assert run(handle_update_metadata(purgatory, cache, leaders(t=[1]))) == 0
    assert run(handle_update_metadata(purgatory, cache, leaders(t=[1, NO_LEADER]))) == 0
    assert said == []
    assert run(handle_update_metadata(purgatory, cache, leaders(t=[LEADER_DURING_DELETE, 2]))) == 0
    assert run(handle_update_metadata(purgatory, cache, leaders(t=[1, 2]))) == 1
    assert said == [{"t": 0, "u": 36}]
    assert purgatory.delayed == 0


def test_a_request_whose_time_is_up_is_told_which_topics_lack_leaders() -> None:
    purgatory, cache, said, operation = waiting()
    run(handle_update_metadata(purgatory, cache, leaders(t=[1])))
    purgatory.timer.expire(operation)
    run(purgatory.timer.tasks.get_nowait().run())  # type: ignore[union-attr]
    assert said == [{"t": 7, "u": 36}]
    assert operation.expirations == 1


@pytest.mark.parametrize("timeout", [0, -1])
def test_without_time_a_request_is_answered_at_once_and_the_cache_is_not_asked(timeout: float) -> None:
    cache, said = MetadataCache(), list[object]()
    cache.update(leaders(t=[1, 2]))
    assert create_topics(cache, BOTH_TOPICS, timeout, said.append) is None
    assert said == [{"t": 7, "u": 36}]


def test_a_request_that_created_nothing_is_answered_at_once() -> None:
    said = list[object]()
    assert create_topics(MetadataCache(), BOTH_TOPICS[1:], 60, said.append) is None
    assert said == [{"u": 36}] == [answer_at_once(BOTH_TOPICS[1:])]


def test_an_update_between_the_second_try_and_the_arming_is_missed_and_the_time_out_answers_rightly() -> None:
    """The race of PROTOCOL.md section 11, led by the hand: no timer is armed, so the update tries nobody."""
    purgatory, cache, said = Purgatory(Timer()), MetadataCache(), list[object]()
    operation = create_topics(cache, [Creation("t", 1)], 60, said.append)
    assert operation is not None
    pieces = wait_for_leaders(purgatory, operation)
    while next(pieces).at is not At.CHECK:
        pass
    assert run(handle_update_metadata(purgatory, cache, leaders(t=[1]))) == 0
    assert run(pieces) is False
    assert operation.is_complete()
    assert said == []
    purgatory.timer.expire(operation)
    run(purgatory.timer.tasks.get_nowait().run())  # type: ignore[union-attr]
    assert said == [{"t": 0}]
