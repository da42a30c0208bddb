"""Which claims of the specification are not asked of a recording, each with its reason; all others are.

What a part of the protocol is claimed to do can be asked only where that part is at work. What a scope's states can
come to, whatever happened, takes all of them.
"""

from collections.abc import Iterator
from typing import Final

from spec.language.rules import Claim
from spec.properties import claims
from spec.protocol.admin_requests import ADMIN_REQUESTS

OF_KINDS: Final = {
    "sometimes": "what can happen is no claim about what did",
    "recoverable": "what could have come of it takes more than what did",
}
"""Kinds of claims that are asked of all states of a scope."""
WITHOUT: Final = {
    "delayed_operations": "a broker's delayed operations leave no trace",
    "soft_failures": "it is asked without a search",
    "remembered_requests": "it is asked without a search",
    **{part: one.nobody_asks for part, one in ADMIN_REQUESTS.items()},
    "refused_deletions": "topics may be deleted",
    "several_requests": "no topic is deleted",
    "odd_targets": "no request to reassign names nobody, a broker twice, or text",
    "busy_topics": "nothing is reassigned or elected for",
    "shutdown": "no broker is shut down",
    "auto_rebalance": "nobody rebalances",
    "addition": "no partition is added",
    "unclean": "no topic allows unclean elections",
    "cached_leaderships": "the brokers are of several releases, which tell metadata in other orders",
    "several_partitions": "there is one partition",
}
"""What it means that a recording does not show a part, or that the search is without it; the weightier come first."""


def why_not_asked(one: Claim, features: frozenset[str]) -> str:
    """Why a claim is not asked of an explanation whose model has these features; nothing, if it is."""
    missing = one.parts - features
    rows = (why for part, why in WITHOUT.items() if part in missing)
    return OF_KINDS.get(one.kind) or next(rows, "the search is without what it is about" if missing else "")


def not_asked(features: frozenset[str]) -> Iterator[str]:
    """The claims that are not asked of an explanation, in the specification's order, each with its reason behind it."""
    for one in claims():
        if reason := why_not_asked(one, features):
            yield f"{one.name} ({reason})"


UNSEEN: Final = "it needs what stays inside a process, which only a search infers"


def unsearched() -> Iterator[str]:
    """All claims, each with the reason why it is not asked where no behaviour is searched for."""
    return (f"{one.name} ({OF_KINDS.get(one.kind, UNSEEN)})" for one in claims())
