"""The visited set against a dictionary, through growth and under hashes that agree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.explicit_state.visited import FULLEST, SLOTS, SMALLEST_TABLE, Visited
from model_check.kernel.hashing import hash_rows


@given(st.integers(1, 9), st.lists(st.lists(st.integers(0, 20), max_size=60), max_size=6), st.integers(0, 2**64 - 1))
def test_numbers_are_given_in_order_of_first_appearance(words: int, batches: list[list[int]], salt: int) -> None:
    visited, known = Visited(words, 10_000), dict[int, int]()
    for batch in batches:
        expected = [known.setdefault(value, len(known)) for value in batch]
        rows = np.array([[value ^ salt] * words for value in batch], dtype=np.uint64).reshape(-1, words)
        assert visited.add(rows).tolist() == expected
    assert visited.count == len(known)
    assert [int(row[-1]) ^ salt for row in visited.rows[: visited.count]] == list(known)


def test_it_grows_and_forgets_nothing() -> None:
    count = 5 * SMALLEST_TABLE * SLOTS
    rows = np.arange(3 * count, dtype=np.uint64).reshape(count, 3)
    visited = Visited(3, 2 * count)
    for part in np.array_split(rows, 7):
        visited.add(part)
    assert visited.count == count
    assert visited.table.shape[0] == 8 * SMALLEST_TABLE  # five eighths full; four would be too full
    assert visited.add(rows[::-1]).tolist() == list(reversed(range(count)))


def test_states_whose_hashes_agree_are_compared_whole() -> None:
    # The 64-bit hash of a state of two words is a mix of one product: many pairs of words share it.
    rows = colliding_rows()
    hashes = hash_rows(rows)
    assert (hashes == hashes[0]).all()
    visited = Visited(2, 100)
    assert visited.add(rows).tolist() == list(range(len(rows)))
    assert visited.add(rows).tolist() == list(range(len(rows)))


def test_it_grows_though_hashes_agree() -> None:
    # Four buckets and more overflow into one another.
    others = np.arange(2 * SMALLEST_TABLE * SLOTS, dtype=np.uint64).reshape(-1, 2)
    rows = np.concatenate([colliding_rows(), others])
    visited = Visited(2, 10 * len(rows))
    for part in np.array_split(rows, 9):
        visited.add(part)
    assert visited.table.shape[0] > SMALLEST_TABLE
    assert visited.add(rows).tolist() == list(range(len(rows)))


def colliding_rows() -> np.ndarray:
    """States of two words with equal hashes: the product is zero as soon as its first factor is."""
    secret = 0x9E3779B97F4A7C15
    return np.array([[secret, other] for other in range(50)], dtype=np.uint64)


def test_a_set_that_is_full_says_so() -> None:
    visited = Visited(1, 10)
    with pytest.raises(MemoryError, match="20 states do not fit"):
        visited.add(np.arange(20, dtype=np.uint64).reshape(-1, 1))


def test_the_table_does_not_grow_beyond_its_budget() -> None:
    visited = Visited(1, 1 << 20)
    visited.make_room(1 << 19, budget=1000)
    assert visited.table.shape[0] == SMALLEST_TABLE
    assert visited.room == SMALLEST_TABLE * SLOTS * FULLEST
