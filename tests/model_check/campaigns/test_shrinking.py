"""The search for the fewest faults, and the rule by which a run shows something: three of five tries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.campaigns.shrinking import Faults, Tally, ever_fewer, tally

NUMBERS = st.lists(st.integers(1, 40), unique=True, max_size=10).map(sorted).map(tuple)


@given(NUMBERS, st.integers(0, 40), st.data())
def test_the_result_shows_it_and_no_single_fault_can_be_left_out(
    faults: Faults, last: int, data: st.DataObject
) -> None:
    """Whatever shows it: sets of faults are guilty or not without any order among them."""
    guilty: dict[Faults, bool] = {}

    def shows(some: Faults) -> bool:
        assert set(some) <= set(faults)
        return guilty.setdefault(some, data.draw(st.booleans(), label=str(some)))

    found = list(ever_fewer(faults, last, shows))
    if not found:
        assert not guilty[faults]
        return
    assert all(guilty[one] for one in found)
    assert [len(one) for one in found] == sorted({len(one) for one in found}, reverse=True)
    least = found[-1]
    for one in least:
        assert not shows(tuple(other for other in least if other != one))


@given(NUMBERS, st.data())
def test_what_is_guilty_together_is_found_whatever_the_rest(faults: Faults, data: st.DataObject) -> None:
    guilty = set(data.draw(st.lists(st.sampled_from(faults or (0,)), max_size=3)))
    if not guilty <= set(faults):
        return
    *_, least = ever_fewer(faults, 40, lambda some: guilty <= set(some))
    assert set(least) == guilty


def test_faults_after_the_last_are_cut_first_and_large_chunks_are_left_out_before_small_ones() -> None:
    asked: list[Faults] = []

    def shows(some: Faults) -> bool:
        asked.append(some)
        return 3 in some

    assert list(ever_fewer(range(1, 9), 4, shows)) == [(1, 2, 3, 4), (3, 4), (3,)]
    assert asked == [(1, 2, 3, 4), (), (3, 4), (4,), (3,)]


def test_all_are_tried_where_the_first_ones_do_not_show_it() -> None:
    asked: list[Faults] = []

    def shows(some: Faults) -> bool:
        asked.append(some)
        return False

    assert list(ever_fewer((1, 2, 3), 2, shows)) == []
    assert asked == [(1, 2), (1, 2, 3)]


@pytest.mark.parametrize(
    ("answers", "found", "shows"),
    [
        ("yyy", Tally(3, 3), True),
        ("ynyy", Tally(4, 3), True),
        ("ynyny", Tally(5, 3), True),
        ("nnn", Tally(3, 0), False),
        ("ynynn", Tally(5, 2), False),
        ("ynnn", Tally(4, 1), False),
    ],
)
def test_tries_end_when_the_answer_is_known(answers: str, found: Tally, shows: bool) -> None:
    left = iter(answers)
    assert tally(lambda: next(left) == "y") == found
    assert list(left) == []
    assert found.shows is shows
    assert str(Tally(5, 3)) == "3 of 5 tries"
