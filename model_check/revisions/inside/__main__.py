"""The process that answers: a line of JSON for each line of JSON that it is asked, until its standard input ends.

Whoever started it may be killed: then standard input ends, and so does this, whatever it is at. Between question and
answer come lines `{"states": N, "depth": D}` that say how far a search is.
"""

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, TextIO

import numba.core.caching


def keep_loops_as_if_at(place: str) -> None:
    """Have numba keep what it compiles as if this copy were elsewhere: its own place is another one each time.

    Where it is kept is named by the loops' texts, so whoever finds something there finds what was made of the same.
    """
    here = str(Path(__file__).resolve().parents[3])
    locator: Any = getattr(numba.core.caching, "UserProvidedCacheLocator", None)
    if locator is not None:
        known = locator.get_suitable_cache_subpath
        locator.get_suitable_cache_subpath = staticmethod(lambda file: known(file.replace(here, place, 1)))


class Answering:
    """A revision, loaded at the first question: one that lacks what is needed answers so."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._revision: Any = None

    def tell(self, what: Mapping[str, Any]) -> None:
        """Write a line."""
        self._out.write(json.dumps(what) + "\n")
        self._out.flush()

    def answer(self, question: Mapping[str, Any]) -> None:
        """Tell the answer to a question, or what went wrong."""
        given = dict(question)
        try:
            self.tell({"answer": getattr(self._loaded(), given.pop("ask"))(**given)})
        except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked tells it
            self.tell({"error": f"{type(error).__name__}: {error}"})

    def _loaded(self) -> Any:
        if self._revision is None:
            from model_check.revisions.inside.answering import Revision

            self._revision = Revision(self.tell)
        return self._revision


def _listen(lines: TextIO, asked: SimpleQueue[str]) -> None:
    for line in lines:
        asked.put(line)
    os._exit(0)


def _questions() -> Iterator[Mapping[str, Any]]:
    asked: SimpleQueue[str] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin, asked), daemon=True).start()
    while True:
        yield json.loads(asked.get())


def main() -> None:
    """Answer, until nobody asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(10_000, 20, 20)
    for place in sys.argv[1:]:
        keep_loops_as_if_at(place)
    answering = Answering(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)  # what anything prints is no answer
    for question in _questions():
        answering.answer(question)


if __name__ == "__main__":
    main()
