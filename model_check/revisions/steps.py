"""Which steps only one of two revisions takes, found from the codes that each has written of its steps.

A step is there in both if the states around it and the action are, as far as both know them. Steps out of a state that
both reach are *first differences*: whatever else is new or gone comes behind one of them, for the first step of a run
that the other revision cannot take leaves a state that it can reach. So these are what a change did; the others follow.

Codes are compared in portions, those with the same last bits together, so that the memory is bounded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

PORTION: Final = 1 << 22
"""So many codes are compared at a time, about."""

Codes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Written:
    """What a revision has written of a system: see `inside/behaviours.py`."""

    folder: Path

    @cached_property
    def states(self) -> Codes:
        """The code of each state that was expanded, in the order of discovery."""
        return _codes(self.folder / "states")

    @cached_property
    def steps(self) -> Codes:
        """The code of each step, those of a state together, in the order of the states."""
        return _codes(self.folder / "steps")

    @cached_property
    def sources(self) -> Numbers:
        """The state, by number, that each step leaves."""
        return _numbers(self.folder / "sources")

    @cached_property
    def actions(self) -> Numbers:
        """The action of each step, by its place in the system."""
        return _numbers(self.folder / "actions")


def _codes(path: Path) -> Codes:
    """Rows of two numbers; they stay on disk until they are looked at."""
    found: Codes = np.memmap(path, np.uint64, "r") if path.stat().st_size else np.empty(0, np.uint64)
    return found.reshape(-1, 2)


def _numbers(path: Path) -> Numbers:
    found: Numbers = np.memmap(path, np.int64, "r") if path.stat().st_size else np.empty(0, np.int64)
    return found


@dataclass(frozen=True)
class OneSided:
    """The steps of one rule that only one revision takes: how many, how many of them are first differences.

    `source` and `action` are of the one that is nearest to the initial state: of the first differences, if it has any.
    """

    rule: str
    steps: int
    first: int
    source: int
    action: int


@dataclass(frozen=True)
class Difference:
    """What only one revision has: states, and steps by rule."""

    states: int
    rules: tuple[OneSided, ...]


def differences(before: Written, after: Written, rules: Sequence[Sequence[str]]) -> tuple[Difference, Difference]:
    """What only the one has, and what only the other; `rules` has the rule of each action, for each of them."""
    states, steps = shared(before.states, after.states), shared(before.steps, after.steps)
    one, other = (
        _difference(written, *known, names)
        for written, known, names in zip((before, after), zip(states, steps, strict=True), rules, strict=True)
    )
    return one, other


def shared(one: Codes, other: Codes) -> tuple[Flags, Flags]:
    """Of each code of the one, whether the other has it, too; and the reverse."""
    found = np.zeros(len(one), np.bool_), np.zeros(len(other), np.bool_)
    portions = np.uint64(1 + (len(one) + len(other)) // PORTION)
    for portion in np.arange(portions, dtype=np.uint64):
        places = [np.flatnonzero(some[:, 0] % portions == portion) for some in (one, other)]
        codes = [some[place] for some, place in zip((one, other), places, strict=True)]
        for flags, place, told in zip(found, places, _shared_at_once(codes[0], codes[1]), strict=True):
            flags[place] = told
    return found


def _shared_at_once(one: Codes, other: Codes) -> Iterator[Flags]:
    both = np.concatenate((one, other))
    if not len(both):
        yield from (np.zeros(0, np.bool_), np.zeros(0, np.bool_))
        return
    order = np.lexsort((both[:, 0], both[:, 1]))
    new = np.any(both[order[1:]] != both[order[:-1]], axis=1)
    groups = np.empty(len(both), np.int64)
    groups[order] = np.concatenate(([0], np.cumsum(new)))
    for mine, others in ((groups[: len(one)], groups[len(one) :]), (groups[len(one) :], groups[: len(one)])):
        has = np.zeros(len(both), np.bool_)
        has[others] = True
        yield has[mine]


def _difference(written: Written, known_states: Flags, known_steps: Flags, names: Sequence[str]) -> Difference:
    rules = list(dict.fromkeys(names))
    rule_of = np.array([rules.index(one) for one in names], np.int64)
    alone = np.flatnonzero(~known_steps)
    first = known_states[written.sources[alone]]
    found = []
    for number, rule in enumerate(rules):
        its = rule_of[written.actions[alone]] == number
        if its.any():
            nearest = alone[its & first if (its & first).any() else its][0]
            where = int(written.sources[nearest]), int(written.actions[nearest])
            found.append(OneSided(rule, int(its.sum()), int((its & first).sum()), *where))
    return Difference(int((~known_states).sum()), tuple(found))
