"""Digests of terms that two revisions of the code make alike: the text of the terms, and nothing of the code that wrote
it.

A term's digest is made of what its operator says and of the digests of its arguments, each shared subterm once. z3 is
asked by its C functions, as its Python has them wrapped: it takes half a second for a system, where z3's own printer
takes ten.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from typing import Any

import z3

from spec.language.rules import Action, Property, TransitionSystem

BYTES = 16
INT_PARAMETER, RATIONAL_PARAMETER = 0, 2
"""Kinds of what a declaration says beside its name: which bits are taken, say, or which number it is."""


@cache
def _c(name: str) -> Any:
    """A function of z3's C interface, without the questions that z3's Python asks behind each call."""
    (wrapped,) = getattr(z3, name).__defaults__
    return wrapped.f


class TermDigests:
    """The digests of the terms of one system, as far as they were asked for."""

    def __init__(self) -> None:
        self._context = z3.main_ctx().ref()
        self._known: dict[int, bytes] = {}
        self._declared: dict[int, bytes] = {}

    def of(self, terms: Iterable[z3.ExprRef]) -> bytes:
        """The digest of some terms, in their order."""
        return hashlib.blake2b(b"".join(map(self._one, terms)), digest_size=BYTES).digest()

    def _one(self, term: z3.ExprRef) -> bytes:
        number, waiting = _c("Z3_get_ast_id"), [term.ast]
        while waiting:
            here = waiting[-1]
            missing = self._digested(here)
            if missing:
                waiting += missing
            else:
                waiting.pop()
        return self._known[number(self._context, term.ast)]

    def _digested(self, term: Any) -> list[Any]:
        """The arguments that have no digest yet; where all have one, so has the term from now on."""
        c, number, argument = self._context, _c("Z3_get_ast_id"), _c("Z3_get_app_arg")
        if number(c, term) in self._known:
            return []
        arguments = [argument(c, term, place) for place in range(_c("Z3_get_app_num_args")(c, term))]
        numbers = [number(c, one) for one in arguments]
        missing = [one for one, its in zip(arguments, numbers, strict=True) if its not in self._known]
        if not missing:
            parts = [self._said(_c("Z3_get_app_decl")(c, term)), *(self._known[its] for its in numbers)]
            self._known[number(c, term)] = hashlib.blake2b(b"".join(parts), digest_size=BYTES).digest()
        return missing

    def _said(self, declaration: Any) -> bytes:
        """What a declaration says: its name, its kind, its numbers, and the sort of what it gives."""
        c, number = self._context, _c("Z3_get_ast_id")(self._context, declaration)
        if number not in self._declared:
            name = z3.Z3_get_symbol_string(c, z3.Z3_get_decl_name(c, declaration))
            numbers = [
                self._parameter(declaration, one) for one in range(z3.Z3_get_decl_num_parameters(c, declaration))
            ]
            sort = z3.Z3_sort_to_string(c, z3.Z3_get_range(c, declaration))
            self._declared[number] = repr((name, z3.Z3_get_decl_kind(c, declaration), numbers, sort)).encode()
        return self._declared[number]

    def _parameter(self, declaration: Any, place: int) -> object:
        c, kind = self._context, z3.Z3_get_decl_parameter_kind(self._context, declaration, place)
        if kind == INT_PARAMETER:
            return z3.Z3_get_decl_int_parameter(c, declaration, place)
        if kind == RATIONAL_PARAMETER:
            return z3.Z3_get_decl_rational_parameter(c, declaration, place)
        return f"a parameter of kind {kind}"


def digests_of(system: TransitionSystem) -> dict[str, dict[str, str]]:
    """Digests by name: of each variable, of the actions of each rule, of each claim."""
    terms, rules = TermDigests(), dict[str, list[bytes]]()
    for action in system.actions:
        rules.setdefault(action.rule, []).append(_action(action, terms))
    return {
        "variables": {one.name: _short(_variable(one)) for one in system.variables},
        "actions": {rule: _short(*parts) for rule, parts in rules.items()},
        "claims": {one.name: _short(_claim(one, terms)) for one in system.properties},
    }


def _variable(one: Any) -> bytes:
    kind = one.kind
    values = [] if kind.unbounded else [kind.show(raw) for raw in range(kind.maximum + 1)]
    return repr((kind.width, kind.unbounded, one.initial, values)).encode()


def _action(one: Action, terms: TermDigests) -> bytes:
    changed = sorted(one.updates)
    parts = terms.of([one.guard, one.overflow, *(one.updates[name] for name in changed)])
    return repr((one.name, one.budget, changed)).encode() + parts


def _claim(one: Property, terms: TermDigests) -> bytes:
    named = sorted(one.terms)
    parts = terms.of([*([] if one.term is None else [one.term]), *(one.terms[name] for name in named)])
    return repr((one.kind, one.term is None, named)).encode() + parts


def _short(*parts: bytes) -> str:
    return hashlib.blake2b(b"\n".join(parts), digest_size=BYTES).hexdigest()
