"""What could be done in a state, and what could not: which conjunct of its guard keeps each other action from it.

An action is possible where its guard holds; that is asked of the terms, which are those that every engine goes by. Of
one that is not possible the first conjunct that is false is reported, by the parts that decide it; behind it others may
be false, too, which are counted. Where an action moves a partition or a replica in its state machine, the row of the
transition table that it takes is named, or the one that it comes nearest to.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import z3

from model_check.reasons.deciding import deciding
from model_check.reasons.names import Names
from model_check.reasons.phrases import Phrases
from model_check.terms.straight_line import Valuation
from model_check.verdicts.possibilities import Choice, Choices
from spec.language.rules import Action, TransitionSystem
from spec.tables.taken_rows import ROWS


def choices(
    system: TransitionSystem,
    values: Valuation,
    *,
    step: int,
    taken: str,
    wanted: Callable[[Action], bool] | None = None,
) -> Choices:
    """What is possible in a state, and what is not: of each rule that is not the nearest action, or all that is wanted.

    The nearest is the one with the fewest false conjuncts, the first of several.
    """
    seen = Seen(system, values, Names(system.model))
    possible, others = list[Action](), list[Action]()
    for one in system.actions:
        (possible if values(one.guard) else others).append(one)
    told = [*filter(wanted, others)] if wanted else seen.nearest(others, {one.rule for one in possible})
    return Choices(step, taken, tuple(map(seen.possible, possible)), tuple(map(seen.refused, told)))


@dataclass(frozen=True)
class Seen:
    """The actions of a system, seen from one state."""

    system: TransitionSystem
    values: Valuation
    names: Names

    def nearest(self, others: Iterable[Action], possible: Collection[str]) -> Iterable[Action]:
        """Of each rule none of whose actions is possible, the one that lacks least."""
        best = dict[str, tuple[int, Action]]()
        for one in others:
            if one.rule not in possible:
                lacks = len(self._false(one.guard))
                if one.rule not in best or lacks < best[one.rule][0]:
                    best[one.rule] = lacks, one
        return [one for _, one in best.values()]

    def possible(self, one: Action) -> Choice:
        """An action whose guard holds."""
        return self._told(one)

    def refused(self, one: Action) -> Choice:
        """An action whose guard does not hold, and why."""
        false = self._false(one.guard)
        bounded = bool(self.values(one.overflow))
        return replace(self._told(one), because=self._parts(false[0]), more=len(false) - 1, bounded=bounded)

    def _false(self, condition: z3.BoolRef) -> list[z3.BoolRef]:
        return [each for each in conjuncts(condition) if not self.values(each)]

    def _parts(self, condition: z3.BoolRef) -> tuple[str, ...]:
        return tuple(map(self._phrases.of, deciding(condition, self.values)))

    @property
    def _phrases(self) -> Phrases:
        return Phrases(self.system, self.values, self.names)

    def _told(self, one: Action) -> Choice:
        statement = " ".join(one.statement.split("\n\n")[0].split())
        return Choice(one.name, one.actor, statement, self.names.parameters(one.parameters), self._row(one))

    def _row(self, one: Action) -> str:
        """The row that an action takes, or the one of those that it may take which lacks least; why, as far as said."""
        lacking = {row: self._false(where) for row, where in one.taken.items() if row in ROWS}
        if not lacking:
            return ""
        row = min(lacking, key=lambda each: len(lacking[each]))
        told = str(ROWS[row])
        if not lacking[row]:
            return told
        words = "; ".join(filter(None, map(self._phrases.words, deciding(lacking[row][0], self.values))))
        return f"{told}, not taken here" + (f": {words}" if words else "")


def conjuncts(condition: z3.BoolRef) -> Iterator[z3.BoolRef]:
    """The parts of a conjunction, also of one that is said as a negated choice, in their order."""
    pending = [condition]
    while pending:
        term = pending.pop()
        if z3.is_and(term):
            pending += reversed(term.children())
        elif z3.is_not(term) and z3.is_or(term.arg(0)):
            pending += [z3.Not(one) for one in reversed(term.arg(0).children())]
        elif z3.is_not(term) and z3.is_not(term.arg(0)):
            pending.append(term.arg(0).arg(0))
        else:
            yield term
