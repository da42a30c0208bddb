"""Which of the gate's checks are made, of some kinds or of a share, and in which order."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from model_check.checks.enumeration import ENGINE as ENUMERATION
from model_check.checks.recorded_checks import JUDGE
from model_check.checks.replay import ENGINE as REFINEMENT
from model_check.checks.simulation import ENGINE as SIMULATION
from model_check.explicit_state.findings import ENGINE as EXPLORER
from model_check.live.live_run import ENGINE as LIVE
from model_check.matrix.matrix_report import ENGINE as MATRIX
from model_check.proofs.proof_findings import ENGINE as PROOF
from model_check.verdicts.shares import share_named
from model_check.verdicts.verification import Check
from spec.defects import DEFECTS
from spec.errors import BadInput

ENGINES: Final = {
    "explore": frozenset({EXPLORER, ENUMERATION}),
    "prove": frozenset({PROOF}),
    "refine": frozenset({REFINEMENT, SIMULATION}),
    "judge": frozenset({JUDGE}),
    "live": frozenset({LIVE}),
    "matrix": frozenset({MATRIX}),
    "defects": frozenset(one.id for one in DEFECTS),
}
"""The kinds of checks, and the engines that make them; what belongs to none looks at the gate itself."""

UNITS: Final = {"s": 1, "m": 60, "h": 3600}

EACH: Final = 0.7
PER_STATE: Final = 2e-7
"""Seconds for a check of which nothing is known, and more for each state that it costs."""


@dataclass(frozen=True)
class Shard:
    """A share of all checks: the number of this one, from 1 on, and how many there are."""

    number: int
    of: int

    def chosen(self, checks: Iterable[Check]) -> list[Check]:
        """The checks of this share: the same ones in every run, and about as long as those of any other."""
        loads, mine = [0.0] * self.of, []
        for check in sorted(checks, key=lambda one: (-one.cost, one.identity)):
            least = loads.index(min(loads))
            loads[least] += EACH + PER_STATE * check.cost
            if least == self.number - 1:
                mine.append(check)
        return mine


def shard_named(text: str) -> Shard:
    """The share that `1/4` names; BadInput if it names none."""
    return Shard(*share_named(text))


def kinds_named(text: str) -> frozenset[str]:
    """The engines of some kinds of checks, `explore,prove`; BadInput lists the kinds."""
    engines = frozenset[str]()
    for name in text.split(","):
        if name not in ENGINES:
            raise BadInput(f"--only knows no {name!r}; it takes {', '.join(ENGINES)}, or several with commas between")
        engines |= ENGINES[name]
    return engines


def seconds_named(text: str) -> float:
    """The seconds that `90s`, `5m` or `1h` are; BadInput if it is not one of these."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not found:
        raise BadInput(f"--within {text} is no time; five minutes are 5m, ninety seconds 90s, an hour 1h")
    return float(found[1]) * UNITS[found[2]]


def of_kinds(checks: Iterable[Check], engines: Collection[str]) -> list[Check]:
    """The checks that some engines make."""
    return [one for one in checks if one.engine in engines]


def expected_seconds(known: dict[str, float]) -> Callable[[Check], float]:
    """How long a check takes: as long as last time, or else as long as its cost says."""
    return lambda check: known.get(check.identity, EACH + PER_STATE * check.cost)


def most_worth_first(checks: Sequence[Check], seconds: Callable[[Check], float]) -> Iterator[Check]:
    """The quickest check of each kind, then the second of each, and so on: the most said of everything, at any time."""
    kinds: dict[str, list[Check]] = {}
    for one in sorted(checks, key=seconds):
        kinds.setdefault(_kind(one), []).append(one)
    longest = max(map(len, kinds.values()), default=0)
    for place in range(longest):
        yield from (some[place] for some in kinds.values() if place < len(some))


def _kind(check: Check) -> str:
    return next((kind for kind, engines in ENGINES.items() if check.engine in engines), "")
