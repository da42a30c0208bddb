"""What became of an exploration beside another: of a scope under other switches, or before an edit.

Told are the claims whose verdict changed, with the length of the shortest trace, and how many states there are and how
deep they lie; not the claims that stayed as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from model_check.verdicts.results import Run
from model_check.verdicts.verdict import Verdict
from spec.expectations import Expectation


@dataclass(frozen=True)
class Outcome:
    """What an exploration came to: how many states, how deep, and the broken claims with the shortest traces."""

    states: int
    depth: int
    broken: Mapping[str, int]

    @classmethod
    def expected(cls, known: Expectation) -> Outcome:
        """What the manifest says of it."""
        return cls(known.states, known.depth, known.violated)

    @classmethod
    def found(cls, run: Run) -> Outcome:
        """What a run of an explorer has counted."""
        if run.counts is None:
            raise ValueError(f"{run.title} counted nothing")
        broken = {
            one.property: one.story.length if one.story else 0
            for one in run.findings
            if one.verdict is Verdict.VIOLATED
        }
        return cls(run.counts.states, run.counts.depth, broken)


SAME: Final = "the same claims are broken as soon as before"


def changed_claims(before: Outcome, after: Outcome, asked: Collection[str]) -> Iterator[str]:
    """The claims asked of both whose verdict changed, each in words: what broke, what is sound now, what moved."""
    olds, news = ({name: one.broken[name] for name in one.broken if name in asked} for one in (before, after))
    yield from (f"now broken: {name} in {news[name]} steps" for name in _by_length(news) if name not in olds)
    yield from (f"no longer broken: {name}" for name in _by_length(olds) if name not in news)
    for name in _by_length(news):
        if name in olds and olds[name] != news[name]:
            when = "later" if news[name] > olds[name] else "sooner"
            yield f"broken {when}: {name} in {news[name]} steps, before in {olds[name]}"


def _by_length(broken: Mapping[str, int]) -> list[str]:
    return sorted(broken, key=lambda name: (broken[name], name))


def size_change(before: Outcome, after: Outcome) -> str:
    """How many states there are, and how deep, before and after."""
    return f"states {_moved(before.states, after.states)}, depth {_moved(before.depth, after.depth)}"


def _moved(before: int, after: int) -> str:
    return f"{after:,} as before" if before == after else f"{before:,} -> {after:,}"
