"""Which branch of its rule a step takes: where the controller's code goes on, since what is so, and the rows it takes.

A rule's statement tells all of its branches. Which one a step takes is in the terms: what the controller does next is a
choice over conditions, of which those on the way to what it is are reported, as far as they are few.
"""

import re
from collections.abc import Iterator
from typing import Final

import z3

from model_check.reasons.deciding import Deciding, deciding
from model_check.reasons.names import Names
from model_check.reasons.phrases import Phrases
from model_check.terms.straight_line import Valuation
from spec.language.rules import Action, TransitionSystem
from spec.state.enumerations import At
from spec.tables.taken_rows import ROWS

PLACE: Final = re.compile(r"controllers\[\d+\]\.at")
MOST_FACTS: Final = 3
"""Of what a branch hangs on."""


def branch(system: TransitionSystem, action: Action, before: Valuation) -> tuple[str, ...]:
    """The branch that an action takes in a state, in lines; nothing of a rule that has one way only."""
    rows = [f"takes {ROWS[row]}" for row, where in action.taken.items() if row in ROWS and before(where)]
    places = [term for name, term in action.updates.items() if PLACE.fullmatch(name)]
    return (*(line for term in places for line in _way(system, term, before)), *rows)


def _way(system: TransitionSystem, next_place: z3.ExprRef, before: Valuation) -> Iterator[str]:
    """Where the code goes on, and since what is so; of a term without a choice nothing."""
    facts, _ = on_the_way(next_place, before)
    if not facts:
        return
    phrases = Phrases(system, before, Names(system.model))
    told = [phrases.words(one) for one in facts]
    some = [one for one in told if one][:MOST_FACTS]
    more = "; and more" if len(some) < len(told) else ""
    yield f"next: {list(At)[before(next_place)].value}" + (f", since {'; '.join(some)}{more}" if some else "")


def on_the_way(choice: z3.ExprRef, before: Valuation) -> tuple[tuple[Deciding, ...], z3.ExprRef]:
    """What decides of all choices, and the term come to: where these facts are so, the whole is that term."""
    held = list[z3.BoolRef]()
    while z3.is_app_of(choice, z3.Z3_OP_ITE):
        condition, then, otherwise = choice.children()
        held.append(condition if before(condition) else z3.Not(condition))
        choice = then if before(condition) else otherwise
    return deciding(z3.And(*held), before) if held else (), choice
