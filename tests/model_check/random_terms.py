"""Random terms and states for the tests of everything that gives z3 terms a meaning of its own.

`OPERATORS` applies every operator of the table to terms of the right sort; `terms` nests them; `z3_value` asks z3's own
simplifier, which shares no code with this project.
"""

from collections.abc import Callable, Mapping
from typing import Any

import z3
from hypothesis import strategies as st

FLAGS, NARROW, WIDE, INTEGERS = ("p", "q"), ("a", "b"), ("x", "y"), ("i", "j")
NARROW_BITS, WIDE_BITS = 3, 7
BIT_VECTORS = dict.fromkeys(NARROW, NARROW_BITS) | dict.fromkeys(WIDE, WIDE_BITS)

NAMES = (*FLAGS, *NARROW, *WIDE, *INTEGERS)

BOOL, SMALL, LARGE, INT = "flag", "narrow", "wide", "integer"

OPERATORS: Mapping[int, tuple[tuple[str, ...], str, Callable[..., z3.ExprRef]]] = {
    z3.Z3_OP_AND: ((BOOL, BOOL, BOOL), BOOL, z3.And),
    z3.Z3_OP_OR: ((BOOL, BOOL, BOOL), BOOL, z3.Or),
    z3.Z3_OP_NOT: ((BOOL,), BOOL, z3.Not),
    z3.Z3_OP_XOR: ((BOOL, BOOL), BOOL, z3.Xor),
    z3.Z3_OP_IMPLIES: ((BOOL, BOOL), BOOL, z3.Implies),
    z3.Z3_OP_EQ: ((SMALL, SMALL), BOOL, lambda a, b: a == b),
    z3.Z3_OP_DISTINCT: ((SMALL, SMALL, SMALL), BOOL, z3.Distinct),
    z3.Z3_OP_ITE: ((BOOL, LARGE, LARGE), LARGE, z3.If),
    z3.Z3_OP_BADD: ((SMALL, SMALL), SMALL, lambda a, b: a + b),
    z3.Z3_OP_BSUB: ((SMALL, SMALL), SMALL, lambda a, b: a - b),
    z3.Z3_OP_BMUL: ((SMALL, SMALL), SMALL, lambda a, b: a * b),
    z3.Z3_OP_BNEG: ((SMALL,), SMALL, lambda a: -a),
    z3.Z3_OP_ADD: ((INT, INT), INT, lambda a, b: a + b),
    z3.Z3_OP_SUB: ((INT, INT), INT, lambda a, b: a - b),
    z3.Z3_OP_MUL: ((INT, INT), INT, lambda a, b: a * b),
    z3.Z3_OP_UMINUS: ((INT,), INT, lambda a: -a),
    z3.Z3_OP_ULEQ: ((SMALL, SMALL), BOOL, z3.ULE),
    z3.Z3_OP_ULT: ((SMALL, SMALL), BOOL, z3.ULT),
    z3.Z3_OP_UGEQ: ((SMALL, SMALL), BOOL, z3.UGE),
    z3.Z3_OP_UGT: ((SMALL, SMALL), BOOL, z3.UGT),
    z3.Z3_OP_LE: ((INT, INT), BOOL, lambda a, b: a <= b),
    z3.Z3_OP_LT: ((INT, INT), BOOL, lambda a, b: a < b),
    z3.Z3_OP_GE: ((INT, INT), BOOL, lambda a, b: a >= b),
    z3.Z3_OP_GT: ((INT, INT), BOOL, lambda a, b: a > b),
    z3.Z3_OP_BAND: ((SMALL, SMALL), SMALL, lambda a, b: a & b),
    z3.Z3_OP_BOR: ((SMALL, SMALL), SMALL, lambda a, b: a | b),
    z3.Z3_OP_BXOR: ((SMALL, SMALL), SMALL, lambda a, b: a ^ b),
    z3.Z3_OP_BNOT: ((SMALL,), SMALL, lambda a: ~a),
    z3.Z3_OP_BSHL: ((SMALL, SMALL), SMALL, lambda a, b: a << b),
    z3.Z3_OP_BLSHR: ((SMALL, SMALL), SMALL, z3.LShR),
    z3.Z3_OP_EXTRACT: ((LARGE,), SMALL, lambda a: z3.Extract(4, 2, a)),
    z3.Z3_OP_ZERO_EXT: ((SMALL,), LARGE, lambda a: z3.ZeroExt(WIDE_BITS - NARROW_BITS, a)),
    z3.Z3_OP_CONCAT: ((SMALL, BOOL, SMALL), LARGE, lambda a, p, b: z3.Concat(a, z3.If(p, _bit(1), _bit(0)), b)),
}
"""By operator: the sorts of its arguments, its own, and how it is applied."""


def _bit(value: int) -> z3.BitVecRef:
    return z3.BitVecVal(value, 1)


def variable(name: str) -> z3.ExprRef:
    """A free constant of the sort that goes with its name."""
    if name in FLAGS:
        return z3.Bool(name)
    return z3.Int(name) if name in INTEGERS else z3.BitVec(name, BIT_VECTORS[name])


def literal(name: str, raw: int) -> z3.ExprRef:
    """A raw value as a z3 constant of a variable's sort."""
    if name in FLAGS:
        return z3.BoolVal(bool(raw))
    return z3.IntVal(raw) if name in INTEGERS else z3.BitVecVal(raw, BIT_VECTORS[name])


def states(*, integers: bool = True) -> st.SearchStrategy[dict[str, int]]:
    """A raw value for every variable."""
    parts: dict[str, st.SearchStrategy[int]] = {name: st.integers(0, 1) for name in FLAGS}
    parts |= {name: st.integers(0, (1 << bits) - 1) for name, bits in BIT_VECTORS.items()}
    if integers:
        parts |= {name: st.integers(-5, 5) for name in INTEGERS}
    return st.fixed_dictionaries(parts)


@st.composite
def terms(draw: Any, sort: str = BOOL, depth: int = 5, *, integers: bool = True) -> z3.ExprRef:
    """A term of a sort, with shared subterms now and then."""
    makers = [entry for entry in OPERATORS.values() if entry[1] == sort and (integers or INT not in entry[0])]
    if depth == 0 or not makers or draw(st.integers(0, 9)) == 0:
        return draw(_leaves(sort))
    sorts, _, apply = draw(st.sampled_from(makers))
    arguments = [draw(terms(one, depth - 1, integers=integers)) for one in sorts]
    if len(sorts) > 1 and sorts[-1] == sorts[0] and draw(st.integers(0, 4)) == 0:
        arguments[-1] = arguments[0]
    return apply(*arguments)


def _leaves(sort: str) -> st.SearchStrategy[z3.ExprRef]:
    names = {BOOL: FLAGS, SMALL: NARROW, LARGE: WIDE, INT: INTEGERS}[sort]
    highest = {BOOL: 1, SMALL: (1 << NARROW_BITS) - 1, LARGE: (1 << WIDE_BITS) - 1, INT: 3}[sort]
    constants = st.integers(-3 if sort == INT else 0, highest).map(lambda raw: literal(names[0], raw))
    return st.one_of(st.sampled_from(names).map(variable), constants)


def z3_value(term: z3.ExprRef, state: Mapping[str, int]) -> int:
    """What z3's simplifier makes of a term once all its variables are given."""
    pairs = [(variable(name), literal(name, raw)) for name, raw in state.items()]
    result = z3.simplify(z3.substitute(term, *pairs))
    return int(z3.is_true(result)) if z3.is_bool(result) else int(result.as_long())
