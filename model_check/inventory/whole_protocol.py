"""The whole protocol in a few systems: every action and every claim, so that each has a digest of its terms.

No scope of the manifest has all parts at once, since nobody could explore it. Here nothing is explored, only written
down as terms, which takes seconds; so an action that moved, a claim that got weaker and a witness that got easier are
found by name, and so is a line of a log that is said elsewhere, or need no longer be: the systems of the manifest have
no lines. What a claim says of other scopes stands in the digests of those scopes' systems.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from model_check.inventory.system_digests import digest_of_actions, digest_of_lines, short_digest
from model_check.kernel.system_digest import terms_of
from spec.formats.kafka_types import V082
from spec.language.rules import Action, TransitionSystem
from spec.scopes import APART, BUDGETS, PARTS, Purgatory, Scope
from spec.system import system
from spec.variants import AS_CODED, FENCED, Switch, as_of

ALL: Final = frozenset(PARTS) - APART
ONCE: Final = tuple((name, 1) for name in BUDGETS)
"""Every fault once."""

WHOLE: Final = (
    Scope(
        "two controllers", "Everything that one partition is enough for.", brokers=2, controllers=2, assigned=((1, 2),),
        added=(0,), requests=(((2,),),), edited=(((2, 1),),), parts=ALL, budgets=ONCE, unclean=True,
    ),
    Scope(
        "two partitions", "What asks for several partitions.", brokers=2, controllers=1, assigned=((1, 2), (2, 1)),
        parts=frozenset({"partitions", "connections", "metadata"}), budgets=(("crashes", 1),),
    ),
    Scope(
        "refusals", "Reassignments to what is no list of brokers, and deletions where these are off.", brokers=2,
        controllers=1, assigned=((1, 2),), requests=(((2,),), ((2, 2),)), deletes_topics=False, budgets=ONCE,
        parts=frozenset({"partitions", "connections", "metadata", "cached_leaderships", "reassignment", "deletion"}),
    ),
    Scope(
        "a purgatory", "The delayed operations.", brokers=1, controllers=1, parts=APART, cold=True,
        budgets=(("updates", 1),), purgatory=Purgatory(requests=((0, 1), (0,)), refused=((), (0,)), partitions=(1, 1)),
    ),
)  # fmt: skip

WITH_OLDER_RULES: Final = AS_CODED | {Switch.READ_BROKERS_TWICE, Switch.ADOPT_NEW_EPOCHS}
"""Kafka's code, and what brings the rules that only older releases had."""

LOGGING: Final = (
    (f"as of {V082}", as_of(V082), frozenset(one.name for one in WHOLE)), ("FENCED", FENCED, frozenset({"refusals"})),
)  # fmt: skip
"""Under which other switches lines are logged, in which of these systems: all older ways at once, and refusals."""


def term_facts() -> Iterator[tuple[str, str]]:
    """A fact for the terms of each action and each claim, by the system that they are of; then `line_facts`."""
    found = defaultdict[str, list[str]](list)
    for built in _built():
        by_rule = defaultdict[str, list[Action]](list)
        for action in built.actions:
            by_rule[action.rule].append(action)
        for rule, actions in by_rule.items():
            found[f"action {rule} / terms"].append(f"{digest_of_actions(actions)} with {_name(built)}")
        for claim in built.properties:
            told = short_digest(sorted(claim.terms), terms_of(claim))
            found[f"claim {claim.name} / terms"].append(f"{told} with {_name(built)}")
    yield from ((key, ", ".join(told)) for key, told in found.items())
    yield from line_facts()


def line_facts() -> Iterator[tuple[str, str]]:
    """A fact for the lines that the actions of each rule log: their digest, by where they are logged."""
    found = defaultdict[str, list[str]](list)
    for where, actions in logged():
        by_rule = defaultdict[str, list[Action]](list)
        for action in actions:
            if action.lines:
                by_rule[action.rule].append(action)
        for rule, some in by_rule.items():
            found[f"action {rule} / lines"].append(f"{digest_of_lines(some)} {where}")
    yield from ((key, ", ".join(told)) for key, told in found.items())


def logged() -> Iterator[tuple[str, Sequence[Action]]]:
    """The actions of each system, with their lines; under other switches one controller of it is enough."""
    yield from ((f"with {_name(built)}", built.actions) for built in _built())
    for name, switches, systems in LOGGING:
        for one in WHOLE:
            if one.name in systems:
                built = system(replace(one, controllers=1), switches, claims=False, lines=True)
                yield f"{name} with {one.name}", built.actions


@cache
def _built() -> tuple[TransitionSystem, ...]:
    return tuple(system(one, WITH_OLDER_RULES, lines=True) for one in WHOLE)


def _name(built: TransitionSystem) -> str:
    return built.name.rpartition(" ")[0]
