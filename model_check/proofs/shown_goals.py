"""What closed a goal last time: goals that were shown before still hold, where all that they were shown from is held
again.

A goal is that a step keeps a clause, or does as is claimed of it. It was shown from hypotheses: in each state in which
they all hold and the guard does, it holds. Whoever holds more than these hypotheses speaks of fewer states, and of none
for which it was not shown. So a goal that is literally the same (`Step.key` and `Step.key_of_claim` are digests of all
terms in it) needs no solver where its hypotheses are among those held, whichever proof it comes from.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from model_check.proofs.obligations import Clause, Step, Vocabulary

Left = tuple[list[Clause], list[Clause]]
"""Clauses and claims that are left to be asked about."""


@dataclass(frozen=True)
class Shown:
    """What a proof has shown: digests of the clauses that it was shown from, and of the goals."""

    hypotheses: frozenset[bytes]
    goals: frozenset[bytes]


class ShownGoals:
    """The goals of one proof: those that earlier ones showed, and those that it shows itself."""

    def __init__(self, vocabulary: Vocabulary, earlier: Sequence[Shown]) -> None:
        self._vocabulary, self._earlier = vocabulary, earlier
        self._held, self._standing = frozenset[bytes](), frozenset[bytes]()
        self._of_action: dict[str, frozenset[bytes]] = {}

    def hold(self, hypotheses: Iterable[Clause]) -> None:
        """From now on these are held, and no others."""
        self._held = frozenset(self._vocabulary.digest(one.term) for one in hypotheses)
        standing = (one.goals for one in self._earlier if one.hypotheses <= self._held)
        self._standing = frozenset[bytes]().union(*standing)

    def left(
        self, step: Step, clauses: Sequence[Clause], claims: Sequence[Clause]
    ) -> tuple[list[Clause], list[Clause]]:
        """Those clauses and claims about a step that no earlier proof shows of it."""
        of_clauses, of_claims = [step.key(one) for one in clauses], [step.key_of_claim(one) for one in claims]
        self._of_action[step.action.name] = frozenset((*of_clauses, *of_claims))
        return self._new(clauses, of_clauses), self._new(claims, of_claims)

    def _new(self, clauses: Sequence[Clause], keys: Sequence[bytes]) -> list[Clause]:
        return [clause for clause, key in zip(clauses, keys, strict=True) if key not in self._standing]

    def shown(self, actions: Iterable[str]) -> Shown:
        """What is shown once all goals of some actions are, from what is held now."""
        return Shown(self._held, frozenset[bytes]().union(*(self._of_action[one] for one in actions)))
