"""The purgatory: operations on watch lists, a timer that ends their waiting, and the reaper that clears the lists.

Code in pieces, as reference/purgatory/operations.py says; whoever has threads runs it in them. The timer
is a heap of deadlines where Kafka has hierarchical wheels: what an observer sees of it is the same.

Kafka 0.10.2.2: `DelayedOperationPurgatory`, `SystemTimer`. PROTOCOL.md section 11.
"""

import heapq
import itertools
import queue
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Sequence

from reference.purgatory.operations import Counter, DelayedOperation, Pieces, Point, TimerEntry, Watchers
from spec.state.purgatory import At
from spec.variants import AS_CODED, Switch, Switches

PURGE_INTERVAL = 1000
"""How many completed operations may be left on lists (`fetch.purgatory.purge.interval.requests` and its like)."""


class Timer:
    """Entries by deadline. What is due goes to `tasks`, for the executor."""

    def __init__(self, fixes: Switches = AS_CODED, clock: Callable[[], float] = time.monotonic) -> None:
        self.tasks: queue.SimpleQueue[DelayedOperation | None] = queue.SimpleQueue()
        self._fixes, self._clock = fixes, clock
        self._lock = threading.Lock()
        self._heap: list[tuple[float, int, TimerEntry]] = []
        self._numbers = itertools.count()
        self._armed = Counter()

    def add(self, operation: DelayedOperation) -> Pieces[None]:
        """Arm an operation's timer, unless it is cancelled in between."""
        yield Point(At.NEW_ENTRY, operation)
        entry = TimerEntry(operation, self._clock() + operation.delay, self._armed)
        with operation.timer_lock:
            operation.entry = entry
        if Switch.INSERT_UNDER_MONITOR not in self._fixes:
            yield Point(At.LOOK_AT_ENTRY, operation)
            if entry.is_cancelled:
                return
        yield Point(At.INSERT, operation)
        with operation.timer_lock:
            if Switch.INSERT_UNDER_MONITOR in self._fixes and entry.is_cancelled:
                return
            entry.move(armed=True)
        with self._lock:
            heapq.heappush(self._heap, (entry.deadline, next(self._numbers), entry))

    def __len__(self) -> int:
        return self._armed.value

    def is_armed(self, operation: DelayedOperation) -> bool:
        """Whether some entry of the operation is in a bucket, cancelled or not."""
        with self._lock:
            return any(entry.armed and entry.operation is operation for _, _, entry in self._heap)

    def advance(self) -> None:
        """Give the executor everything that is due by now."""
        now = self._clock()
        with self._lock:
            due = [heapq.heappop(self._heap)[2] for _ in range(len(self._heap)) if self._heap[0][0] <= now]
        for entry in due:
            self._expire(entry)

    def expire(self, operation: DelayedOperation) -> None:
        """Give the executor one operation, as if it were due."""
        with self._lock:
            due = [one for one in self._heap if one[2].operation is operation and one[2].armed]
            self._heap = [one for one in self._heap if one[2].operation is not operation]
            heapq.heapify(self._heap)
        for _, _, entry in due:
            self._expire(entry)

    def _expire(self, entry: TimerEntry) -> None:
        with entry.operation.timer_lock:
            is_due = entry.move(armed=False) and not entry.is_cancelled
        if is_due:
            self.tasks.put(entry.operation)


class Purgatory:
    """Operations that wait, by the keys under which something may happen that completes them."""

    def __init__(self, timer: Timer, *, purge_interval: int = PURGE_INTERVAL, fixes: Switches = AS_CODED) -> None:
        self.timer, self.purge_interval, self._fixes = timer, purge_interval, fixes
        self.lists: dict[Hashable, Watchers] = {}
        self.estimated = 0
        self._lists_lock = threading.Lock()
        self._estimate_lock = threading.Lock()

    @property
    def delayed(self) -> int:
        """How many timers are armed."""
        return len(self.timer)

    @property
    def watched(self) -> int:
        """How long all lists are together; an operation counts once for each key, also after its completion."""
        with self._lists_lock:
            return sum(map(len, self.lists.values()))

    def try_complete_else_watch(self, operation: DelayedOperation, keys: Sequence[Hashable]) -> Pieces[bool]:
        """Try, watch under every key, try again, arm the timer; True only if the caller completed the operation."""
        if (yield from operation.safe_try_complete(At.FIRST_TRY)):
            return True
        for place, key in enumerate(keys):
            yield Point(At.WATCH, key)
            if operation.completed:
                return False
            self._watch(operation, key)
            if place == 0:
                with self._estimate_lock:
                    self.estimated += 1
        arm_first = Switch.ARM_BEFORE_SECOND_TRY in self._fixes
        if arm_first:
            yield from self.timer.add(operation)
        if (yield from operation.safe_try_complete(At.SECOND_TRY)):
            return True
        if not arm_first:
            yield Point(At.CHECK, operation)
            if operation.completed:
                return False
            yield from self.timer.add(operation)
        yield Point(At.RECHECK, operation)
        if operation.completed:
            operation.cancel()
        return False

    def check_and_complete(self, key: Hashable) -> Pieces[int]:
        """Try what is watched under a key; how many operations the caller completed."""
        todo, done = self.found(key), 0
        while todo:
            operation = (yield Point(At.WALK, key, options=tuple(todo))) or todo[0]
            todo.remove(operation)
            if operation.completed:
                self._unwatch(key, [operation])
            elif (yield from self._tried(operation)):
                self._unwatch(key, [operation])
                done += 1
        yield Point(At.WALK, key)
        self._forget_if_empty(key)
        return done

    def found(self, key: Hashable) -> list[DelayedOperation]:
        """What is watched under a key now."""
        with self._lists_lock:
            watchers = self.lists.get(key)
        return [] if watchers is None else watchers.found()

    def _tried(self, operation: DelayedOperation) -> Pieces[bool]:
        """Try an operation; the walk's own point was the one before it."""
        pieces = operation.safe_try_complete(At.WALK)
        next(pieces)
        return (yield from pieces)

    def purge(self) -> Pieces[None]:
        """If too many operations are guessed to be completed, take the completed ones off all lists."""
        with self._estimate_lock:
            if self.estimated - self.delayed <= self.purge_interval:
                return
            self.estimated = self.delayed
        with self._lists_lock:
            todo = [key for key, watchers in self.lists.items() if watchers]
        while todo:
            key = (yield Point(At.WALK, "reaper", options=tuple(todo))) or todo[0]
            todo.remove(key)
            self._unwatch(key, [one for one in self.found(key) if one.completed])
            self._forget_if_empty(key)

    def _watch(self, operation: DelayedOperation, key: Hashable) -> None:
        with self._lists_lock:
            self.lists.setdefault(key, Watchers()).add(operation)

    def _unwatch(self, key: Hashable, operations: Iterable[DelayedOperation]) -> None:
        with self._lists_lock:
            watchers = self.lists.get(key)
        if watchers is not None:
            watchers.remove(operations)

    def _forget_if_empty(self, key: Hashable) -> None:
        """Drop an empty list; under the lock that also guards adding, so that nothing is added to a dropped one."""
        with self._lists_lock:
            if key in self.lists and not self.lists[key]:
                del self.lists[key]
