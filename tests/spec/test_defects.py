"""Defects are rows that can be tried: every name in them exists, in the scope where it is tried."""

import pytest

from spec.defects import DEFECTS, Defect, defect
from spec.errors import UnknownName
from spec.model import Model
from spec.properties import claim_named
from spec.scopes import scope
from spec.system import is_in_scope, rules


@pytest.mark.parametrize("one", DEFECTS, ids=lambda one: one.id)
def test_a_row_names_things_that_its_scope_has(one: Defect) -> None:
    m = Model(scope(one.scope), one.base)
    assert claim_named(one.breaks).parts <= m.scope.parts
    assert claim_named(one.breaks).kind != "sometimes"
    assert set(one.defining) <= {rule.name for rule in rules() if is_in_scope(rule, m)}


@pytest.mark.parametrize("one", DEFECTS, ids=lambda one: one.id)
def test_a_mend_is_something_that_is_not_on_already(one: Defect) -> None:
    assert one.fix
    assert not one.fix & one.base
    assert one.mended == one.fix | one.base


def test_ids_are_unique_and_find_their_row() -> None:
    assert [defect(one.id) for one in DEFECTS] == list(DEFECTS)


def test_an_unknown_defect_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"no defect is called 'D0'.*known: D1"):
        defect("D0")
