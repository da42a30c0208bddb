"""A delayed operation: it waits for a condition or for its time to be up, and is completed by exactly one thread.

Everything that threads share is touched in pieces, with a `Point` yielded before each: the same code runs in real
threads, which pass over the points, and under a scheduler that chooses every interleaving, point by point. The grain is
that of spec/protocol/delayed_operations.py, and so are the names of the places.

Kafka 0.10.2.2: `DelayedOperation`, `TimerTask`. PROTOCOL.md section 11.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from spec.state.purgatory import At

T = TypeVar("T")


@dataclass(frozen=True)
class Point:
    """A place between two accesses to what threads share.

    `monitor` is what the next piece takes, and blocks on. `options` are what it may choose from; a thread of its own
    takes the first, a scheduler sends what it chose.
    """

    at: At
    subject: Any = None
    monitor: "threading.Lock | None" = None
    options: Sequence[Any] = ()


Pieces = Generator[Point, Any, T]
"""Code in pieces, that gives a T in the end."""


def run(pieces: Pieces[T]) -> T:
    """Run code in pieces to its end, in the thread of the caller."""
    while True:
        try:
            next(pieces)
        except StopIteration as done:
            result: T = done.value
            return result


class AtomicBoolean:
    """A flag that threads may set once: `compare_and_set` says who did."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set = False

    def __bool__(self) -> bool:
        return self._set

    def compare_and_set(self) -> bool:
        """Set the flag if it is not set; True for the one caller that did."""
        with self._lock:
            won, self._set = not self._set, True
        return won


class Counter:
    """A number that threads count up and down."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.value = 0

    def add(self, number: int) -> None:
        """Count so many more, or fewer."""
        with self._lock:
            self.value += number


@dataclass(eq=False)
class TimerEntry:
    """A place in the timer for an operation; whoever forgets it has cancelled it.

    `armed` says that it is in a bucket; `count` has how many are. Changed under the operation's `timer_lock`.
    """

    operation: "DelayedOperation"
    deadline: float
    count: Counter
    armed: bool = False

    def move(self, *, armed: bool) -> bool:
        """Put the entry in a bucket or take it out; whether it was in one."""
        was, self.armed = self.armed, armed
        self.count.add(armed - was)
        return was

    @property
    def is_cancelled(self) -> bool:
        """Whether the operation does not know this entry any more."""
        return self.operation.entry is not self


class DelayedOperation(ABC):
    """An operation with a condition, an answer and a time of `delay` seconds.

    `told` and `expirations` count how often onComplete and onExpiration have run; `is_by_condition` says which won.
    """

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.completed = AtomicBoolean()
        self.monitor = threading.Lock()
        self.timer_lock = threading.Lock()
        self.entry: TimerEntry | None = None
        self.is_by_condition: bool | None = None
        self.told = self.expirations = 0

    @abstractmethod
    def is_complete(self) -> bool:
        """Whether the condition holds."""

    @abstractmethod
    def on_complete(self) -> None:
        """Answer; runs once."""

    def on_expiration(self) -> None:  # noqa: B027 - most operations have nothing to add
        """The expiry won; runs after `on_complete`."""

    def safe_try_complete(self, at: At) -> Pieces[bool]:
        """Under the monitor: complete the operation if its condition holds; True if the caller completed it."""
        yield Point(at, self, self.monitor)
        with self.monitor:
            if not self.is_complete():
                return False
            return (yield from self.force_complete(by_condition=True))

    def force_complete(self, *, by_condition: bool) -> Pieces[bool]:
        """Complete the operation, whatever its condition says; True if the caller did, False if another had."""
        yield Point(At.COMPARE_AND_SET, self)
        if not self.completed.compare_and_set():
            return False
        self.is_by_condition = by_condition
        yield Point(At.CANCEL, self)
        self.cancel()
        yield Point(At.ON_COMPLETE, self)
        self.told += 1
        self.on_complete()
        return True

    def run(self) -> Pieces[None]:
        """The time is up."""
        if (yield from self.force_complete(by_condition=False)):
            yield Point(At.ON_EXPIRATION, self)
            self.expirations += 1
            self.on_expiration()

    def cancel(self) -> None:
        """Forget the timer entry, and take it out of its bucket."""
        with self.timer_lock:
            if self.entry is not None:
                self.entry.move(armed=False)
            self.entry = None


@dataclass
class Watchers:
    """The operations that are watched under one key, in the order in which they came."""

    operations: list[DelayedOperation] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __len__(self) -> int:
        return len(self.operations)

    def add(self, operation: DelayedOperation) -> None:
        """Watch one more."""
        with self._lock:
            self.operations.append(operation)

    def remove(self, operations: Iterable[DelayedOperation]) -> int:
        """Take those off that are still there; how many were."""
        gone = set(map(id, operations))
        with self._lock:
            before = len(self.operations)
            self.operations[:] = [one for one in self.operations if id(one) not in gone]
            return before - len(self.operations)

    def found(self) -> list[DelayedOperation]:
        """What is on the list now, for somebody to walk over."""
        with self._lock:
            return list(self.operations)
