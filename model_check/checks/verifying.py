"""Making many checks: earlier results that still hold are reported at once, and all processes make the rest.

Whoever waits sees each check end. What was made leaves its seconds behind, from which the next run knows which checks
are long, and about how long all of them take.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from model_check.checks.processes import shared_out
from model_check.checks.selection import expected_seconds, most_worth_first
from model_check.live.live_run import ENGINE as LIVE
from model_check.reuse.kept_goals import forget_goals
from model_check.reuse.reuse import WHOLE, Reuse, again
from model_check.verdicts.interrupts import Interrupt
from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict, worst
from model_check.verdicts.verification import Check, run_each
from model_check.waiting.board import Board, board
from model_check.waiting.estimates import remember, remembered

VERB: Final = "check"
"""The name under which the seconds of checks are remembered."""


@dataclass(frozen=True)
class How:
    """How checks are made: by so many processes, with earlier results unless `fresh`, until something stops them.

    `within` so many seconds those come first that say most, and none is begun later. With `fail_fast` none is begun
    after one that is not as expected.
    """

    processes: int = 2
    fresh: bool = False
    fail_fast: bool = False
    within: float | None = None


def verified(here: Sequence[Check], anywhere: Sequence[Check], how: How, stop: Interrupt) -> dict[Check, list[Run]]:
    """All checks with their runs, in their order; those `here` are made by this process, since they start others."""
    every, reuse = [*here, *anywhere], Reuse(fresh=how.fresh)
    if how.fresh:
        forget_goals()
    found = {check: again(kept) for check, kept in reuse.earlier(every) if kept is not None}
    mine, shared = ([one for one in some if one not in found] for some in (here, anywhere))
    seconds = expected_seconds(remembered(VERB))
    helpers = min(helpers_for(how.processes, mine), len(shared))
    with board("verify", len(mine) + len(shared), sum(map(seconds, [*mine, *shared])), 1 + helpers) as shown:
        making = Making(how, shown)
        found |= dict(making.made(mine, shared, helpers, reuse, stop))
    remember(VERB, making.spent)
    return {check: found[check] for check in every}


def helpers_for(processes: int, mine: Sequence[Check]) -> int:
    """How many processes help the first one; one more while that has a live run, which waits more than it computes."""
    waits = processes > 1 and any(one.engine == LIVE for one in mine)
    return processes - 1 + waits


class Making:
    """The making of checks, as far as it has come."""

    def __init__(self, how: How, shown: Board) -> None:
        self.how, self.shown = how, shown
        self.seconds = expected_seconds(remembered(VERB))
        self.until = None if how.within is None else time.monotonic() + how.within
        self.spent: dict[str, float] = {}
        self.reason = ""
        self._told, self._lock = set[str](), threading.Lock()

    def made(
        self, mine: Iterable[Check], shared: Iterable[Check], helpers: int, reuse: Reuse, stop: Interrupt
    ) -> Iterator[tuple[Check, list[Run]]]:
        """Each check with its runs."""
        original = {one.identity: one for one in (*mine, *shared)}
        own, theirs = (
            [reuse.made(one) for one in self._in_order(some, longest_first=is_shared)]
            for some, is_shared in ((mine, False), (shared, True))
        )
        with shared_out(theirs, helpers, self, in_order=self.until is not None) as together:
            rest = together.checks()
            begun = (self._begun_here(one) for one in chain(own, rest))
            for check, runs in run_each(begun, stop, self._withheld):
                self.ended(check, runs)
                yield original[check.identity], runs

    def begun(self, process: int, check: Check) -> None:
        """Show that a process begins with a check."""
        self.shown.begun(process, check.identity, self.seconds(check))

    def ended(self, check: Check, runs: list[Run]) -> None:
        """Show what came of a check, once."""
        with self._lock:
            if check.identity in self._told:
                return
            self._told.add(check.identity)
        verdict = worst(run.verdict for run in runs)
        seconds = next((run.seconds[WHOLE] for run in runs if run.seconds and WHOLE in run.seconds), 0.0)
        unchanged = next((f"unchanged since {run.made}" for run in runs if run.made), "")
        is_expected = verdict is Verdict.HOLDS
        if is_expected and not unchanged:
            self.spent[check.identity] = seconds
        if not is_expected and self.how.fail_fast and not self.reason:
            self.reason = f"not begun, for {check.identity} was not as expected (--fail-fast)"
        said = (unchanged or "as expected") if is_expected else str(verdict)
        self.shown.ended(check.identity, said, seconds, is_news=not is_expected)

    def _in_order(self, checks: Iterable[Check], *, longest_first: bool) -> list[Check]:
        if self.until is not None:
            return list(most_worth_first(list(checks), self.seconds))
        return sorted(checks, key=self.seconds, reverse=longest_first)

    def _withheld(self) -> str:
        """Why no further check is begun, if so."""
        if self.until is not None and time.monotonic() > self.until:
            return f"not begun, for the {self.how.within:g} seconds were over (--within)"
        return self.reason

    def _begun_here(self, check: Check) -> Check:
        if not check.is_made() and not self._withheld():
            self.begun(0, check)
        return check
