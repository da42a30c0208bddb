"""Judging a recording: whether a behaviour of the specification explains all of it, and which claims that one breaks.

    EXPLAINED      a behaviour was found; every observation is one of its steps, or printed by one
    UNEXPLAINED    there is none among the likely ones, which were all tried, nor among many unlikely ones
    INCOMPLETE     the likely ones were too many for the budget; or the recording shows a part of the protocol that is
                   not modelled, and is explained up to there

Depth first: a process goes on as long as what it shows is what was recorded next. First only with the likely moves
(`explaining`), which is nearly without backtracking when the recording is a behaviour at all; then with all. A position
is met once: the same place in the recording in the same state is not searched again. From a dead end the search goes
back to a step of somebody who may be to blame for it, past all choices of others, which would only be taken in another
order. When nothing goes on, the longest explained prefix (most observations; of those the one with most transactions)
tells where: what came next there, and what was enabled instead.

One explanation is enough to explain a recording, but not to say that a claim was broken: another might not break it. So
the search goes on for a while, and tells apart what every explanation found breaks from what only some do.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from model_check.judging.broken_claims import Broken, BrokenClaims
from model_check.judging.explaining import Explainer
from model_check.judging.not_asked import not_asked
from model_check.judging.positions import Actor, Move, Position
from model_check.recordings.recording import Observed, Recording
from model_check.recordings.tracks import Place
from model_check.stepping.open_system import OpenSystem
from model_check.stepping.plain_state import PlainState
from spec.language.rules import Claim
from spec.variants import AS_CODED, Switches

Key = tuple[Place, frozenset[int], tuple[frozenset[Any], ...], int]
"""What tells positions apart: the place in the recording, who is stopped, who is silent, which logs have ended (that
makes a next step likely that another log's end explains), who has announced what, and a hash of the state."""

BUDGET = 10_000
"""How many positions a search visits at least before it gives up."""
EACH = 10
"""How many it visits at least for each observation: a long recording needs one or so, if it is explained."""
UNLIKELY = 2_000
"""How many more it visits with unlikely moves, after the likely ones are exhausted."""
MORE = 400
"""How many positions more it visits, once it has an explanation, to find others."""


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

    `system` is the one that was run; `path` the explanation, or the longest that explains a prefix. `broken` by every
    explanation found, `possibly` by some only, or if nobody had died unseen before. `positions` were visited, the one
    at which the path ends after `best_after`; `steps_tried` rules run. `asked` are the claims that speak only of parts
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
    steps_tried: int
    asked: tuple[Claim, ...]
    not_asked: tuple[str, ...]


def judge(
    recording: Recording,
    switches: Switches = AS_CODED,
    *,
    budget: int | None = None,
    progress: Callable[[int, int], None] = lambda _explained, _positions: None,
    stop: Callable[[], bool] = lambda: False,
) -> Judgement:
    """Find a behaviour that explains a recording, or the longest prefix that one explains.

    Without a `budget` of positions, the recording's length gives one. At each position `progress` is told how many
    observations are explained at most, and how many positions were visited; `stop` is asked whether to go no further,
    as if the budget were used up.
    """
    explainer = Explainer(recording, switches)
    search = _Search(explainer, budget or max(BUDGET, EACH * recording.observations), progress, stop)
    ends = search.explanations()
    best = ends[0] if ends else search.best
    asked = BrokenClaims(explainer)
    found = [asked.broken(end.path(), is_whole=bool(ends)) for end in ends or [best]]
    common = set.intersection(*({one.claim.name for one in broken if one.is_sure} for broken in found))
    outcome, reason = _outcome(recording, search, explained=bool(ends))
    return Judgement(
        system=explainer.system,
        outcome=outcome,
        reason=reason,
        path=tuple(best.path()),
        explained=sum(best.place),
        observations=recording.observations,
        stuck=_stuck(explainer, best) if recording.contradictions or not ends else None,
        broken=tuple(one for one in found[0] if one.claim.name in common),
        possibly=_others(found, common),
        explanations=len(ends),
        positions=search.positions,
        best_after=search.best_after,
        steps_tried=explainer.steps.tried,
        asked=tuple(asked.asked),
        not_asked=tuple(not_asked(asked.features)),
    )


def _outcome(recording: Recording, search: _Search, *, explained: bool) -> tuple[Outcome, str]:
    cut, contradictions = recording.cut, recording.contradictions
    if contradictions:
        return Outcome.UNEXPLAINED, f"no cluster writes this: {contradictions[0].place} contradicts other lines"
    if explained:
        return (Outcome.INCOMPLETE, f"explained up to {cut.place}: {cut.reason}") if cut else (Outcome.EXPLAINED, "")
    if stopped := search.explainer.steps.stopped_by_a_bound.get(search.best.place):
        return Outcome.INCOMPLETE, f"no explanation found, and a bound of the specification stopped {stopped}"
    if search.is_exhausted:
        tried = "behaviour shows this" if search.tried_all else "likely behaviour shows this, nor an unlikely one yet"
        return Outcome.UNEXPLAINED, f"no {tried}; {search.positions:,} positions were tried"
    return Outcome.INCOMPLETE, f"no explanation found among {search.positions:,} positions; --budget allows more"


def _others(found: list[tuple[Broken, ...]], common: set[str]) -> tuple[Broken, ...]:
    others = {one.claim.name: one for broken in reversed(found) for one in broken if one.claim.name not in common}
    return tuple(others.values())


def _stuck(explainer: Explainer, at: Position) -> Stuck:
    heads = (one for _, one in explainer.tracks.heads(at.place))
    return Stuck((*explainer.recording.contradictions, *heads), tuple(explainer.instead(at)))


class _Frame:
    """A position on the path that is being searched: what can still be tried, and who is to blame for what failed."""

    def __init__(self, position: Position, moves: Iterator[Move]) -> None:
        self.position = position
        self.moves = moves
        self.blamed: set[Actor] = set()
        self.is_dead_end = True


class _Search:
    """Depth-first search for explanations, with a jump back from a dead end to a choice that bears on it."""

    def __init__(
        self, explainer: Explainer, budget: int, progress: Callable[[int, int], None], stop: Callable[[], bool]
    ) -> None:
        self.explainer = explainer
        self.budget = budget
        self.progress, self.stop = progress, stop
        self.positions = 0
        self.best = explainer.start
        self.best_after = 0
        """How many positions had been visited when that was found."""
        self.is_exhausted = self.tried_all = False
        """Whether all likely moves were tried; whether the unlikely ones were, too."""
        self._hashes: dict[int, tuple[PlainState, int]] = {}

    def explanations(self) -> list[Position]:
        """Positions in which everything is explained: the first one found, and others soon after it."""
        ends = self._ends(self.budget, likely_only=True)
        if ends or not self.is_exhausted:
            return ends
        return self._ends(min(self.budget, self.positions + UNLIKELY), likely_only=False)

    def _ends(self, limit: int, *, likely_only: bool) -> list[Position]:
        ends: list[Position] = []
        for position in self._visited(likely_only=likely_only):
            if self.stop():
                self.is_exhausted = False
                return ends
            if self.positions > limit:
                return ends
            if position.place == self.explainer.tracks.end:
                ends.append(position)
                limit = min(limit, self.positions + MORE) if len(ends) == 1 else limit
        self.is_exhausted, self.tried_all = True, not likely_only
        return ends

    def _visited(self, *, likely_only: bool) -> Iterator[Position]:
        """The positions of one search, each once.

        A position that is met again on the way from itself (a request that is lost, and made again) is nobody's choice:
        whoever has only such moves is at a dead end.
        """
        failed: dict[Key, frozenset[Actor] | None] = {}
        frames = [_Frame(self.explainer.start, self.explainer.moves(self.explainer.start))]
        while frames:
            frame = frames[-1]
            move = next(frame.moves, None)
            if move is None or (likely_only and not move.likely):
                self._fail(frames, failed)
                continue
            key = self._key(move.to)
            if key in failed:
                known = failed[key]
                if known is not None:
                    frame.is_dead_end = False
                    frame.blamed |= known
                continue
            frame.is_dead_end = False
            failed[key] = None
            self._visit(move.to)
            yield move.to
            frames.append(_Frame(move.to, self.explainer.moves(move.to)))

    def _fail(self, frames: list[_Frame], failed: dict[Key, frozenset[Actor] | None]) -> None:
        """Nothing is left to try at the last position: go back to a step of somebody who is to blame."""
        frame = frames.pop()
        blamed = frame.blamed | (self.explainer.blamed(frame.position) if frame.is_dead_end else set())
        failed[self._key(frame.position)] = frozenset(blamed)
        step = frame.position.step
        while frames and step is not None and not blamed & step.actors:
            frame = frames.pop()
            failed[self._key(frame.position)] = frozenset(blamed)
            step = frame.position.step
        if frames:
            frames[-1].blamed |= blamed

    def _visit(self, position: Position) -> None:
        self.positions += 1
        explained = self.explainer.tracks.explained
        if explained(position.place) > explained(self.best.place):
            self.best, self.best_after = position, self.positions
        self.progress(sum(self.best.place), self.positions)

    def _key(self, position: Position) -> Key:
        past = position.silent, position.ended, position.announced
        return position.place, position.stopped, past, self._hash(position.state)

    def _hash(self, node: Any) -> int:
        """A hash of a state; what records of it have been hashed is kept, for states share most of their records."""
        if not isinstance(node, dict):
            return hash(node)
        known = self._hashes.get(id(node))
        if known is None:
            content = hash(frozenset((key, self._hash(value)) for key, value in node.items()))
            known = self._hashes[id(node)] = (node, content)
        return known[1]
