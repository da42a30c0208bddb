"""A deciding part of a condition in words, with the values that it goes by: `/controller_epoch (2) is not 1`.

Terms are read back by their shape. Lists of brokers are numbers to z3, and what is asked of a list is a table; which
one is found by asking for the same of the list again, since z3 keeps equal terms as one. What has no words is printed
as z3 does, with the values of its variables.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import z3

from model_check.reasons.deciding import Deciding
from model_check.reasons.names import AFTER, Names
from model_check.terms.straight_line import Valuation, shortened
from spec.language.broker_lists import Brokers
from spec.language.rules import TransitionSystem
from spec.language.terms import Kind, Value, same
from spec.language.views import Variable

MEMBERS: Final = 4
"""So many places of a list are known by name."""
PLACES: Final = ("first", "second", "third", "fourth")


HOW: Final = {
    z3.Z3_OP_BAND: "as far as in", z3.Z3_OP_BOR: "with", z3.Z3_OP_BADD: "+", z3.Z3_OP_ADD: "+",
}  # fmt: skip
"""How two terms are put together."""


class Phrase(NamedTuple):
    """A term in words, and the kind of its values; a number has no words, and what is not read back has no kind."""

    text: str
    kind: Kind | None


@dataclass
class Phrases:
    """The words of a system's terms, at a step: the values before it, and after it under marked names."""

    system: TransitionSystem
    values: Valuation
    names: Names
    variables: Mapping[str, Variable] = field(init=False)

    def __post_init__(self) -> None:
        self.variables = {one.name: one for one in self.system.variables}

    def of(self, part: Deciding) -> str:
        """A deciding part in words, or as z3 has it."""
        return self.words(part) or self._as_z3_has_it(part.term, "so" if part.holds else "not so")

    def words(self, part: Deciding) -> str:
        """A deciding part in words; nothing where it has none."""
        term, children = part.term, part.term.children()
        if z3.is_const(term):
            return f"{self._said(term).text}: {'yes' if part.holds else 'no'}"
        if z3.is_eq(term):
            of_a_set = (self._of_a_set(one, other, holds=part.holds) for one, other in (children, reversed(children)))
            return next(filter(None, of_a_set), "") or self._equality(*children, holds=part.holds)
        if z3.is_app_of(term, z3.Z3_OP_ULT) or z3.is_lt(term):
            return self._order(*children, holds=part.holds)
        return ""

    def _equality(self, one: z3.ExprRef, other: z3.ExprRef, *, holds: bool) -> str:
        if _is_number(one):
            one, other = other, one
        left, right = self._said(one), self._said(other)
        if left.kind is None:
            return ""
        mine, its = self._value(one, left.kind), self._value(other, right.kind or left.kind)
        if _is_number(other):
            return f"{left.text} is {its}" if holds else f"{left.text} ({mine}) is not {its}"
        if right.kind is None:
            return ""
        if holds:
            return f"{left.text} and {right.text} are both {mine}"
        return f"{left.text} ({mine}) is not {right.text} ({its})"

    def _order(self, smaller: z3.ExprRef, larger: z3.ExprRef, *, holds: bool) -> str:
        one, how, other = (larger, ">", smaller) if _is_number(smaller) else (smaller, "<", larger)
        left, right = self._said(one), self._said(other)
        if left.kind is None or (right.kind is None and not _is_number(other)):
            return ""
        its = self._value(other, right.kind or left.kind)
        compared = its if _is_number(other) else f"{right.text} ({its})"
        return f"{left.text} ({self._value(one, left.kind)}) is {'' if holds else 'not '}{how} {compared}"

    def _of_a_set(self, one: z3.ExprRef, other: z3.ExprRef, *, holds: bool) -> str:
        """What is said of a set by a number and a term: whether it has a member, is within another, or shares some."""
        if z3.is_bv_value(one) and z3.is_app_of(other, z3.Z3_OP_EXTRACT) and other.size() == 1:
            return self._member(other, has=holds == bool(one.as_long()))
        if z3.is_bv_value(one) and not one.as_long() and z3.is_app_of(other, z3.Z3_OP_BAND) and other.num_args() == 2:
            return self._two_sets(*other.children(), is_empty=holds)
        return ""

    def _two_sets(self, left: z3.ExprRef, right: z3.ExprRef, *, is_empty: bool) -> str:
        is_less = z3.is_app_of(right, z3.Z3_OP_BNOT)
        one, other = self._with_value(left), self._with_value(right.arg(0) if is_less else right)
        if not (one and other):
            return ""
        if is_less:
            return f"{one} is{'' if is_empty else ' not'} within {other}"
        return f"{one} and {other} share {'nothing' if is_empty else 'a member'}"

    def _member(self, bit: z3.ExprRef, *, has: bool) -> str:
        of, (number, _) = self._said(bit.arg(0)), bit.params()
        if of.kind is None or "set" not in of.kind.name:
            return ""
        member = f"{of.kind.name.removesuffix(' set')} {number + 1}"
        return f"{of.text} {self._value(bit.arg(0), of.kind)} {'has' if has else 'lacks'} {member}"

    def _with_value(self, term: z3.ExprRef) -> str:
        found = self._said(term)
        return "" if found.kind is None else f"{found.text} {self._value(term, found.kind)}"

    def _value(self, term: z3.ExprRef, kind: Kind) -> str:
        raw = self.values(term)
        return str(raw) if raw > kind.maximum and not kind.unbounded else kind.show(raw)

    # ------------------------------------------------------------------------------------------------ terms in words

    def _said(self, term: z3.ExprRef) -> Phrase:
        """A term in words."""
        if _is_number(term):
            return Phrase("", None)
        if z3.is_const(term):
            name = term.decl().name()
            variable = self.variables.get(name.removesuffix(AFTER))
            return Phrase(self.names.of(name), variable.kind if variable else None)
        if (found := self._of_a_list(term)) is not None:
            return found
        if z3.is_app_of(term, z3.Z3_OP_ITE):
            return self._said(term.arg(1) if self.values(term.arg(0)) else term.arg(2))
        combined = self._combined(term)
        return combined or Phrase(shortened(term), None)

    def _combined(self, term: z3.ExprRef) -> Phrase | None:
        """What is made of two sets, or of a counter and a number."""
        if term.num_args() != 2:
            return None
        left, right = term.children()
        is_less = z3.is_app_of(right, z3.Z3_OP_BNOT)
        one, other = self._said(left), self._said(right.arg(0) if is_less else right)
        if one.kind is None or (other.kind is None and not _is_number(right)):
            return None
        how = "without" if is_less else HOW.get(term.decl().kind())
        shown = str(right.as_long()) if how == "+" and _is_number(right) else other.text
        return Phrase(f"{one.text} {how} {shown or one.kind.show(self.values(right))}", one.kind) if how else None

    def _of_a_list(self, term: z3.ExprRef) -> Phrase | None:
        """What is asked of one list of brokers, by asking for the same again."""
        if self.system.model is None:
            return None
        brokers: Brokers = self.system.model.brokers
        of = _only_variable(term)
        variable = self.variables.get(of.decl().name().removesuffix(AFTER)) if of is not None else None
        if of is None or variable is None or variable.kind != brokers.list_kind:
            return None
        name = self.names.of(of.decl().name())
        for text, one in _asked_of(brokers, Value(variable.kind, of)):
            if same(one.term, term):
                return Phrase(text.format(name), one.kind)
        return None

    def _as_z3_has_it(self, term: z3.BoolRef, outcome: str) -> str:
        names = sorted({one.decl().name() for one in _variables(term)})
        told = (f"{self.names.of(name)} = {self._shown(name)}" for name in names)
        return f"{outcome}: {shortened(term)}, where {', '.join(told)}"

    def _shown(self, name: str) -> str:
        variable, raw = self.variables.get(name.removesuffix(AFTER)), self.values.state[name]
        return variable.show(raw) if variable else str(raw)


def _asked_of(brokers: Brokers, replicas: Value) -> Iterator[tuple[str, Value]]:
    yield "{}", brokers.members(replicas)
    yield from ((f"the {PLACES[place]} of {{}}", brokers.at(replicas, place)) for place in range(MEMBERS))
    yield from ((f"{{}} without {broker}", brokers.without(replicas, broker)) for broker in brokers.ids)
    yield "the numbers of {}", brokers.plain(replicas)


def _is_number(term: z3.ExprRef) -> bool:
    return bool(z3.is_bv_value(term) or z3.is_int_value(term))


def _only_variable(term: z3.ExprRef) -> z3.ExprRef | None:
    found = {one.get_id(): one for one in _variables(term)}
    return next(iter(found.values())) if len(found) == 1 else None


def _variables(term: z3.ExprRef) -> Iterable[z3.ExprRef]:
    """The variables in a term."""
    pending, seen = [term], set[int]()
    while pending:
        one = pending.pop()
        if one.get_id() in seen:
            continue
        seen.add(one.get_id())
        pending += one.children()
        if z3.is_const(one) and one.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            yield one
