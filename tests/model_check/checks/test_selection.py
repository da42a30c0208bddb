"""Which checks are made: of kinds, of shares that together are all, and the most telling ones first."""

from functools import partial
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.checks import gate
from model_check.checks.planted_faults import planted_faults
from model_check.checks.selection import (
    ENGINES,
    Shard,
    expected_seconds,
    kinds_named,
    most_worth_first,
    of_kinds,
    seconds_named,
    shard_named,
)
from model_check.verdicts.results import Run
from model_check.verdicts.verification import Check
from spec.errors import BadInput
from spec.expectations import plans

EVERY = [*chain(*gate.checks(list(plans().values()), whole=True, deep=True))]


def check(name: str, cost: int = 0, engine: str = "explorer") -> Check:
    return Check(engine, name, "", cost, partial(list[Run]))


def test_each_check_of_the_gate_is_of_one_kind_but_for_those_of_the_manifest_and_the_engines() -> None:
    kinds = {one.identity: [kind for kind, engines in ENGINES.items() if one.engine in engines] for one in EVERY}
    planted = {one.identity for one in planted_faults()}
    assert {name for name, some in kinds.items() if not some} == {"manifest", "inventory"} | planted
    assert all(len(some) <= 1 for some in kinds.values())
    assert {kind for some in kinds.values() for kind in some} == set(ENGINES)


def test_the_checks_of_several_kinds_are_those_of_each() -> None:
    both = of_kinds(EVERY, kinds_named("prove,judge"))
    assert {one.engine for one in both} == {"induction", "judge"}
    assert len(both) == len(of_kinds(EVERY, kinds_named("prove"))) + len(of_kinds(EVERY, kinds_named("judge")))


@pytest.mark.parametrize("text", ["", "explorer", "prove,", "prove,proof", "prove, judge"])
def test_an_unknown_kind_is_refused_and_the_kinds_are_listed(text: str) -> None:
    with pytest.raises(BadInput, match="explore, prove, refine, judge, live, matrix, defects"):
        kinds_named(text)


@given(st.lists(st.integers(0, 10**9), max_size=40), st.integers(1, 6))
def test_the_shares_are_all_checks_and_no_two_have_one(costs: list[int], of: int) -> None:
    checks = [check(str(number), cost) for number, cost in enumerate(costs)]
    shares = [Shard(number, of).chosen(checks) for number in range(1, of + 1)]
    assert sorted(one.scope for share in shares for one in share) == sorted(one.scope for one in checks)


def test_the_shares_of_the_gate_cost_about_the_same() -> None:
    """None costs more than its part and the dearest check together: whoever has most got the last one with least."""
    shares = [sum(one.cost for one in Shard(number, 4).chosen(EVERY)) for number in range(1, 5)]
    assert max(shares) <= sum(shares) / 4 + max(one.cost for one in EVERY)


def test_a_share_is_the_same_in_every_order() -> None:
    assert Shard(2, 3).chosen(EVERY) == Shard(2, 3).chosen(EVERY[::-1])


@pytest.mark.parametrize("text", ["", "1", "0/4", "5/4", "1/0", "a/b", "1/4/2", "-1/4"])
def test_what_names_no_share_is_refused(text: str) -> None:
    assert shard_named("4/4") == Shard(4, 4)
    with pytest.raises(BadInput, match="the second of four is 2/4"):
        shard_named(text)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("5m", 300), ("1h", 3600), ("0.5m", 30)])
def test_a_time_is_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert seconds_named(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "five", "-5m", "1d", "1e3s"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="five minutes are 5m"):
        seconds_named(text)


def test_a_check_takes_as_long_as_last_time_or_as_its_cost_says() -> None:
    seconds = expected_seconds({check("a").identity: 12.0})
    assert seconds(check("a", 10**9)) == 12
    assert seconds(check("b", 10**6)) < seconds(check("b", 10**7))


def test_the_quickest_of_each_kind_come_first() -> None:
    some = [
        check("b", 2), check("a", 1), check("c", 3), check("q", 20, "induction"), check("p", 10, "induction"),
    ]  # fmt: skip
    order = most_worth_first(some, lambda one: one.cost)
    assert "".join(one.scope for one in order) == "apbqc"
