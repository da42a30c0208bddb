"""Clocks of several logs, held against each other: by how much one is ahead of another, at most.

Nobody obeys an epoch before its controller has it. So if A once obeyed B's epoch n ms after B had it, A's clock was at
most n ms ahead of B's; and through third parties, the sums. But a clock may be set. So what counts of a moment is what
was obeyed last before it and first after it, as epochs order them; of a moment behind which nothing is, nothing is
known. And a clock that was set back, as entries show it, is compared with no other.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from model_check.logs.lives import ms
from model_check.logs.terms import BLIP, Term

UNBOUND: Final = 1 << 60
"""Milliseconds by which a clock may be ahead of another one where nothing compares them."""


@dataclass
class Host:
    """What the logs of one folder, or a log by itself, tell: of terms, and by how much its clock was set back."""

    terms: dict[tuple[int, int, int], Term] = field(default_factory=dict)
    set_back: int = 0

    @property
    def is_steady(self) -> bool:
        """Whether its entries are of rising times, except for what threads do."""
        return self.set_back <= BLIP


class Clocks:
    """The clocks of some hosts, which are known by their index."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._hosts = range(len(hosts))
        self._seen = defaultdict[tuple[int, int], list[tuple[int, int]]](list)
        """Of two hosts by how much the first is ahead of the second, at most, as each epoch shows that."""
        for a, b in product(self._hosts, repeat=2):
            if a != b and hosts[a].is_steady and hosts[b].is_steady:
                self._seen[a, b] = sorted(_delays(hosts[a], hosts[b]))

    def ahead(self, a: int, b: int, since: int, until: int) -> list[int]:
        """How far A's clock is ahead of B's, at most: as shown up to an epoch, and from another one on, if it is."""
        before = self._at_most(a, b, lambda seen: bisect_right(seen, (since, UNBOUND)) - 1)
        after = self._at_most(a, b, lambda seen: bisect_left(seen, (until, -UNBOUND)))
        return [one for one in (before, after) if one < UNBOUND]

    def _at_most(self, a: int, b: int, chosen: Callable[[list[tuple[int, int]]], int]) -> int:
        """The same, as the chosen epochs show it, by themselves or through others."""
        ahead = {(one, other): 0 if one == other else UNBOUND for one, other in product(self._hosts, repeat=2)}
        for both, seen in self._seen.items():
            at = chosen(seen)
            if 0 <= at < len(seen):
                ahead[both] = seen[at][1]
        for through, one, other in product(self._hosts, repeat=3):
            ahead[one, other] = min(ahead[one, other], ahead[one, through] + ahead[through, other])
        return ahead[a, b]


def _delays(one: Host, other: Host) -> list[tuple[int, int]]:
    """Each epoch of the other host's that the one obeyed, with the milliseconds in between, by their clocks."""
    both = ((epoch, one.terms.get((e, c, epoch)), had) for (e, c, epoch), had in other.terms.items() if had.is_told)
    return [
        (epoch, ms(obeyed.first_time) - ms(had.first_time))
        for epoch, obeyed, had in both
        if obeyed is not None and not obeyed.is_told
    ]
