"""Checks in a second process, so that both cores of a small machine verify.

The second process makes checks in the order given. The first goes its own way through all of them: one that the second
has not taken yet it makes itself, for one that is under way, or next, it waits. Whoever leaves early, with Ctrl-C or
otherwise, ends what is still under way.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from model_check.results import Run
from model_check.verification import Check, made


@contextmanager
def in_a_second_process(checks: Sequence[Check]) -> Iterator[list[Check]]:
    """The same checks, which another process makes as well, until the block ends; each is made once."""
    known = set(multiprocessing.active_children())
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_leave_the_terminal_alone) as pool:
        begun = [pool.submit(made, check) for check in checks]
        try:
            yield [replace(check, make=partial(_once, check, one)) for check, one in zip(checks, begun, strict=True)]
        finally:
            if not all(one.cancel() or one.done() for one in begun):
                for child in set(multiprocessing.active_children()) - known:
                    child.terminate()


def _once(check: Check, begun: Future[list[Run]]) -> list[Run]:
    """What came of a check, made here if the other process has not begun it, or was killed (for memory, as a rule)."""
    if begun.cancel():
        return made(check)
    try:
        return begun.result()
    except BrokenProcessPool:
        return made(check)


def _leave_the_terminal_alone() -> None:
    """No bars, and Ctrl-C is for the first process, which ends this one."""
    os.environ["CI"] = "true"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
