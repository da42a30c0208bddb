"""z3's functions as C has them: a term is its address, and nothing else is made of it.

z3's Python makes an object of each term that it gives, counts a reference for it, and asks after each call whether it
failed; all that takes ten times as long as what z3 does. Where terms are made or read by the ten thousand, that is most
of the time. These functions take and give numbers: 0 is what z3 gives where it fails, and a term lives only as long as
something holds it that counts its reference.
"""

import ctypes
from collections.abc import Callable
from typing import Any, Final

import z3

ADDRESS: Final = ctypes.c_size_t
"""Of a context, a term, a sort, or a declaration."""
NUMBER: Final = ctypes.c_uint


def c_function(name: str, gives: type[Any] | None, *takes: type[Any]) -> Callable[..., Any]:
    """A function of z3's C interface, by its name there."""
    (wrapped,) = getattr(z3, name).__defaults__  # where z3's Python keeps the C function
    address = ctypes.cast(wrapped.f, ctypes.c_void_p).value or 0
    return ctypes.PYFUNCTYPE(gives, *takes)(address)


def context_address(context: z3.Context) -> int:
    """The address of a context."""
    return int(context.ref().value)


def term_at(address: int, context: z3.Context) -> z3.ExprRef:
    """The term at an address, as z3's Python has it, but for what its sort adds."""
    return z3.ExprRef(z3.Ast.from_buffer_copy(ADDRESS(address)), context)
