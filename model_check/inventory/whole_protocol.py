"""The whole protocol in a few systems: every action and every claim, so that each has a digest of its terms.

No scope of the manifest has all parts at once, since nobody could explore it. Here nothing is explored, only written
down as terms, which takes seconds; so an action that moved, a claim that got weaker and a witness that got easier are
found by name, and so is a line of a log that is said elsewhere, or need no longer be: the systems of the manifest have
no lines. What a claim says of other scopes stands in the digests of those scopes' systems.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from model_check.inventory.system_digests import digest_of_actions, digest_of_lines, short_digest
from model_check.kernel.system_digest import terms_of
from spec.formats.kafka_types import V0101, V082
from spec.language.rules import Action, TransitionSystem, instantiate
from spec.language.views import Place
from spec.model import Model
from spec.scopes import APART, BUDGETS, PARTS, Purgatory, Scope
from spec.state.cluster import shape
from spec.system import instances, is_in_scope, rules, system
from spec.variants import AS_CODED, FENCED, Switch, Switches, as_of

ALL: Final = frozenset(PARTS) - APART
ONCE: Final = tuple((name, 1) for name in BUDGETS)
"""Every fault once."""

WHOLE: Final = (
    Scope(
        "two controllers", "Everything that one partition is enough for.", brokers=2, controllers=2, assigned=((1, 2),),
        added=(0,), requests=(((2,),),), parts=ALL, budgets=ONCE, unclean=True,
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

LOGGING: Final = {"AS_CODED": AS_CODED, "FENCED": FENCED, **{f"as of {one}": as_of(one) for one in (V082, V0101)}}
"""Switches under which lines are logged: today's, those of the fixes, and those of the releases that differ most."""


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
    """A fact for the lines that the actions of each rule log: their digest, by the switches that they are logged under.

    One controller is enough: what another one logs is the same.
    """
    found = defaultdict[str, list[str]](list)
    for name, switches in LOGGING.items():
        for rule, actions in logging_actions(switches).items():
            found[f"action {rule} / lines"].append(f"{digest_of_lines(actions)} {name}")
    yield from ((key, ", ".join(told)) for key, told in found.items())


def logging_actions(switches: Switches) -> Mapping[str, list[Action]]:
    """The actions that log anything under some switches, with their lines, by their rules."""
    found = defaultdict[str, list[Action]](list)
    for one in WHOLE:
        m = Model(replace(one, controllers=1), switches)
        state = Place(shape(m))
        for rule in rules():
            if is_in_scope(rule, m):
                actions = (instantiate(rule, state, m, each, lines=True)[0] for each in instances(rule, m))
                found[rule.name] += [action for action in actions if action.lines]
    return {name: actions for name, actions in found.items() if actions}


@cache
def _built() -> tuple[TransitionSystem, ...]:
    return tuple(system(one, WITH_OLDER_RULES) for one in WHOLE)


def _name(built: TransitionSystem) -> str:
    return built.name.rpartition(" ")[0]
