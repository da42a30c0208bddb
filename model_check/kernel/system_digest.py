"""The digest of a system: a name for its content, so that nothing made for one system is used for another.

Kernels are cached, and runs resumed, under it. It covers variables with their ranges, actions with their guards,
updates and rows of the tables, and properties. z3 itself prints all terms as one SMT-LIB text, which takes
milliseconds; ids, addresses and reference counts do not enter.
"""

import hashlib
from collections.abc import Iterable, Iterator

import z3

from spec.language.rules import Action, Property, TransitionSystem


def system_digest(system: TransitionSystem) -> str:
    """32 hexadecimal digits that change with anything that an engine can notice of a system."""
    return digest_of(_lines(system), _terms(system))


def digest_of(lines: Iterable[str], terms: Iterable[z3.ExprRef], *, size: int = 16) -> str:
    """Hexadecimal digits, two for each byte of `size`, that change with the lines, the terms, or their order."""
    digest = hashlib.blake2b(digest_size=size)
    for line in lines:
        digest.update(line.encode() + b"\n")
    digest.update(_printed(terms))
    return digest.hexdigest()


def _lines(system: TransitionSystem) -> Iterator[str]:
    for variable in system.variables:
        kind = variable.kind
        yield f"variable {variable.name} {kind.name} {kind.width} {kind.maximum} {variable.initial}"
    for action in system.actions:
        yield f"action {action.name} {action.budget} {sorted(action.updates)} {sorted(action.taken)}"
    for one in system.properties:
        yield f"property {one.name} {one.kind} {one.term is not None} {sorted(one.terms)}"


def _terms(system: TransitionSystem) -> Iterator[z3.ExprRef]:
    for action in system.actions:
        yield from effects(action)
        yield from (action.taken[row] for row in sorted(action.taken))
    for one in system.properties:
        yield from terms_of(one)


def effects(action: Action) -> Iterator[z3.ExprRef]:
    """When an action may be taken, and what it changes, by the names of the variables."""
    yield from (action.guard, action.overflow)
    yield from (action.updates[name] for name in sorted(action.updates))


def terms_of(claim: Property) -> Iterator[z3.ExprRef]:
    """The terms of a claim, of a step by the names of the actions."""
    yield from [] if claim.term is None else [claim.term]
    yield from (claim.terms[name] for name in sorted(claim.terms))


def _printed(terms: Iterable[z3.ExprRef]) -> bytes:
    """One SMT-LIB text of all terms, as the arguments of one function; common subterms are printed once."""
    everything = list(terms)
    context = z3.main_ctx().ref()
    arguments = (z3.Ast * len(everything))(*(term.as_ast() for term in everything))
    sorts = (z3.Sort * len(everything))(*(z3.Z3_get_sort(context, term.as_ast()) for term in everything))
    name = z3.Z3_mk_string_symbol(context, "system")
    function = z3.FuncDeclRef(z3.Z3_mk_func_decl(context, name, len(everything), sorts, z3.BoolSort().ast))
    application = z3.BoolRef(z3.Z3_mk_app(context, function.ast, len(everything), arguments))
    # The printer names what is referred to twice, also from outside; a context of its own knows only these terms.
    alone = application.translate(z3.Context())
    none = (z3.Ast * 0)()
    text: str = z3.Z3_benchmark_to_smtlib_string(alone.ctx.ref(), "", "", "", "", 0, none, alone.as_ast())
    return text.encode()
