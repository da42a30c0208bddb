"""Shares with their intervals."""

import pytest

from model_check.mutation.mutation_report import Z, area_of, interval


@pytest.mark.parametrize("of", [1, 7, 100, 10_000])
def test_of_all_or_none_the_interval_is_as_wilsons_formula_reduces(of: int) -> None:
    assert interval(of, of) == pytest.approx((of / (of + Z * Z), 1))
    assert interval(0, of) == pytest.approx((0, Z * Z / (of + Z * Z)))


@pytest.mark.parametrize(("noticed", "of"), [(1, 3), (57, 60), (500, 1000)])
def test_at_both_ends_of_an_interval_the_share_is_as_unlikely_as_said(noticed: int, of: int) -> None:
    for end in interval(noticed, of):
        assert abs(noticed / of - end) == pytest.approx(Z * (end * (1 - end) / of) ** 0.5)


def test_an_area_is_one_that_is_mutated_by_itself_or_a_folder() -> None:
    assert area_of("model_check/monitors/acts.py") == "model_check/monitors"
    assert area_of("spec/protocol/handlers.py") == "spec"
    assert area_of("model_check/checks/gate.py") == "model_check/checks"
