"""The reference's controller, driven in this process, with something between it and the world."""

import json
from itertools import count
from typing import Final

from model_check.conformance.driving.conversation import answer
from model_check.conformance.driving.world import World
from model_check.conformance.reference_driven import control
from model_check.conformance.vector import Object, Vector, difference
from tests.model_check.conformance.driving.wrong_controllers import Exchange, Wrong

LINES: Final = 3_000
"""What a controller says at most; no script has a right one say a third of it."""


def as_it_is(exchange: Exchange) -> Exchange:
    """Nothing stands between."""
    return exchange


def outcome(vector: Vector, between: Wrong = as_it_is) -> Object | None:
    """What the reference comes to, with something between it and the world; None where it comes to nothing."""
    world, lines = World(vector.given), count(1)

    def exchange(said: Object) -> Object:
        if next(lines) > LINES:
            raise RuntimeError("it goes on and on")
        told: Object = json.loads(json.dumps(answer(world, json.loads(json.dumps(said))) or {"end": True}))
        return told

    try:
        control(vector.given, "as-coded-0.10.2", between(exchange))
    except Exception:  # noqa: BLE001 - a wrong controller may end in any way
        return None
    return world.outcome()


def is_passed(told: Object, dialect: str) -> bool:
    """Whether the reference does what a vector wants, which is a line as JSON; what is raised is no pass."""
    one = Vector(**told)
    found = outcome(one) if dialect in one.dialects else None
    return any(difference(then, found) is None for then in one.then)
