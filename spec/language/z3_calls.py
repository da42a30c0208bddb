"""z3's functions as C has them: a term is its address.

z3's Python makes an object of all that it is given and gives, and asks after each call whether it failed; that takes
ten times as long as what z3 does. Where terms are made or read by the ten thousand, it is most of the time. These
functions take and give addresses: that of nothing is what z3 gives where it fails, and a term lives only as long as
something counts a reference to it.
"""

import ctypes
from collections.abc import Callable
from typing import Any, Final

import z3

ADDRESS: Final = ctypes.c_void_p
"""Of a context, a term, a sort, a declaration, or of several of them."""
NUMBER: Final = ctypes.c_uint


def c_function(name: str, gives: type[Any] | None, *takes: type[Any]) -> Callable[..., Any]:
    """A function of z3's C interface, by its name there; of a context, whose address it takes first."""
    return ctypes.PYFUNCTYPE(gives, ADDRESS, *takes)(address_of(name))


def address_of(name: str) -> int:
    """The address of a function of z3's C interface, by its name there."""
    (wrapped,) = getattr(z3, name).__defaults__  # where z3's Python keeps the C function
    return ctypes.cast(wrapped.f, ctypes.c_void_p).value or 0


def context_address(context: z3.Context) -> int:
    """The address of a context."""
    return int(context.ref().value)


def term_at(address: int, context: z3.Context) -> z3.ExprRef:
    """The term at an address, as z3's Python has it, without what its sort adds."""
    return z3.ExprRef(z3.Ast.from_buffer_copy(ADDRESS(address)), context)


# ------------------------------------------------------------------------------------------------------- making terms

_new = object.__new__
_CONTEXT: Final = z3.main_ctx()
_MAIN: Final = context_address(_CONTEXT)
_hold = c_function("Z3_inc_ref", None, ADDRESS)
_release = c_function("Z3_dec_ref", None, ADDRESS)


class Term:
    """A term that was made here: like those that z3's Python makes, it counts one reference as long as it lives."""

    ast: Any
    ctx: Any = _CONTEXT

    def __del__(self, release: Callable[[int, Any], None] = _release) -> None:
        if self.ctx.ctx is not None:
            release(_MAIN, self.ast)


class Flag(Term, z3.BoolRef):  # type: ignore[misc]  # z3 has no types
    """A term that is true or false; of a negation is known what it negates."""

    negates: z3.BoolRef | None = None


class Bits(Term, z3.BitVecRef):  # type: ignore[misc]  # as above
    """A term that is a bit-vector."""


class Integer(Term, z3.ArithRef):  # type: ignore[misc]  # as above
    """A term that is a mathematical integer."""


def made(sort: type[Term], make: Callable[..., Any], *arguments: Any) -> Any:
    """The term of a sort that a function of z3 makes; Z3Exception if it cannot."""
    ast = make(_MAIN, *arguments)
    if not ast:
        raise z3.Z3Exception(z3.Z3_get_error_msg(_CONTEXT.ref(), z3.Z3_get_error_code(_CONTEXT.ref())))
    _hold(_MAIN, ast)
    term = _new(sort)
    term.ast = ast
    return term


def adopted(sort: type[Term], term: z3.ExprRef) -> Any:
    """A term that z3's Python has made, as one that was made here."""
    return made(sort, lambda _: term.ast)


def _maker(name: str, *takes: type[Any]) -> Callable[..., Any]:
    return c_function(name, z3.Ast, *takes)


NOT: Final = _maker("Z3_mk_not", ADDRESS)
AND: Final = _maker("Z3_mk_and", NUMBER, ADDRESS)
OR: Final = _maker("Z3_mk_or", NUMBER, ADDRESS)
EQUAL: Final = _maker("Z3_mk_eq", ADDRESS, ADDRESS)
CHOICE: Final = _maker("Z3_mk_ite", ADDRESS, ADDRESS, ADDRESS)
LESS: Final = _maker("Z3_mk_lt", ADDRESS, ADDRESS)
LESS_BITS: Final = _maker("Z3_mk_bvult", ADDRESS, ADDRESS)
EXTRACT: Final = _maker("Z3_mk_extract", NUMBER, NUMBER, ADDRESS)
NOT_BITS: Final = _maker("Z3_mk_bvnot", ADDRESS)
AND_BITS: Final = _maker("Z3_mk_bvand", ADDRESS, ADDRESS)
OR_BITS: Final = _maker("Z3_mk_bvor", ADDRESS, ADDRESS)
TIMES: Final = _maker("Z3_mk_bvmul", ADDRESS, ADDRESS)
SHIFT_RIGHT: Final = _maker("Z3_mk_bvlshr", ADDRESS, ADDRESS)
WIDEN: Final = _maker("Z3_mk_zero_ext", NUMBER, ADDRESS)
