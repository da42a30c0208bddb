"""What a mutant is asked beside tests, each in a process of its own, in a copy that has the mutant in it.

    python -m model_check.mutation.probes facts                     which facts of the inventory differ: no others than
                                                                    `kcheck verify` compares with
    python -m model_check.mutation.probes systems 12                the same of so many systems
    python -m model_check.mutation.probes explorations 60 FACT...   have the scopes that these are about other counts
                                                                    or verdicts than the manifest expects?
    python -m model_check.mutation.probes lemmas                    have the systems that are proved other lemmas?
    python -m model_check.mutation.probes vectors functions         does the reference conform, at a level?

It ends with 0 if all is as it was, and with CAUGHT, and a line that says what, if something is not. Any other exit
code says that the mutant does not even come so far.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from model_check.checks import exploration
from model_check.conformance.choosing import chosen
from model_check.conformance.conforming import PATIENCE_SECONDS, How, conform
from model_check.conformance.vector import read_vectors
from model_check.inventory.accepted import accepted
from model_check.inventory.changed_terms import parts_of_fact, parts_of_system
from model_check.inventory.facts import specification_facts
from model_check.inventory.known_terms import WORDS
from model_check.inventory.system_facts import SystemKey
from model_check.inventory.whole_protocol import term_facts
from model_check.mutation.questions import CAUGHT, DIFFERS
from model_check.verdicts.verdict import Verdict
from spec.expectations import Expectation, plan, plans
from spec.model import Model
from spec.properties import claims
from spec.scopes import scope
from spec.system import is_in_scope, rules

MOST_STATES: Final = 400_000
"""Larger scopes are not explored for a mutant."""
LEMMAS: Final = "lemmas"


def facts() -> Iterator[str]:
    """The facts of the specification, and of the terms of all that it says, that are not the accepted ones."""
    before = accepted()
    for made in (specification_facts, term_facts):
        yield from (f"{DIFFERS}{name}" for name, told in made() if before.get(name) != told)


def systems(number: str) -> Iterator[str]:
    """The first system that is explored every day and has other terms than the accepted ones; of so many."""
    for one in islice(_covering(_daily()), int(number)):
        if _is_other(one):
            yield f"{DIFFERS}{SystemKey(one.scope, one.switches).name}"
            return


def _covering(some: Iterable[Expectation]) -> Iterator[Expectation]:
    """All of them, in such an order that soon each feature of a model was met, under Kafka's code and under fixes."""
    left, met = [(one, _features(one)) for one in some], set[tuple[str, bool]]()
    while left:
        found = max(left, key=lambda pair: (len(pair[1] - met), -pair[0].states))
        left.remove(found)
        met |= found[1]
        yield found[0]


def _features(one: Expectation) -> set[tuple[str, bool]]:
    fixed = one.variant.startswith("FENCED")
    m = Model(scope(one.scope), one.switches)
    return {(name, fixed) for name in (*m.features, *(name for name, number in m.scope.budgets if number))}


def _is_other(one: Expectation) -> bool:
    key = SystemKey(one.scope, one.switches)
    known, parts = parts_of_fact(accepted().get(key.name, "")), parts_of_system(key)
    return any(known.get(part) != digest for part, digest in parts.items() if part != WORDS)


def explorations(seconds: str, *names: str) -> Iterator[str]:
    """The first scope that is explored and not as the manifest expects, the smallest first; none after that time."""
    end = time.monotonic() + float(seconds)
    for one in sorted(_about(names), key=lambda one: one.states):
        if time.monotonic() > end:
            return
        if not _is_other(one):
            continue
        run = exploration.explored(exploration.Task.of(one.scope, one.switches, goals=plan(one.scope).goals), one)
        unmet = [each for each in run.comparisons if not each.is_met]
        if unmet:
            told = f"{unmet[0].about}: expected {unmet[0].expected}, found {unmet[0].found}"
            yield f"{one.scope} {one.variant}: {told}"
            return
        if run.verdict is not Verdict.HOLDS:
            yield f"{one.scope} {one.variant}: {run.verdict}: {run.reason}"
            return


def _daily() -> Iterator[Expectation]:
    """What is explored every day, except large scopes."""
    every = (one for each in plans().values() if not each.deep for one in each.explorations)
    return (one for one in every if one.states <= MOST_STATES)


def _about(names: Sequence[str]) -> Iterator[Expectation]:
    """What is explored every day that any of these facts is about: an action, a claim, a system; else of anything."""
    kinds = {kind: {name.split()[1] for name in names if name.split()[0] == kind} for kind in ("action", "claim")}
    systems = {name for name in names if name.startswith("system ")}
    for one in _daily():
        m = Model(scope(one.scope), one.switches)
        has = (
            SystemKey(one.scope, one.switches).name in systems
            or any(rule.name in kinds["action"] and is_in_scope(rule, m) for rule in rules())
            or any(claim.name in kinds["claim"] and m.is_about(claim.parts) for claim in claims())
        )
        if has or not (systems or any(kinds.values())):
            yield one


def lemmas() -> Iterator[str]:
    """The systems of proofs that have other lemmas than the accepted ones."""
    keys = (SystemKey(one.scope, proof.switches, proving=True) for one in plans().values() for proof in one.proofs)
    for key in keys:
        if parts_of_fact(accepted().get(key.name, "")).get(LEMMAS) != parts_of_system(key).get(LEMMAS):
            yield f"{DIFFERS}{key.name}"
            return


def vectors(level: str) -> Iterator[str]:
    """The first vector of a level that the reference fails."""
    asked = chosen(read_vectors(), level=level)
    adapter = [sys.executable, "-m", "model_check.conformance.reference_adapter", "--dialect", "as-coded-0.10.2"]
    found = conform(adapter, asked, How(len(asked), {}, PATIENCE_SECONDS, fail_fast=True, jobs=1), lambda: False)
    if found.verdict is not Verdict.HOLDS:
        yield f"vectors of {level}: {found.verdict}"


PROBES: Final[dict[str, Callable[..., Iterator[str]]]] = {
    "facts": facts, "explorations": explorations, "lemmas": lemmas, "systems": systems, "vectors": vectors,
}  # fmt: skip


def main(name: str, *words: str) -> int:
    """Ask, and print what is caught."""
    caught = list(PROBES[name](*words))
    sys.stdout.write("".join(f"{one}\n" for one in caught))
    return CAUGHT if caught else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
