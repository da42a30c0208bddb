"""The digest of a system: a name for its content, so that nothing made for one system is used for another.

Kernels are cached, and runs resumed, under it. It covers variables with their ranges, actions with their guards,
updates and rows of the tables, and properties. z3 itself prints all terms as one SMT-LIB text, which takes
milliseconds; ids, addresses and reference counts do not enter.
"""

import ctypes
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, wraps
from typing import Final, NamedTuple, TypeVar

import z3

from spec.language.rules import Action, Property, TransitionSystem
from spec.language.z3_calls import ADDRESS, c_function, context_address

T = TypeVar("T")


class Printed(NamedTuple):
    """The terms of a system as texts: when each action may be taken and what it changes, the claims, and the rows."""

    actions: bytes
    claims: bytes
    rows: bytes


def system_digest(system: TransitionSystem) -> str:
    """32 hexadecimal digits that change with anything that an engine can notice of a system."""
    return digest_of(_lines(system), *printed_terms(system))


def digest_of(lines: Iterable[str], *printed: bytes, size: int = 16) -> str:
    """Hexadecimal digits, two for each byte of `size`, that change with the lines, the texts, or their order."""
    digest = hashlib.blake2b(digest_size=size)
    for line in lines:
        digest.update(line.encode() + b"\n")
    for text in printed:
        digest.update(text)
    return digest.hexdigest()


def for_the_last_system(make: Callable[[TransitionSystem], T]) -> Callable[[TransitionSystem], T]:
    """What is made of a system, kept for the last one: several ask for it, one after the other."""
    last: list[tuple[TransitionSystem, T]] = []

    @wraps(make)
    def kept(system: TransitionSystem) -> T:
        if not last or last[0][0] is not system:
            last[:] = [(system, make(system))]
        return last[0][1]

    return kept


@for_the_last_system
def printed_terms(system: TransitionSystem) -> Printed:
    """The terms of a system, as texts."""
    actions, claims = system.actions, system.properties
    return Printed(
        printed(term for one in actions for term in effects(one)),
        printed(term for one in claims for term in terms_of(one)),
        printed(one.taken[row] for one in actions for row in sorted(one.taken)),
    )


def _lines(system: TransitionSystem) -> Iterator[str]:
    for variable in system.variables:
        kind = variable.kind
        yield f"variable {variable.name} {kind.name} {kind.width} {kind.maximum} {variable.initial}"
    for action in system.actions:
        yield f"action {action.name} {action.budget} {sorted(action.updates)} {sorted(action.taken)}"
    for one in system.properties:
        yield f"property {one.name} {one.kind} {one.term is not None} {sorted(one.terms)}"


def effects(action: Action) -> Iterator[z3.ExprRef]:
    """When an action may be taken, and what it changes, by the names of the variables."""
    yield from (action.guard, action.overflow)
    yield from (action.updates[name] for name in sorted(action.updates))


def terms_of(claim: Property) -> Iterator[z3.ExprRef]:
    """The terms of a claim, of a step by the names of the actions."""
    yield from [] if claim.term is None else [claim.term]
    yield from (claim.terms[name] for name in sorted(claim.terms))


_sort: Final = c_function("Z3_get_sort", ADDRESS, ADDRESS)


def printed(terms: Iterable[z3.ExprRef]) -> bytes:
    """One SMT-LIB text of all terms, as the arguments of one function; common subterms are printed once."""
    everything = list(terms)
    return _printed(everything) if everything else _nothing()


@cache
def _nothing() -> bytes:
    return _printed([])


def _printed(terms: list[z3.ExprRef]) -> bytes:
    count, main = len(terms), z3.main_ctx()
    context, address = main.ref(), context_address(main)
    arguments = (z3.Ast * count)(*[term.ast for term in terms])
    sorts = ctypes.cast((ADDRESS * count)(*[_sort(address, term.ast) for term in terms]), ctypes.POINTER(z3.Sort))
    name = z3.Z3_mk_string_symbol(context, "system")
    function = z3.FuncDeclRef(z3.Z3_mk_func_decl(context, name, count, sorts, z3.BoolSort().ast))
    application = z3.BoolRef(z3.Z3_mk_app(context, function.ast, count, arguments))
    # The printer names what is referred to twice, also from outside; a context of its own knows only these terms.
    alone = application.translate(z3.Context())
    none = (z3.Ast * 0)()
    text: str = z3.Z3_benchmark_to_smtlib_string(alone.ctx.ref(), "", "", "", "", 0, none, alone.as_ast())
    return text.encode()
