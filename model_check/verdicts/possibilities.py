"""What could be done in a state of a story, and what could not, as part of a result."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """A step that is possible in a state, or is not, in words; `row` says of a transition table what it is nearest to.

    Of one that is not possible `because` has what decides of the first conjunct of its guard that is false, and `more`
    counts the others; it is `bounded` where only a bound of the scope stops it.
    """

    action: str
    actor: str
    statement: str
    about: str
    row: str = ""
    because: tuple[str, ...] = ()
    more: int = 0
    bounded: bool = False


@dataclass(frozen=True)
class Choices:
    """What could be done in place of a step, and what could not; `taken` is the action that the story takes there."""

    step: int
    taken: str
    possible: tuple[Choice, ...]
    refused: tuple[Choice, ...] = ()
