"""What a monitored claim is: a function from a history to its answers, one for each time that it is asked.

An answer is None where the claim holds, or a `Break`. A claim of the specification has its name, its kind and its
sentence from there; the docstring of its monitor then says how it is asked here, and what is let pass because it cannot
be told apart from what is right. A claim that only monitors have has its sentence as the docstring.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import ModuleType
from typing import TypeAlias

from model_check.monitors.history import History
from spec.language.rules import Claim
from spec.properties import claims


@dataclass(frozen=True)
class Break:
    """What broke a claim: where that is seen, what happened, and the known defect whose signature it is, if any."""

    place: str
    text: str
    row: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" + (f" (as in the known defect {self.row})" if self.row else "")


Answers: TypeAlias = Iterator[Break | None]


class Needs(Enum):
    """What a claim is asked of beyond ZooKeeper's transactions."""

    NOTHING = "ZooKeeper's transactions"
    REQUESTS = "requests that arrived"
    REST = "a moment of rest"
    REST_AND_REQUESTS = "a moment of rest, and requests that arrived"


@dataclass(frozen=True)
class Missing:
    """What a recording lacks, in few words, and why."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


@dataclass(frozen=True)
class Monitored:
    """A claim with its monitor."""

    ask: Callable[[History], Answers]
    name: str
    kind: str
    statement: str
    source: str
    needs: Needs

    def missing(self, history: History) -> Missing | None:
        """What lacks in a history for this claim to be asked; None, if nothing does."""
        if self.needs in {Needs.REST, Needs.REST_AND_REQUESTS} and not history.acts.rests:
            return Missing("no moment of rest", history.acts.reason)
        if self.needs in {Needs.REQUESTS, Needs.REST_AND_REQUESTS} and not history.arrivals.by_broker:
            return Missing("no requests", history.arrivals.reason)
        return None


def monitored(
    *, kind: str = "step", source: str = "", needs: Needs = Needs.NOTHING
) -> Callable[[Callable[[History], Answers]], Monitored]:
    """Declare a monitor; kind and source are the specification's, where it has a claim of the function's name."""

    def declare(ask: Callable[[History], Answers]) -> Monitored:
        known = _specified().get(ask.__name__)
        if known is not None:
            return Monitored(ask, known.name, known.kind, _sentence(known.statement), known.source, needs)
        return Monitored(ask, ask.__name__, kind, _sentence(inspect.cleandoc(ask.__doc__ or "")), source, needs)

    return declare


def monitored_in(area: ModuleType) -> Iterator[Monitored]:
    """The monitors that a module declares, in its order."""
    declared = vars(area).values()
    return (one for one in declared if isinstance(one, Monitored) and one.ask.__module__ == area.__name__)


def _sentence(statement: str) -> str:
    """What a statement says first, as one line."""
    return statement.split("\n\n", maxsplit=1)[0].replace("\n", " ")


@cache
def _specified() -> dict[str, Claim]:
    return {one.name: one for one in claims()}
