"""Where in the source an action or a claim is, found by its name as the code is now.

A saved document may be of another revision: then a name that is gone has no place, and another's line may be off.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from model_check.monitors.check import CLAIMS
from model_check.verdicts.results import CLAIMS as ENGINE
from model_check.verdicts.results import Finding, Run
from spec.properties import claims
from spec.system import rules

ROOT: Final = Path(__file__).parents[2]


class Place(NamedTuple):
    """A file, by its path from the root of the repository, and the line at which a function begins there."""

    path: str
    line: int


PROTOCOL: Final = Place("spec/PROTOCOL.md", 1)
"""What stands for a thing that no function says."""


def place_of_claim(name: str) -> Place:
    """The place of a claim: of the specification, or of those that only recordings are asked."""
    return _places(_claims).get(name, PROTOCOL)


def places_of_finding(run: Run, finding: Finding) -> Sequence[tuple[Place, str]]:
    """The places of what is broken, with what is there: the lines of logs that break it, where the run tells of some.

    Otherwise it is the line that the finding names as its source, as mutants do, or that of the claim.
    """
    steps = run.story.steps if run.story and run.engine == ENGINE else ()
    breaks = [one for one in steps if finding.property in one.breaks]
    lines = [(one.source.rpartition(":"), f"{one.actor} {one.statement}") for one in breaks]
    if found := [(Place(quote(file), int(line)), said) for (file, _, line), said in lines if file and line.isdecimal()]:
        return found
    named = re.fullmatch(r"([\w/]+\.py):(\d+)", finding.source, re.ASCII)
    return [(Place(named[1], int(named[2])) if named else place_of_claim(finding.property), "")]


def place_of_action(action: str) -> Place:
    """The place of the rule of an action such as `crash(b=1)`."""
    return _places(_rules).get(action.partition("(")[0], PROTOCOL)


def _claims() -> Iterator[tuple[str, Callable[..., Any]]]:
    yield from ((one.name, one.ask) for one in CLAIMS)
    yield from ((one.name, one.function) for one in claims())


def _rules() -> Iterator[tuple[str, Callable[..., Any]]]:
    return ((one.name, one.function) for one in rules())


@cache
def _places(named: Callable[[], Iterator[tuple[str, Callable[..., Any]]]]) -> dict[str, Place]:
    return {name: _place(function) for name, function in named()}


def _place(function: Callable[..., Any]) -> Place:
    code = inspect.unwrap(function).__code__
    return Place(Path(code.co_filename).relative_to(ROOT).as_posix(), code.co_firstlineno)
