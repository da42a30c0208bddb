"""Defects are rows that can be tried: every name in them exists, in the scope where it is tried."""

import pytest

from spec.defects import DEFECTS, UNFOUND, Defect, listed, number, row, rows_of
from spec.errors import UnknownName
from spec.formats.kafka_types import V0101, V0102, V082, KafkaVersion
from spec.model import Model
from spec.properties import claim_named
from spec.scopes import scope
from spec.system import is_in_scope, rules
from spec.variants import Switch
from tests.spec.on_demand import OnDemand


@pytest.mark.parametrize("one", DEFECTS, ids=lambda one: one.id)
def test_a_row_names_things_that_its_scope_has(one: Defect) -> None:
    m = Model(scope(one.scope), one.base)
    assert claim_named(one.breaks).parts <= m.features
    assert claim_named(one.breaks).kind != "sometimes"
    unknown = set(one.defining) - {rule.name for rule in rules() if is_in_scope(rule, m)}
    if unknown:
        made = OnDemand(scope(one.scope), one.base)
        unknown -= set(made.names)
        shown = (event.kind for name in made.names for event in made.action(name).events)
        while unknown and (kind := next(shown, None)) is not None:
            unknown.discard(kind)
    assert unknown == set()


@pytest.mark.parametrize("one", DEFECTS, ids=lambda one: one.id)
def test_a_fix_is_not_on_already_and_what_is_put_back_is(one: Defect) -> None:
    assert one.fix or one.id in {"D59", "D59-halfway", "D73", "D73-fetch", "D73-leader", "D73-move"}  # done by hand
    fixes = {switch for switch in one.fix if not switch.reintroduces}
    assert not fixes & one.base
    assert one.fix - fixes <= one.base
    assert one.fixed == (one.base | fixes) - (one.fix - fixes)
    assert one.remedy.count("not ") == len(one.fix - fixes)


def test_only_of_older_behaviour_something_may_remain() -> None:
    remaining = [one for one in DEFECTS if one.remains]
    assert [one.id for one in remaining] == ["D28"]
    assert all(any(switch.reintroduces for switch in one.base) for one in remaining)
    assert {row(named) for named in ("D53", "D4-send")} < {*DEFECTS}


def test_ids_are_unique_and_find_their_row() -> None:
    assert {row(one.id) for one in listed()} == {*DEFECTS, *UNFOUND}


def test_an_unknown_defect_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"no defect is called 'D0'.*`kcheck defects` lists all \d+"):
        row("D0")


def test_every_defect_of_the_protocol_is_a_row_or_says_why_not() -> None:
    found = {number(one.id)[:2] for one in DEFECTS}
    open_ones = {number(one.id)[:2] for one in UNFOUND}
    assert not {one.id for one in DEFECTS} & {one.id for one in UNFOUND}
    assert {one for one in found | open_ones if one[0] == "D"} == {("D", n) for n in range(1, 74)}
    assert all(one.reason and one.title for one in UNFOUND)


def test_rows_stand_in_the_order_of_the_protocol() -> None:
    ids = [one.id for one in DEFECTS]
    assert ids.index("D1") < ids.index("D1-loss") < ids.index("D2") < ids.index("D12") < ids.index("S11-missed")


def ids(release: KafkaVersion, *switches: Switch) -> set[str]:
    return {one.id for one in rows_of(release, frozenset(switches))}


def test_the_rows_of_a_release_are_those_that_it_had_not_fixed() -> None:
    assert {"D1", "D2", "D3"} <= ids(V0102)
    assert not ids(V0102) & {"D7", "D8", "D14", "D24"}
    assert ids(V0101) - ids(V0102) == {
        "D8", "D8-resign", "D8-reassign", "D9", "D10", "D11", "D71", "D71-request",
    }  # fmt: skip
    assert {"D7", "D14", "D24"} <= ids(V082)
    assert not ids(V082) & {"D20", "D21", "D25", "D31"}


def test_switches_take_rows_away_or_bring_them_back() -> None:
    assert ids(V0102) - ids(V0102, Switch.FENCED_RESIGN) == {"D3", "D3-loss", "D3-shutdown"}
    assert ids(V0102, Switch.RUN_WHEN_NOT_ACTIVE) - ids(V0102) == {"D8", "D8-resign", "D8-reassign"}
