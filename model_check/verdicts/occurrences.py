"""Occurrences: what of the specification some explorations exercise, how often, and after how few steps.

Every action should fire, every row of the two transition tables be taken, the witness of every property be shown, and
some state lack each goal. A run of an exploration counts all of that by its names; here the counts of several are put
together. `kcheck coverage` compares them with what has to be there, and the page of a report shows them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from model_check.verdicts.rendering import counted
from model_check.verdicts.results import Run
from spec.language.rules import GOALS
from spec.properties import claims
from spec.system import rules
from spec.tables.taken_rows import ROWS


@dataclass(frozen=True)
class Item:
    """Something that has to occur: an action, a row, or a property's occasion; `occurrence` is how it is counted."""

    kind: str
    name: str
    occurrence: str
    demand: str


@dataclass(frozen=True)
class Occurrence:
    """In how many explorations something occurs, how often in all, after how few steps, and in which of them."""

    runs: int
    times: int
    first_depth: int
    first: str

    def __str__(self) -> str:
        runs, steps = counted(self.runs, "exploration"), counted(self.first_depth, "step")
        return f"{self.times:,} times in {runs}, first after {steps} ({self.first})"


def items() -> Iterator[Item]:
    """Everything that has to occur, in the order of the specification."""
    for rule in rules():
        yield Item("action", rule.name, rule.name, "fires")
    for row in ROWS:
        yield Item("row", row, row, "is taken")
    for claim in claims():
        if claim.kind in GOALS:
            yield Item("property", claim.name, claim.name, "some state does not have it yet")
        else:
            witness = claim.witness or claim.name
            yield Item("property", claim.name, witness, f"{witness} is shown")


def occurrence(name: str, runs: Iterable[Run]) -> Occurrence | None:
    """What a number of explorations say of one name; None if it occurs in none of them."""
    found = []
    for run in runs:
        times = {**(run.fired or {}), **(run.occurrences or {})}.get(name, 0)
        if times:
            depth = (run.first_depths or {})[name]
            found.append((depth, run.counts.states if run.counts else 0, f"{run.scope} {run.variant}", times))
    if not found:
        return None
    depth, _, first, _ = min(found)
    return Occurrence(len(found), sum(times for *_, times in found), depth, first)


def occurrences(runs: Iterable[Run]) -> Mapping[Item, Occurrence | None]:
    """What a number of explorations say of everything that has to occur."""
    explored = list(runs)
    return {item: occurrence(item.occurrence, explored) for item in items()}


def added_up(into: Run, runs: Iterable[Run]) -> Run:
    """A run that counts what a number of explorations count together."""
    fired, occurring, depths = Counter[str](), Counter[str](), dict[str, int]()
    for run in runs:
        fired.update(run.fired or {})
        occurring.update(run.occurrences or {})
        for name, depth in (run.first_depths or {}).items():
            depths[name] = min(depth, depths.get(name, depth))
    return replace(into, fired=dict(fired), occurrences=dict(occurring), first_depths=depths)
