"""Using results again: which checks have a sound result under their present key, and keeping those that are made now.

A check whose key is known at once is answered before any is made. The key of one whose system has to be built for
it, after an edit of the specification, comes from the process that would make the check: either the terms are the same,
and the earlier result is valid, or the system that was built is explored.

Nothing is kept once a file of ours was written after the process began: nobody knows then which text Python had loaded.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from model_check.inventory.known_terms import KnownTerms
from model_check.inventory.sources import are_as_loaded
from model_check.reuse.kept_results import Kept, KeptResults
from model_check.reuse.reusable import Reusable, key_of, terms_of
from model_check.verdicts.results import Run
from model_check.verdicts.verification import Check

WHOLE: Final = "check"
"""The name under which the seconds of a run have those of its whole check."""


@dataclass(frozen=True)
class Reuse:
    """How a verification uses earlier results: not at all if `fresh`."""

    fresh: bool = False

    def earlier(self, checks: Iterable[Check]) -> list[tuple[Check, Kept | None]]:
        """Every check, with its earlier result where one is valid and its key is known without building a system."""
        known, results = KnownTerms(), KeptResults()
        return [(check, self._earlier(check, known, results)) for check in checks]

    def _earlier(self, check: Check, known: KnownTerms, results: KeptResults) -> Kept | None:
        if self.fresh or not isinstance(check, Reusable) or not results.has_any(check):
            return None
        terms = terms_of(check, known, build=False)
        return None if check.system is not None and terms is None else results.get(check, key_of(check, terms))

    def made(self, check: Check) -> Check:
        """The check such that its maker looks once more for an earlier result, and times and keeps a new one."""
        make = partial(_made, self, check) if isinstance(check, Reusable) else partial(_timed, check)
        return replace(check, make=make)


def again(kept: Kept) -> list[Run]:
    """The runs of an earlier result, which say when they were made."""
    return [replace(run, made=kept.made) for run in kept.runs]


def _made(how: Reuse, check: Reusable) -> list[Run]:
    """An earlier result of a check if it is valid, else a new one, which is kept if it is as expected."""
    known, results = KnownTerms(), KeptResults()
    if not how.fresh and results.has_any(check):
        kept = results.get(check, key_of(check, terms_of(check, known, build=True)))
        if kept is not None:
            return again(kept)
    runs = _timed(check)
    if are_as_loaded():
        results.put(check, key_of(check, terms_of(check, known, build=True)), runs)
    return runs


def _timed(check: Check) -> list[Run]:
    """The runs of a check, whose seconds say what the whole of it took, too."""
    started = time.perf_counter()
    runs = list(check.make())
    whole = {WHOLE: time.perf_counter() - started}
    return [replace(run, seconds={**(run.seconds or {}), **whole}) for run in runs]
