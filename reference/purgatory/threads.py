"""A purgatory at work: the reaper, which advances the timer and clears the lists, and the timer's one executor thread.

Whoever handles a request or an update calls `run` on the pieces in its own thread.

Kafka 0.10.2.2: `DelayedOperationPurgatory.ExpiredOperationReaper`, `SystemTimer.taskExecutor`.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType

from reference.purgatory.operations import run
from reference.purgatory.purgatory import Purgatory

REAPER_PERIOD = 0.2
"""Seconds that the reaper waits at most, for something to come due."""


class PurgatoryThreads:
    """The two threads of a purgatory, alive within a `with` block. What still waits at its end, waits for ever."""

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
            deadline = timer.next_deadline()
            wait = REAPER_PERIOD if deadline is None else min(REAPER_PERIOD, max(0.0, deadline - time.monotonic()))
            self._stopped.wait(wait)
            timer.advance()
            run(self._purgatory.purge())

    def _execute(self) -> None:
        while (operation := self._purgatory.timer.tasks.get()) is not None:
            run(operation.run())
