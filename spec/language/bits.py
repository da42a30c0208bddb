"""Values by their bits: sets, of which each member is one, and tables, which are looked up bit by bit."""

from collections.abc import Sequence

import z3

from spec.language.terms import NO, YES, Kind, Value, choose, equal, literal_of, once
from spec.language.z3_calls import AND_BITS, EXTRACT, NOT_BITS, OR_BITS, SHIFT_RIGHT, TIMES, WIDEN, Bits, made


def united(left: Value, right: Value) -> Value:
    """The bits that are set in either of two values of one kind."""
    if type(left.content) is int and type(right.content) is int:
        return Value(left.kind, left.content | right.content)
    return Value(left.kind, made(Bits, OR_BITS, left.term.ast, right.term.ast))


def shared(left: Value, right: Value) -> Value:
    """The bits that are set in both of two values of one kind."""
    if type(left.content) is int and type(right.content) is int:
        return Value(left.kind, left.content & right.content)
    return Value(left.kind, made(Bits, AND_BITS, left.term.ast, right.term.ast))


def without(left: Value, right: Value) -> Value:
    """The bits of a value that are not set in another of its kind."""
    if type(left.content) is int and type(right.content) is int:
        return Value(left.kind, left.content & ~right.content)
    others = made(Bits, NOT_BITS, right.term.ast)
    return Value(left.kind, made(Bits, AND_BITS, left.term.ast, others.ast))


def has_bit(value: Value, position: int) -> Value:
    """Whether a bit of a value is set; the lowest is 0."""
    if type(value.content) is int:
        return YES if value.content >> position & 1 else NO
    return once(_bit, value.content, position)


def lookup(index: Value, table: Sequence[object], kind: Kind) -> Value:
    """The entry of a constant table at a bit-vector index."""
    if type(index.content) is int:
        return kind.constant(table[index.content])
    return once(_entry, index.content, table, kind)


def _bit(term: z3.ExprRef, position: int) -> Value:
    return equal(literal_of(False, False, 1, 1), made(Bits, EXTRACT, position, position, term.ast))


def _entry(index: z3.BitVecRef, table: Sequence[object], kind: Kind) -> Value:
    """The entry of a table, as one shift of a literal where it fits 64 bits."""
    width = index.size()
    raws = [kind.encode(entry) for entry in table]
    raws += [0] * ((1 << width) - len(raws))
    if len(raws) * kind.width <= 64 and kind.width > 1:
        packed = literal_of(False, False, 64, sum(raw << position * kind.width for position, raw in enumerate(raws)))
        wide, each = made(Bits, WIDEN, 64 - width, index.ast), literal_of(False, False, 64, kind.width)
        shift = made(Bits, TIMES, wide.ast, each.ast)
        shifted = made(Bits, SHIFT_RIGHT, packed.ast, shift.ast)
        return Value(kind, made(Bits, EXTRACT, kind.width - 1, 0, shifted.ast))
    return _decide(index, width - 1, raws, kind)


def _decide(term: z3.ExprRef, bit: int, raws: Sequence[int], kind: Kind) -> Value:
    """A binary decision over the index bits; equal halves fold."""
    if len(set(raws)) == 1:
        return Value(kind, raws[0])
    half = len(raws) // 2
    test = once(_bit, term, bit)
    return choose(test, _decide(term, bit - 1, raws[half:], kind), _decide(term, bit - 1, raws[:half], kind))
