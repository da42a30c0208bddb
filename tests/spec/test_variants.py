"""Variants: sets of mends with names, each a documented one's superset, each mend of a defect that is there."""

import re

import pytest

from spec.defects import DEFECTS
from spec.errors import UnknownName
from spec.variants import (
    AS_CODED,
    DOCUMENTED,
    FENCED,
    VARIANTS,
    Switch,
    show_switches,
    switch,
    variant,
)  # fmt: skip


def test_the_variants_grow_from_the_code_to_all_mends() -> None:
    assert frozenset() == AS_CODED
    assert Switch.RESIGN_ON_EPOCH_CONFLICT in DOCUMENTED
    assert AS_CODED < DOCUMENTED < FENCED
    assert {one for one in Switch if not one.puts_back} == FENCED


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_found_and_shown_by_its_name(name: str) -> None:
    assert show_switches(variant(name)) == name


def test_a_set_without_a_name_is_shown_by_its_switches() -> None:
    mended = frozenset({Switch.FENCED_WRITES, Switch.BROKER_EPOCHS})
    assert show_switches(mended) == "AS_CODED+BROKER_EPOCHS+FENCED_WRITES"


@pytest.mark.parametrize("one", Switch)
def test_a_switch_is_found_by_its_name_and_makes_a_row_of_a_defect(one: Switch) -> None:
    assert switch(one.name) is one
    claimed = set(re.findall(r"[DS]\d+", one.value.split(":")[0]))
    mended = {re.sub(r"-.*", "", row.id) for row in DEFECTS if one in row.fix}
    assert mended <= claimed
    assert claimed & mended


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"no variant is called 'CODED'.*AS_CODED, DOCUMENTED, FENCED"):
        variant("CODED")
    with pytest.raises(UnknownName, match="no switch is called 'FENCED_WRITE'; did you mean FENCED_WRITES"):
        switch("FENCED_WRITE")


def test_an_older_behaviour_names_the_release_that_mended_it_and_is_no_mend() -> None:
    older = {one for one in Switch if one.puts_back}
    assert older
    assert all(re.match(r"before 0\.(8|9|10)\.\d+(\.\d+)?, D\d+: ", one.value) for one in older)
    assert not older & FENCED
