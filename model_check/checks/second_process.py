"""Checks in a second process, so that both cores of a small machine verify.

The second process makes checks in the order given, and is handed one at a time: a pool that loses its process cannot
do with checks that were taken back from it. The first goes its own way through all of them, best from the other end:
one that the second has not taken yet it makes itself, for one that is under way it waits. Whoever leaves early, with
Ctrl-C or otherwise, kills the second process, which may take a milder signal for a wish to stop later.
"""

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from model_check.verdicts.interrupts import leave_to_the_first_process
from model_check.verdicts.results import Run
from model_check.verdicts.verification import Check, made
from spec.errors import LacksMemory


@contextmanager
def in_a_second_process(checks: Sequence[Check]) -> Iterator[list[Check]]:
    """The same checks, which another process makes as well, until the block ends; each is made once."""
    known, begun = set(multiprocessing.active_children()), list[Future[list[Run]]]()
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=leave_to_the_first_process) as pool,
        ThreadPoolExecutor(1) as thread,
    ):
        try:
            pool.submit(os.getpid)  # from here on the process is there, to make checks and to be killed
            begun += [thread.submit(_there, pool, check) for check in checks]
            yield [
                replace(check, make=partial(_once, check, one), is_made=partial(_is_made, one))
                for check, one in zip(checks, begun, strict=True)
            ]
        finally:
            thread.shutdown(wait=False, cancel_futures=True)
            if not all(one.done() for one in begun):
                for child in set(multiprocessing.active_children()) - known:
                    child.kill()


def _there(pool: ProcessPoolExecutor, check: Check) -> list[Run]:
    """What came of a check that the other process makes."""
    return pool.submit(made, check).result()


def _once(check: Check, begun: Future[list[Run]]) -> list[Run]:
    """What came of a check, made here if the other process has not begun it, lacked memory, or was killed for it."""
    if begun.cancel():
        return made(check)
    try:
        return begun.result()
    except (BrokenProcessPool, LacksMemory):
        return made(check)


def _is_made(one: Future[list[Run]]) -> bool:
    return one.done() and not one.cancelled() and one.exception() is None
