"""The faults of a live run: which ones its seed draws, and which ones a recording tells of.

A fault has a number, from 1 in the order in which the seed draws them, and keeps it when others are left out. What it
leaves to chance is drawn from the seed and its number alone, so that a run of some of the faults does the same things
as the run of all. (Which topics there are still depends on what was created and deleted before.)
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random

from model_check.live.fault_kinds import drawn
from model_check.recordings.actions import NOTE, read_actions


@dataclass(frozen=True)
class Fault:
    """A fault that a recording tells of: its number, its kind, and when it began (ms)."""

    number: int
    kind: str
    time: int

    def __str__(self) -> str:
        return f"{self.number} {self.kind}"


def chosen_faults(
    seed: int, kinds: Sequence[str], plays: Sequence[int] | None, most: int | None
) -> Iterator[tuple[int, str]]:
    """Number and kind of the faults of a seed: those whose numbers are given, or else the first ones; None: no end."""
    every = enumerate(drawn(Random(seed), kinds), start=1)
    if plays is None:
        return islice(every, most)
    return (one for one in islice(every, max(plays, default=0)) if one[0] in plays)


def chance(seed: int, number: int) -> Random:
    """What a fault draws from; number 0 is the start of the cluster."""
    return Random(f"{seed} {number}")


def faults_in(folder: Path) -> tuple[Fault, ...]:
    """The faults that a recording tells of, in their order; none, if it does not tell what was done."""
    log = read_actions(folder)
    acts = log.acts if log is not None else ()
    return tuple(
        Fault(act.number, act.kind, act.ms)
        for act in acts
        if act.action == NOTE and act.number is not None and act.kind is not None
    )
