"""Variants: sets of fixes with names, each a documented one's superset, each fix of a defect that is there."""

import re

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from model_check.kernel.system_digest import effects, system_digest
from spec.defects import DEFECTS, Defect
from spec.errors import BadInput, UnknownName
from spec.expectations import plan
from spec.formats.kafka_types import V0100, V0101, V0102, V082, V090
from spec.language.rules import Action
from spec.scopes import scope
from spec.system import system
from spec.variants import (
    AS_CODED,
    DOCUMENTED,
    FENCED,
    VARIANTS,
    Switch,
    Switches,
    as_of,
    show_switches,
    switch,
    switches_named,
    variant,
)  # fmt: skip
from tests.spec.on_demand import OnDemand


def test_the_variants_grow_from_the_code_to_all_fixes() -> None:
    assert frozenset() == AS_CODED
    assert Switch.RESIGN_ON_EPOCH_CONFLICT in DOCUMENTED
    assert AS_CODED < DOCUMENTED < FENCED
    assert {one for one in Switch if not one.reintroduces} == FENCED


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_found_and_shown_by_its_name(name: str) -> None:
    assert show_switches(variant(name)) == name


@pytest.mark.parametrize(
    ("switches", "shown"),
    [
        (frozenset({Switch.FENCED_WRITES, Switch.BROKER_EPOCHS}), "AS_CODED+BROKER_EPOCHS+FENCED_WRITES"),
        (FENCED - {Switch.TOPIC_IDS, Switch.BROKER_EPOCHS}, "FENCED-BROKER_EPOCHS-TOPIC_IDS"),
        ((FENCED | {Switch.METADATA_LAST}) - {Switch.TOPIC_IDS}, "FENCED+METADATA_LAST-TOPIC_IDS"),
        (DOCUMENTED | {Switch.ATOMIC_ELECTION}, "DOCUMENTED+ATOMIC_ELECTION"),
        (frozenset({Switch.METADATA_LAST}), "AS_CODED+METADATA_LAST"),
    ],
)
def test_a_set_without_a_name_is_shown_by_the_nearest_variant(switches: Switches, shown: str) -> None:
    assert show_switches(switches) == shown


def test_of_two_variants_that_are_as_near_the_first_is_shown() -> None:
    half = frozenset(sorted(DOCUMENTED, key=lambda one: one.name)[: len(DOCUMENTED) // 2])
    assert 2 * len(half) == len(DOCUMENTED)
    assert show_switches(half) == "AS_CODED+" + "+".join(sorted(one.name for one in half))


@given(st.frozensets(st.sampled_from(Switch)))
def test_what_is_shown_is_read_again(switches: Switches) -> None:
    assert switches_named(show_switches(switches)) == switches


def test_switches_may_be_named_in_any_order() -> None:
    assert switches_named("FENCED-TOPIC_IDS+METADATA_LAST") == (FENCED | {Switch.METADATA_LAST}) - {Switch.TOPIC_IDS}
    assert switches_named("AS_CODED+FENCED_WRITES+FENCED_RESIGN") == {Switch.FENCED_WRITES, Switch.FENCED_RESIGN}
    assert switches_named("DOCUMENTED") == DOCUMENTED


@pytest.mark.parametrize(
    ("text", "unknown"),
    [("CODED-TOPIC_IDS", "variant is called 'CODED'"), ("FENCED-NOPE", "switch is called 'NOPE'"),
     ("FENCED-", "switch is called ''"), ("+TOPIC_IDS", "variant is called ''")],
)  # fmt: skip
def test_a_text_with_an_unknown_name_is_refused(text: str, unknown: str) -> None:
    with pytest.raises(UnknownName, match=unknown):
        switches_named(text)


@pytest.mark.parametrize("text", ["AS_CODED+TOPIC_IDS-TOPIC_IDS", "FENCED-TOPIC_IDS+FENCED_WRITES+TOPIC_IDS"])
def test_a_text_that_switches_one_on_and_off_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"^TOPIC_IDS cannot be switched on and off at once$"):
        switches_named(text)


@pytest.mark.parametrize("one", Switch)
def test_a_switch_is_found_by_its_name_and_makes_a_row_of_a_defect(one: Switch) -> None:
    assert switch(one.name) is one
    claimed = set(re.findall(r"[DS]\d+", one.value.split(":")[0]))
    fixed = {re.sub(r"-.*", "", row.id) for row in DEFECTS if one in row.fix}
    assert fixed <= claimed
    assert claimed & fixed


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"no variant is called 'CODED'.*AS_CODED, DOCUMENTED, FENCED"):
        variant("CODED")
    with pytest.raises(UnknownName, match="no switch is called 'FENCED_WRITE'; did you mean FENCED_WRITES"):
        switch("FENCED_WRITE")


