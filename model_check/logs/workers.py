"""What reads the pieces: this process, several of this machine, or the workers of a Spark cluster.

All of them call `read_cut` on the same pieces, and what they give comes back in order; so the answer is the same
however many there are. Only so many pieces are under way that memory stays as it is, however large the files are.
"""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Final

from model_check.logs.files import PIECE, Cut, lines_of
from model_check.logs.reading import Piece, read_piece
from spec.errors import EnvironmentFailure

AHEAD: Final = 2
"""Pieces for each worker that are under way."""
WORTH_IT: Final = 4 * PIECE
"""Bytes from which on it pays to start processes."""


def read_cut(cut: Cut) -> tuple[Cut, Piece]:
    """A piece of a file, read."""
    return cut, read_piece(lines_of(cut))


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def pieces_of(cuts: Iterable[Cut], workers: int) -> Iterator[tuple[Cut, Piece]]:
    """The pieces in order, read by so many processes; by this one, if it is one."""
    if workers <= 1:
        yield from map(read_cut, cuts)
        return
    waiting = iter(cuts)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_leave_ctrl_c_to_the_verb) as pool:
        under_way: deque[Future[tuple[Cut, Piece]]] = deque(
            pool.submit(read_cut, cut) for cut in islice(waiting, AHEAD * workers)
        )
        try:
            while under_way:
                done = under_way.popleft().result()
                under_way.extend(pool.submit(read_cut, cut) for cut in islice(waiting, 1))
                yield done
        except BrokenProcessPool as error:
            raise EnvironmentFailure(
                "a process that reads logs was killed, for lack of memory perhaps", "try --workers 1"
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _leave_ctrl_c_to_the_verb() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
