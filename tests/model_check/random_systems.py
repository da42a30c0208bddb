"""Random transition systems, for engines to be measured against the oracle where nobody thought of the system.

The variables are those of `random_terms.py`: two flags, two narrow and two wide bit-vectors, 22 bits in all. Guards,
updates, overflows and properties are random terms; a few actions are faults.
"""

from typing import Any

import z3
from hypothesis import strategies as st

from spec.language.rules import Action, Property, TransitionSystem, Variable
from spec.language.terms import FALSE, FLAG, Kind
from tests.model_check.random_terms import BIT_VECTORS, BOOL, FLAGS, LARGE, NARROW, SMALL, literal, terms, variable


def kind_of(name: str) -> Kind:
    """The kind of a variable, with every value of its width."""
    if name in FLAGS:
        return FLAG
    return Kind("number", BIT_VECTORS[name], (1 << BIT_VECTORS[name]) - 1, str, int)


VARIABLES = tuple(Variable(name, kind_of(name), 0) for name in (*FLAGS, *BIT_VECTORS))


def sort_of(name: str) -> str:
    """Which random terms fit a variable."""
    return BOOL if name in FLAGS else SMALL if name in NARROW else LARGE


@st.composite
def updates(draw: Any) -> dict[str, z3.ExprRef]:
    """New values for some variables, some of them under one condition.

    Small steps are as frequent as wild ones, or most systems would have two states.
    """
    names = draw(st.lists(st.sampled_from([one.name for one in VARIABLES]), min_size=1, max_size=3, unique=True))
    found = {}
    for name in names:
        if name in BIT_VECTORS and draw(st.booleans()):
            found[name] = variable(name) + literal(name, draw(st.integers(1, 3)))
        else:
            found[name] = draw(terms(sort_of(name), 3, integers=False))
    question = draw(terms(BOOL, 2, integers=False))
    asking = draw(st.sets(st.sampled_from(names)))
    return {name: z3.If(question, term, variable(name)) if name in asking else term for name, term in found.items()}


@st.composite
def actions(draw: Any, name: str) -> Action:
    """An action with a random guard, now and then bounded, now and then a fault."""
    guard = draw(st.one_of(st.just(z3.BoolVal(True)), terms(BOOL, 3, integers=False)))
    room = draw(st.one_of(st.just(z3.BoolVal(True)), terms(BOOL, 2, integers=False)))
    bounded = not z3.is_true(room)
    return Action(
        name=name, rule=name, parameters={}, actor="anybody", statement="Something.", source="by chance",
        budget=draw(st.sampled_from([None, None, "faults"])),
        guard=z3.And(guard, room) if bounded else guard,
        overflow=z3.And(guard, z3.Not(room)) if bounded else FALSE,
        updates=draw(updates()), events=(),
    )  # fmt: skip


@st.composite
def systems(draw: Any) -> TransitionSystem:
    """One to five actions and a property of each kind."""
    made = tuple(draw(actions(f"action{number}")) for number in range(draw(st.integers(1, 5))))
    condition = terms(BOOL, 3, integers=False)
    kinds = ("always", "sometimes", "recoverable", "eventually")
    claims = [Property(kind, kind, "It is so.", "by chance", draw(condition)) for kind in kinds]
    speaking = draw(st.lists(st.sampled_from([one.name for one in made]), unique=True))
    step = Property("step", "step", "It is so.", "by chance", None, {name: draw(condition) for name in speaking})
    return TransitionSystem("random", VARIABLES, made, (*claims, step))
