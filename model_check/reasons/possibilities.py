"""What could be done in place of each step of a story, and what could not: the first false conjunct of each guard.

It is what `choices.py` tells of one state, of many states of a system, one after the other. What is said of a conjunct
depends on the values of its variables alone, so it is put in words once for those; and of an action it is kept where
something else becomes so of it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import z3

from model_check.reasons.choices import conjuncts
from model_check.reasons.deciding import deciding
from model_check.reasons.names import Names
from model_check.reasons.phrases import Phrases
from model_check.terms.straight_line import Program, Valuation
from model_check.verdicts.choices_text import first_reason
from model_check.verdicts.possibilities import Possibilities, Standing
from spec.language.rules import Action, TransitionSystem


@dataclass
class Reasons:
    """The reasons why actions of a system are not possible, each with its number, over as many stories as one likes."""

    system: TransitionSystem
    numbers: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._program, self._names = Program(), Names(self.system.model)
        self._conjuncts = [[*conjuncts(one.guard)] for one in self.system.actions]
        self._variables = dict[int, tuple[str, ...]]()
        self._known = dict[tuple[int, bool, tuple[int, ...]], int]()

    def along(self, first: int, states: Iterable[Mapping[str, int]]) -> Possibilities:
        """What is possible in the states before so many steps, the first of which has this number, and what is not."""
        told = [self._numbers(state) for state in states]
        used = {number: at for at, number in enumerate(sorted({one for row in told for one in row} - {0}), start=1)}
        texts = {number: text for text, number in self.numbers.items()}
        columns = [[used.get(number, 0) for number in column] for column in zip(*told, strict=True)]
        actions = [_standing(one, first, column) for one, column in zip(self.system.actions, columns, strict=False)]
        statements = {one.rule: " ".join(one.statement.split("\n\n")[0].split()) for one in self.system.actions}
        reasons = tuple(texts[number] for number in used)
        return Possibilities(first, first + len(told) - 1, statements if told else {}, reasons, tuple(actions))

    def _numbers(self, state: Mapping[str, int]) -> list[int]:
        """Of each action the number of the reason why it is not possible in a state; 0 where it is."""
        values = Valuation(state, self._program)
        return [
            0 if values(one.guard) else self._why_not(one, parts, values)
            for one, parts in zip(self.system.actions, self._conjuncts, strict=True)
        ]

    def _why_not(self, one: Action, parts: Iterable[z3.BoolRef], values: Valuation) -> int:
        first = next(each for each in parts if not values(each))
        place, bounded = self._program.place(first), bool(values(one.overflow))
        key = place, bounded, tuple(values.state[name] for name in self._variables_of(place))
        if key not in self._known:
            phrases = Phrases(self.system, values, self._names)
            text = first_reason(map(phrases.of, deciding(first, values)), bounded=bounded)
            self._known[key] = self.numbers.setdefault(text, len(self.numbers) + 1)
        return self._known[key]

    def _variables_of(self, place: int) -> tuple[str, ...]:
        """The variables that a term reads, by the term's place in the program."""
        if place not in self._variables:
            nodes = (self._program.nodes[one] for one in self._program.needed_by([place]))
            self._variables[place] = tuple(sorted({node.name for node in nodes if node.name}))
        return self._variables[place]


def _standing(one: Action, first: int, numbers: Iterable[int]) -> Standing:
    """The state of an action, by the number of the reason before each step."""
    since, reasons = list[int](), list[int]()
    for step, number in enumerate(numbers, start=first):
        if not reasons or number != reasons[-1]:
            since.append(step)
            reasons.append(number)
    return Standing(one.name, one.actor, tuple(since), tuple(reasons))
