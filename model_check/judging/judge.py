"""Judging a recording: whether a behaviour of the specification explains all of it, and which claims that one breaks.

    EXPLAINED      a behaviour was found; every observation is one of its steps, or printed by one
    UNEXPLAINED    there is none among the likely ones, which were all tried, nor among many unlikely ones
    INCOMPLETE     the likely ones were too many for the budget, or not all were tried; or the recording shows a part of
                   the protocol that is not modelled, and is explained up to there

`search.py` finds explanations. When nothing goes on, the explained prefix that came furthest by the clock tells where:
what came next there, and what was enabled instead.

One explanation is enough to explain a recording, but not to say that a claim was broken: another might not break it. So
the search goes on for a while, and tells apart what every explanation found breaks from what only some do.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from model_check.judging.broken_claims import Broken, BrokenClaims
from model_check.judging.explaining import Explainer
from model_check.judging.not_asked import not_asked
from model_check.judging.positions import Position
from model_check.judging.search import Search
from model_check.judging.table_order import orders_of_states
from model_check.recordings.recording import Observed, Recording
from model_check.stepping.open_system import OpenSystem
from spec.collector import without_collector
from spec.language.rules import Claim
from spec.variants import AS_CODED, Switches

BUDGET = 10_000
"""How many positions a search visits at least before it gives up."""
EACH = 10
"""How many it visits at least for each observation: a long recording needs one or so, if it is explained."""


Progress: TypeAlias = Callable[[int, str, int], None]
"""Told how much is done, what that is, and of how much."""


class Outcome(enum.StrEnum):
    """What judging a recording ends with."""

    EXPLAINED = "explained"
    UNEXPLAINED = "unexplained"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True)
class Stuck:
    """Where an explanation ends: what was observed next in each sequence, and which actions were enabled.

    Lines that contradict others come first.
    """

    next: tuple[Observed, ...]
    enabled: tuple[str, ...]


@dataclass(frozen=True)
class Judgement:
    """What became of a recording.

    `system` is the one that was run; `path` the explanation, or the one that came furthest. `broken` by every
    explanation found, `possibly` by some only, or if nobody had died unseen before. `positions` were visited, the one
    at which the path ends after `best_after`. `asked` are the claims that speak only of parts
    that the recording shows, `not_asked` the others, each with its reason.
    """

    system: OpenSystem
    outcome: Outcome
    reason: str
    path: tuple[Position, ...]
    explained: int
    observations: int
    stuck: Stuck | None
    broken: tuple[Broken, ...]
    possibly: tuple[Broken, ...]
    explanations: int
    positions: int
    best_after: int
    asked: tuple[Claim, ...]
    not_asked: tuple[str, ...]


@without_collector(leaves_circles=True)  # questions and answers hold each other
def judge(
    recording: Recording,
    switches: Switches = AS_CODED,
    *,
    budget: int | None = None,
    progress: Progress = lambda _done, _what, _of: None,
    stop: Callable[[], bool] = lambda: False,
) -> Judgement:
    """Find a behaviour that explains a recording, or how far one comes, and the claims that it breaks.

    Without a `budget` of positions, the recording's length gives one. `progress` is called with how many observations
    are explained at most, then how many steps the claims were asked of. `stop` is asked at each of them whether to go
    no further: then the search ends as if the budget were used up, and of what it has the claims are asked to the end;
    or these end, and it is open what else is broken.
    """
    observations = recording.observations
    searches, ends = _searched(
        recording,
        switches,
        budget or max(BUDGET, EACH * observations),
        lambda explained, positions: progress(explained, f"{positions:,} positions", observations),
        stop,
    )
    search = searches[-1] if ends else max(searches, key=lambda one: sum(one.best.place))
    explainer, best = search.explainer, ends[0] if ends else search.best
    asked = BrokenClaims(explainer)
    found, open_ = _broken(asked, ends, best, progress, (lambda: False) if stop() else stop)
    common = set.intersection(*({one.claim.name for one in broken if one.is_sure and not open_} for broken in found))
    others = {one.claim.name: one for broken in reversed(found) for one in broken if one.claim.name not in common}
    outcome, reason = _outcome(recording, search, searches, explained=bool(ends))
    return Judgement(
        system=explainer.system,
        outcome=Outcome.INCOMPLETE if open_ and outcome is Outcome.EXPLAINED else outcome,
        reason=reason or open_,
        path=tuple(best.path()),
        explained=sum(best.place),
        observations=observations,
        stuck=_stuck(explainer, best) if recording.contradictions or not ends else None,
        broken=tuple(one for one in found[0] if one.claim.name in common),
        possibly=tuple(others.values()),
        explanations=len(ends),
        positions=sum(one.positions for one in searches),
        best_after=search.best_after,
        asked=tuple(asked.asked),
        not_asked=tuple(not_asked(asked.features)),
    )


def _searched(
    recording: Recording,
    switches: Switches,
    budget: int,
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> tuple[list[Search], list[Position]]:
    """A search for each order in which callbacks may have come, up to one that explains the recording; and its ends.

    That one is the last; without one, each has had the whole budget.
    """
    searches: list[Search] = []
    for order in orders_of_states(recording):
        search = Search(Explainer(recording, switches, order), budget, progress, stop)
        searches.append(search)
        if (ends := list(search.explanations())) or stop():
            return searches, ends
    return searches, []


def _broken(
    asked: BrokenClaims, ends: Sequence[Position], best: Position, progress: Progress, stop: Callable[[], bool]
) -> tuple[list[tuple[Broken, ...]], str]:
    """The claims that each explanation breaks, or the best path; and if told to stop, how far they were asked."""
    found: list[tuple[Broken, ...]] = []
    for number, end in enumerate(ends or [best], start=1):
        path, done = end.path(), 0
        of, steps = f"explanation {number} of {len(ends)}" if ends else "the best path", len(path) - 1

        def goes_on(step: int, what: str = f"claims of {of}", steps: int = steps) -> bool:
            nonlocal done
            done = step
            progress(step, what, steps)
            return not stop()

        found.append(asked.broken(path, is_whole=bool(ends), goes_on=goes_on))
        if stop():
            return found, f"the claims were asked of {done:,} of {steps:,} steps of {of}"
    return found, ""


def _outcome(recording: Recording, best: Search, searches: Sequence[Search], *, explained: bool) -> tuple[Outcome, str]:
    """What became of it, by the search that came furthest; nothing shows it only if none of them has more to try."""
    cut, contradictions = recording.cut, recording.contradictions
    if contradictions:
        return Outcome.UNEXPLAINED, f"no cluster writes this: {contradictions[0].place} contradicts other lines"
    if explained:
        return (Outcome.INCOMPLETE, f"explained up to {cut.place}: {cut.reason}") if cut else (Outcome.EXPLAINED, "")
    if stopped := best.explainer.steps.stopped_by_a_bound.get(best.best.place):
        return Outcome.INCOMPLETE, f"no explanation found, and a bound of the specification stopped {stopped}"
    tried = f"{sum(one.positions for one in searches):,} positions"
    if all(one.is_exhausted for one in searches):
        are_all = all(one.tried_all for one in searches)
        none = "behaviour shows this" if are_all else "likely behaviour shows this, nor an unlikely one yet"
        return Outcome.UNEXPLAINED, f"no {none}; {tried} were tried"
    if all(one.is_exhausted or one.is_over for one in searches):
        return Outcome.INCOMPLETE, f"no choice far back came further; {tried} were tried"
    return Outcome.INCOMPLETE, f"no explanation found among {tried}; --budget allows more"


def _stuck(explainer: Explainer, at: Position) -> Stuck:
    heads = (one for _, one in explainer.tracks.heads(at.place))
    return Stuck((*explainer.recording.contradictions, *heads), tuple(explainer.instead(at)))
