"""Properties: the claims of all parts, turned into terms over a system.

`always` speaks of a state and `step` of a state and its successor; every one of them names the `sometimes` that shows
its premise to occur, so that nothing holds for want of occasion. `recoverable`: from every reachable state some path
without further faults reaches the goal; `eventually`: faults aside, the system cannot settle anywhere else.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial

import z3

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
from spec.language.assembly import of_states, of_steps_named, said_of_step
from spec.language.rules import Action, Claim, Property, View, claims_of
from spec.model import Model
from spec.said_before import OfState

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


def instantiate_claims(m: Model, before: OfState, steps: Sequence[tuple[Action, View]]) -> tuple[Property, ...]:
    """The claims that a model's scope has the parts for; `before` has what was said of other variants."""
    about = [one for one in claims() if m.is_about(one.parts)]
    of_steps = [one for one in about if one.kind == "step"]
    said = {
        action.name: before.said(m, after, partial(_all_of_step, of_steps, before.view, after, m, action))
        for action, after in steps
    }

    def made(one: Claim) -> Property:
        if one.kind == "step":
            return of_steps_named(one, {name: terms[one.name] for name, terms in said.items() if one.name in terms})
        return before.said(m, one, lambda: of_states(one, before.view, m))

    return tuple(map(made, about))


def _all_of_step(
    some: Sequence[Claim], before: View, after: View, m: Model, action: Action
) -> Mapping[str, z3.BoolRef]:
    """What each of some claims says of an action, if anything."""
    said = ((one.name, said_of_step(one, before, after, m, action)) for one in some)
    return {name: term for name, term in said if term is not None}
