"""What a state costs late in a search, compared to early in it: the same run, around two sizes.

Told by the clock and in processor time outside the operating system's kernel. Unlike the comparison with SPIN the
search has all cores: the second one lays its memory out (see `populating`).
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from model_check.benchmarks.explorer import Row, native_run

BEGIN, LATER = 1_000_000, 30_000_000
"""Stored states around which the marginal cost of a state is given."""

ENOUGH = LATER * 8 // 5
"""States to stop at."""


class Mark(NamedTuple):
    """How far a search was: states stored and expanded; seconds by the clock, and computing outside the kernel."""

    states: int
    expanded: int
    wall: float
    user: float


def marginal(marks: Sequence[Mark], at: int) -> tuple[float, float] | None:
    """Nanoseconds for each state expanded while between half and one and a half times so many were stored.

    By the clock and of computing; None if the search did not get there.
    """
    window = [one for one in marks if at // 2 <= one.states <= at * 3 // 2]
    if len(window) < 2 or marks[-1].states < at * 3 // 2:
        return None
    first, last = window[0], window[-1]
    expanded = last.expanded - first.expanded
    return (last.wall - first.wall) * 1e9 / expanded, (last.user - first.user) * 1e9 / expanded


def costs(marks: Sequence[Mark]) -> Mapping[str, tuple[float, float]]:
    """The marginal costs around the two sizes, as far as the search got."""
    return {str(at): cost for at in (BEGIN, LATER) if (cost := marginal(marks, at)) is not None}


def marginal_rows(scope: str, variant: str, runs: int) -> Iterator[Row]:
    """The table of a scope; ValueError if it is too small."""
    found = [native_run(scope, variant, ENOUGH, ENOUGH, pinned=False)["marginal_ns"] for _ in range(runs)]
    if any(str(LATER) not in one for one in found):
        raise ValueError(f"{scope} has not {ENOUGH:,} states: take another scope")
    for kind, name in enumerate(("by the clock", "of it computing")):
        early, late = ([one[str(at)][kind] for one in found] for at in (BEGIN, LATER))
        ratios = sorted(b / a for a, b in zip(early, late, strict=True))
        sizes = f"a state at {LATER // 10**6} M to one at {BEGIN // 10**6} M"
        yield f"{sizes}, {name}", f"{statistics.median(ratios):.2f} times", "" if kind else "1.5 at most"
        yield "  all runs", ", ".join(f"{ratio:.2f}" for ratio in ratios), ""
        yield "  nanoseconds, medians", f"{statistics.median(late):.0f} to {statistics.median(early):.0f}", ""
