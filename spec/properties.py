"""Properties: the claims of all parts, turned into terms over a system.

`always` speaks of a state and `step` of a state and its successor; every one of them names the `sometimes` that shows
its premise to occur, so that nothing holds for want of occasion. `recoverable`: from every reachable state some path
without further faults reaches the goal; `eventually`: faults aside, the system cannot settle anywhere else.
"""

from collections.abc import Mapping, Sequence
from functools import cache

from spec.claims import (
    auto_rebalance,
    cached_leadership,
    controlled_shutdown,
    controller,
    delayed_operation,
    deletion,
    elections,
    failed_removal,
    foreign_removal,
    goals,
    half_requests,
    isr_notification,
    leadership,
    reassignment,
    request_batch,
    soft_failure,
    topics,
    unclean,
)
from spec.errors import UnknownName
from spec.language.rules import Action, Claim, Property, View, claims_of
from spec.language.terms import is_true
from spec.model import Model

MODULES = (
    controller, leadership, request_batch, deletion, goals, reassignment, elections, auto_rebalance,
    controlled_shutdown, isr_notification, unclean, foreign_removal, failed_removal, cached_leadership,
    topics, soft_failure, half_requests, delayed_operation,
)  # fmt: skip


@cache
def claims() -> tuple[Claim, ...]:
    """Every claim of the specification."""
    return tuple(one for module in MODULES for one in claims_of(module))


def claim_named(name: str) -> Claim:
    """The claim of that name; UnknownName lists the known ones."""
    for one in claims():
        if one.name == name:
            return one
    raise UnknownName("property", name, [one.name for one in claims()], listed_by="kcheck show properties")


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
