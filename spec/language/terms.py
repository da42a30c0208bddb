"""Terms: what the specification computes with.

A `Value` is a number or a z3 term that knows its `Kind`: a flag, a member of an enumeration, a bounded number, an
epoch, a set of brokers or an ordered list of brokers. The kind chooses the z3 sort, prints values, and lifts Python
constants, so the actions of the protocol never name a sort. That is what lets one text serve three purposes: when
enumerating, an epoch is a bit-vector just wide enough for the scope; when proving, the same epoch is a mathematical
integer; when a recording is judged, it is the number that was recorded.

What is known is a plain number, and stays one until it meets a variable: constants fold by Python's arithmetic, and a
rule that runs on a state of numbers makes no z3 term at all.

Left out on purpose: signed numbers, subtraction, and every other thing that the protocol does not do with its counters.
Kafka only compares them and adds one. Comparisons are unsigned throughout (z3's `<` on bit-vectors is signed, which is
why plain z3 terms are not handed to the actions).
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import z3

from spec.language.z3_calls import (
    AND,
    CHOICE,
    EQUAL,
    LESS,
    LESS_BITS,
    NOT,
    OR,
    Bits,
    Flag,
    Integer,
    Term,
    adopted,
    made,
)  # fmt: skip

TRUE = z3.BoolVal(True)
FALSE = z3.BoolVal(False)


@dataclass(frozen=True)
class Kind:
    """The type of a variable: how many bits it takes, which values it has, and how they print.

    `width` is in bits (a flag has 1); `maximum` is the largest raw value in use; `show` turns a raw value (a plain
    integer, a flag is 0 or 1) into text; `encode` turns a Python constant into a raw value. `unbounded` kinds are
    mathematical integers.
    """

    name: str
    width: int
    maximum: int
    show: Callable[[int], str]
    encode: Callable[[Any], int]
    unbounded: bool = False
    lifted: "dict[object, Value]" = field(default_factory=dict, init=False, compare=False, repr=False)
    """The constants that were lifted: rules lift the same again and again."""
    literals: dict[int, z3.ExprRef] = field(default_factory=dict, init=False, compare=False, repr=False)
    """The z3 constants of raw values that were asked for."""

    @cached_property
    def terms(self) -> type[Term]:
        """What terms of this kind are in Python."""
        return Flag if self.name == "flag" else Integer if self.unbounded else Bits

    @cached_property
    def sort(self) -> z3.SortRef:
        """The z3 sort of a variable of this kind."""
        if self.name == "flag":
            return z3.BoolSort()
        return z3.IntSort() if self.unbounded else z3.BitVecSort(self.width)

    def constant(self, value: object) -> "Value":
        """Lift a Python constant, or pass a value through."""
        if type(value) is Value:
            return value
        found = self.lifted.get(value)
        if found is None:
            raw = self.encode(value)
            if not 0 <= raw <= self.maximum and not self.unbounded:
                raise ValueError(f"{value!r} is not a {self.name}: at most {self.maximum} fits this scope")
            found = self.lifted[value] = Value(self, raw)
        return found

    def literal(self, raw: int) -> z3.ExprRef:
        """The z3 constant of a raw value."""
        found = self.literals.get(raw)
        if found is None:
            found = self.literals[raw] = literal_of(self.name == "flag", self.unbounded, self.width, raw)
        return found

    def of(self, term: z3.ExprRef) -> "Value":
        """The value that a term made elsewhere is; a flag that is a constant is known."""
        is_known = self.name == "flag" and (is_true(term) or is_false(term))
        return Value(self, int(is_true(term)) if is_known else term)

    def variable(self, name: str) -> "Value":
        """A free variable of this kind."""
        return Value(self, _variable(name, self.name == "flag", self.unbounded, self.width))


@cache
def literal_of(is_flag: bool, unbounded: bool, width: int, raw: int) -> z3.ExprRef:
    """The z3 constant of a number, a flag or so many bits."""
    if is_flag:
        return TRUE if raw else FALSE
    return z3.IntVal(raw) if unbounded else z3.BitVecVal(raw, width)


@cache
def _variable(name: str, is_flag: bool, unbounded: bool, width: int) -> z3.ExprRef:
    if is_flag:
        return adopted(Flag, z3.Bool(name))
    return z3.Int(name) if unbounded else z3.BitVec(name, width)


def same(left: z3.ExprRef, right: z3.ExprRef) -> bool:
    """Whether two terms are one: z3 keeps every term once, so its address tells (a third of the time of `eq`)."""
    return bool(left.ast.value == right.ast.value)


def is_true(term: z3.ExprRef) -> bool:
    """Whether a term is the constant true."""
    return same(term, TRUE)


def is_false(term: z3.ExprRef) -> bool:
    """Whether a term is the constant false."""
    return same(term, FALSE)


FLAG = Kind("flag", 1, 1, lambda raw: "yes" if raw else "no", int)


def bits_for(maximum: int) -> int:
    """How many bits hold 0..maximum (at least one)."""
    return max(1, maximum.bit_length())


def number(maximum: int, name: str = "number") -> Kind:
    """A natural number from 0 to `maximum`."""
    return Kind(name, bits_for(maximum), maximum, str, int)


@cache
def epoch(maximum: int, *, unbounded: bool = False, offset: int = 0) -> Kind:
    """A counter that only grows: an epoch or a ZooKeeper data version.

    Raw 0 stands for `offset` (-1 where Kafka starts at -1), so that "nothing yet" needs no flag of its own.
    """
    return Kind(
        "epoch", bits_for(maximum), maximum, lambda raw: str(raw + offset), lambda value: int(value) - offset, unbounded
    )


@cache
def enumeration(members: type[enum.Enum], last: enum.Enum | None = None) -> Kind:
    """One member of a Python enumeration, numbered in order of definition; none after `last`, if that is given."""
    order = list(members)
    maximum = order.index(last) if last else len(order) - 1
    return Kind(members.__name__, bits_for(maximum), maximum, lambda raw: order[raw].name, order.index)


class Value:
    """A number or a z3 term with its kind; equality and order build values, they do not compare."""

    __slots__ = ("content", "kind")
    __hash__ = None  # type: ignore[assignment]  # `==` builds a value, so a hash would mislead sets and dicts

    def __init__(self, kind: Kind, content: z3.ExprRef | int) -> None:
        self.kind = kind
        self.content = content

    @property
    def is_known(self) -> bool:
        """Whether this is a plain number, in which no variable occurs."""
        return type(self.content) is int

    @property
    def term(self) -> z3.ExprRef:
        """The value as a z3 term."""
        content = self.content
        return self.kind.literal(content) if type(content) is int else content

    @property
    def raw(self) -> int:
        """The number that a known value is."""
        if type(self.content) is not int:
            raise TypeError(f"only a state of numbers gives numbers; this is the term {self.content}")
        return self.content

    def __eq__(self, other: object) -> "Value":  # type: ignore[override]  # a value, as in z3
        right = other if type(other) is Value else self.kind.constant(other)
        if type(self.content) is int and type(right.content) is int:
            return YES if self.content == right.content else NO
        return once(equal, self.term, right.term)

    def __ne__(self, other: object) -> "Value":  # type: ignore[override]  # a value, as in z3
        equal = self == other
        return NO if equal is YES else YES if equal is NO else ~equal

    def __lt__(self, other: object) -> "Value":
        right = self.kind.constant(other)
        if type(self.content) is int and type(right.content) is int:
            return YES if self.content < right.content else NO
        left, bound = self.term, right.term
        if same(left, bound):
            return NO
        return Value(FLAG, made(Flag, LESS if self.kind.unbounded else LESS_BITS, left.ast, bound.ast))

    def __gt__(self, other: object) -> "Value":
        return self.kind.constant(other) < self

    def __le__(self, other: object) -> "Value":
        return ~(self > other)

    def __ge__(self, other: object) -> "Value":
        return ~(self < other)

    def __invert__(self) -> "Value":
        if self.kind is not FLAG:
            raise TypeError(f"a {self.kind.name} is not a flag: {self.content}")
        if type(self.content) is int:
            return NO if self.content else YES
        return _not(self.content)

    def __and__(self, other: object) -> "Value":
        return both(self, other)

    def __or__(self, other: object) -> "Value":
        return either(self, other)

    __rand__ = __and__
    __ror__ = __or__

    def implies(self, other: object) -> "Value":
        """If this holds, so does the other."""
        return ~self | other

    def plus(self, number: int) -> "Value":
        """The value plus a number; a bounded kind must have room, or z3 wraps where Python does not."""
        return Value(self.kind, self.content + number)

    def __bool__(self) -> bool:
        raise TypeError(f"a value has no truth while a rule runs; use when(), choose() or `&`: {self.content}")

    def __repr__(self) -> str:
        return f"Value({self.kind.name}, {self.content})"


YES = Value(FLAG, 1)
NO = Value(FLAG, 0)


def flag(value: object) -> Value:
    """A flag from a Python truth value, or the value itself."""
    return value if isinstance(value, Value) else FLAG.constant(value)


def both(*values: object) -> Value:
    """All of them hold (none: true)."""
    return _joined(AND, YES, values)


def either(*values: object) -> Value:
    """At least one of them holds (none: false)."""
    return _joined(OR, NO, values)


def _joined(make: Callable[..., Any], none: Value, values: Sequence[object]) -> Value:
    """And or Or of flags: a known one says nothing if it is as `none` of them is, and decides if it is not.

    So does a flag beside its own negation, which much of what is claimed of a step comes to where the step changes
    nothing that the claim is about.
    """
    asts: list[Any] = []
    negated: list[int] = []
    last = none
    for value in values:
        one = value if type(value) is Value else flag(value)
        content: Any = one.content
        if type(content) is int:
            if content != none.content:
                return NO if none is YES else YES
            continue
        asts.append(content.ast)
        last = one
        if type(content) is Flag and content.negates is not None:
            negated.append(content.negates.ast.value)
    count = len(asts)
    if count < 2:
        return last
    if negated and any(ast.value in negated for ast in asts):
        return NO if none is YES else YES
    return Value(FLAG, made(Flag, make, count, _several(count)(*asts)))


@cache
def _several(count: int) -> Any:
    """An array of so many terms, as z3 takes it."""
    return z3.Ast * count


def choose(condition: object, then: object, otherwise: object) -> Value:
    """`then` where the condition holds, else `otherwise`; at least one of the two is a value."""
    test: Any = condition.content if type(condition) is Value else flag(condition).content
    kind = then.kind if type(then) is Value else otherwise.kind if type(otherwise) is Value else FLAG
    left = then if type(then) is Value else kind.constant(then)
    right = otherwise if type(otherwise) is Value else kind.constant(otherwise)
    if type(test) is int:
        return left if test else right
    one, other = left.term.ast, right.term.ast
    return left if one.value == other.value else Value(kind, made(kind.terms, CHOICE, test.ast, one, other))


# ---------------------------------------------------------------------------------------------------- what is made once

SOME = 4_000
"""So many terms are remembered: what is made again is mostly made again soon."""

_made: dict[tuple[object, ...], tuple[Value, tuple[Any, ...]]] = {}
"""What was made, with the operands, lest anything else gets their addresses."""


def once(make: Callable[..., Value], *operands: Any) -> Value:
    """What is made of these very operands: rules ask for the same again and again, and z3 takes its time."""
    key = (make, *map(id, operands))
    found = _made.get(key)
    if found is None:
        if len(_made) >= SOME:
            _made.clear()
        found = _made[key] = make(*operands), operands
    return found[0]


def equal(left: z3.ExprRef, right: z3.ExprRef) -> Value:
    """Whether two terms are equal, as far as that is not known."""
    if same(left, right):
        return YES
    if z3.is_bool(left):
        for one, other in ((left, right), (right, left)):
            if is_true(one):
                return Value(FLAG, other)
            if is_false(one):
                return _not(other)
    return Value(FLAG, made(Flag, EQUAL, left.ast, right.ast))


def _not(term: z3.BoolRef) -> Value:
    negated = term.negates if isinstance(term, Flag) else term.arg(0) if z3.is_not(term) else None
    if negated is None:
        negated = made(Flag, NOT, term.ast)
        negated.negates = term
    return Value(FLAG, negated)
