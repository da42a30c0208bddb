"""A verification on one screen: the verdict, what was checked in counts, what is not as expected, where the rest is.

The whole text of a verification is a thousand lines, of which a passing one has nothing that anybody must read. What
differs takes a line for each run, the first difference and how many more there are.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from model_check.verdicts.rendering import headline
from model_check.verdicts.results import Document, Run
from model_check.verdicts.verdict import Verdict

LINES: Final = 40
"""So many lines a screen has, at least."""

NEWS: Final = 18
"""So many runs that are not as expected are named."""

WIDTH: Final = 160
"""A line that is longer is cut; the report has all of it."""

KINDS: Final = {
    "explorer": "explorations",
    "defect": "defects shown, or gone when fixed",
    "induction": "proofs by induction",
    "crash matrix": "crash matrices",
    "refinement": "replays on the reference",
    "simulation": "sets of random runs",
    "Spark": "enumerations by Spark",
    "judge": "recordings judged",
    "live": "live runs",
    "planted fault": "planted faults seen",
}
"""How the runs of an engine are called where they are counted; others are called by the engine's name."""


def screen(document: Document, report: str) -> str:
    """The document in few lines; `report` says where all of it is."""
    news = [run for run in document.runs if run.verdict is not Verdict.HOLDS]
    lines = [headline(document), "", *_counted(document.runs), *_known(document.runs)]
    if news:
        lines += ["", "not as expected:", *(f"  {_told(run)}"[:WIDTH] for run in news[:NEWS])]
        lines += [f"  and {len(news) - NEWS} more runs"] if len(news) > NEWS else []
    return "\n".join([*lines, "", report]) + "\n"


def _counted(runs: Sequence[Run]) -> Iterator[str]:
    """How many runs of each kind there are, and what they explored."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        kind = "defect" if ", " in run.engine else run.engine
        groups.setdefault(KINDS.get(kind, kind), []).append(run)
    order = [name for name in KINDS.values() if name in groups]
    for name in [*order, *(name for name in groups if name not in order)]:
        some = groups[name]
        met = sum(one.is_met for run in some for one in run.comparisons)
        states = sum(run.counts.states for run in some if run.counts)
        size = f", {states:,} states" if states else ""
        yield f"  {len(some):>4} {name}: {met:,} expectations met{size}"


def _known(runs: Sequence[Run]) -> Iterator[str]:
    """What is known to be broken, or open, and is so."""
    made = [one for run in runs for one in run.comparisons if one.is_met]
    for verdict, what in ((Verdict.VIOLATED, "violations"), (Verdict.INCOMPLETE, "open questions")):
        known = sum(one.expected_verdict == verdict for one in made)
        if known:
            yield f"  {known:>4} known {what}, all as expected"


def _told(run: Run) -> str:
    """What is not as expected of a run: why it has no result, or the first difference, and how many more there are."""
    unmet = [one for one in run.comparisons if not one.is_met]
    if not unmet:
        return f"{run.title}: {run.verdict}" + (f": {run.reason}" if run.reason else "")
    first = min(unmet, key=lambda one: not one.expected_verdict)
    more = f"; and {len(unmet) - 1} more" if len(unmet) > 1 else ""
    return f"{run.title}: {first.about}: expected {first.expected}, found {first.found}{more}"
