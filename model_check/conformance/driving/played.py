"""A script that the reference's controller plays through, in this process, with something between it and the world."""

from collections.abc import Callable
from itertools import count

from model_check.conformance.driving.conversation import LINES, answer
from model_check.conformance.driving.world import World
from model_check.conformance.reference_driven import Exchange, control
from model_check.conformance.vector import Object


def as_it_is(exchange: Exchange) -> Exchange:
    """Nothing stands between."""
    return exchange


def played(
    given: Object, dialect: str, between: Callable[[Exchange], Exchange] = as_it_is, lines: int = LINES
) -> Object:
    """What it has done, and logged, turn by turn; RuntimeError once it has said more `lines`."""
    world, said_so_far = World(given), count(1)

    def exchange(said: Object) -> Object:
        if next(said_so_far) > lines:
            raise RuntimeError("the script does not come to its end")
        return answer(world, said) or {"end": True}

    control(given, dialect, between(exchange))
    return world.outcome()
