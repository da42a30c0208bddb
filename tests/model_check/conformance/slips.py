"""Slips that an implementer may make: what becomes of an adapter's outcomes."""

from collections.abc import Callable

from model_check.conformance.vector import Object

Slip = Callable[[Object, Object], Object]
"""What becomes of an outcome, by what was given."""
SLIPS: dict[str, tuple[str, Slip]] = {}
"""By name, the verb, and what becomes of each of its outcomes."""


def slips(verb: str, selector: str | None = None) -> Callable[[Slip], Slip]:
    """Declare a slip of a verb, of one selector only if that is named."""

    def declare(slip: Slip) -> Slip:
        def only(given: Object, outcome: Object) -> Object:
            return slip(given, outcome) if selector in {None, given.get("selector")} else outcome

        SLIPS[slip.__name__.replace("_", " ")] = verb, only
        return slip

    return declare
