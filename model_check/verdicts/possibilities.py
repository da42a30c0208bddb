"""What could be done in a state, and what could not, as part of a result: at one step in full, or all along a story.

From one step of a story to the next most actions stay as they are. So each action has the steps at which that changes,
and each reason is said once, and referred to by its number.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple


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


@dataclass(frozen=True)
class Standing:
    """An action along a story: `since[n]` is a step from which on something else is so of it.

    `reasons[n]` is the number of the reason why it is not possible from there on, counted from 1; or 0: it is possible.
    """

    action: str
    actor: str
    since: tuple[int, ...]
    reasons: tuple[int, ...]


class Span(NamedTuple):
    """Steps in place of which an action could be taken, or could not: why not, or nothing where it could."""

    first: int
    last: int
    why_not: str


@dataclass(frozen=True)
class Possibilities:
    """What could be done in place of the steps of a story, and what could not; of a long story, of its last steps.

    It has the steps from `first` to `last`, none where `last` is less. `statements` says by rule what its
    actions do. `reasons` are the first false conjuncts of guards, in words.
    """

    first: int
    last: int
    statements: Mapping[str, str]
    reasons: tuple[str, ...]
    actions: tuple[Standing, ...]

    @property
    def steps(self) -> int:
        """How many steps it has."""
        return max(self.last - self.first + 1, 0)

    def statement(self, one: Standing) -> str:
        """What an action does."""
        return self.statements.get(one.action.partition("(")[0], "")

    def spans(self, one: Standing) -> Iterator[Span]:
        """An action, from the first of the steps to the last."""
        ends = [*(each - 1 for each in one.since[1:]), self.last]
        for first, last, number in zip(one.since, ends, one.reasons, strict=False):
            yield Span(first, last, self.reasons[number - 1] if 0 < number <= len(self.reasons) else "")

    def others(self, step: int, taken: str) -> list[Standing]:
        """The actions that were possible in place of a step, except the one that was taken."""
        return [
            one
            for one in self.actions
            if one.action != taken
            and any(not each.why_not and each.first <= step <= each.last for each in self.spans(one))
        ]
