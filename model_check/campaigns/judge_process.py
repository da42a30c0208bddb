"""The second process of a campaign, which judges one recording while the first makes the next.

It dies with the first, however that ends: a thread in it waits for that. What it is given is lost when it dies by
itself (for memory, as a rule); the next recording gets a new one.
"""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, ParamSpec, Protocol, TypeVar

from model_check.verdicts.second_process import leave_to_the_first_process

P = ParamSpec("P")
T = TypeVar("T")


class Executor(Protocol):
    """Whoever makes calls elsewhere."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a call made; its result or exception comes with the future."""


class JudgeProcess:
    """The process, from its first call until it is closed."""

    def __init__(self) -> None:
        self._known: set[Any] = set(multiprocessing.active_children())
        self._pool: ProcessPoolExecutor | None = None

    def close(self) -> None:
        """Kill it, whatever it is at."""
        if self._pool is not None:
            for child in set(multiprocessing.active_children()) - self._known:
                child.kill()
            self._pool.shutdown(cancel_futures=True)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have it make a call."""
        try:
            return self._started().submit(fn, *args, **kwargs)
        except BrokenProcessPool:
            self._pool = None
            return self._started().submit(fn, *args, **kwargs)

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), initializer=leave_to_the_first_process
            )
        return self._pool
