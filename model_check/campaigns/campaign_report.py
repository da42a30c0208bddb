"""A campaign in words: the table of its runs, the totals, and what is to be said of each run that is not explained.

All of it is read off the document, which has more: whole judgements, with the steps before the place where each ends.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from model_check.campaigns.outcomes import Outcome, outcomes
from model_check.verdicts.rendering import counted
from model_check.verdicts.results import Document
from model_check.verdicts.verdict import Verdict

HEAD: Final = (
    "run", "faults", "observations", "explained", "verdict", "record s", "judge s", "positions", "best at",
)  # fmt: skip
NOTHING: Final = "-"
STEPS: Final = 6
"""How many of the steps that were possible instead are named."""


def table(document: Document) -> list[tuple[str, ...]]:
    """The rows of the table, the first its head."""
    return [HEAD, *map(_row, outcomes(document))]


def _row(one: Outcome) -> tuple[str, ...]:
    far, seconds = one.how_far, one.seconds
    figures = (far.observations, far.explained) if far else (None, None)
    searched = (far.positions, far.best_at) if far else (None, None)
    times = [f"{seconds[part]:.1f}" if part in seconds else NOTHING for part in ("record", "judge")]
    faults = str(len(one.faults)) if one.faults or not one.failure else NOTHING
    return (one.title, faults, *map(_shown, figures), str(one.verdict), *times, *map(_shown, searched))


def _shown(number: int | None) -> str:
    return NOTHING if number is None else f"{number:,}"


def summary(document: Document) -> Iterator[str]:
    """The totals, and then what is to be said of single runs, as lines."""
    every = outcomes(document)
    yield (
        f"{counted(len(every), 'run')}: {sum(one.is_explained for one in every)} explained, "
        f"{sum(one.is_unexplained for one in every)} not explained, "
        f"{sum(one.is_not_searched for one in every)} not searched, "
        f"{sum(bool(one.breaks) for one in every)} with a broken claim, "
        f"{sum(bool(one.failure) for one in every)} not recorded or not read"
    )
    yield from (f"{run.verdict}: {run.reason}; {'; '.join(run.notes)}" for run in document.runs if not run.scope)
    yield from _by_reason("not recorded or not read", {one.title: one.failure for one in every})
    yield from _by_reason("ended early", {one.title: one.ended_early for one in every})
    for one in every:
        yield from _broken(one)
        if one.is_unexplained:
            yield from ("", *_unexplained(one))


def _by_reason(what: str, reasons: Mapping[str, str]) -> Iterator[str]:
    """What became of runs that have a reason for it, each reason once."""
    for reason in filter(None, dict.fromkeys(reasons.values())):
        yield f"{what}: {', '.join(title for title, its in reasons.items() if its == reason)}: {reason}"


def _broken(one: Outcome) -> Iterator[str]:
    for claim in one.breaks:
        yield f"{one.title} breaks {claim.property}: {claim.statement} ({claim.reason})"


def _unexplained(one: Outcome) -> Iterator[str]:
    seen, far = one.first_unexplained, one.how_far
    reason = next((f": {run.reason}" for run in one.runs if run.verdict is not Verdict.HOLDS and run.reason), "")
    yield f"{one.title} is not explained{reason}"
    if seen is not None:
        yield f"  no behaviour shows   {seen.place}: {seen.text}"
        yield f"  seen by              {seen_by(seen.place)}"
    if far is not None and far.next:
        yield f"  possible instead     {_steps(far.instead)}"
    yield from (f"  {note}" for run in one.runs for note in run.notes if note.startswith("to judge it again: "))
    if one.shrunk is not None:
        yield f"  {one.shrunk.reason}"
        yield from (f"    {note}" for note in one.shrunk.notes)


def _steps(instead: Sequence[str]) -> str:
    more = len(instead) - STEPS
    return ", ".join(instead[:STEPS]) + (f" and {more} more" if more > 0 else "") or "nothing"


def seen_by(place: str) -> str:
    """The broker, or the file, that recorded a place of a recording."""
    file = place.rpartition(":")[0]
    if told := re.fullmatch(r"broker-(\d+)/(.+)", file):
        return f"broker {told[1]}, in its {told[2]}"
    whose = {"zookeeper.jsonl": "ZooKeeper, in its transaction log", "actions.jsonl": "whoever did harm to the cluster"}
    return whose.get(file, file)
