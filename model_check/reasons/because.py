"""Why a story that ends with a broken claim is the violation: the first fact of the claim that is false, with values.

A claim is asked of each choice of its partitions, brokers and the like. The first choice of which it is false, and of
that the first false fact, are looked for by asking the claim itself once more, one choice after the other. Of a claim
about steps the state after the step has names of its own, so that what is said is of these, and not of how the step
makes them. Of a goal it is said what is not as it should be where the story ends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import z3

from model_check.reasons.deciding import deciding
from model_check.reasons.names import AFTER, Names
from model_check.reasons.phrases import Phrases
from model_check.terms.straight_line import Valuation
from model_check.verdicts.results import Because
from spec.language.rules import Action, Property, TransitionSystem
from spec.language.views import Frame, Place, View
from spec.properties import claims
from spec.state.cluster import shape

State: TypeAlias = Mapping[str, int]
Fact: TypeAlias = tuple[Mapping[str, int], z3.BoolRef]
"""What is true where a claim holds, and the choice of things of which it is."""


def because(system: TransitionSystem, one: Property, steps: Sequence[tuple[str | None, State]]) -> Because | None:
    """Why a claim is broken where a story ends; None if it is not.

    `steps` are the story's, or its last two: the action taken, and the whole state after it.
    """
    (name, after), before = steps[-1], steps[-2][1] if len(steps) > 1 else {}
    taken = next((each for each in system.actions if each.name == name), None)
    if one.kind != "step":
        state = after
    elif taken is None:
        return None
    else:
        state = {**before, **{f"{variable}{AFTER}": value for variable, value in after.items()}}
    values = Valuation(state)
    found = _first_false(_of_claim(system, one, taken), values) or _first_false(_of_property(one, taken), values)
    if found is None:
        return None
    choice, fact = found
    phrases = Phrases(system, values, Names(system.model))
    return Because(phrases.names.parameters(choice), tuple(map(phrases.of, deciding(fact, values))))


def _first_false(facts: Iterable[Fact], values: Valuation) -> Fact | None:
    return next((one for one in facts if not values(one[1])), None)


def _of_claim(system: TransitionSystem, one: Property, taken: Action | None) -> Iterator[Fact]:
    """The facts of a claim of the specification, choice by choice."""
    claim = next((each for each in claims() if each.name == one.name), None)
    if claim is None or system.model is None:
        return
    m, asked = system.model, claim.function
    place = Place(shape(m))
    given: list[Any] = [View(place, None)]
    if one.kind == "step" and taken is not None:
        given.append(_after(place, system, taken))
    takes = asked.takes(m, taken)
    if takes is None:
        return
    for choice in m.choices(asked.each):
        named = {name: number for name, number in takes.items() if name != "action"} | choice
        yield from ((named, fact.term) for fact in asked.facts(*given, m, **takes, **choice))


def _of_property(one: Property, taken: Action | None) -> Iterator[Fact]:
    """A property as a whole, as of a system that was made otherwise."""
    term = one.term if one.kind != "step" else one.terms.get(taken.name) if taken is not None else None
    if term is not None:
        yield {}, term


def _after(place: Place, system: TransitionSystem, taken: Action) -> View:
    """The state after a step, in which whatever the step may change has a name of its own."""
    frame = Frame()
    kinds = {one.name: one.kind for one in system.variables}
    frame.values = {name: kinds[name].variable(f"{name}{AFTER}") for name in taken.updates if name in kinds}
    return View(place, frame)
