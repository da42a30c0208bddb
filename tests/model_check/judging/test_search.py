"""The search for an explanation by itself, on moves that are written down."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from model_check.judging.positions import Explained, Move, Position
from model_check.judging.search import MORE, PATIENCE, Search

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


def test_a_wrong_choice_far_back_is_found_though_what_lies_between_has_no_end() -> None:
    """The first of two choices leads on for a while, to where steps of the same process can be taken for ever."""
    step = Explained("fire_callback", {"c": 1}, (), ())
    start = Position({}, (0,))
    wrong = [Position({"c": 1}, (1,), before=start, step=step)]
    for at in range(2, 300):
        wrong.append(Position({"c": at}, (at,), before=wrong[-1], step=step))
    right = Position({"c": -1}, (1,), before=start, step=step)
    end = Position({"c": -2}, (400,), before=right, step=step)

    def moves(at: Position) -> Iterator[Move]:
        if at is start:
            return iter([Move(wrong[0], likely=True), Move(right, likely=True)])
        if at is right:
            return iter([Move(end, likely=True)])
        on_its_way = at in wrong[:-1]
        to = wrong[at.place[0]] if on_its_way else Position({"c": at.state["c"] + 1}, at.place, before=at, step=step)
        return iter([] if at is end else [Move(to, likely=True)])

    tracks = SimpleNamespace(end=end.place, explained=sum)
    explainer: Any = SimpleNamespace(start=start, moves=moves, tracks=tracks, blamed=lambda _: step.actors)
    search = Search(explainer, 10_000, lambda *_: None, lambda: False)
    assert end in search.explanations()
    assert search.positions <= len(wrong) + PATIENCE + 4 + MORE  # not ten thousand


def test_that_a_thread_takes_its_time_is_no_step_of_an_explanation() -> None:
    start = Position({}, (0,))
    waits = Position({}, (0,), before=start, step=Explained("", {"c": 1}, (), ()), slow=frozenset({1}))
    end = Position({}, (1,), before=waits, step=Explained("fire_callback", {"c": 1}, (), ()))
    assert end.path() == [start, end]
