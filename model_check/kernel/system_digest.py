"""The digest of a system: a name for its content, so that nothing made for one system is used for another.

Kernels are cached, and runs resumed, under it. It covers variables with their ranges, actions with their guards,
updates and rows of the tables, and properties. Terms are written as they are read for a kernel, node by node, which
takes milliseconds; ids, addresses and reference counts do not enter.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import NamedTuple, TypeVar

import z3

from spec.language.rules import Action, Property, TransitionSystem

T = TypeVar("T")


class Written(NamedTuple):
    """The terms of a system as bytes: when each action may be taken and what it changes, the claims, and the rows."""

    actions: bytes
    claims: bytes
    rows: bytes


def system_digest(system: TransitionSystem) -> str:
    """32 hexadecimal digits that change with anything that an engine can notice of a system."""
    return digest_of(_lines(system), *written_terms(system))


def digest_of(lines: Iterable[str], *contents: bytes, size: int = 16) -> str:
    """Hexadecimal digits, two for each byte of `size`, that change with the lines, the terms, or their order."""
    digest = hashlib.blake2b(digest_size=size)
    for line in lines:
        digest.update(line.encode() + b"\n")
    for terms in contents:
        digest.update(terms)
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
def written_terms(system: TransitionSystem) -> Written:
    """The terms of a system, as bytes."""
    actions, claims = system.actions, system.properties
    return Written(
        written(term for one in actions for term in effects(one)),
        written(term for one in claims for term in terms_of(one)),
        written(one.taken[row] for one in actions for row in sorted(one.taken)),
    )


def _lines(system: TransitionSystem) -> Iterator[str]:
    for variable in system.variables:
        kind = variable.kind
        yield f"variable {variable.name} {kind.name} {kind.width} {kind.maximum} {kind.unbounded} {variable.initial}"
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


def written(terms: Iterable[z3.ExprRef]) -> bytes:
    """Terms as bytes, in which a common subterm is written once; every process writes the same terms alike."""
    from model_check.kernel.reading import terms_as_bytes

    return terms_as_bytes(list(terms))
