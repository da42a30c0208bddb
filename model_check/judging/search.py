"""The search for an explanation: depth first, and again from a choice far back where nothing goes on.

A process goes on as long as what it shows is what was recorded next; that is nearly without a choice when the recording
is a behaviour at all. From a dead end the search goes back to a step of a process that may be to blame for it, past all
choices of others, which would only be taken in another order. A position is met once: the same place in the recording
in the same state is not searched again.

A wrong choice may show hundreds of steps later only, and what lies between has too many orders to be gone through. So
where the search has not come further for a while, it leaves what it is at. It follows the path that came furthest
backwards, and lets each step of a process that may be to blame be another: first a likely one, then an unlikely one, at
last any step of anybody. Each gets as many positions as it comes further by itself, and a few more (limited
discrepancy search: Harvey and Ginsberg, 1995).
"""

from collections.abc import Callable, Generator, Iterator
from typing import Any, Final

from model_check.judging.explaining import Explainer
from model_check.judging.positions import Actor, Explained, Move, Position
from model_check.recordings.tracks import Place
from model_check.stepping.plain_state import PlainState

Key = tuple[Place, frozenset[int], tuple[frozenset[Any], ...], int]
"""What tells positions apart: the place in the recording, who is stopped, who is silent, which logs have ended (that
makes a next step likely that another log's end explains), who is slow, and a hash of the state."""

PATIENCE: Final = 400
"""How many positions a search visits without coming further, before it goes back to a choice far back."""
A_TRY: Final = 100
"""How many positions such a choice gets without coming further by itself."""
AT_LAST: Final = 2_000
"""How many positions are visited without coming further where it is only to be known whether all were tried."""
MORE: Final = 400
"""How many positions more are visited, once there is an explanation, to find others."""


class _Node:
    """A position that was visited: what can still be tried from it, and what to blame for the failures."""

    def __init__(self, position: Position, moves: Iterator[Move], before: "_Node | None" = None) -> None:
        self.position = position
        self.before = before
        self.blamed: set[Actor] = set()
        self.is_dead_end = True
        self._moves = moves
        self._left: Move | None = None
        """An unlikely move that was next when only likely ones were to be taken."""

    def take(self, *, likely_only: bool) -> Move | None:
        """The next move that was not tried."""
        move, self._left = self._left or next(self._moves, None), None
        if move is not None and likely_only and not move.likely:
            self._left = move
            return None
        return move


class Search:
    """A search for explanations, within a budget of positions."""

    def __init__(
        self, explainer: Explainer, budget: int, progress: Callable[[int, int], None], stop: Callable[[], bool]
    ) -> None:
        self.explainer = explainer
        self.budget = budget
        self.progress, self.stop = progress, stop
        self.positions = 0
        self.best_after = 0
        """How many positions had been visited when the best was found."""
        self.is_exhausted = self.tried_all = self.is_over = False
        """Whether all likely moves were tried; whether the unlikely ones were, too; whether it ended by itself."""
        self._hashes: dict[int, tuple[PlainState, int]] = {}
        self._failed: dict[Key, frozenset[Actor] | None] = {}
        self._best = self._beginning()

    @property
    def best(self) -> Position:
        """The position that came furthest by the clock, and of those the one that explains most."""
        return self._best.position

    def explanations(self) -> list[Position]:
        """Positions in which everything is explained: the first one found, and others soon after it."""
        ends: list[Position] = []
        limit = self.budget
        for position in self._visited():
            if (is_stopped := self.stop()) or self.positions > limit:
                self.is_exhausted, self.tried_all = self.is_exhausted and not is_stopped, False
                return ends
            if position.place == self.explainer.tracks.end:
                ends.append(position)
                limit = min(limit, self.positions + MORE) if len(ends) == 1 else limit
        self.is_over = True
        return ends

    def _visited(self) -> Iterator[Position]:
        """The positions of the search, each once; and at last, if there are not too many, all of them."""
        self.is_exhausted = yield from self._below(self._best, PATIENCE)
        if self.is_exhausted and self.best.place == self.explainer.tracks.end:
            return
        while (yield from self._comes_further()):
            pass
        if self.best.place == self.explainer.tracks.end:
            return
        if not self.is_exhausted:
            self.is_exhausted = yield from self._below(self._beginning(), AT_LAST)
        if self.is_exhausted:
            self.tried_all = yield from self._below(self._beginning(), AT_LAST, likely_only=False)

    def _beginning(self) -> _Node:
        """The start, from where every position is new again."""
        self._failed.clear()
        start = self.explainer.start
        return _Node(start, self.explainer.moves(start))

    def _comes_further(self) -> Generator[Position, None, bool]:
        """Take other choices on the way to the best position, the last ones first; whether that comes further."""
        best = self._best
        blamed = self.explainer.blamed(best.position)
        for everybody, likely_only in ((False, True), (False, False), (True, True), (True, False)):
            node: _Node | None = best
            taken: Explained | None = None
            while node is not None:
                if everybody or taken is None or blamed & taken.actors:
                    while (move := node.take(likely_only=likely_only)) is not None:
                        met = self._met(node, move)
                        if met is not None:
                            yield move.to
                            yield from self._below(met, A_TRY)
                        if self._best is not best:
                            return True
                taken, node = node.position.step, node.before
        return False

    def _below(self, top: _Node, patience: int, *, likely_only: bool = True) -> Generator[Position, None, bool]:
        """Depth first from a node on; whether all of that was tried.

        It is given up where it comes no further for as many positions as it has patience.
        """
        explained = self.explainer.tracks.explained
        node: _Node | None = top
        furthest, since = explained(top.position.place), 0
        while node is not None:
            move = node.take(likely_only=likely_only)
            if move is None:
                node = self._gone_back(node, top)
                continue
            met = self._met(node, move)
            if met is None:
                continue
            node = met
            yield move.to
            since += 1
            if explained(move.to.place) > furthest:
                furthest, since = explained(move.to.place), 0
            if since > patience:
                return False
        return True

    def _met(self, node: _Node, move: Move) -> _Node | None:
        """Visit the position to which a move leads, if that is new; where it has failed before, the same are to blame.

        A position that is met again on the way from itself (a request that is lost, and made again) is nobody's choice:
        whoever has only such moves is at a dead end.
        """
        key = self._key(move.to)
        if key not in self._failed:
            node.is_dead_end = False
            self._failed[key] = None
            return self._enter(node, move.to)
        known = self._failed[key]
        if known is not None:
            node.is_dead_end = False
            node.blamed |= known
        return None

    def _gone_back(self, node: _Node, top: _Node) -> _Node | None:
        """Nothing is left to try at a node: go back to a step of a process that is to blame, no further than `top`."""
        blamed = node.blamed | (self.explainer.blamed(node.position) if node.is_dead_end else set())
        while True:
            self._failed[self._key(node.position)] = frozenset(blamed)
            step, before = node.position.step, node.before
            if node is top or before is None:
                return None
            node = before
            if step is None or blamed & step.actors:
                node.blamed |= blamed
                return node

    def _enter(self, before: _Node, position: Position) -> _Node:
        """Visit a position."""
        self.positions += 1
        node = _Node(position, self.explainer.moves(position), before)
        explained = self.explainer.tracks.explained
        if explained(position.place) > explained(self.best.place):
            self._best, self.best_after = node, self.positions
        self.progress(sum(self.best.place), self.positions)
        return node

    def _key(self, position: Position) -> Key:
        past = position.silent, position.ended, position.slow
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
