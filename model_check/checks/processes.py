"""Checks in several processes, so that all cores of a machine verify.

Helper processes make checks in the order given, each handed one at a time; the second proof of a scope waits while
there is anything else, since it goes by what the first has shown. The first process makes those that no helper has
begun, from the other end, and waits for the others at last. Whoever has built a system goes on with what else there is
to check of it, then with other variants of its scope. Where the order counts, all make what comes next. A helper that
dies, for want of memory mostly, takes no further check; what it had begun is made in the first process. Leaving early,
with Ctrl-C or otherwise, kills the helpers, which may take a milder signal for a wish to stop later.
"""

import multiprocessing
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from threading import Lock, Thread
from typing import Final, Protocol

from model_check.proofs.proof_findings import ENGINE as PROOF
from model_check.verdicts.results import Run
from model_check.verdicts.second_process import leave_to_the_first_process
from model_check.verdicts.verification import Check, made
from spec.errors import LacksMemory

Task = tuple[Check, Future[list[Run]]]

EACH_BYTES: Final = 3 << 30
"""Memory that a process should find free to begin with; a scope that needs more says so before it starts."""


def fitting(cores: int, free_bytes: int) -> int:
    """How many processes a machine has cores and memory for; one at least."""
    return max(1, min(cores, free_bytes // EACH_BYTES))


@dataclass
class Shared:
    """Checks that several processes make, each once; `in_order`, if that is asked for."""

    tasks: list[Task]
    in_order: bool = False
    _lock: Lock = field(default_factory=Lock)

    def begin(self, before: Check | None = None) -> Task | None:
        """The first that nobody has begun, or None: preferably one that is near to the one `before`, and no proof of a
        scope of which a helper makes one.
        """
        with self._lock:
            proved = {check.scope for check, future in self.tasks if check.engine == PROOF and future.running()}
            left = [one for one in self.tasks if not (one[1].running() or one[1].done())]
            for task in sorted(left, key=lambda one: self._is_for_later(one[0], before, proved)):
                if task[1].set_running_or_notify_cancel():
                    return task
        return None

    def _is_for_later(self, check: Check, before: Check | None, proved: Collection[str]) -> tuple[bool, int]:
        return check.engine == PROOF and check.scope in proved, self._far(check, before)

    def _far(self, check: Check, before: Check | None) -> int:
        """How much has to be built for a check: 0 if it is about the system of the one before, 1 if it is about another
        variant of its scope, 2 if about another scope, or if that does not count.
        """
        if self.in_order or before is None:
            return 2
        one, other = _about(check), _about(before)
        return 0 if one == other else 1 if one[:2] == other[:2] else 2

    def checks(self) -> Iterator[Check]:
        """All of them, for the first process: those that are made, then one that nobody has begun, then others.

        It is the last that nobody has begun, unless the order counts.
        """
        left, before = list(self.tasks), None
        while left:
            made_there = (one for one in left if one[1].done())
            free = [one for one in (left if self.in_order else reversed(left)) if not one[1].running()]
            free.sort(key=lambda one: self._far(one[0], before))
            task = next(chain(made_there, free, left))
            left.remove(task)
            check, future = task
            before = before if future.done() else check
            yield replace(check, make=partial(_once, check, future), is_made=partial(_is_made, future))


def _about(check: Check) -> tuple[str, bool, str]:
    """The system that a check is about: the one of a scope, for a proof or for anything else, under a variant."""
    return check.scope, check.engine == PROOF, check.variant


class Listener(Protocol):
    """Told, in the thread of a helper, what that does."""

    def begun(self, helper: int, check: Check) -> None:
        """A helper, numbered from 1 on, begins with a check."""

    def ended(self, check: Check, runs: list[Run]) -> None:
        """It has made it."""


@contextmanager
def shared_out(
    checks: Iterable[Check], helpers: int = 1, listener: Listener | None = None, *, in_order: bool = False
) -> Iterator[Shared]:
    """Checks that some helpers make, too, until the block ends, the first ones first."""
    known, shared = set(multiprocessing.active_children()), Shared([(check, Future()) for check in checks], in_order)
    threads = [Thread(target=_help, args=(shared, number + 1, listener)) for number in range(helpers)]
    for thread in threads:
        thread.start()
    try:
        yield shared
    finally:
        under_way = [future for _, future in shared.tasks if not (future.cancel() or future.done())]
        if under_way:
            for child in set(multiprocessing.active_children()) - known:
                child.kill()
        for thread in threads:
            thread.join()


def _help(shared: Shared, number: int, listener: Listener | None) -> None:
    """Have a process of its own make one check after the other, until none is left or the process is gone."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, initializer=leave_to_the_first_process) as pool:
        check: Check | None = None
        while (task := shared.begin(check)) is not None:
            check, future = task
            if listener is not None:
                listener.begun(number, check)
            if not _is_answered(pool, check, future):
                return
            if listener is not None and _is_made(future):
                listener.ended(check, future.result())


def _is_answered(pool: ProcessPoolExecutor, check: Check, future: Future[list[Run]]) -> bool:
    """Have a check made; false if the process is gone."""
    try:
        future.set_result(pool.submit(made, check).result())
    except BrokenProcessPool as error:
        future.set_exception(error)
        return False
    except Exception as error:  # noqa: BLE001 - whatever it is, the first process raises it
        future.set_exception(error)
    return True


def _once(check: Check, future: Future[list[Run]]) -> list[Run]:
    """What came of a check, made here if no helper has begun it, or it lacked memory, or was killed for it."""
    if future.cancel():
        return made(check)
    try:
        return future.result()
    except (BrokenProcessPool, LacksMemory):
        return made(check)


def _is_made(one: Future[list[Run]]) -> bool:
    return one.done() and not one.cancelled() and one.exception() is None
