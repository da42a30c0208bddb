"""The parts of a condition that decide what it is in a state: enough of them that no other part matters.

A conjunction is false because of its first false conjunct, and true because of all of them; a disjunction the other way
round. What can be taken apart no further is a `Deciding` part: a comparison or a flag, with what it is. Together these
parts imply the condition's value in every state, which z3 proves in the tests.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import z3

from model_check.terms.straight_line import Valuation


class Deciding(NamedTuple):
    """A part of a condition that is as it is, and has its share in what the condition is."""

    term: z3.BoolRef
    holds: bool


def deciding(condition: z3.BoolRef, values: Valuation) -> tuple[Deciding, ...]:
    """The parts that make a condition what it is in a state, each once, in the order of the condition."""
    found = dict[tuple[int, bool], Deciding]()
    for one in _parts(condition, values):
        found.setdefault((one.term.get_id(), one.holds), one)
    return tuple(_together([*found.values()], values))


def _parts(condition: z3.BoolRef, values: Valuation) -> Iterator[Deciding]:
    pending = [condition]
    while pending:
        term = pending.pop()
        children = term.children()
        if z3.is_not(term):
            pending += children
        elif z3.is_and(term) or z3.is_or(term):
            pending += reversed(_of_several(children, values, sought=not z3.is_and(term)))
        elif z3.is_implies(term):
            pending += reversed(_of_several([z3.Not(children[0]), children[1]], values, sought=True))
        elif z3.is_app_of(term, z3.Z3_OP_ITE):
            pending += [children[1] if values(children[0]) else children[2], children[0]]
        elif z3.is_eq(term) and z3.is_bool(children[0]):
            pending += reversed(children)
        elif not (z3.is_true(term) or z3.is_false(term)):
            yield Deciding(term, bool(values(term)))


def _of_several(children: Sequence[z3.BoolRef], values: Valuation, *, sought: bool) -> Sequence[z3.BoolRef]:
    """The first child that is as sought, which is enough; all of them where none is."""
    for one in children:
        if bool(values(one)) is sought:
            return [one]
    return children


def _together(parts: Sequence[Deciding], values: Valuation) -> Iterator[Deciding]:
    """The parts, but what is said several times not to be this and that is said once: what it is."""
    different = Counter(one.get_id() for part in parts for one in _compared(part, holds=False))
    said = {one.get_id() for part in parts for one in _compared(part, holds=True)}
    several = said | {one for one, times in different.items() if times > 1}
    for part in parts:
        whose = next((one for one in _compared(part, holds=False) if one.get_id() in several), None)
        if whose is None:
            yield part
        elif whose.get_id() not in said:
            said.add(whose.get_id())
            number = values(whose)
            literal = z3.BitVecVal(number, whose.sort()) if z3.is_bv(whose) else z3.IntVal(number)
            yield Deciding(whose == literal, holds=True)


def _compared(part: Deciding, *, holds: bool) -> Iterator[z3.ExprRef]:
    """The variable that a part says to be some number, or not to be."""
    if part.holds is not holds or not z3.is_eq(part.term):
        return
    for one, other in (part.term.children(), reversed(part.term.children())):
        is_number = z3.is_bv_value(other) or z3.is_int_value(other)
        if is_number and z3.is_const(one) and not (z3.is_bv_value(one) or z3.is_int_value(one)):
            yield one
