"""Making a failing run small: the search for the fewest faults, and how often a run must show the same to count.

Both are pure. The search is delta debugging (Zeller, Hildebrandt: ddmin): large chunks are left out first, and in the
end no single fault can be. A cluster answers differently each time, so that one run proves nothing: of five tries,
three must show it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

NEEDED: Final = 3
TRIES: Final = 5

Faults = tuple[int, ...]
Shows = Callable[[Faults], bool]
"""Whether a run of these faults shows what is looked for."""


@dataclass(frozen=True)
class Tally:
    """How often it was tried, and how often shown."""

    tries: int
    hits: int

    @property
    def shows(self) -> bool:
        """Whether it was shown often enough."""
        return self.hits >= NEEDED

    def __str__(self) -> str:
        return f"{self.hits} of {self.tries} tries"


def tally(shows_once: Callable[[], bool]) -> Tally:
    """Try as often as it takes to know whether enough of the tries show it."""
    found = Tally(0, 0)
    while not found.shows and found.hits + TRIES - found.tries >= NEEDED:
        found = Tally(found.tries + 1, found.hits + shows_once())
    return found


def ever_fewer(faults: Sequence[int], last: int, shows: Shows) -> Iterator[Faults]:
    """Ever fewer faults that show it; none at all if not even all of them do.

    First those up to `last`, in which it was shown, are tried; all of them only if these do not show it.
    """
    every = tuple(faults)
    prefix = tuple(one for one in every if one <= last)
    begin = next((one for one in dict.fromkeys((prefix, every)) if shows(one)), None)
    if begin is not None:
        yield begin
        yield from _leaving_out(begin, shows)


def _leaving_out(kept: Faults, shows: Shows) -> Iterator[Faults]:
    size, tried = len(kept), set[Faults]()
    while size:
        smaller = next((one for one in _without_chunks(kept, size) if one not in tried and shows(one)), None)
        tried.update(_without_chunks(kept, size) if smaller is None else ())
        if smaller is None:
            size //= 2
        else:
            kept, size = smaller, min(size, len(smaller))
            yield kept


def _without_chunks(kept: Faults, size: int) -> Iterator[Faults]:
    """What is left when a chunk of so many is left out, for each."""
    return (kept[:begin] + kept[begin + size :] for begin in range(0, len(kept), size))
