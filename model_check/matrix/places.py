"""The places of a handler, by name: before which of its effects it is, between which of its turns, or behind the last.

A handler that keeps the controller lock is where `at` says. Some give the lock back on their way and take it again: a
controlled shutdown for each partition and for its answer, the rebalance for each partition. While the lock is free,
anybody may come in between, and what is left to do is known to this process alone; so such a moment is a place of its
own, by how many turns are left: BETWEEN_2, then BETWEEN_1. (A request to reassign several partitions gives it back,
too; its place is REASSIGN_NEXT.)
"""

from __future__ import annotations

from spec.state.enumerations import At

LAST = "OVER"
"""The place behind the last effect."""
BETWEEN = "BETWEEN_"
"""How the places are called at which the lock is free and turns are left, but for their number."""


def place_named(at: str, left: int) -> str:
    """The place of a handler that runs: what it does next, unless the lock is free and some turns are left."""
    return f"{BETWEEN}{left}" if left else at


def turns_left_at(place: str) -> int:
    """How many turns are left at a place where the lock is free; 0 if it is no such place."""
    return int(place.removeprefix(BETWEEN)) if place.startswith(BETWEEN) else 0


def what_comes_next(place: str) -> str:
    """What the handler is about to do at a place, in words."""
    if place == LAST:
        return "nothing: it has given the lock back"
    left = turns_left_at(place)
    if left:
        return f"take the lock again, which is free: {left} {'turn is' if left == 1 else 'turns are'} left"
    return At[place].value


def at_or_before(place: str) -> str:
    """Where a fault comes that comes to a place: before an effect, or at a moment between two turns."""
    return f"at {place}" if turns_left_at(place) else f"before {place}"
