"""The reference's controller, driven in this process, with something between it and the world."""

import json
from typing import Final

from model_check.conformance.driving.played import as_it_is, played
from model_check.conformance.vector import Object, Vector, difference
from tests.model_check.conformance.driving.wrong_controllers import Exchange, Wrong

LINES: Final = 3_000
"""What a controller says at most; no script has a right one say a third of it."""


def outcome(vector: Vector, between: Wrong = as_it_is) -> Object | None:
    """What the reference comes to, with something between it and the world; None where it comes to nothing."""

    def on_the_wire(exchange: Exchange) -> Exchange:
        return between(lambda said: json.loads(json.dumps(exchange(json.loads(json.dumps(said))))))

    try:
        return played(vector.given, "as-coded-0.10.2", on_the_wire, LINES)
    except Exception:  # noqa: BLE001 - a wrong controller may end in any way
        return None


def is_passed(told: Object, dialect: str) -> bool:
    """Whether the reference does what a vector wants, which is a line as JSON; what is raised is no pass."""
    one = Vector(**told)
    found = outcome(one) if dialect in one.dialects else None
    return any(difference(then, found) is None for then in one.then)
