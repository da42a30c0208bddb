"""A whole system from its parts: a record for the state, rules, claims, and a model that they are run with.

Of a model nothing else is asked here than its `choices`: by the names of parameters, every choice that there is of
them. spec/system.py puts the protocol together in the same steps; it has more parts, and keeps what its variants share.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import z3

from spec.language.records import Record, shape_of
from spec.language.rules import (
    Action,
    Claim,
    Property,
    Rule,
    TransitionSystem,
    View,
    instantiate,
    leaves,
    parameter_names,
)
from spec.language.terms import is_true


class Chooses(Protocol):
    """What a model must say: every choice of parameters by their names, in order."""

    def choices(self, names: Iterable[str], /) -> Iterable[Mapping[str, int]]:
        """Every choice of these parameters; of none there is one, the empty choice."""


def assembled(
    name: str, state: type[Record], m: Chooses, rules: Iterable[Rule], claims: Iterable[Claim]
) -> TransitionSystem:
    """The system of that name: each rule for every choice of its parameters, and each claim, asked of all that.

    It keeps no model: `TransitionSystem.model` is the protocol's, from which stories get their lines of logs.
    """
    shape = shape_of(state, m)
    before = View(shape, None)
    steps = [instantiate(rule, shape, m, one) for rule in rules for one in m.choices(parameter_names(rule))]

    def made(one: Claim) -> Property:
        if one.kind != "step":
            return of_states(one, before, m)
        said = ((action.name, said_of_step(one, before, after, m, action)) for action, after in steps)
        return of_steps_named(one, {action: term for action, term in said if term is not None})

    return TransitionSystem(name, tuple(leaves(shape)), tuple(one for one, _ in steps), tuple(map(made, claims)))


def of_states(one: Claim, before: View, m: Any) -> Property:
    """A claim about states, of a model."""
    value = one.function(before, m)
    term = None if value is None else value.term
    return Property(one.name, one.kind, one.statement, one.source, term=term, witness=one.witness)


def of_steps_named(one: Claim, terms: Mapping[str, z3.BoolRef]) -> Property:
    """A claim about steps, by what it says of each action of which it says anything."""
    return Property(one.name, one.kind, one.statement, one.source, terms=terms, witness=one.witness)


def said_of_step(one: Claim, before: View, after: View, m: Any, action: Action) -> z3.BoolRef | None:
    """What a claim about steps says of an action; None if nothing."""
    value = one.function(before, after, m, action)
    return None if value is None or is_true(value.term) else value.term
