"""A system with mathematical-integer epochs, for the tests of proofs: terms of office won by conditional writes.

A candidate reads the version of a znode, and later writes on the condition that the version is still the one it read;
the write raises the version, and the new version is the epoch of the candidate's term. At any time it may resign.

- *No two serve in one epoch*, but this is not inductive: a candidate might serve in an epoch that is still to come.
  With the lemma that nobody's epoch exceeds the version, a new epoch (version + 1) is nobody's. That what was read
  does not exceed the version either is inductive too, but not needed: the write compares for equality.
- *At most `few` terms* is false: a term takes a read and a write, so with a candidate for each term the first state
  with more than `few` terms is 2 * (few + 1) steps away; with fewer candidates, somebody must resign in between.
- *Versions only grow* is a claim about steps, and true of each step without any invariant.

`watching` proves a claim about all epochs by watching an arbitrary one, which has been won only if the version has come
so far. `factors` is a system whose only action needs the two factors of a number that has none, for which solvers that
think in bits search long.
"""

import enum
from typing import Any

import z3

from spec.language.rules import (
    Leaf,
    Property,
    Shape,
    TransitionSystem,
    Value,
    View,
    action,
    both,
    require,
    successor,
    when,
)
from spec.language.terms import FLAG, enumeration, epoch, number
from tests.model_check.systems import build, each


class At(enum.Enum):
    """How far a candidate is."""

    IDLE = "idle"
    READ = "has read"
    SERVES = "serves"


@action(actor="candidate {c}", source="by hand")
def read(s: Any, _model: object, c: int) -> None:
    """The candidate reads the version."""
    candidate = s.candidates[c]
    require(candidate.at == At.IDLE)
    candidate.at = At.READ
    candidate.seen = s.version


@action(actor="candidate {c}", source="by hand")
def write(s: Any, _model: object, c: int) -> None:
    """The candidate writes on the version read, and serves in the epoch that this makes, or starts again."""
    candidate = s.candidates[c]
    require(candidate.at == At.READ)
    unchanged = candidate.seen == s.version
    with when(unchanged):
        s.version = successor(s.version)
        candidate.epoch = s.version
        candidate.at = At.SERVES
    with when(~unchanged):
        candidate.at = At.IDLE
    candidate.seen = 0


@action(actor="candidate {c}", source="by hand")
def resign(s: Any, _model: object, c: int) -> None:
    """The candidate serves no longer."""
    candidate = s.candidates[c]
    require(candidate.at == At.SERVES)
    candidate.at = At.IDLE
    candidate.epoch = 0


def always(name: str, value: Value) -> Property:
    """A claim about every state, with no more to it than its term."""
    return Property(name, "always", f"{name}.", "by hand", value.term)


def elections(candidates: int = 2, *, top: int | None = None, few: int = 2) -> TransitionSystem:
    """Candidates for terms of office; epochs are integers, or bounded by `top`."""
    kind = epoch(top or 0, unbounded=top is None)
    numbers = range(1, candidates + 1)
    candidate: Shape = {"at": Leaf(enumeration(At), At.IDLE), "seen": Leaf(kind, 0), "epoch": Leaf(kind, 0)}
    shape: Shape = {"candidates": dict.fromkeys(numbers, candidate), "version": Leaf(kind, 0)}
    before: Any = View(shape, None)

    def apart(one: int, other: int) -> Value:
        both_serve = both(*[before.candidates[c].at == At.SERVES for c in (one, other)])
        equal: Value = before.candidates[one].epoch == before.candidates[other].epoch
        return ~(both_serve & equal)

    def grows(old: Any, new: Any) -> Value:
        kept: Value = old.version <= new.version
        return kept

    claims = [
        always("one_per_epoch", both(*[apart(a, b) for a in numbers for b in numbers if a < b])),
        always("few_terms", before.version <= few),
    ]
    growing = Property("version_grows", "step", "The version never goes back.", "by hand", witness="one_per_epoch")
    rules = [(rule, each(candidates, "c")) for rule in (read, write, resign)]
    return build(f"elections-{candidates}", shape, rules, claims, [(growing, grows)])


def below_version(system: TransitionSystem, field: str) -> Property:
    """The lemma that no candidate's `epoch` (or `seen`) exceeds the version."""
    mine = [one for one in system.variables if one.name.endswith(f".{field}")]
    kind = mine[0].kind
    return always(
        f"{field}_below_version", both(*[kind.variable(one.name) <= kind.variable("version") for one in mine])
    )


@action(actor="somebody", source="by hand")
def win(s: Any, _model: object) -> None:
    """Somebody wins the next epoch; whether the watched one was ever won is remembered."""
    s.version = successor(s.version)
    with when(s.version == s.watched):
        s.won = True


def watching() -> TransitionSystem:
    """Epochs won one after the other, of which an arbitrary one is watched: no action changes which."""
    kind = epoch(0, unbounded=True)
    shape: Shape = {"version": Leaf(kind, 0), "watched": Leaf(kind, 0), "won": Leaf(FLAG, False)}
    claim = Property("won_once", "step", "The watched epoch is not won a second time.", "by hand")

    def won_once(old: Any, new: Any) -> Value:
        again: Value = both(old.won, new.version == new.watched)
        return ~again

    return build("watching", shape, [(win, [{}])], [], [(claim, won_once)])


PRIME = 2**61 - 1


@action(actor="somebody", source="by hand")
def factor(s: Any, _model: object) -> None:
    """Somebody has found the two factors of a number that has none."""
    left, right = (z3.ZeroExt(32, one.term) for one in (s.left, s.right))
    require(s.left > 1, s.right > 1, Value(FLAG, left * right == PRIME))
    s.factored = True


def factors() -> TransitionSystem:
    """A system that does nothing, though it takes a solver long to see it."""
    shape: Shape = {
        "left": Leaf(number(2**32 - 1), 0),
        "right": Leaf(number(2**32 - 1), 0),
        "factored": Leaf(FLAG, False),
    }
    before: Any = View(shape, None)
    claim = Property("still_prime", "step", "Nobody finds factors.", "by hand")

    def still_prime(_old: Any, new: Any) -> Value:
        unfactored: Value = ~new.factored
        return unfactored

    return build("factors", shape, [(factor, [{}])], [always("prime", ~before.factored)], [(claim, still_prime)])