def test_an_older_behaviour_names_the_release_that_fixed_it_and_is_no_fix() -> None:
    older = {one for one in Switch if one.reintroduces}
    assert older
    assert all(re.match(r"before 0\.(8|9|10)\.\d+(\.\d+)?, D\d+: ", one.value) for one in older)
    assert not older & FENCED


def test_a_fix_says_in_which_release_it_came_or_that_it_is_ours() -> None:
    whose = re.compile(r"\((a fix of ours|ours|[^()]*\b\d+\.\d+\.\d+[^()]*)\)\Z")
    assert [one.value for one in Switch if not one.reintroduces and not whose.search(one.value)] == []


def states(one: Defect) -> int:
    """How many states the largest exploration of a defect's scope has."""
    return max(known.states for known in plan(one.scope).explorations)


def smallest_of(one: Switch) -> Defect:
    """The defect that a switch is for, or a part of, in the smallest scope."""
    return min((row for row in DEFECTS if one in row.fix), key=states)


QUICK = 700
"""In a scope of so few states the first term that differs is found within a second."""


@pytest.mark.parametrize(
    "one",
    [pytest.param(one, id=one.name, marks=[pytest.mark.slow] * (states(smallest_of(one)) > QUICK)) for one in Switch],
)
def test_every_switch_changes_a_term_where_its_defect_is(one: Switch) -> None:
    row = smallest_of(one)
    assert changes_a_term(one, row.scope, row.base)


def changes_a_term(one: Switch, name: str, switches: Switches) -> bool:
    """Whether a scope has other terms with a switch turned the other way; the first that differs is enough."""
    some, others = OnDemand(scope(name), switches), OnDemand(scope(name), switches ^ {one})
    shapes = [[(one.name, str(one.sort), one.initial) for one in made.variables] for made in (some, others)]
    if shapes[0] != shapes[1] or [*some.names] != [*others.names]:
        return True
    if any(differ(some.action(step), others.action(step)) for step in some.names):
        return True
    return system_digest(system(scope(name), switches)) != system_digest(system(scope(name), switches ^ {one}))


def differ(one: Action, other: Action) -> bool:
    """Whether two actions may be taken when the other may not, or change anything else; z3 has a term only once."""
    if (one.budget, one.updates.keys()) != (other.budget, other.updates.keys()):
        return True
    return not all(map(z3.ExprRef.eq, effects(one), effects(other)))


def test_a_switch_that_changes_no_term_is_noticed() -> None:
    """Topics have ids only where they may be created again, which nobody does in `bounce`."""
    assert changes_a_term(Switch.BROKER_EPOCHS, "bounce", AS_CODED)
    assert not changes_a_term(Switch.TOPIC_IDS, "bounce", AS_CODED)


def test_what_a_release_still_did_is_what_was_fixed_after_it() -> None:
    """By the releases of section 13: KAFKA-4447, 4360, 4229, 3175 and 4443; 4214; 3085, 3670; 2437, D28, D60."""
    added = {
        V0101: {
            "RUN_WHEN_NOT_ACTIVE", "RESIGN_UNDER_LOCK", "ALWAYS_RESIGN", "LEAVE_REFUSED_DELETIONS", "METADATA_LAST",
        },
        V0100: {"REFUSE_DEAD_TARGETS"},
        V090: {"READ_BROKERS_TWICE", "SHUTDOWN_FOLLOWS_ISR"},
        V082: {"ANNOUNCE_NO_ISR", "IGNORE_WHO_IS_NEW", "KEEP_DIRTY_BATCH", "TELL_ONLY_THE_NEW"},
    }  # fmt: skip
    assert as_of(V0102) == AS_CODED
    did = set[str]()
    for release, more in added.items():
        did |= more
        assert {one.name for one in as_of(release)} == did
    ended = {"TAKE_ANY_FOLLOWER", "TELL_ONLY_THE_LEADER", "COMPARE_NO_CONTENT", "ADOPT_NEW_EPOCHS"}
    assert {one.name for one in Switch if one.reintroduces} - did == ended
