"""The search for an explanation by itself, on moves that are written down."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from model_check.judging.positions import Explained, Move, Position
from model_check.judging.search import Search

ENDED = frozenset({(1, 1, "controller.log")})


def test_a_place_is_tried_again_once_a_log_is_known_to_have_ended() -> None:
    """What is unlikely there, that this log ends, follows from it: the first try fails, the second does not."""
    step = Explained("fire_callback", {"c": 1}, (), ())
    start = Position({}, (0,))
    tries = [Position({"c": 1}, (1,), before=start, step=step, ended=ended) for ended in (frozenset(), ENDED)]
    end = Position({"c": 2}, (2,), before=tries[1], step=step)

    def moves(at: Position) -> Iterator[Move]:
        if at is start:
            return (Move(to, likely=True) for to in tries)
        return iter([Move(end, likely=bool(at.ended))])

    tracks = SimpleNamespace(end=end.place, explained=sum)
    explainer: Any = SimpleNamespace(start=start, moves=moves, tracks=tracks, blamed=lambda _: step.actors)
    search = Search(explainer, 100, lambda *_: None, lambda: False)
    assert search.explanations() == [end]
    assert not search.tried_all
