"""Checks in a second process: while one core explores, the other proves.

They are begun in the order given, one after the other, and to make one is then to wait for it. Whoever leaves early,
with Ctrl-C or otherwise, ends what is still under way.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

from model_check.verification import Check, made


@contextmanager
def in_a_second_process(checks: Sequence[Check]) -> Iterator[list[Check]]:
    """The same checks, under way in another process until the block ends."""
    known = set(multiprocessing.active_children())
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_leave_the_terminal_alone) as pool:
        begun = [pool.submit(made, check) for check in checks]
        try:
            yield [replace(check, make=one.result) for check, one in zip(checks, begun, strict=True)]
        finally:
            if not all(one.done() for one in begun):
                for child in set(multiprocessing.active_children()) - known:
                    child.terminate()


def _leave_the_terminal_alone() -> None:
    """No bars, and Ctrl-C is for the first process, which ends this one."""
    os.environ["CI"] = "true"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
