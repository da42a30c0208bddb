"""Properties: the claims of all parts, turned into terms over a system.

`always` speaks of a state and `step` of a state and its successor; every one of them names the `sometimes` that shows
its premise to occur, so that nothing holds for want of occasion. `recoverable`: from every reachable state some path
without further faults reaches the goal; `eventually`: faults aside, the system cannot settle anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from spec import (
    auto_rebalance_claims,
    cached_leadership_claims,
    controlled_shutdown_claims,
    controller_claims,
    delayed_operation_claims,
    deletion_claims,
    failed_removal_claims,
    foreign_removal_claims,
    goals,
    isr_notification_claims,
    leadership_claims,
    partition_addition_claims,
    preferred_election_claims,
    reassignment_claims,
    unclean_claims,
)
from spec.errors import UnknownName
from spec.language import Action, Claim, Property, View
from spec.model import Model
from spec.terms import is_true

MODULES = (
    controller_claims, leadership_claims, deletion_claims, goals, reassignment_claims, preferred_election_claims,
    auto_rebalance_claims, controlled_shutdown_claims, isr_notification_claims, unclean_claims,
    foreign_removal_claims, failed_removal_claims, cached_leadership_claims, partition_addition_claims,
    delayed_operation_claims,
)  # fmt: skip


def claims() -> Iterator[Claim]:
    """Every claim of the specification."""
    for module in MODULES:
        yield from module.CLAIMS


def claim_named(name: str) -> Claim:
    """The claim of that name; UnknownName lists the known ones."""
    known = {one.name: one for one in claims()}
    if name not in known:
        raise UnknownName("property", name, known)
    return known[name]


def instantiate_claims(
    m: Model, before: View, actions: Sequence[Action], afters: Mapping[str, View]
) -> tuple[Property, ...]:
    """The claims that a model's scope has the parts for."""
    return tuple(_instantiate(one, m, before, actions, afters) for one in claims() if m.is_about(one.parts))


def _instantiate(one: Claim, m: Model, before: View, actions: Sequence[Action], afters: Mapping[str, View]) -> Property:
    if one.kind != "step":
        value = one.function(before, m)
        term = None if value is None else value.term
        return Property(one.name, one.kind, one.statement, one.source, term=term, witness=one.witness)
    terms = {}
    for action in actions:
        value = one.function(before, afters[action.name], m, action)
        if value is not None and not is_true(value.term):
            terms[action.name] = value.term
    return Property(one.name, one.kind, one.statement, one.source, terms=terms, witness=one.witness)
