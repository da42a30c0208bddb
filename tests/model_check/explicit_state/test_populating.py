"""Memory is laid out ahead of its use, and stays what it was."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from model_check.explicit_state.populating import (
    AHEAD,
    PAGE,
    Populating,
    cores,
    has_a_core_to_spare,
    populate,
    stretch,
    whole_pages,
)  # fmt: skip
from model_check.explicit_state.visited import reserved


def resident_bytes() -> int:
    """Memory of this process that is really there."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - a kernel file
        return int(file.read().split()[1]) * 4096


def test_what_is_laid_out_is_resident_and_unchanged() -> None:
    memory = reserved(16 * PAGE, 0, np.uint8)
    memory[:] = 0
    memory[5 * PAGE] = 7
    fresh = reserved(64 * PAGE, 0, np.uint8)
    before = resident_bytes()
    assert populate(fresh.ctypes.data, 0, 62 * PAGE)
    assert populate(memory.ctypes.data, 0, 14 * PAGE)
    assert resident_bytes() - before >= 60 * PAGE
    assert memory[5 * PAGE] == 7
    assert not fresh.any()


def test_the_pages_behind_the_end_of_a_growing_array_are_laid_out() -> None:
    array, used = reserved(1 << 30, 0, np.uint8), 0
    before = resident_bytes()
    with Populating([(array, lambda: used)]) as populating:
        for used in range(0, 128 << 20, PAGE):
            array[used] = 1
            populating.advance()
    assert resident_bytes() - before <= (128 << 20) + AHEAD + (32 << 20)
    assert array.sum() == 64  # where the search wrote, and nowhere else


def test_a_process_with_another_beside_it_has_no_core_to_spare() -> None:
    assert has_a_core_to_spare() is (cores() > 1)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as beside:
        assert beside.submit(has_a_core_to_spare).result() is False
        assert not has_a_core_to_spare()


@given(st.integers(0, 1 << 40), st.lists(st.integers(0, 1 << 26), min_size=1, max_size=20))
def test_stretches_that_follow_each_other_leave_no_page_out_and_take_none_twice(start: int, sizes: list[int]) -> None:
    pages, place = [], start
    for size in sizes:
        first, length = whole_pages(place, place + size)
        pages += list(range(first, first + length, PAGE))
        place += size
    assert pages == list(range(-(-start // PAGE) * PAGE, -(-place // PAGE) * PAGE, PAGE))


@given(st.integers(0, 1 << 30), st.integers(0, 1 << 30), st.integers(0, 1 << 30))
def test_a_stretch_is_ahead_of_what_is_used_within_the_array_and_never_more_than_is_used(
    size: int, used: int, populated: int
) -> None:
    begin, end = stretch(size, min(size, used), populated)
    assert begin >= populated
    assert begin <= end <= max(begin, size)
    assert end == begin or end <= min(2 * used, used + AHEAD)
